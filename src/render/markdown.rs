//! GitHub's Markdown: one tier's section of the comment, and the job summary.

mod advice;
mod cases;
mod changes;
mod evidence;
mod links;
mod numbers;

use self::advice::advice;
use self::cases::cases;
pub use self::changes::{hidden_kinds, kinds_of_changes, shown_changes};
use self::changes::{listed, needing_approval};
use self::evidence::{failed_gates, moved_cases};
pub use self::links::Links;
use self::numbers::{certainty, changed, detectable, unchanged};
use super::number::duration;
use super::plain::{inline, name, put, sentence, title};
use super::words;
use super::words::GateCounts;
use crate::model::{Authority, CaseTrend, FailureLine, Report, Ruling, SuiteReport, Tag, Tier, Verdict, grouped};
use crate::text::encoded_path;

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
    match (report.verdict.verdict(), report.authority, report.not_gateable.is_empty()) {
        (Some(Verdict::Fail), Authority::Blocking, _) | (_, Authority::Blocking, false) => "CAUTION",
        (Some(Verdict::Fail), Authority::Advisory, _) => "WARNING",
        (_, Authority::Blocking, _) if report.worst_other().is_some() => "CAUTION",
        (Some(Verdict::Inconclusive) | None, _, _) => "NOTE",
        (Some(Verdict::Pass), _, _) => "TIP",
    }
}

/// The verdict in one or two short sentences, escaped.
pub fn headline(report: &Report) -> String {
    sentence(&words::headline(report), 400)
}

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
    let block = |rank, name, text| MarkdownBlock { rank, name, text };
    let mut all = vec![block(0, "heading", heading(report)), block(0, "no verdict", not_gateable(report))];
    let mut moved: Vec<MarkdownBlock> = match tables {
        Tables::One => vec![block(1, "changed numbers", changed(&report.suites, report.approval.as_ref()))],
        Tables::BySuite => {
            let table = |suite: &SuiteReport| {
                let fails = suite.verdict == Ruling::Judged(Verdict::Fail);
                let (rank, name) =
                    if fails { (1, "a failing suite's numbers") } else { (6, "a suite's changed numbers") };
                block(rank, name, changed(std::slice::from_ref(suite), report.approval.as_ref()))
            };
            report.suites.iter().map(table).collect()
        }
    };
    if !report.suites.is_empty() && moved.iter().all(|block| block.text.is_empty()) {
        moved = vec![block(1, "changed numbers", "No number moved.\n".to_owned())];
    }
    all.push(block(1, "notes", notes(report)));
    all.push(block(0, NEEDS_APPROVAL, needing_approval(report)));
    all.push(block(1, "golden changes", listed(report)));
    all.push(block(1, "cases behind failed gates", failed_gates(report, links)));
    all.extend(moved);
    all.extend([
        block(3, "cases behind moved numbers", moved_cases(report, links)),
        block(2, "failed checks", failures(report, links)),
        block(3, "taxonomy", taxonomy(report)),
        block(4, "judges", advice(report)),
        block(5, "cases", cases(report)),
        block(7, "unchanged numbers", unchanged(report)),
        block(6, "how sure the numbers are", certainty(report)),
        block(8, "what can be detected", detectable(report)),
        block(4, "remarks", remarks(report)),
        block(0, "next steps", next_steps(report, links)),
        block(0, "footer", footer(report, links)),
    ]);
    all.into_iter().filter(|block| !block.text.is_empty()).collect()
}

fn heading(report: &Report) -> String {
    let authority = match report.authority {
        Authority::Blocking => "blocks the merge",
        Authority::Advisory => "for information, does not block",
    };
    let samples = words::plural(report.samples as usize, "sample", "samples");
    let cases: usize = report.suites.iter().flat_map(|suite| &suite.agents).map(|agent| agent.cases.len()).sum();
    let graded = words::plural(cases, "agent-case pair", "agent-case pairs");
    let usage = match report.usage.calls {
        0 => "no model calls".to_owned(),
        calls => format!(
            "{}, {} tokens",
            words::plural(calls as usize, "call", "calls"),
            grouped(&(report.usage.input_tokens + report.usage.output_tokens).to_string())
        ),
    };
    let tally = GateCounts::of(&report.suites).to_words();
    format!(
        "### {} tier · {authority}\n\n{tally} · {graded} · up to {samples} each · {usage} · {}\n",
        title(&words::tiers(report)),
        duration(report.usage.wall_ms)
    )
}

fn not_gateable(report: &Report) -> String {
    let mut out = String::new();
    for why in report.not_gateable.iter().take(REASONS) {
        put(&mut out, &format!("- **No verdict:** {}", inline(&why.0, 300)));
    }
    if report.not_gateable.len() > REASONS {
        put(&mut out, &format!("- … and {} more reasons in the full report", report.not_gateable.len() - REASONS));
    }
    out
}

fn notes(report: &Report) -> String {
    let mut out = String::new();
    for note in report.notes.iter().take(NOTES) {
        put(&mut out, &format!("- {}", inline(note, 300)));
    }
    if report.notes.len() > NOTES {
        put(&mut out, &format!("- … and {} more notes in the full report", report.notes.len() - NOTES));
    }
    out
}

/// The number of reasons that are listed.
const REASONS: usize = 20;
/// The number of notes that are listed.
const NOTES: usize = 80;

/// The number of remarks that are listed.
const REMARKS: usize = 60;

/// The number of failed checks that are listed with their evidence.
const LISTED: usize = 25;

