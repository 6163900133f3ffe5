//! Fits a section into GitHub's limits: whole blocks are left out, and the footer stays.

use std::collections::BTreeMap;

use crate::model::Report;
use crate::render::markdown;
use crate::render::markdown::{Links, MarkdownBlock, Tables};

/// GitHub's limit of a job summary, in bytes.
const SUMMARY_LIMIT: usize = 1024 * 1024;

/// The job summary, within GitHub's limit.
pub fn summary(report: &Report, links: &Links) -> String {
    summary_within(report, links, SUMMARY_LIMIT)
}

/// The same within another limit, in bytes.
pub fn summary_within(report: &Report, links: &Links, limit: usize) -> String {
    let alert = markdown::alert(report);
    format!(
        "{alert}\n{}",
        fitted(report, links, limit.saturating_sub(alert.len() + 1)).text
    )
}

/// The number of failed gates.
pub fn regressions(report: &Report) -> usize {
    report
        .metrics()
        .flat_map(|metric| &metric.gates)
        .filter(|gate| gate.ruling.fails())
        .count()
}

/// A section's text, and what did not fit.
pub struct FittedText {
    /// The text.
    pub text: String,
    /// The number of kinds of unapproved golden changes that are not in it.
    pub hidden: usize,
}

/// Fits a section's blocks into a budget of bytes. The blocks with the highest rank are left out first, among equals the last one. In
/// the extreme case only the footer is left.
pub fn fitted(report: &Report, links: &Links, budget: usize) -> FittedText {
    let mut blocks = markdown::blocks(report, links, Tables::One);
    if size(&blocks) > budget {
        blocks = markdown::blocks(report, links, Tables::BySuite);
    }
    // Room for the line that lists what is missing.
    let room = budget.saturating_sub(600);
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    while size(&blocks) > if left_out.is_empty() { budget } else { room } {
        let Some((index, worst)) = blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.name != FOOTER)
            .max_by_key(|(index, block)| (block.rank, *index))
        else {
            break;
        };
        *left_out.entry(worst.name).or_default() += 1;
        blocks.remove(index);
    }
    let hidden = if left_out.contains_key(markdown::NEEDS_APPROVAL) {
        markdown::kinds_of_changes(report)
    } else {
        markdown::hidden_kinds(report)
    };
    let mut out = blocks
        .iter()
        .map(|block| block.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    if !left_out.is_empty() {
        let names: Vec<String> = left_out
            .iter()
            .map(|(name, count)| {
                if *count == 1 {
                    (*name).to_owned()
                } else {
                    format!("{name} ({count} times)")
                }
            })
            .collect();
        let whole = links
            .run
            .as_ref()
            .map_or("the full report has them".to_owned(), |address| {
                format!("[the full report]({address}) has them")
            });
        out.push_str(&format!(
            "\nLeft out for lack of space: {}; {whole}.\n",
            names.join(", ")
        ));
    }
    FittedText { text: out, hidden }
}

/// The bytes of blocks, each with a line feed.
fn size(blocks: &[MarkdownBlock]) -> usize {
    blocks.iter().map(|block| block.text.len() + 1).sum()
}

/// The block that is never left out.
const FOOTER: &str = "footer";
