//! Whether two agents quote the same passage of a document.

use std::ops::Range;
use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::model::RepoPath;
use crate::suites::GradeContext;
use crate::suites::shared::finding::{Citation, DocumentNames, Finding};

/// The documents that the agents may cite.
pub struct Documents {
    pub folder: RepoPath,
    pub names: DocumentNames,
}

/// Quotes share a passage if they share this many characters or words; less is a term.
const LEAST_CHARACTERS: usize = 20;
const LEAST_WORDS: usize = 5;

/// One quote of a finding.
pub struct Passage<'a> {
    citation: &'a Citation,
    /// The document and the position of the quote in it; `None` if the document does not contain it.
    found: Option<(Arc<str>, Range<usize>)>,
}

impl<'a> Passage<'a> {
    /// The quotes of a finding that are long enough to be a passage.
    pub fn all(
        finding: &'a Finding,
        documents: Option<&Documents>,
        context: &GradeContext<'_>,
    ) -> Result<Vec<Self>, Diagnostic> {
        let mut passages = Vec::new();
        for citation in finding
            .citations
            .iter()
            .filter(|citation| is_passage(&citation.quote))
        {
            // Agents choose the name: only names in the folder's listing are opened.
            let named =
                documents.and_then(|documents| Some((documents, documents.names.cited(citation)?)));
            let position = match named {
                Some((documents, name)) => {
                    let paper = context.paper(&documents.folder.child(name))?;
                    let start = paper.find(&citation.quote);
                    start.map(|start| (paper, start..start + citation.quote.len()))
                }
                None => None,
            };
            passages.push(Self {
                citation,
                found: position,
            });
        }
        Ok(passages)
    }

    /// Whether both quote the same passage: by position if both are in one document, else by text.
    pub fn overlaps(&self, passage: &Self) -> bool {
        let (quote, other_quote) = (&self.citation.quote, &passage.citation.quote);
        if quote.contains(other_quote.as_str()) || other_quote.contains(quote.as_str()) {
            return true;
        }
        match (&self.found, &passage.found) {
            (Some((paper, range)), Some((_, other_range)))
                if self.citation.file_key() == passage.citation.file_key() =>
            {
                let both = range.start.max(other_range.start)..range.end.min(other_range.end);
                paper.get(both).is_some_and(is_passage)
            }
            _ => false,
        }
    }
}

fn is_passage(text: &str) -> bool {
    text.chars().count() >= LEAST_CHARACTERS || text.split_whitespace().count() >= LEAST_WORDS
}
