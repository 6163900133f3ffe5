//! What the comment shows of a result, as its own sections say it.

use super::{SectionState, marker, plain, sections_of};
use crate::model::{Comment, Report};
use crate::report;

/// The digest of everything in a report that an approval may be about, also of its baseline file.
pub fn shown_digest(report: &Report) -> String {
    report::result_digest(report, None)
}

/// What the comment shows of the deterministic tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReport {
    /// The digest of the result.
    pub result: String,
    /// Kinds of golden changes without an approval that it has no room for.
    pub hidden: usize,
}

/// What the comment shows about a head; `None` where it shows no result.
pub fn shown_report(comments: &[Comment], key: &str, author: &str, head: &str) -> Option<ShownReport> {
    let marker = marker(key);
    let own = comments.iter().filter(|comment| comment.author == author && comment.body.contains(&marker));
    let sections = own.flat_map(|comment| sections_of(&comment.body));
    let of_head = sections.filter(|(place, section)| *place == 0 && section.state.head == plain(head));
    let newest = of_head.map(|(_, section)| section.state).max_by_key(SectionState::number)?;
    Some(ShownReport { result: newest.result?, hidden: newest.hidden })
}
