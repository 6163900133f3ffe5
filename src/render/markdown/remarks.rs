//! Remarks on single agents: folded, because they do not decide the verdict.

use crate::model::Report;
use crate::render::plain::{coded, name, put, put_more};
use crate::render::words;

/// The number of remarks that are listed.
const REMARKS: usize = 60;

pub fn remarks(report: &Report) -> String {
    let mut lines = Vec::new();
    for (suite, agent) in report.suite_agents() {
        let whose = format!("{}/{}", name(suite.id.as_str()), name(agent.agent.as_str()));
        lines.extend(
            agent
                .notes
                .iter()
                .map(|note| format!("- {whose}: {}", coded(&words::note(note)))),
        );
    }
    let mut out = String::new();
    lines
        .iter()
        .take(REMARKS)
        .for_each(|line| put(&mut out, line));
    put_more(&mut out, lines.len(), REMARKS, |more| {
        format!("- … and {more} more remarks in the full report")
    });
    if out.is_empty() {
        return out;
    }
    let count = words::plural(lines.len(), "remark", "remarks");
    format!("<details><summary>{count} on single agents</summary>\n\n{out}\n</details>\n")
}
