//! Table row definitions, collected from the words before a row's end.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct TableRow {
    begun: bool,
    words: String,
    named: Option<Arc<str>>,
}

impl TableRow {
    /// Whether a word defines rows or cells; words for tracked row changes are ignored.
    pub fn knows(name: &str) -> bool {
        (name.starts_with("tr") || name.starts_with("cl") || name == "cellx")
            && !matches!(name, "trauth" | "trdate")
    }

    /// Adds a word; `\trowd` starts a new definition.
    pub fn add(&mut self, name: &str, value: Option<i64>) {
        if name == "trowd" {
            *self = Self {
                begun: true,
                ..Self::default()
            };
            return;
        }
        // Words of the document, such as `\trackformatting`, have the same prefix; they are ignored before a row.
        if !self.begun {
            return;
        }
        if let Some(named) = self.named.take() {
            // A continued row refers to the previous name by its hash: repeating the name would not be linear.
            let mut hasher = DefaultHasher::new();
            named.hash(&mut hasher);
            self.words = format!("(as {:016x}, then) ", hasher.finish());
        }
        self.words.push('\\');
        self.words.push_str(name);
        if let Some(value) = value {
            self.words.push_str(&value.to_string());
        }
        self.words.push(' ');
    }

    /// The definition as words; it stays the same until another word follows.
    pub fn name(&mut self) -> Arc<str> {
        let words = &mut self.words;
        Arc::clone(
            self.named
                .get_or_insert_with(|| std::mem::take(words).trim_end().into()),
        )
    }
}
