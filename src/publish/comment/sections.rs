//! The sections of a comment, with the state that each of them keeps in the comment itself.

use serde::{Deserialize, Serialize};

use crate::files::sha256_hex;
use crate::model::RunNumber;

/// The sections in order. The deterministic tier decides, so it comes first.
pub(super) const SECTIONS: [&str; 3] = ["deterministic", "model", "record"];

/// The state that is stored in a section.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionState {
    pub(super) head: String,
    pub(super) run: u64,
    pub(super) attempt: u64,
    pub(super) alert: String,
    #[serde(rename = "says")]
    pub(super) headline: String,
    /// The digest of the section's text: a text that somebody edited is not copied into the next comment.
    #[serde(default)]
    pub(super) digest: String,
}

impl SectionState {
    /// The state as JSON for an HTML comment. A headline may have any character, so all but the plainest ones are escaped: none ends the
    /// comment, and none looks like Markdown to another program.
    pub(super) fn written(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut out = String::with_capacity(json.len());
        for char in json.chars() {
            // Quotes, brackets and backslashes are syntax of JSON; other characters occur only in its texts.
            if char.is_ascii_alphanumeric() || " .,:;%()[]{}+-_\"\\".contains(char) {
                out.push(char);
                continue;
            }
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
        out
    }

    pub(super) fn number(&self) -> RunNumber {
        RunNumber {
            run: self.run,
            attempt: self.attempt,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommentSection {
    pub(super) state: SectionState,
    pub(super) text: String,
}

/// Which section: those of the first config come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SectionPlace {
    /// The key of the config; empty where the comment is about one config.
    pub(super) config: String,
    /// The index in [`SECTIONS`].
    pub(super) index: usize,
}

impl SectionPlace {
    /// The name in the marker, such as `model` or `services-a/model`.
    pub(super) fn name(&self) -> Option<String> {
        let section = SECTIONS.get(self.index)?;
        Some(match self.config.as_str() {
            "" => (*section).to_owned(),
            config => format!("{config}/{section}"),
        })
    }

    fn of_name(name: &str) -> Option<Self> {
        let (config, section) = name.rsplit_once('/').unwrap_or(("", name));
        Some(Self {
            config: config.to_owned(),
            index: tier_index(section)?,
        })
    }
}

pub(super) fn tier_index(name: &str) -> Option<usize> {
    SECTIONS.iter().position(|known| *known == name)
}

/// A text without white space, which GitHub may change.
pub(super) fn without_space(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

/// The digest of a section's text.
pub(super) fn digest(text: &str) -> String {
    sha256_hex(without_space(text).as_bytes())
        .chars()
        .take(16)
        .collect()
}

pub(super) const SECTION: &str = "<!-- goldgate:section ";
pub(super) const END: &str = "<!-- goldgate:end -->";
/// The markers around the alert of every section except the first.
pub(super) const ALERT: &str = "<!-- goldgate:alert -->\n";
pub(super) const ALERT_END: &str = "<!-- goldgate:alert-end -->\n";

/// The sections of a comment. A section that is malformed, or whose text somebody edited, is left out.
pub(super) fn sections_of(body: &str) -> Vec<(SectionPlace, CommentSection)> {
    let mut sections = Vec::new();
    for part in body.split(SECTION).skip(1) {
        let Some((head, rest)) = part.split_once(" -->\n") else {
            continue;
        };
        let Some((name, state)) = head.split_once(' ') else {
            continue;
        };
        let Some((text, _)) = rest.split_once(END) else {
            continue;
        };
        if let (Some(place), Ok(state)) = (
            SectionPlace::of_name(name),
            serde_json::from_str::<SectionState>(state),
        ) {
            let text = text
                .split_once(ALERT_END)
                .map_or(text, |(_, text)| text.trim_start_matches('\n'));
            if state.digest == digest(text) {
                sections.push((
                    place,
                    CommentSection {
                        state,
                        text: text.to_owned(),
                    },
                ));
            }
        }
    }
    sections
}
