//! Which result the comment shows, from the state in its sections.

use super::sections::dated_sections_of;
use super::{is_own, marker, plain};
use crate::model::Comment;

/// The result of the deterministic tier that the comment shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReport {
    /// The digest of the result.
    pub result: String,
    /// A time at which the comment showed it already, in GitHub's format.
    pub since: Option<String>,
    /// The number of kinds of unapproved golden changes that did not fit.
    pub hidden: usize,
    /// The comment.
    pub comment: Comment,
}

/// The result that the comment shows for a head; `None` if it shows none.
pub fn shown_report(
    comments: &[Comment],
    key: &str,
    author: Option<&str>,
    head: &str,
) -> Option<ShownReport> {
    let marker = marker(key);
    let own = comments
        .iter()
        .filter(|comment| is_own(comment, author, &marker));
    let sections = own.flat_map(|comment| {
        dated_sections_of(comment, None)
            .into_iter()
            .map(move |one| (comment, one))
    });
    let of_head =
        sections.filter(|(_, (index, section))| *index == 0 && section.state.head == plain(head));
    let states = of_head.map(|(comment, (_, section))| (comment, section.state));
    let (comment, newest) = states.max_by_key(|(_, state)| state.number())?;
    Some(ShownReport {
        result: newest.result?,
        since: newest.since,
        hidden: newest.hidden,
        comment: comment.clone(),
    })
}
