//! The one comment on a pull request: two tiers, each with a section of its own, kept in the comment itself.

mod fit;
mod shown;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::fit::{FittedText, fitted};
pub use self::fit::{regressions, summary, summary_within};
pub use self::shown::{ShownReport, shown_digest, shown_report};
use crate::model::{Comment, Report, RunNumber};
use crate::render::markdown::Links;
use crate::render::plain::sentence;
use crate::render::{markdown, words};
use crate::suites::sha256_hex;

/// GitHub's limit of a comment, in characters; counted here in bytes, which are never fewer.
const LIMIT: usize = 65_536;

/// What is to be written.
#[derive(Debug, Clone)]
pub struct CommentRequest<'a> {
    /// The report.
    pub report: &'a Report,
    /// Where the rest can be read.
    pub links: &'a Links,
    /// Which comment, where a repository has several.
    pub key: &'a str,
    /// The commit at the head when the run began.
    pub head: &'a str,
    /// The commit at the head now.
    pub current_head: &'a str,
    /// The run.
    pub run: RunNumber,
    /// Who measured it.
    pub witness: ReportOrigin,
    /// The name under which comments are written.
    pub author: &'a str,
}

/// Something that is said beside the tiers, in a section of its own.
#[derive(Debug, Clone)]
pub struct Note<'a> {
    /// Which section.
    pub about: NoteSubject,
    /// Whether people have to look.
    pub alert: &'static str,
    /// In a few plain words.
    pub says: &'a str,
    /// The whole, as Markdown in which every foreign text is harmless.
    pub text: &'a str,
    /// Which comment, where a repository has several.
    pub key: &'a str,
    /// The commit that it is about.
    pub head: &'a str,
    /// The commit at the head now.
    pub current_head: &'a str,
    /// The run.
    pub run: RunNumber,
    /// The name under which comments are written.
    pub author: &'a str,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteSubject {
    /// The label, and who gave it.
    Approval,
    /// The commit that writes an approved baseline.
    Bump,
}

/// The sections in the order in which they stand: the deterministic tier's decides, so it stands first.
const SECTIONS: [&str; 4] = ["deterministic", "model", "approval", "bump"];
/// How many of them are tiers'.
const TIERS: usize = 2;

/// Who measured what a section says.
#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum ReportOrigin {
    /// This job.
    #[default]
    Own,
    /// A job that the pull request itself controls: its workflow, its config, its program.
    Stranger,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentPlan {
    /// A new comment is made.
    Create(String),
    /// An own comment gets a new text; further own ones, left by writers that met, are removed.
    Update {
        /// The comment.
        id: u64,
        /// Its text.
        body: String,
        /// Comments whose sections are in the text now.
        remove: Vec<u64>,
    },
    /// Nothing: a newer run has written already.
    Nothing(StaleComment),
}

/// Why nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleComment {
    /// The section is of a newer commit.
    NewerHead,
    /// The section is of a later run on the same commit.
    LaterRun,
    /// The section was measured by a job that the pull request does not control.
    Trusted,
}

/// What a section keeps about itself.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
struct SectionState {
    head: String,
    run: u64,
    attempt: u64,
    alert: String,
    says: String,
    #[serde(default)]
    witness: ReportOrigin,
    /// The digest of the whole result that the section shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// Kinds of golden changes without an approval that it has no room for.
    #[serde(default)]
    hidden: usize,
    /// Of the section's text: a text that a person has edited is not taken over into the next comment.
    #[serde(default)]
    digest: String,
}

impl SectionState {
    fn number(&self) -> RunNumber {
        RunNumber { run: self.run, attempt: self.attempt }
    }
}

/// A section that stands in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommentSection {
    state: SectionState,
    text: String,
}

fn marker(key: &str) -> String {
    format!("<!-- goldgate:comment key={} -->", plain(key))
}

/// A key as it may stand in a marker.
fn plain(key: &str) -> String {
    key.chars().filter(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.')).collect()
}

/// The index of the section that a report writes; a run of both tiers writes into the first one's.
fn tier(report: &Report) -> usize {
    report.tiers.first().and_then(|tier| tier_index(tier.as_str())).unwrap_or_default()
}

fn tier_index(name: &str) -> Option<usize> {
    SECTIONS.iter().position(|known| *known == name)
}

impl NoteSubject {
    fn tier_index(self) -> usize {
        match self {
            Self::Approval => TIERS,
            Self::Bump => TIERS + 1,
        }
    }
}

/// What every writer of a section has.
struct SectionWriter<'a> {
    index: usize,
    key: &'a str,
    head: &'a str,
    current_head: &'a str,
    run: RunNumber,
    author: &'a str,
    witness: ReportOrigin,
}

impl<'a> CommentRequest<'a> {
    fn writer(&self) -> SectionWriter<'a> {
        let Self { report, links: _, key, head, current_head, run, author, witness } = *self;
        SectionWriter { index: tier(report), key, head, current_head, run, author, witness }
    }
}

