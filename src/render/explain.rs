//! One case: the expectation, the samples, why each check failed, and the next step.

use super::evidence::has_cases;
use super::plain::{line, put};
use super::sparkline::sparkline;
use super::{exhibit, judges, words};
use crate::files::SourceText;
use crate::model::{
    AgentReport, Ask, Exclusion, PairCheck, PairResult, PairShortfall, RepoPath, Report, Ruling,
    RunKey, Sample, SimulatedUser, SuiteReport, Toolbox, Unit, UserTurns, Verdict, metric_value,
};
use crate::text::{ChangedLine, Redactor, changed_lines, config_option, line_with_end};

/// One case of one agent with its input, expectation, outputs and result.
pub struct ExplainedCase<'a> {
    pub config: &'a RepoPath,
    pub suite: &'a SuiteReport,
    pub agent: &'a AgentReport,
    pub case: &'a PairResult,
    pub asked: &'a [(RunKey, Ask)],
    pub golden: &'a SourceText,
    /// The agent's outputs.
    pub samples: &'a [Sample],
    /// The outputs at an earlier commit; `None` without one.
    pub before: Option<EarlierOutput<'a>>,
    /// The share of samples that passed in the last committed baselines, oldest first.
    pub past: &'a [Option<f64>],
    /// Removes secrets from the golden file. Nothing else has any.
    pub redactor: &'a Redactor,
}

/// The outputs of a case at an earlier commit.
#[derive(Clone, Copy)]
pub struct EarlierOutput<'a> {
    /// The short id of the commit.
    pub commit: &'a str,
    /// The outputs; empty if the commit does not have the case.
    pub samples: &'a [Sample],
}

/// The most lines that are shown of a difference.
const CHANGES: usize = 60;

/// Writes what changed in the output since the earlier commit.
fn changes(out: &mut String, earlier: EarlierOutput<'_>, samples: &[Sample]) {
    if earlier.samples.is_empty() {
        return put(
            out,
            &format!(
                "no output to compare with: commit {} does not have this case yet",
                earlier.commit
            ),
        );
    }
    let (old, new) = (exhibit::whole(earlier.samples), exhibit::whole(samples));
    let changes = changed_lines(&old, &new);
    if changes.is_empty() {
        return put(
            out,
            &format!("the output is the same as at commit {}", earlier.commit),
        );
    }
    put(
        out,
        &format!("output at commit {} (-) and now (+):", earlier.commit),
    );
    for change in changes.iter().take(CHANGES) {
        match change {
            ChangedLine::Removed(text) => put(out, &exhibit::indented("  - ", text, 400)),
            ChangedLine::Added(text) => put(out, &exhibit::indented("  + ", text, 400)),
        }
    }
    if changes.len() > CHANGES {
        put(
            out,
            &format!(
                "  … and {}",
                words::plural(changes.len() - CHANGES, "more line", "more lines")
            ),
        );
    }
}

/// One line for each case: those that fail come first, with their first failed check.
pub fn list(report: &Report) -> String {
    let mut lines: Vec<(bool, String)> = Vec::new();
    for (suite, agent) in report.suite_agents() {
        for case in agent.shown() {
            let mut failed = case.failed_checks();
            let first = failed.next().map_or(String::new(), |check| {
                format!("  {}", line(&check.name.to_string(), 120))
            });
            let verdict = case.verdict.as_str();
            let passes = case.verdict == Ruling::Judged(Verdict::Pass);
            lines.push((
                passes,
                format!(
                    "{}/{}/{}: {verdict}{first}",
                    suite.id, agent.agent, case.case
                ),
            ));
        }
    }
    lines.sort_by_key(|(passes, _)| *passes);
    let mut out = String::new();
    lines.iter().for_each(|(_, text)| put(&mut out, text));
    put(
        &mut out,
        "`goldgate explain SUITE/AGENT/CASE` shows the input and the outputs of a case",
    );
    out
}

/// The results of many cases, without inputs and outputs.
pub fn overview(report: &Report) -> String {
    let mut out = String::new();
    for (suite, agent) in report.suite_agents() {
        agent
            .shown()
            .for_each(|case| one(&mut out, suite, agent, case));
    }
    put(
        &mut out,
        "`goldgate explain SUITE/AGENT/CASE` shows the input and the outputs of a case",
    );
    out
}

