//! The one comment on a pull request. Each tier has its own section, whose state is stored in the comment itself.

mod fit;
mod sections;

use std::collections::BTreeMap;

use self::fit::{FittedText, fitted};
pub use self::fit::{regressions, summary, summary_within};
use self::sections::{
    ALERT, ALERT_END, CommentSection, END, SECTION, SectionPlace, SectionState, digest,
    sections_of, tier_index,
};
use super::config_key::ConfigKey;
use crate::model::{Comment, Report, RunNumber, Tier};
use crate::render::markdown::Links;
use crate::render::plain::{sentence, with_code};
use crate::render::{markdown, words};
use crate::text::clauses;

/// GitHub's limit of a comment in characters. It is applied to bytes, of which there are at least as many.
const LIMIT: usize = 65_536;

/// The result of one config.
#[derive(Debug, Clone, Copy)]
pub struct ConfigResult<'a> {
    /// The report.
    pub report: &'a Report,
    /// Links to more information.
    pub links: &'a Links,
}

/// The input of a comment.
#[derive(Debug, Clone)]
pub struct CommentRequest<'a> {
    /// The results of the configs that one step graded, each with a section of its own.
    pub results: &'a [ConfigResult<'a>],
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

/// The section of a report; a run of both tiers writes into that of the first one. The only config of a comment is not named.
fn place(report: &Report, results: usize) -> SectionPlace {
    let tier = report
        .tiers
        .first()
        .and_then(|tier| tier_index(tier.as_str()));
    let config = report.config.as_ref().filter(|_| results > 1);
    SectionPlace {
        config: config.map_or_else(String::new, |config| {
            ConfigKey::new("", config).as_str().to_owned()
        }),
        index: tier.unwrap_or_default(),
    }
}

impl NoteSubject {
    fn place(self) -> SectionPlace {
        let index = match self {
            Self::Record => TIERS,
            Self::Verdict(tier) => tier_index(tier.as_str()).unwrap_or_default(),
        };
        SectionPlace {
            config: String::new(),
            index,
        }
    }
}

/// The data that every section needs.
struct SectionWriter<'a> {
    places: Vec<SectionPlace>,
    key: &'a str,
    head: &'a str,
    current_head: &'a str,
    run: RunNumber,
    author: Option<&'a str>,
}