impl<'a> Note<'a> {
    fn writer(&self) -> SectionWriter<'a> {
        let Self { about, alert: _, says: _, text: _, key, head, current_head, run, author } = *self;
        SectionWriter { index: about.tier_index(), key, head, current_head, run, author, witness: ReportOrigin::Own }
    }
}

/// Plans what to write, from the comments that stand there.
pub fn plan(request: &CommentRequest<'_>, comments: &[Comment]) -> CommentPlan {
    planned(&request.writer(), comments, |marker, sections| composed(request, marker, sections))
}

/// Plans how a note is written, from the comments that stand there.
pub fn plan_note(note: &Note<'_>, comments: &[Comment]) -> CommentPlan {
    planned(&note.writer(), comments, |marker, mut sections| {
        let state = SectionState {
            head: plain(note.head),
            run: note.run.run,
            attempt: note.run.attempt,
            alert: note.alert.to_owned(),
            says: note.says.to_owned(),
            witness: ReportOrigin::Own,
            result: None,
            hidden: 0,
            digest: digest(note.text),
        };
        sections.insert(note.about.tier_index(), CommentSection { state, text: format!("{}\n", note.text) });
        within_limit(marker, sections, note.about.tier_index())
    })
}

fn planned(
    writer: &SectionWriter<'_>,
    comments: &[Comment],
    composed: impl FnOnce(&str, BTreeMap<usize, CommentSection>) -> String,
) -> CommentPlan {
    let marker = marker(writer.key);
    let mut own: Vec<&Comment> =
        comments.iter().filter(|comment| comment.author == writer.author && comment.body.contains(&marker)).collect();
    own.sort_by_key(|comment| comment.id);
    let mut sections: BTreeMap<usize, CommentSection> = BTreeMap::new();
    for (name, section) in own.iter().flat_map(|comment| sections_of(&comment.body)) {
        let newer = sections.get(&name).is_none_or(|other| other.state.number() < section.state.number());
        if newer {
            sections.insert(name, section);
        }
    }
    if let Some(stale) = sections.get(&writer.index).and_then(|section| stale(writer, &section.state)) {
        return CommentPlan::Nothing(stale);
    }
    // What was said about an approval on an older head is not true of this one.
    sections.retain(|index, section| *index < TIERS || section.state.head == writer.current_head);
    let body = composed(&marker, sections);
    match own.split_first() {
        None => CommentPlan::Create(body),
        Some((first, others)) => {
            CommentPlan::Update { id: first.id, body, remove: others.iter().map(|comment| comment.id).collect() }
        }
    }
}

/// An older run never overwrites the section of a newer head.
fn stale(writer: &SectionWriter<'_>, standing: &SectionState) -> Option<StaleComment> {
    let own_is_current = writer.head == writer.current_head;
    let standing_is_current = standing.head == writer.current_head;
    match (own_is_current, standing_is_current) {
        (false, true) => Some(StaleComment::NewerHead),
        (true, false) => None,
        (true, true) | (false, false) => match (writer.witness, standing.witness) {
            // Whoever controls what measures could write over the verdict of the job that it does not control.
            (ReportOrigin::Stranger, ReportOrigin::Own) => Some(StaleComment::Trusted),
            (ReportOrigin::Own, ReportOrigin::Stranger) => None,
            (ReportOrigin::Own, ReportOrigin::Own) | (ReportOrigin::Stranger, ReportOrigin::Stranger) => {
                (standing.number() > writer.run).then_some(StaleComment::LaterRun)
            }
        },
    }
}

/// Whether a comment holds this request's section as it was written.
pub fn is_written(request: &CommentRequest<'_>, body: &str) -> bool {
    stands(&request.writer(), body)
}

/// Whether a comment holds this note as it was written.
pub fn is_note_written(note: &Note<'_>, body: &str) -> bool {
    stands(&note.writer(), body)
}

fn stands(writer: &SectionWriter<'_>, body: &str) -> bool {
    let sections: BTreeMap<usize, CommentSection> = sections_of(body).into_iter().collect();
    sections.get(&writer.index).is_some_and(|section| {
        let SectionState { head, witness, .. } = &section.state;
        head == &plain(writer.head) && section.state.number() == writer.run && *witness == writer.witness
    })
}

/// Whether these comments hold this request's section, in one comment of their author.
pub fn is_settled(request: &CommentRequest<'_>, comments: &[Comment]) -> bool {
    let marker = marker(request.key);
    let mut own = comments.iter().filter(|comment| comment.author == request.author && comment.body.contains(&marker));
    own.next().is_some_and(|comment| is_written(request, &comment.body)) && own.next().is_none()
}

/// The digest of a section's text. White space is left out: a server may send it back as it likes.
fn digest(text: &str) -> String {
    let solid: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    sha256_hex(solid.as_bytes()).chars().take(16).collect()
}

const SECTION: &str = "<!-- goldgate:section ";
const END: &str = "<!-- goldgate:end -->";
/// A section that does not stand first shows its own alert between these.
const ALERT: &str = "<!-- goldgate:alert -->\n";
const ALERT_END: &str = "<!-- goldgate:alert-end -->\n";

