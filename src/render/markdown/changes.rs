//! The golden changes since the base commit.

use crate::model::{ChangeClass, GoldenChange, Report, Weight};
use crate::render::plain::{coded, inline, put, put_more};
use crate::render::words;
use crate::text::clauses;

/// The number of changes of each weight that are listed.
const LISTED: usize = 20;
/// The largest number of kinds of changes that are listed, one change of each kind.
const KINDS: usize = 40;

/// The room for the words of all changes that need an approval, in characters: a comment has to show them.
const ROOM: usize = 12_000;

/// The kind of a change: its class, the folder, and what was done there.
type ChangeKind = (ChangeClass, String, String);

/// The changes that need an approval: all of them, or one of each kind if there are too many.
pub fn needing_approval(report: &Report) -> String {
    let heavy = of(report, Weight::NeedsApproval);
    let mut out = String::new();
    if heavy.is_empty() {
        return out;
    }
    let count = words::plural(heavy.len(), "golden change", "golden changes");
    match &report.approval {
        Some(approval) => put(
            &mut out,
            &format!(
                "**{count}**, {}:\n",
                inline(&words::approval(approval), 200)
            ),
        ),
        None => put(&mut out, &format!("**{count} without an approval:**\n")),
    }
    let shown = chosen(&heavy);
    let longest = (ROOM / shown.len()).min(words::CHANGE);
    for (change, more) in shown {
        let words = coded(&clauses(&change.words, longest));
        let more = if more > 0 {
            format!(" (and {more} more of this kind)")
        } else {
            String::new()
        };
        put(&mut out, &format!("- {words}{more}"));
    }
    if heavy.len() > LISTED {
        put(
            &mut out,
            "\n**This list is cut; the full report has all changes.**",
        );
    }
    match hidden_kinds(report) {
        0 => {}
        hidden => put(
            &mut out,
            &format!(
                "\n**{hidden} more kinds of golden changes do not fit here, so an approval does not count. Split the pull request.**"
            ),
        ),
    }
    out
}

/// The changes that need no approval, folded.
pub fn listed(report: &Report) -> String {
    let light = of(report, Weight::Listed);
    let mut out = String::new();
    if light.is_empty() {
        return out;
    }
    let count = words::plural(
        light.len(),
        "golden change that needs no approval",
        "golden changes that need no approval",
    );
    put(&mut out, &format!("<details><summary>{count}</summary>\n"));
    for change in light.iter().take(LISTED) {
        put(&mut out, &format!("- {}", coded(&words::change(change))));
    }
    put_more(&mut out, light.len(), LISTED, |more| {
        format!("- … and {more} more in the full report")
    });
    out.push_str("\n</details>\n");
    out
}

/// The shown changes that need an approval, each with the number of hidden ones of its kind.
pub fn shown_changes(report: &Report) -> Vec<(&GoldenChange, usize)> {
    chosen(&of(report, Weight::NeedsApproval))
}

/// The number of kinds of changes that need an approval.
pub fn kinds_of_changes(report: &Report) -> usize {
    kinds(&of(report, Weight::NeedsApproval)).len()
}

/// The number of these kinds that do not fit into the list.
pub fn hidden_kinds(report: &Report) -> usize {
    kinds_of_changes(report).saturating_sub(KINDS)
}

fn of(report: &Report, weight: Weight) -> Vec<&GoldenChange> {
    report
        .golden_changes
        .iter()
        .filter(|change| change.weight == weight)
        .collect()
}

/// The shown changes, each with the number of hidden ones of its kind. If all fit, all are shown.
fn chosen<'a>(changes: &[&'a GoldenChange]) -> Vec<(&'a GoldenChange, usize)> {
    if changes.len() <= LISTED {
        return changes.iter().map(|change| (*change, 0)).collect();
    }
    let kinds = kinds(changes);
    kinds
        .into_iter()
        .take(KINDS)
        .filter_map(|(_, members)| members.first().map(|first| (*first, members.len() - 1)))
        .collect()
}

/// The changes by kind: the most dangerous class first, then the rarest kind. A single edit among forty others of another kind is
/// the one to review.
fn kinds<'a>(changes: &[&'a GoldenChange]) -> Vec<(ChangeKind, Vec<&'a GoldenChange>)> {
    let mut kinds: Vec<(ChangeKind, Vec<&GoldenChange>)> = Vec::new();
    for change in changes {
        let kind = kind(change);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(change),
            None => kinds.push((kind, vec![change])),
        }
    }
    kinds.sort_by_key(|((class, part, _), members)| (*class, !part.is_empty(), members.len()));
    kinds
}

fn kind(change: &GoldenChange) -> ChangeKind {
    let folder = change
        .file
        .as_ref()
        .and_then(|file| file.as_str().rsplit_once('/'))
        .map_or("", |(folder, _)| folder);
    let part: Vec<&str> = folder.split('/').take(2).collect();
    let (done, detail) = change.words.split_once(": ").unwrap_or((&change.words, ""));
    let ends = [
        done.split_whitespace().next(),
        done.split_whitespace().last(),
        detail.split_whitespace().next(),
    ];
    let done: Vec<String> = ends.into_iter().flatten().map(of_any).collect();
    (change.class, part.join("/"), done.join(" "))
}

/// A word without file names and digits, so that words of one kind are equal.
fn of_any(word: &str) -> String {
    if word.contains(['/', '`']) {
        return String::new();
    }
    word.chars()
        .map(|char| if char.is_ascii_digit() { '0' } else { char })
        .collect()
}
