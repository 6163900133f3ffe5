//! Which quotes are in the document that they cite.

use crate::diag::Diagnostic;
use crate::model::{RepoPath, share};
use crate::suites::GradeContext;
use crate::suites::shared::finding::{Citation, DocumentNames, Finding};
use crate::suites::shared::produced::FindingsOutput;
use crate::text::contains;

/// The quotes of one sample.
pub struct Grounding<'a> {
    pub quotes: usize,
    /// The quotes that are not in the cited document.
    pub ungrounded: Vec<(&'a Finding, &'a Citation)>,
    /// Number of quotes that are not texts.
    unreadable: usize,
}

impl<'a> Grounding<'a> {
    /// Looks up each quote in the document that it cites; `listed` are the names of the files in the folder of documents.
    pub fn of(
        produced: &'a FindingsOutput,
        documents: &RepoPath,
        listed: &DocumentNames,
        context: &GradeContext<'_>,
    ) -> Result<Self, Diagnostic> {
        let unreadable = produced.unreadable_quotes;
        let mut grounding = Self {
            quotes: unreadable,
            ungrounded: Vec::new(),
            unreadable,
        };
        let citations = produced.findings.iter().flat_map(|finding| {
            finding
                .citations
                .iter()
                .map(move |citation| (finding, citation))
        });
        for (finding, citation) in citations.filter(|(_, citation)| !citation.quote.is_empty()) {
            grounding.quotes += 1;
            // Agents choose the name: only names in the folder's listing are opened.
            let grounded = match listed.cited(citation) {
                Some(name) => contains(&context.paper(&documents.child(name))?, &citation.quote),
                None => false,
            };
            if !grounded {
                grounding.ungrounded.push((finding, citation));
            }
        }
        Ok(grounding)
    }

    /// The share of quotes that are in the cited document, 0 to 1; `None` without quotes.
    pub fn share(&self) -> Option<f64> {
        share(
            self.quotes - self.ungrounded.len() - self.unreadable,
            self.quotes,
        )
    }
}