/// The sections of a comment. What does not read as one, or has another text than was written, is left out: a comment may have
/// been edited by hand.
fn sections_of(body: &str) -> Vec<(usize, CommentSection)> {
    let mut found = Vec::new();
    for part in body.split(SECTION).skip(1) {
        let Some((head, rest)) = part.split_once(" -->\n") else { continue };
        let Some((name, state)) = head.split_once(' ') else { continue };
        let Some((text, _)) = rest.split_once(END) else { continue };
        if let (Some(index), Ok(state)) = (tier_index(name), serde_json::from_str::<SectionState>(state)) {
            let text = text.split_once(ALERT_END).map_or(text, |(_, text)| text.trim_start_matches('\n'));
            if state.digest == digest(text) {
                found.push((index, CommentSection { state, text: text.to_owned() }));
            }
        }
    }
    found
}

fn composed(request: &CommentRequest<'_>, marker: &str, mut sections: BTreeMap<usize, CommentSection>) -> String {
    let index = tier(request.report);
    let (alert, says) = opening(request);
    let state = SectionState {
        head: plain(request.head),
        run: request.run.run,
        attempt: request.run.attempt,
        alert: alert.to_owned(),
        says,
        witness: request.witness,
        result: Some(shown_digest(request.report)),
        // Of the same length as what is put in below, or longer.
        hidden: usize::MAX,
        // Of the same length as the one that is put in below: the frame is measured with it.
        digest: digest(""),
    };
    sections.insert(index, CommentSection { state, text: String::new() });
    let frame = body_of(marker, &sections).len();
    let FittedText { text, hidden } =
        fitted(request.report, request.links, LIMIT.saturating_sub(frame + NOTES).max(ROOM));
    if let Some(section) = sections.get_mut(&index) {
        section.state.digest = digest(&text);
        section.state.hidden = hidden;
        section.text = text;
    }
    within_limit(marker, sections, index)
}

/// What is kept free for notes on an approval and a bump, in bytes.
const NOTES: usize = 2_048;
/// The least that a section gets, whatever the others have.
const ROOM: usize = 12_000;

/// The comment, at most as long as GitHub takes it: what another writer's section has too much of is left out, whole, the longest
/// first. A comment that GitHub refuses would leave an older one in place, and that one may be green.
fn within_limit(marker: &str, mut sections: BTreeMap<usize, CommentSection>, own: usize) -> String {
    let mut body = body_of(marker, &sections);
    while body.len() > LIMIT {
        let others = sections.iter_mut().filter(|(index, section)| **index != own && section.text != LEFT_OUT);
        let Some((_, section)) = others.max_by_key(|(_, section)| section.text.len()) else { break };
        LEFT_OUT.clone_into(&mut section.text);
        section.state.digest = digest(LEFT_OUT);
        // What is not there is not shown.
        section.state.result = None;
        body = body_of(marker, &sections);
    }
    body
}

const LEFT_OUT: &str = "Left out here for want of room; the summary of its run has it.\n";

/// The kind of the alert and its words. What the pull request measured itself is never shown as passed or as blocking.
fn opening(request: &CommentRequest<'_>) -> (&'static str, String) {
    let (kind, says) = (markdown::alert_kind(request.report), restricted(&words::headline(request.report)));
    match (request.witness, kind) {
        (ReportOrigin::Own, kind) => (kind, says),
        (ReportOrigin::Stranger, "CAUTION" | "WARNING") => ("WARNING", format!("{ITSELF}{says}")),
        (ReportOrigin::Stranger, _) => ("NOTE", format!("{ITSELF}{says}")),
    }
}

const ITSELF: &str = "As measured by the pull request itself: ";

/// The first section's alert opens the comment.
fn body_of(marker: &str, sections: &BTreeMap<usize, CommentSection>) -> String {
    let mut body = String::new();
    let named = sections.iter().filter_map(|(index, section)| Some((SECTIONS.get(*index)?, section)));
    for (index, (name, section)) in named.enumerate() {
        let alert = alert_of(&section.state);
        let state = serde_json::to_string(&section.state).unwrap_or_default();
        match index {
            0 => body.push_str(&format!("{alert}\n{marker}\n{SECTION}{name} {state} -->\n{}{END}\n", section.text)),
            _ => body.push_str(&format!(
                "\n---\n\n{SECTION}{name} {state} -->\n{ALERT}{alert}{ALERT_END}\n{}{END}\n",
                section.text
            )),
        }
    }
    body
}

/// Only GitHub's own words and a headline's letters are written back out of a comment.
fn alert_of(state: &SectionState) -> String {
    let kind = ["CAUTION", "WARNING", "NOTE", "TIP"].into_iter().find(|kind| *kind == state.alert).unwrap_or("NOTE");
    format!("> [!{kind}]\n> **{}**\n", sentence(&restricted(&state.says), 400))
}

/// The letters of a headline: nothing that could end the section's marker or begin a link.
fn restricted(text: &str) -> String {
    let plain = |char: &char| char.is_ascii_alphanumeric() || " .,:;%()[]+-_≥≤−–".contains(*char);
    text.chars().filter(plain).take(400).collect()
}

#[cfg(test)]
mod tests;
