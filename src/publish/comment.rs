//! The one comment on a pull request. Each tier has its own section, whose state is stored in the comment itself.

mod fit;
mod sections;

use std::collections::BTreeMap;

use self::fit::{FittedText, fitted};
pub use self::fit::{regressions, summary, summary_within};
use self::sections::{
    ALERT, ALERT_END, CommentSection, END, SECTION, SECTIONS, SectionState, digest, sections_of,
    tier_index,
};
use crate::model::{Comment, Report, RunNumber, Tier};
use crate::render::markdown::Links;
use crate::render::plain::{sentence, with_code};
use crate::render::{markdown, words};
use crate::text::clauses;

/// GitHub's limit of a comment in characters. It is applied to bytes, of which there are at least as many.
const LIMIT: usize = 65_536;

/// The input of a comment.
#[derive(Debug, Clone)]
pub struct CommentRequest<'a> {
    /// The report.
    pub report: &'a Report,
    /// Links to more information.
    pub links: &'a Links,
    /// Which comment, where a repository has several.
    pub key: &'a str,
    /// The head commit at the start of the run.
    pub head: &'a str,
    /// The present head commit.
    pub current_head: &'a str,
    /// The run.
    pub run: RunNumber,
    /// The login that writes the comments; `None` if it is not known yet.
    pub author: Option<&'a str>,
}

/// A note in its own section, below the tiers.
#[derive(Debug, Clone)]
pub struct Note<'a> {
    /// Its section.
    pub about: NoteSubject,
    /// The kind of its alert, such as `NOTE`.
    pub alert: &'static str,
    /// Its headline.
    pub headline: &'a str,
    /// Its text, as Markdown with all untrusted text escaped.
    pub text: &'a str,
    /// Which comment, where a repository has several.
    pub key: &'a str,
    /// The commit of the note.
    pub head: &'a str,
    /// The present head commit.
    pub current_head: &'a str,
    /// The run.
    pub run: RunNumber,
    /// The login that writes the comments; `None` if it is not known yet.
    pub author: Option<&'a str>,
}

/// The subject of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteSubject {
    /// The recordings that a label asked for.
    Record,
    /// A tier without a verdict: it takes the place of the tier's result.
    Verdict(Tier),
}

/// The number of sections that are for tiers.
const TIERS: usize = 2;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentPlan {
    /// Create a comment with this text.
    Create(String),
    /// Update a comment. Duplicates that concurrent writers left are removed.
    Update {
        /// The comment.
        id: u64,
        /// Its text.
        body: String,
        /// The ids of duplicates; their sections are in the new text.
        remove: Vec<u64>,
    },
    /// Nothing: the section is already newer.
    Nothing(StaleComment),
}

/// Why the comment is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleComment {
    /// The section is of a newer commit.
    NewerHead,
    /// The section is of a later run on the same commit.
    LaterRun,
}

fn marker(key: &str) -> String {
    format!("<!-- goldgate:comment key={} -->", plain(key))
}

/// The characters of a key that are allowed in a marker.
fn plain(key: &str) -> String {
    key.chars()
        .filter(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))
        .collect()
}

/// The index of a report's section; a run of both tiers writes into the first one.
fn tier(report: &Report) -> usize {
    report
        .tiers
        .first()
        .and_then(|tier| tier_index(tier.as_str()))
        .unwrap_or_default()
}

impl NoteSubject {
    fn tier_index(self) -> usize {
        match self {
            Self::Record => TIERS,
            Self::Verdict(tier) => tier_index(tier.as_str()).unwrap_or_default(),
        }
    }
}

/// The data that every section needs.
struct SectionWriter<'a> {
    index: usize,
    key: &'a str,
    head: &'a str,
    current_head: &'a str,
    run: RunNumber,
    author: Option<&'a str>,
}

impl<'a> CommentRequest<'a> {
    fn writer(&self) -> SectionWriter<'a> {
        let Self {
            report,
            links: _,
            key,
            head,
            current_head,
            run,
            author,
        } = *self;
        SectionWriter {
            index: tier(report),
            key,
            head,
            current_head,
            run,
            author,
        }
    }
}

impl<'a> Note<'a> {
    fn writer(&self) -> SectionWriter<'a> {
        let Self {
            about,
            alert: _,
            headline: _,
            text: _,
            key,
            head,
            current_head,
            run,
            author,
        } = *self;
        SectionWriter {
            index: about.tier_index(),
            key,
            head,
            current_head,
            run,
            author,
        }
    }
}

