//! Texts that a change only writes otherwise, such as with a constant in the middle: the requests stay as they were.

use std::collections::BTreeSet;

use super::prompt_texts::{ChangedAgentFile, QUOTES, letters, values};
use crate::model::RepoPath;

/// The fewest letters and digits of an added text that has to be in the requests.
const ADDED: usize = 20;
/// The fewest words of a line of prose.
const WORDS: usize = 6;
/// The fewest letters and digits of a long piece.
const LONG: usize = 8;
/// The least share of a text that is in long pieces.
const LEAST_SHARE: f64 = 0.7;
/// The longest text that is taken apart.
const LONGEST: usize = 10_000;

/// What the agent's files have now.
pub struct RewrittenTexts {
    /// The letters and digits of all files.
    now: String,
    /// The texts that the changed files did not have before.
    added: BTreeSet<String>,
}

impl RewrittenTexts {
    /// `now` are the letters and digits of the agent's files.
    pub fn of(changed: &[ChangedAgentFile<'_>], now: &[String]) -> Self {
        let added = changed.iter().flat_map(
            |ChangedAgentFile {
                 file,
                 before,
                 after,
             }| {
                let before = letters(before);
                own_texts(file, after)
                    .into_iter()
                    .filter(move |text| !before.contains(text.as_str()))
            },
        );
        Self {
            now: now.join("\n"),
            added: added.collect(),
        }
    }

    /// Whether these requests can have a former text because the agent makes it of pieces now: its files have all pieces, most of it in long ones,
    /// and the requests have every text that the change adds.
    pub fn may_make(&self, text: &str, requests: &[String]) -> bool {
        let is_sent = |added: &String| {
            requests
                .iter()
                .any(|request| request.contains(added.as_str()))
        };
        text.len() <= LONGEST && self.added.iter().all(is_sent) && self.has_pieces_of(text)
    }

    fn has_pieces_of(&self, text: &str) -> bool {
        let (mut rest, mut in_long) = (text, 0);
        while !rest.is_empty() {
            let ends: Vec<usize> = rest
                .char_indices()
                .map(|(at, char)| at + char.len_utf8())
                .collect();
            // A text that contains a longer beginning contains the shorter ones.
            let found = ends.partition_point(|end| self.now.contains(&rest[..*end]));
            let Some(end) = found.checked_sub(1).and_then(|last| ends.get(last)) else {
                return false;
            };
            in_long += if *end >= LONG { *end } else { 0 };
            rest = &rest[*end..];
        }
        in_long as f64 >= LEAST_SHARE * text.len() as f64
    }
}

/// What a file may say to a model: the values of JSON and YAML, what is quoted, and lines of prose.
fn own_texts(file: &RepoPath, text: &str) -> Vec<String> {
    let in_line = |line: &str| -> Vec<String> {
        match line.contains(QUOTES) {
            true => QUOTES
                .iter()
                .flat_map(|quote| line.split(*quote).skip(1).step_by(2))
                .map(letters)
                .collect(),
            false if line.split_whitespace().count() >= WORDS => vec![letters(line)],
            false => Vec::new(),
        }
    };
    let texts: Vec<String> = match values(file, text) {
        Some(values) => values
            .iter()
            .flat_map(|value| value.lines())
            .map(letters)
            .collect(),
        None => text.lines().flat_map(in_line).collect(),
    };
    texts
        .into_iter()
        .filter(|text| text.chars().count() >= ADDED)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::RewrittenTexts;
    use crate::golden_changes::prompt_texts::{ChangedAgentFile, letters};
    use crate::model::RepoPath;

    const BEFORE: &str =
        "PROMPT = \"You answer for Acme and never promise a refund of more than 20 euros.\"\n";

    fn may_make(after: &str) -> bool {
        let file = RepoPath::root().child("agent.py");
        let changed = [ChangedAgentFile {
            file: &file,
            before: BEFORE,
            after,
        }];
        let request =
            letters("You answer for Acme and never promise a refund of more than 20 euros.");
        RewrittenTexts::of(&changed, &[letters(after)])
            .may_make(&request, std::slice::from_ref(&request))
    }

    #[test]
    fn a_text_may_be_made_of_pieces() {
        for after in [
            "NAME = \"Acme\"\nPROMPT = \"You answer for \" + NAME + \" and never promise a refund of more than 20 euros.\"\n",
            "LIMIT = 20\nPROMPT = \"You answer for Acme and never promise a refund of more than \" + str(LIMIT) + \" euros.\"\n",
            "PROMPT = (\n    \"You answer for Acme and never promise \"\n    # The limit of 2026.\n    \"a refund of more than 20 euros.\"\n)\n",
        ] {
            assert!(may_make(after), "{after}");
        }
    }

    #[test]
    fn another_text_is_not_made_of_pieces() {
        for after in [
            "PROMPT = \"You answer for Acme and promise a refund of more than 20 euros.\"\n",
            "PROMPT = \"You answer for Acme.\"\nnever = 1\n",
            "PROMPT = \"\"\n",
            "PROMPT = \"\"\"\nYou answer for Acme and promise a refund of more than 20 euros.\n\"\"\"\nNEVER = \"never\"\n",
        ] {
            assert!(!may_make(after), "{after}");
        }
    }
}