/// The case with its result, input, expectation and outputs.
pub fn explain(explained: &ExplainedCase<'_>) -> String {
    let ExplainedCase {
        config,
        suite,
        agent,
        case,
        asked,
        golden,
        samples,
        before: earlier,
        past,
        redactor,
    } = explained;
    let mut out = String::new();
    one(&mut out, suite, agent, case);
    for (key, ask) in *asked {
        let of_run = if key.case == case.case {
            String::new()
        } else {
            format!(" ({}/{})", key.agent, key.case)
        };
        put(&mut out, &format!("asked{of_run}:"));
        match ask.prompt.as_str() {
            "" => put(
                &mut out,
                &format!("  {}", line(&ask.inputs.to_string(), 400)),
            ),
            _ => exhibit::text(&mut out, ask.said().into_iter().flat_map(str::lines)),
        }
    }
    let start = case
        .checks
        .iter()
        .map(|check| check.location.line)
        .min()
        .unwrap_or(1);
    exhibit::golden(&mut out, golden, start as usize, redactor);
    exhibit::samples(&mut out, samples);
    exhibit::calls_in_order(&mut out, samples);
    if let Some(earlier) = earlier {
        changes(&mut out, *earlier, samples);
    }
    history(&mut out, past);
    next_steps(&mut out, config, (suite, agent), case);
    out.push('\n');
    out
}

/// How often the samples of the case passed in the last committed baselines.
fn history(out: &mut String, past: &[Option<f64>]) {
    let known: Vec<f64> = past.iter().copied().flatten().collect();
    let Some(last) = known.last() else { return };
    let passed = metric_value(Unit::Share, Some(*last));
    put(
        out,
        &format!(
            "history: share of passing samples by committed baseline: {} (latest: {passed})",
            sparkline(past)
        ),
    );
}

/// What to do about the first failed check, and how to grade the case again.
fn next_steps(
    out: &mut String,
    config: &RepoPath,
    (suite, agent): (&SuiteReport, &AgentReport),
    case: &PairResult,
) {
    let config = config_option(config.as_str());
    let mut failed = case.failed_checks();
    if let Some(failure) = failed.find_map(|check| check.failure.as_deref()) {
        put(out, &format!("next: {}", line(&failure.next_action, 400)));
    }
    put(
        out,
        &format!(
            "run again: goldgate run{config} --suite {} --agent {} --case {}",
            suite.id, agent.agent, case.case
        ),
    );
}

/// Longer lines of a prompt are cut, in characters.
const LONGEST: usize = 100_000;

/// The input of a live agent in one run.
pub fn render_prompt(key: &RunKey, ask: Option<&Ask>) -> String {
    let mut out = String::new();
    put(
        &mut out,
        &format!(
            "{}/{}/{}: the input of a live agent",
            key.suite, key.agent, key.case
        ),
    );
    let Some(Ask {
        prompt,
        inputs,
        answer,
        tools,
        turns,
    }) = ask
    else {
        put(&mut out, "  none: this kind has no live agents\n");
        return out;
    };
    if prompt.is_empty() {
        put(
            &mut out,
            &format!("  fields only: {}", line(&inputs.to_string(), LONGEST)),
        );
    }
    for (index, text) in ask
        .map(Ask::said)
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        if index > 0 {
            put(&mut out, "  then, after the answer:");
        }
        for part in text.lines() {
            put(&mut out, &exhibit::indented("    ", part, LONGEST));
        }
    }
    if let UserTurns::Simulated(SimulatedUser {
        target,
        goal,
        max_turns,
    }) = turns
    {
        put(
            &mut out,
            &format!("  then, as a user that {target} plays, in at most {max_turns} turns:"),
        );
        for part in goal.lines() {
            put(&mut out, &exhibit::indented("    ", part, LONGEST));
        }
    }
    if let Some(form) = answer {
        put(
            &mut out,
            &format!(
                "  answer      {}: {}",
                form.name,
                line(&form.schema.to_string(), LONGEST)
            ),
        );
    }
    match tools {
        Toolbox::Empty => {}
        Toolbox::Canned(tools) => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
            put(
                &mut out,
                &format!("  tools       {}", line(&names.join(", "), LONGEST)),
            );
        }
        Toolbox::Folder { root, max_calls } => {
            put(
                &mut out,
                &format!(
                    "  tools       list_files, read_file, search in {root}, at most {max_calls} calls"
                ),
            );
        }
    }
    out.push('\n');
    out
}

/// Whether a remark mentions the case: it contains the id as a whole word.
fn names(note: &str, case: &str) -> bool {
    let mut words =
        note.split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '_' | '-'));
    words.any(|word| word == case)
}

/// The result of a case: its samples, its values, its checks, and what else differs.
fn one(out: &mut String, suite: &SuiteReport, agent: &AgentReport, case: &PairResult) {
    put(
        out,
        &format!(
            "{}/{}/{}: {}",
            suite.id,
            agent.agent,
            case.case,
            case.verdict.as_str()
        ),
    );
    put(out, &format!("  golden file {}", case.golden));
    if agent.drafts.iter().any(|draft| draft.case == case.case) {
        put(
            out,
            "  draft       it counts for nothing until `goldgate review` accepts it",
        );
    }
    samples(out, case);
    for note in agent
        .notes
        .iter()
        .filter(|note| names(note, case.case.as_str()))
    {
        put(out, &format!("  remark      {}", line(note, 400)));
    }
    values(out, agent, case);
    put(out, "  checks");
    for failed in &case.checks {
        check(out, case, failed);
    }
    shortfalls(out, case);
    let judged = judges::of_case(case, line);
    if !judged.is_empty() {
        put(out, "  judges (advisory, not part of any gate)");
        for text in judged {
            put(out, &format!("    {text}"));
        }
    }
    out.push('\n');
}

