//! GitHub's Markdown: one tier's section of the comment, and the job summary.

mod advice;
mod broken;
mod cases;
mod changes;
mod failures;
mod links;
mod next_steps;
mod numbers;
mod remarks;

use self::advice::advice;
use self::broken::{broken_cases, moved_cases};
use self::cases::cases;
pub(crate) use self::changes::{hidden_kinds, kinds_of_changes, shown_changes};
use self::changes::{listed, needing_approval};
use self::failures::{other_failures, taxonomy};
pub use self::links::{Acceptance, Links};
pub use self::next_steps::acceptance_line;
use self::next_steps::next_steps;
use self::numbers::{ChangedNumbers, certainty, changed, detectable, moved_uses, unchanged};
use self::remarks::remarks;
use super::broken::is_anything_broken;
use super::plain::{coded, inline, name, put, put_more, sentence, title, with_code};
use super::words;
use super::words::GateCounts;
use crate::model::{Authority, Report, Verdict, grouped};
use crate::text::clauses;

/// A part of a section. If there is too little room it is left out as a whole, the highest rank first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownBlock {
    /// How easily it is left out; 0 is kept longest.
    pub rank: u8,
    /// Its name in the list of what was left out.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// The block of golden changes that need an approval.
pub const NEEDS_APPROVAL: &str = "golden changes that need an approval";

/// How the table of numbers is split into blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// One table.
    One,
    /// One table per suite, so that suites can be left out.
    BySuite,
}

/// The kind of alert that opens a comment.
pub fn alert_kind(report: &Report) -> &'static str {
    if report.called_off.is_some() {
        return "CAUTION";
    }
    match (
        report.verdict.verdict(),
        report.authority,
        report.not_gateable.is_empty(),
    ) {
        (Some(Verdict::Fail), Authority::Blocking, _) | (_, Authority::Blocking, false) => {
            "CAUTION"
        }
        (Some(Verdict::Fail), Authority::Advisory, _) => "WARNING",
        (_, Authority::Blocking, _) if report.worst_other().is_some() => "CAUTION",
        (Some(Verdict::Inconclusive) | None, _, _) => "NOTE",
        // Green by approval is not plain green.
        (Some(Verdict::Pass), _, _) if words::passes_by_approval(report) => "NOTE",
        (Some(Verdict::Pass), _, _) => "TIP",
    }
}

/// The verdict in one or two short sentences, escaped.
pub fn headline(report: &Report) -> String {
    with_code(&sentence(
        &clauses(&words::headline(report), HEADLINE),
        HEADLINE,
    ))
}

/// The longest headline, in characters.
const HEADLINE: usize = 600;

/// The alert that opens a comment.
pub fn alert(report: &Report) -> String {
    format!("> [!{}]\n> **{}**\n", alert_kind(report), headline(report))
}

/// The whole report as one page, for the job summary and `report.md`.
pub fn summary(report: &Report, links: &Links) -> String {
    let mut out = alert(report);
    for block in blocks(report, links, Tables::One) {
        out.push('\n');
        out.push_str(&block.text);
    }
    out
}

/// One tier's section as blocks, in order.
pub fn blocks(report: &Report, links: &Links, tables: Tables) -> Vec<MarkdownBlock> {
    let mut all = vec![
        block(0, "heading", heading(report)),
        block(0, "no verdict", not_gateable(report)),
        block(1, "notes", notes(report)),
        block(0, NEEDS_APPROVAL, needing_approval(report)),
        block(1, "broken cases", broken_cases(report, links)),
    ];
    let approval = report.approval.as_ref();
    let shown = if is_anything_broken(report) {
        ChangedNumbers::Folded
    } else {
        ChangedNumbers::Open
    };
    match tables {
        Tables::One => all.push(block(
            1,
            "changed numbers",
            changed(&report.suites, approval, shown),
        )),
        Tables::BySuite => {
            for suite in &report.suites {
                let (rank, name) = if suite.verdict.fails() {
                    (1, "a failing suite's numbers")
                } else {
                    (6, "a suite's changed numbers")
                };
                let text = changed(std::slice::from_ref(suite), approval, shown);
                all.push(block(rank, name, text));
            }
        }
    }
    all.extend([
        block(2, "what samples use", moved_uses(report)),
        block(0, "next steps", next_steps(report, links)),
        block(3, "cases behind moved numbers", moved_cases(report, links)),
        block(1, "golden changes", listed(report)),
        block(3, "other failed checks", other_failures(report, links)),
        block(3, "failures by tag", taxonomy(report)),
        block(7, "unchanged numbers", unchanged(report)),
        block(5, "cases", cases(report)),
        block(6, "how sure the numbers are", certainty(report)),
        block(8, "what can be detected", detectable(report)),
        block(4, "remarks", remarks(report)),
        block(4, "judges", advice(report)),
        block(0, "footer", footer(report, links)),
    ]);
    all.retain(|block| !block.text.is_empty());
    all
}

fn block(rank: u8, name: &'static str, text: String) -> MarkdownBlock {
    MarkdownBlock { rank, name, text }
}

fn heading(report: &Report) -> String {
    let authority = match report.authority {
        Authority::Blocking => "blocks the merge",
        Authority::Advisory => "for information, does not block",
    };
    // Several configs have a comment each.
    let config = match &report.config {
        Some(config) if config.as_str() != "goldgate.yaml" => {
            format!(" of {}", inline(config.as_str(), 200))
        }
        Some(_) | None => String::new(),
    };
    format!(
        "### {} tier{config} · {authority}\n",
        title(&words::tiers(report))
    )
}

fn not_gateable(report: &Report) -> String {
    let mut out = String::new();
    for why in report.not_gateable.iter().take(REASONS) {
        put(
            &mut out,
            &format!("- **No verdict:** {}", coded(&words::reason(why))),
        );
    }
    put_more(&mut out, report.not_gateable.len(), REASONS, |more| {
        format!("- … and {more} more reasons in the full report")
    });
    out
}

fn notes(report: &Report) -> String {
    let mut out = String::new();
    for note in report.notes.iter().take(NOTES) {
        put(&mut out, &format!("- {}", coded(&words::note(note))));
    }
    put_more(&mut out, report.notes.len(), NOTES, |more| {
        format!("- … and {more} more notes in the full report")
    });
    out
}

/// The number of reasons that are listed.
const REASONS: usize = 20;
/// The number of notes that are listed.
const NOTES: usize = 80;

fn footer(report: &Report, links: &Links) -> String {
    let run = links.run.as_ref().map_or(String::new(), |address| {
        format!(" · [run and full report]({address})")
    });
    let samples = words::plural(report.samples as usize, "sample", "samples");
    let cases: usize = report.agents().map(|agent| agent.cases.len()).sum();
    let graded = words::plural(cases, "agent-case pair", "agent-case pairs");
    let usage = match report.usage.calls {
        0 => String::new(),
        calls => format!(
            " · {}, {} tokens",
            words::plural(calls as usize, "call", "calls"),
            grouped(&(report.usage.input_tokens + report.usage.output_tokens).to_string())
        ),
    };
    let tally = GateCounts::of(&report.suites).to_words();
    format!(
        "<sub>{tally} · {graded} · up to {samples} each{usage} · {} · baseline of {}{run} · goldgate {}</sub>\n",
        words::graded_commit(report, "head"),
        words::base(report, |branch| inline(branch, words::NAME)),
        name(&report.tool.version)
    )
}