/// Plans how to write a report, given the existing comments.
pub fn plan(request: &CommentRequest<'_>, comments: &[Comment]) -> CommentPlan {
    planned(&request.writer(), comments, |marker, sections| {
        composed(request, marker, sections)
    })
}

/// Plans how to write a note, given the existing comments.
pub fn plan_note(note: &Note<'_>, comments: &[Comment]) -> CommentPlan {
    planned(&note.writer(), comments, |marker, mut sections| {
        let state = SectionState {
            head: plain(note.head),
            run: note.run.run,
            attempt: note.run.attempt,
            alert: note.alert.to_owned(),
            headline: note.headline.to_owned(),
            digest: digest(note.text),
        };
        sections.insert(
            note.about.tier_index(),
            CommentSection {
                state,
                text: format!("{}\n", note.text),
            },
        );
        within_limit(marker, sections, note.about.tier_index())
    })
}

/// Whether one of the comments has the marker of a key, whoever wrote it.
pub fn may_exist(key: &str, comments: &[Comment]) -> bool {
    let marker = marker(key);
    comments
        .iter()
        .any(|comment| comment.body.contains(&marker))
}

/// Whether goldgate wrote a comment: this token's account is its author, and it begins with an alert and the marker. Another workflow
/// with the same account may quote a text that has the marker.
fn is_own(comment: &Comment, author: Option<&str>, marker: &str) -> bool {
    author == Some(comment.author.as_str()) && begins_as_own(comment, marker)
}

fn begins_as_own(comment: &Comment, marker: &str) -> bool {
    let before = comment
        .body
        .split_once(marker)
        .map(|(before, _)| before.trim_end());
    let is_alert =
        |text: &str| text.starts_with("> [!") && text.lines().all(|line| line.starts_with('>'));
    before.is_some_and(is_alert)
}

fn planned(
    writer: &SectionWriter<'_>,
    comments: &[Comment],
    composed: impl FnOnce(&str, BTreeMap<usize, CommentSection>) -> String,
) -> CommentPlan {
    let marker = marker(writer.key);
    let mut own: Vec<&Comment> = comments
        .iter()
        .filter(|comment| is_own(comment, writer.author, &marker))
        .collect();
    own.sort_by_key(|comment| comment.id);
    let mut sections: BTreeMap<usize, CommentSection> = BTreeMap::new();
    for (name, section) in own.iter().flat_map(|comment| sections_of(&comment.body)) {
        let newer = sections
            .get(&name)
            .is_none_or(|other| other.state.number() < section.state.number());
        if newer {
            sections.insert(name, section);
        }
    }
    if let Some(stale) = sections
        .get(&writer.index)
        .and_then(|section| stale(writer, &section.state))
    {
        return CommentPlan::Nothing(stale);
    }
    // A note about an older head is not true for this one.
    sections.retain(|index, section| *index < TIERS || section.state.head == writer.current_head);
    let body = composed(&marker, sections);
    match own.split_first() {
        None => CommentPlan::Create(body),
        Some((first, others)) => CommentPlan::Update {
            id: first.id,
            body,
            remove: others.iter().map(|comment| comment.id).collect(),
        },
    }
}

/// An older run never overwrites the section of a newer head.
fn stale(writer: &SectionWriter<'_>, current: &SectionState) -> Option<StaleComment> {
    let own_is_current = writer.head == writer.current_head;
    let section_is_current = current.head == writer.current_head;
    match (own_is_current, section_is_current) {
        (false, true) => Some(StaleComment::NewerHead),
        (true, false) => None,
        (true, true) | (false, false) => {
            (current.number() > writer.run).then_some(StaleComment::LaterRun)
        }
    }
}

/// Whether a comment contains this request's section as it was written.
pub fn is_written(request: &CommentRequest<'_>, body: &str) -> bool {
    has_section(&request.writer(), body)
}

/// Whether a comment contains this note as it was written.
pub fn is_note_written(note: &Note<'_>, body: &str) -> bool {
    has_section(&note.writer(), body)
}

fn has_section(writer: &SectionWriter<'_>, body: &str) -> bool {
    let sections: BTreeMap<usize, CommentSection> = sections_of(body).into_iter().collect();
    sections.get(&writer.index).is_some_and(|section| {
        let SectionState { head, .. } = &section.state;
        head == &plain(writer.head) && section.state.number() == writer.run
    })
}

