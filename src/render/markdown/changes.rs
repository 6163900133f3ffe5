//! What changed in what is measured with, since the base commit.

use super::put;
use crate::model::GoldenChange;
use crate::model::Report;
use crate::model::Weight;
use crate::render::plain::inline;
use crate::render::words;

/// Changes of each weight that are listed; the rest is counted.
const LISTED: usize = 20;

/// The changes: those that need approval open, those that are listed folded away.
pub fn golden_changes(report: &Report) -> String {
    let of = |weight| report.golden_changes.iter().filter(|change| change.weight == weight).collect::<Vec<_>>();
    let (heavy, light) = (of(Weight::NeedsApproval), of(Weight::Listed));
    let mut out = String::new();
    if !heavy.is_empty() {
        let what = words::plural(heavy.len(), "golden change", "golden changes");
        match &report.approval {
            Some(approval) => put(&mut out, &format!("**{what}**, {}:\n", inline(&words::approval(approval), 200))),
            None => put(&mut out, &format!("**{what} without an approval:**\n")),
        }
        rows(&mut out, &heavy);
    }
    if !light.is_empty() {
        let what = words::plural(light.len(), "more change of the golden set", "more changes of the golden set");
        put(&mut out, &format!("<details><summary>{what}</summary>\n"));
        rows(&mut out, &light);
        out.push_str("\n</details>\n");
    }
    out
}

fn rows(out: &mut String, changes: &[&GoldenChange]) {
    for change in changes.iter().take(LISTED) {
        put(out, &format!("- {}", inline(&change.words, 300)));
    }
    if changes.len() > LISTED {
        put(out, &format!("- … and {} more in the full report", changes.len() - LISTED));
    }
}
