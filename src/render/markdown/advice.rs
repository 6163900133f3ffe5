//! The results of LLM judges: folded, under a title that says they are advisory.

use crate::model::{Report, Unit, metric_value};
use crate::render::plain::{inline, name};
use crate::render::{judges, number};

const HEAD: &str = "| suite | agent | judge | baseline | this commit | delta | status |\n|---|---|---|--:|--:|--:|---|\n";

pub fn advice(report: &Report) -> String {
    let mut rows = String::new();
    for (suite, agent) in report.suite_agents() {
        for judge in &agent.judges {
            let [baseline, current, delta] = judges::numbers(judge);
            rows.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {}, {} |\n",
                name(suite.id.as_str()),
                name(agent.agent.as_str()),
                name(judge.name.as_str()),
                metric_value(Unit::Share, baseline),
                metric_value(Unit::Share, current),
                number::delta(Unit::Share, delta),
                judges::ADVISORY,
                judges::standing_word(judge)
            ));
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let sentences: String = judges::judge_lines(report, inline)
        .iter()
        .map(|sentence| format!("- {sentence}\n"))
        .collect();
    format!(
        "<details><summary>LLM judges, for what rules cannot score (advisory, not part of any gate)</summary>\n\n{HEAD}{rows}\n{sentences}\n</details>\n"
    )
}