/// Whether exactly one comment of the author exists, and it contains this request's section.
pub fn is_settled(request: &CommentRequest<'_>, comments: &[Comment]) -> bool {
    let marker = marker(request.key);
    let mut own = comments
        .iter()
        .filter(|comment| is_own(comment, request.author, &marker));
    own.next()
        .is_some_and(|comment| is_written(request, &comment.body))
        && own.next().is_none()
}

/// The number of kinds of golden changes that the comment has no room for.
pub fn hidden_classes(report: &Report) -> usize {
    fitted(
        report,
        &Links::default(),
        LIMIT.saturating_sub(FRAME + NOTES),
    )
    .hidden
}

/// The space of a comment's marker, alert and state, in bytes.
const FRAME: usize = 2_048;

fn composed(
    request: &CommentRequest<'_>,
    marker: &str,
    mut sections: BTreeMap<usize, CommentSection>,
) -> String {
    let index = tier(request.report);
    let (alert, headline) = opening(request);
    let state = SectionState {
        head: plain(request.head),
        run: request.run.run,
        attempt: request.run.attempt,
        alert: alert.to_owned(),
        headline,
        // As long as the value that is set below: the frame is measured with it.
        digest: digest(""),
    };
    sections.insert(
        index,
        CommentSection {
            state,
            text: String::new(),
        },
    );
    let frame = body_of(marker, &sections).len();
    let FittedText { text, hidden: _ } = fitted(
        request.report,
        request.links,
        LIMIT.saturating_sub(frame + NOTES).max(ROOM),
    );
    if let Some(section) = sections.get_mut(&index) {
        section.state.digest = digest(&text);
        section.text = text;
    }
    within_limit(marker, sections, index)
}

/// The space that is kept free for a note on a recording, in bytes.
const NOTES: usize = 2_048;
/// The least space of a section, in bytes.
const ROOM: usize = 12_000;

/// The comment within GitHub's limit. The texts of other sections are left out, the longest first. A comment that GitHub rejects would
/// leave an older one in place, which may be green.
fn within_limit(marker: &str, mut sections: BTreeMap<usize, CommentSection>, own: usize) -> String {
    let mut body = body_of(marker, &sections);
    while body.len() > LIMIT {
        let others = sections
            .iter_mut()
            .filter(|(index, section)| **index != own && section.text != LEFT_OUT);
        let Some((_, section)) = others.max_by_key(|(_, section)| section.text.len()) else {
            break;
        };
        LEFT_OUT.clone_into(&mut section.text);
        section.state.digest = digest(LEFT_OUT);
        body = body_of(marker, &sections);
    }
    body
}

const LEFT_OUT: &str = "Left out for lack of space; the summary of its run has it.\n";

/// The kind and text of the alert.
fn opening(request: &CommentRequest<'_>) -> (&'static str, String) {
    let (kind, headline) = (
        markdown::alert_kind(request.report),
        words::headline(request.report),
    );
    (kind, clauses(&headline, HEADLINE))
}

/// The text of the comment. It starts with the first section's alert.
fn body_of(marker: &str, sections: &BTreeMap<usize, CommentSection>) -> String {
    let mut body = String::new();
    let named = sections
        .iter()
        .filter_map(|(index, section)| Some((SECTIONS.get(*index)?, section)));
    for (index, (name, section)) in named.enumerate() {
        let alert = alert_of(&section.state);
        let state = section.state.written();
        match index {
            0 => body.push_str(&format!(
                "{alert}\n{marker}\n{SECTION}{name} {state} -->\n{}{END}\n",
                section.text
            )),
            _ => body.push_str(&format!(
                "\n---\n\n{SECTION}{name} {state} -->\n{ALERT}{alert}{ALERT_END}\n{}{END}\n",
                section.text
            )),
        }
    }
    body
}

/// The alert of a section. Only known alert kinds are copied from an existing comment, and its headline is escaped like any other text.
fn alert_of(state: &SectionState) -> String {
    let kind = ["CAUTION", "WARNING", "NOTE", "TIP"]
        .into_iter()
        .find(|kind| *kind == state.alert)
        .unwrap_or("NOTE");
    format!(
        "> [!{kind}]\n> **{}**\n",
        with_code(&sentence(&state.headline, HEADLINE))
    )
}

/// The longest headline, in characters.
const HEADLINE: usize = 560;

#[cfg(test)]
mod tests;
