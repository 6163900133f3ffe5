//! What personal data are in conversations that are about to be written.

use std::collections::BTreeSet;

use super::run_record_file::RunRecordFile;
use super::transcript_files::TranscriptFile;
use crate::format::lenient;
use crate::format::redact::{add_texts, texts_of};
use crate::render::plural;
use crate::text::{PersonalSort, personal_data};

/// The e-mail addresses and telephone numbers that were found, and in how many conversations.
#[derive(Debug, Default)]
struct FoundData {
    emails: BTreeSet<String>,
    telephones: BTreeSet<String>,
    conversations: usize,
}

/// A note that names the personal data in conversations, cases and run records with their number; `None` without any.
pub fn personal_data_note(files: &[TranscriptFile], records: &[RunRecordFile]) -> Option<String> {
    let mut personal = FoundData::default();
    for file in files {
        for run in &file.runs {
            personal.add(&texts_of(run));
        }
        for case in &file.cases {
            let mut texts = Vec::new();
            add_texts(&serde_json::to_value(case).unwrap_or_default(), &mut texts);
            personal.add(&texts);
        }
    }
    for record in records {
        let mut texts = Vec::new();
        add_texts(&lenient::any(record.text()).unwrap_or_default(), &mut texts);
        personal.add(&texts);
    }
    personal.note()
}

impl FoundData {
    fn add(&mut self, texts: &[String]) {
        let mut has_any = false;
        for text in texts {
            for (sort, range) in personal_data(text) {
                has_any = true;
                let value = text[range].to_lowercase();
                match sort {
                    PersonalSort::Email => self.emails.insert(value),
                    PersonalSort::Telephone => self.telephones.insert(value),
                };
            }
        }
        self.conversations += usize::from(has_any);
    }

    fn note(&self) -> Option<String> {
        let emails = plural(self.emails.len(), "e-mail address", "e-mail addresses");
        let telephones = plural(
            self.telephones.len(),
            "telephone number",
            "telephone numbers",
        );
        let sorts = [
            (self.emails.len(), emails),
            (self.telephones.len(), telephones),
        ];
        let named: Vec<String> = sorts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, named)| named)
            .collect();
        if named.is_empty() {
            return None;
        }
        let conversations = plural(self.conversations, "conversation", "conversations");
        Some(format!(
            "{} in {conversations}: --redact-personal replaces them",
            named.join(" and ")
        ))
    }
}