/// How many samples completed, and why the others did not.
fn samples(out: &mut String, case: &PairResult) {
    let excluded = match case.exclusion {
        Exclusion::Counted => String::new(),
        Exclusion::NoMajority => ": excluded, no majority completed".to_owned(),
        Exclusion::Quarantined => format!(": {}", words::quarantine(case)),
    };
    let passed = words::samples_passed(case);
    put(
        out,
        &format!(
            "  samples     {} of {} completed{passed}{excluded}",
            case.completed, case.planned
        ),
    );
    for lost in &case.lost {
        put(
            out,
            &format!(
                "    sample {} {}",
                lost.sample,
                line_with_end(&lost.why.text(), 240)
            ),
        );
    }
}

/// The values of the case, with the gates of the agent that they are part of.
fn values(out: &mut String, agent: &AgentReport, case: &PairResult) {
    let spread = if case.completed > 1 {
        ", then their standard deviation"
    } else {
        ""
    };
    put(
        out,
        &format!("  values      of the case, then of each sample{spread}"),
    );
    let of_case = agent.metrics.iter().filter(|metric| has_cases(metric));
    let named = of_case.filter_map(|metric| {
        Some((
            metric,
            case.values.iter().find(|value| value.name == metric.name)?,
        ))
    });
    for (metric, value) in named {
        let samples: Vec<String> = value
            .samples
            .iter()
            .map(|sample| metric_value(metric.unit, *sample))
            .collect();
        let spread = value.spread().map_or(String::new(), |spread| {
            format!("   spread {}", words::spread(metric.unit, spread))
        });
        let folded = metric_value(metric.unit, value.value);
        let gates: Vec<String> = metric
            .gates
            .iter()
            .map(|gate| words::limit(metric, gate))
            .collect();
        let gates = if gates.is_empty() {
            String::new()
        } else {
            format!(
                "   gate of the agent: {}: {}",
                gates.join(", "),
                metric.verdict.as_str()
            )
        };
        put(
            out,
            &format!(
                "    {:<28} {folded:>8}   {}{spread}{gates}",
                metric.name,
                samples.join("  ")
            ),
        );
    }
}

/// A check of the case; of a failed one what was expected and produced, the likely cause and the next step.
fn check(out: &mut String, case: &PairResult, check: &PairCheck) {
    let flaky = if check.standing.is_flaky() {
        " (flaky: samples disagree)"
    } else {
        ""
    };
    let word = if check.standing.passes() {
        "passes"
    } else {
        "FAILS "
    };
    let name = line(&check.name.to_string(), 120);
    put(
        out,
        &format!(
            "    {word} {name}{flaky}  {}:{}",
            case.golden, check.location.line
        ),
    );
    let Some(failure) = &check.failure else {
        return;
    };
    put(
        out,
        &format!(
            "          expected {}",
            line(check.expected.as_deref().unwrap_or_default(), 400)
        ),
    );
    put(
        out,
        &format!("          got      {}", line(&failure.detail, 400)),
    );
    let tag = failure.tag;
    put(
        out,
        &format!(
            "          {}: {}; remedy: {}",
            tag.as_str(),
            tag.meaning(),
            tag.fix_strategy()
        ),
    );
    put(
        out,
        &format!("          next: {}", line(&failure.next_action, 400)),
    );
}

/// The differences that lower a metric without a check of their own.
fn shortfalls(out: &mut String, case: &PairResult) {
    if !case.shortfalls.is_empty() {
        put(out, "  other differences");
    }
    for PairShortfall {
        metrics,
        difference,
        samples,
    } in &case.shortfalls
    {
        let seen = if case.completed > 1 {
            format!(" ({samples} of {} samples)", case.completed)
        } else {
            String::new()
        };
        put(
            out,
            &format!(
                "    {}{seen}  {}:{}",
                metrics.join(", "),
                case.golden,
                difference.line
            ),
        );
        put(
            out,
            &format!("          expected {}", line(&difference.expected, 400)),
        );
        put(
            out,
            &format!("          got      {}", line(&difference.produced, 400)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_remark_names_a_case_by_its_whole_id() {
        assert!(names("persona terse: refunds, stock", "stock"));
        assert!(names("hold: safety fails in calc", "calc"));
        for case in ["calc", "calc-2.b", "2"] {
            assert!(!names("hold: safety fails in calc-2", case), "{case}");
        }
    }
}
