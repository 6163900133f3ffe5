//! Whether a comment is as goldgate wrote it, where GitHub does not tell who edited it: it is composed again and compared.

use std::collections::BTreeMap;

use super::fit::fitted;
use super::sections::{CommentSection, sections_of, without_space};
use super::{CommentRequest, LIMIT, ROOM, body_of, composed, marker, tier};
use crate::model::{Comment, Report, RunNumber};
use crate::render::markdown::Links;

/// Returns the links of a section: of a report, by the run that measured it.
pub type LinksOf<'a> = &'a dyn Fn(&Report, RunNumber) -> Links;

/// Whether a comment has nothing but sections as goldgate composes them, and that of the report's tier is the one of this report.
///
/// Only the form is compared where another version wrote the section, whose words may be others, and where the report is so long that parts may
/// be left out: which ones depends on what else the comment had when it was written. Other sections are only held against their digests.
pub fn is_unaltered(comment: &Comment, key: &str, report: &Report, links: LinksOf<'_>) -> bool {
    let marker = marker(key);
    let sections: BTreeMap<usize, CommentSection> =
        sections_of(&comment.body).into_iter().collect();
    let is_body = |body: &str| without_space(body) == without_space(&comment.body);
    if !is_body(&body_of(&marker, &sections)) {
        return false;
    }
    let Some(CommentSection { state, .. }) = sections.get(&tier(report)) else {
        return false;
    };
    if report.tool.version != env!("CARGO_PKG_VERSION") {
        return true;
    }
    let (run, head) = (state.number(), state.head.clone());
    let links = links(report, run);
    let (head, current_head, author) = (head.as_str(), head.as_str(), None);
    let request = CommentRequest {
        report,
        links: &links,
        key,
        head,
        current_head,
        run,
        author,
    };
    is_body(&composed(&request, &marker, sections))
        || fitted(report, &links, LIMIT).text.len() > ROOM
}