impl<'a> CommentRequest<'a> {
    fn writer(&self) -> SectionWriter<'a> {
        let Self {
            results,
            key,
            head,
            current_head,
            run,
            author,
        } = *self;
        SectionWriter {
            places: results
                .iter()
                .map(|result| place(result.report, results.len()))
                .collect(),
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
            places: vec![about.place()],
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
        let place = note.about.place();
        sections.insert(
            place.clone(),
            CommentSection {
                state,
                text: format!("{}\n", note.text),
            },
        );
        within_limit(marker, sections, &[place])
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
    let Some((leading, _)) = comment.body.split_once(marker) else {
        return false;
    };
    let leading = leading.trim_end();
    leading.starts_with("> [!") && leading.lines().all(|line| line.starts_with('>'))
}

fn planned(
    writer: &SectionWriter<'_>,
    comments: &[Comment],
    composed: impl FnOnce(&str, BTreeMap<SectionPlace, CommentSection>) -> String,
) -> CommentPlan {
    let marker = marker(writer.key);
    let mut own_comments: Vec<&Comment> = comments
        .iter()
        .filter(|comment| is_own(comment, writer.author, &marker))
        .collect();
    own_comments.sort_by_key(|comment| comment.id);
    let mut sections: BTreeMap<SectionPlace, CommentSection> = BTreeMap::new();
    for (place, section) in own_comments
        .iter()
        .flat_map(|comment| sections_of(&comment.body))
    {
        let newer = sections
            .get(&place)
            .is_none_or(|known| known.state.number() < section.state.number());
        if newer {
            sections.insert(place, section);
        }
    }
    let own_sections = writer.places.iter().filter_map(|place| sections.get(place));
    if let Some(stale) = own_sections
        .filter_map(|section| stale(writer, &section.state))
        .next()
    {
        return CommentPlan::Nothing(stale);
    }
    // A note about an older head is not true for this one, and a result of this tier is not one of this run's configs.
    sections.retain(|place, section| {
        let is_of_tier = writer
            .places
            .iter()
            .any(|written| written.index == place.index);
        let is_kept = writer.places.contains(place) || !is_of_tier;
        is_kept && (place.index < TIERS || section.state.head == writer.current_head)
    });
    let body = composed(&marker, sections);
    match own_comments.split_first() {
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
    let sections: BTreeMap<SectionPlace, CommentSection> = sections_of(body).into_iter().collect();
    writer.places.iter().all(|place| {
        sections.get(place).is_some_and(|section| {
            let SectionState { head, .. } = &section.state;
            head == &plain(writer.head) && section.state.number() == writer.run
        })
    })
}

/// Whether exactly one comment of the author exists, and it contains this request's section.
pub fn is_settled(request: &CommentRequest<'_>, comments: &[Comment]) -> bool {
    let marker = marker(request.key);
    let mut own_comments = comments
        .iter()
        .filter(|comment| is_own(comment, request.author, &marker));
    own_comments
        .next()
        .is_some_and(|comment| is_written(request, &comment.body))
        && own_comments.next().is_none()
}

/// The number of kinds of golden changes that the comment has no room for. `results` is how many configs have a section in it.
pub fn hidden_classes(report: &Report, results: usize) -> usize {
    let frame = FRAME * results + NOTES;
    let budget = LIMIT.saturating_sub(frame) / results.max(1);
    fitted(report, &Links::default(), budget).hidden
}

/// The space of a comment's marker, alert and state, in bytes.
const FRAME: usize = 2_048;

fn composed(
    request: &CommentRequest<'_>,
    marker: &str,
    mut sections: BTreeMap<SectionPlace, CommentSection>,
) -> String {
    let places = request.writer().places;
    let count = request.results.len();
    for (result, place) in request.results.iter().zip(&places) {
        let (alert, headline) = opening(result.report, count);
        let state = SectionState {
            head: plain(request.head),
            run: request.run.run,
            attempt: request.run.attempt,
            alert: alert.to_owned(),
            headline,
            // As long as the value that is set below: the frame is measured with it.
            digest: digest(""),
        };
        let text = String::new();
        sections.insert(place.clone(), CommentSection { state, text });
    }
    let frame = body_of(marker, &sections).len();
    let budget = LIMIT.saturating_sub(frame + NOTES) / count.max(1);
    let room = ROOM / count.max(1);
    for (result, place) in request.results.iter().zip(&places) {
        let FittedText { text, hidden: _ } = fitted(result.report, result.links, budget.max(room));
        if let Some(section) = sections.get_mut(place) {
            section.state.digest = digest(&text);
            section.text = text;
        }
    }
    within_limit(marker, sections, &places)
}

/// The space that is kept free for a note on a recording, in bytes.
const NOTES: usize = 2_048;
/// The least space of a section, in bytes.
const ROOM: usize = 12_000;

/// The comment within GitHub's limit. The texts of other sections are left out, the longest first. A comment that GitHub rejects would
/// leave an older one in place, which may be green.
fn within_limit(
    marker: &str,
    mut sections: BTreeMap<SectionPlace, CommentSection>,
    kept: &[SectionPlace],
) -> String {
    let mut body = body_of(marker, &sections);
    while body.len() > LIMIT {
        let others = sections
            .iter_mut()
            .filter(|(place, section)| !kept.contains(place) && section.text != LEFT_OUT);
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

/// The kind and text of the alert, with the config's path where there are several.
fn opening(report: &Report, results: usize) -> (&'static str, String) {
    let headline = words::headline(report);
    let named = match report.config.as_ref().filter(|_| results > 1) {
        Some(config) => format!("{config}: {headline}"),
        None => headline,
    };
    (markdown::alert_kind(report), clauses(&named, HEADLINE))
}

/// The text of the comment. It starts with the first section's alert: of a tier, that of the config with the worst result.
fn body_of(marker: &str, sections: &BTreeMap<SectionPlace, CommentSection>) -> String {
    let mut body = String::new();
    let mut ordered: Vec<(&SectionPlace, &CommentSection)> = sections.iter().collect();
    ordered.sort_by_key(|(place, section)| (place.index, kind_of(&section.state)));
    let named = ordered
        .into_iter()
        .filter_map(|(place, section)| Some((place.name()?, section)));
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

/// The kinds of alerts, the worst one first.
const KINDS: [&str; 4] = ["CAUTION", "WARNING", "NOTE", "TIP"];
/// The index of what any other kind becomes.
const NOTE: usize = 2;

/// The index of a section's kind of alert. Only known ones are copied from an existing comment.
fn kind_of(state: &SectionState) -> usize {
    let known = KINDS.iter().position(|kind| *kind == state.alert);
    known.unwrap_or(NOTE)
}

/// The alert of a section. Its headline is escaped like any other text.
fn alert_of(state: &SectionState) -> String {
    let kind = KINDS[kind_of(state)];
    format!(
        "> [!{kind}]\n> **{}**\n",
        with_code(&sentence(&state.headline, HEADLINE))
    )
}

/// The longest headline, in characters.
const HEADLINE: usize = 560;

#[cfg(test)]
mod tests;
