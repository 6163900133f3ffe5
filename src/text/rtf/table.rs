//! How a table row is defined, gathered from the words before its end.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// A row's definition.
#[derive(Debug, Default)]
pub struct TableRow {
    begun: bool,
    words: String,
    named: Option<Arc<str>>,
}

impl TableRow {
    /// Whether a word is about rows and cells, and not one that a row more or less changes.
    pub fn knows(name: &str) -> bool {
        (name.starts_with("tr") || name.starts_with("cl") || name == "cellx") && !matches!(name, "trauth" | "trdate")
    }

    /// Adds a word; `\trowd` begins anew.
    pub fn add(&mut self, name: &str, value: Option<i64>) {
        if name == "trowd" {
            *self = Self { begun: true, ..Self::default() };
            return;
        }
        // Words of the document, such as `\trackformatting`, begin alike; before a row they mean none.
        if !self.begun {
            return;
        }
        if let Some(named) = self.named.take() {
            // A row that goes on where the last one ended: naming that one whole again would not be linear.
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

    /// The definition as words; the same one as long as no word follows.
    pub fn name(&mut self) -> Arc<str> {
        let words = &mut self.words;
        Arc::clone(self.named.get_or_insert_with(|| std::mem::take(words).trim_end().into()))
    }
}