fn failures(report: &Report, links: &Links) -> String {
    let mut all: Vec<FailureLine<'_>> = report.failures().collect();
    if all.is_empty() {
        return String::new();
    }
    // New failures come first: they are why the reader is here.
    all.sort_by_key(|failed| failed.case.trend != CaseTrend::NewlyFailing);
    let new = all.iter().filter(|failed| failed.case.trend == CaseTrend::NewlyFailing).count();
    let open = if new > 0 { " open" } else { "" };
    let mut out = format!(
        "<details{open}><summary>{}, {new} in newly failing cases</summary>\n\n",
        words::plural(all.len(), "failed check", "failed checks")
    );
    for failed in all.iter().take(LISTED) {
        put(&mut out, &failure(failed, links));
    }
    if all.len() > LISTED {
        put(&mut out, &format!("- … and {} more in the full report", all.len() - LISTED));
    }
    out.push_str("\n</details>\n");
    out
}

fn failure(failed: &FailureLine<'_>, links: &Links) -> String {
    let pair = &failed.case;
    let new = if failed.case.trend == CaseTrend::NewlyFailing { " **NEW**" } else { "" };
    let title = format!(
        "{} / {} / {} / {}",
        name(failed.suite.id.as_str()),
        name(failed.agent.agent.as_str()),
        name(pair.case.as_str()),
        inline(&failed.check.name.to_string(), 80)
    );
    let title = match &links.files {
        Some(address) => {
            format!("[{title}]({address}/{}#L{})", encoded_path(pair.golden.as_str()), failed.check.location.line)
        }
        None => title,
    };
    let Some(failure) = failed.check.failure.as_deref() else { return format!("- {title}{new}") };
    format!(
        "- `{}` {title}{new}<br>{}<br>Next: {}",
        failure.tag.as_str(),
        inline(&failure.detail, 300),
        inline(&failure.next_action, 300)
    )
}

const TAGS: &str = "| failures by tag | what it means | count | change | how to fix it |\n|---|---|--:|--:|---|\n";

/// The change of a count since the baseline; a dash if the baseline does not have it.
fn counted_change(now: i64, before: Option<i64>) -> String {
    match before.map(|before| (now - before, before)) {
        None => "–".to_owned(),
        Some((0, _)) => "=".to_owned(),
        Some((more, 0)) if more > 0 => format!("+{more} NEW"),
        Some((more, _)) if more > 0 => format!("+{more}"),
        Some((less, _)) => format!("−{}", less.abs()),
    }
}

fn taxonomy(report: &Report) -> String {
    if report.suites.is_empty() {
        return String::new();
    }
    let agents = || report.suites.iter().flat_map(|suite| &suite.agents);
    let known = agents().any(|agent| agent.taxonomy_before.is_some());
    let mut rows = String::new();
    for tag in Tag::ALL {
        let now: i64 = agents().map(|agent| i64::from(agent.taxonomy()[&tag])).sum();
        let before: i64 =
            agents().filter_map(|agent| agent.taxonomy_before.as_ref()?.get(&tag)).map(|count| i64::from(*count)).sum();
        let change = counted_change(now, known.then_some(before));
        match (now, before) {
            (0, 0) => {}
            _ => put(
                &mut rows,
                &format!("| `{}` | {} | {now} | {change} | {} |", tag.as_str(), tag.meaning(), tag.fix_strategy()),
            ),
        }
    }
    let lost = i64::try_from(report.lost_samples()).unwrap_or(i64::MAX);
    let before: Vec<u32> = agents().filter_map(|agent| agent.infra_before).collect();
    let before = (!before.is_empty()).then(|| before.into_iter().map(i64::from).sum());
    if lost > 0 || before.is_some_and(|before: i64| before > 0) {
        put(
            &mut rows,
            &format!(
                "| `infra` | not a failure: the sample has no output to grade | {lost} | {} | check the infrastructure, or record again |",
                counted_change(lost, before)
            ),
        );
    }
    if rows.is_empty() { rows } else { format!("{TAGS}{rows}\n") }
}

fn remarks(report: &Report) -> String {
    let mut lines = Vec::new();
    for suite in &report.suites {
        for agent in &suite.agents {
            let whose = format!("{}/{}", name(suite.id.as_str()), name(agent.agent.as_str()));
            lines.extend(agent.notes.iter().map(|note| format!("- {whose}: {}", inline(note, 300))));
        }
    }
    let mut out = String::new();
    lines.iter().take(REMARKS).for_each(|line| put(&mut out, line));
    if lines.len() > REMARKS {
        put(&mut out, &format!("- … and {} more remarks in the full report", lines.len() - REMARKS));
    }
    out
}

fn next_steps(report: &Report, links: &Links) -> String {
    let mut out = String::new();
    let tier = report.tiers.first().copied().unwrap_or(Tier::Deterministic);
    // Each case has its own number of recordings, so one number for all would demand too many from some.
    let samples = match tier {
        Tier::Model if report.samples > 0 => format!(" --samples {}", report.samples),
        Tier::Model | Tier::Deterministic => String::new(),
    };
    let tier = tier.as_str();
    put(
        &mut out,
        &format!("Reproduce it: `goldgate run --tier {tier}{samples}` · inspect a case: `goldgate explain CASE`"),
    );
    if let Some(label) = &links.label {
        put(&mut out, &format!("\nAccept the moved numbers: add the label `{label}`."));
        if let Some(reason) = links.reason {
            let ask = "A worse number needs a reason. Copy this line into the description, and complete it:";
            put(&mut out, &format!("{ask}\n\n    {reason}"));
        }
    }
    out
}

fn footer(report: &Report, links: &Links) -> String {
    let run = links.run.as_ref().map_or(String::new(), |address| format!(" · [run and full report]({address})"));
    format!(
        "<sub>head {} · baseline of {}{run} · goldgate {}</sub>\n",
        words::short(report.commit.as_deref()),
        words::base(report, |branch| inline(branch, words::NAME)),
        name(&report.tool.version)
    )
}
