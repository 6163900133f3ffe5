//! What the documents say is what the program does.

use std::fs;
use std::path::PathBuf;

use goldgate::golden_changes::SETTINGS;
use goldgate::model::{
    Aggregate, ChangeDirection, Gate, Limit, LimitSide, MetricSpec, SampleFold, SettingRule,
    Strictness, Treatment, Unit,
};
use goldgate::render::RENDERERS;
use goldgate::suites::{ANSWER_METRICS, COMMON, KINDS, USE_METRICS};
use libtest_mimic::Trial;

use crate::repository::{Repository, program, ran, root};
use crate::{adopt, trial};

pub fn trials() -> Vec<Trial> {
    let pages = KINDS.iter().map(|kind| {
        trial(
            format!("the page of kind {} is what the program does", kind.name),
            || page(kind.name),
        )
    });
    let mut trials = vec![
        trial("every schema that is shipped is current", schemas),
        trial("the table of metrics is the program's own", metrics),
        trial(
            "the tables of the page on golden changes are the program's own",
            golden_changes,
        ),
        trial(
            "the examples of the page on statistics are the program's own",
            || shown("statistics.md", 1),
        ),
        trial(
            "the examples of the page on judges are the program's own",
            || shown("judges.md", 1),
        ),
        trial(
            "an unknown schema is told with the known ones",
            unknown_schema,
        ),
        trial(
            "the help and the action name every format of the report",
            formats,
        ),
        trial(
            "the page on checks of answers is what the program does",
            || page("answer"),
        ),
        trial(
            "the page on formats of cases is what the program does",
            || page("cases"),
        ),
        trial("every link of a page leads to a file and a heading", links),
        trial(
            "the README shows what its commands print, and the whole workflow",
            readme,
        ),
        trial(
            "the page on traces names every variable and attribute that the program knows",
            names_of_traces,
        ),
    ];
    trials.extend(pages);
    trials
}

fn schemas() {
    let repository = Repository::empty();
    let listed = repository.goldgate(&["schema"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let mut shipped: Vec<String> = Vec::new();
    for name in listed.stdout.lines() {
        let ran = repository.goldgate(&["schema", name]);
        let file = root().join("docs/schemas").join(format!("{name}.json"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &ran.stdout).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            text == ran.stdout,
            "docs/schemas/{name}.json is not current; BLESS=1 rewrites it"
        );
        shipped.push(format!("{name}.json"));
    }
    let mut there: Vec<String> = fs::read_dir(root().join("docs/schemas"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    shipped.sort();
    assert_eq!(there, shipped);
}

/// The README shows the last line of each of its commands, and the workflow that is shipped.
fn readme() {
    let file = root().join("README.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, console, rest) = block(&text, "console");
    let (between, _, after) = block(rest, "yaml");
    let repository = adopt::empty();
    let mut printed = String::new();
    for line in console.lines().filter(|line| line.starts_with("$ ")) {
        let words = line.split_whitespace().skip(2);
        let arguments: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
        let ran = repository.goldgate(&arguments);
        assert_eq!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
        let last = ran.stdout.trim_end().lines().last().unwrap_or_default();
        printed.push_str(&format!("{line}\n{last}\n"));
    }
    let shipped = fs::read_to_string(root().join("docs/workflows/goldgate.yml")).unwrap();
    let (_, workflow) = shipped.split_once("\nname: goldgate\n").unwrap();
    let current = format!(
        "{before}```console\n{printed}```\n{between}```yaml\nname: goldgate\n{workflow}```\n{after}"
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &current).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text == current,
        "README.md is not current; BLESS=1 rewrites it\n{current}"
    );
}

/// What is before the first block of a language, in it, and after it.
fn block<'a>(text: &'a str, language: &str) -> (&'a str, &'a str, &'a str) {
    let (before, rest) = text.split_once(&format!("```{language}\n")).unwrap();
    let (block, after) = rest.split_once("```\n").unwrap();
    (before, block, after)
}

/// Puts the files of a page into a repository, runs its commands and compares the failures that they report.
fn page(kind: &str) {
    let file = root().join("docs/kinds").join(format!("{kind}.md"));
    let text = fs::read_to_string(&file).unwrap();
    let repository = Repository::empty();
    let mut blocks = text.split("\n```");
    let mut before = blocks.next().unwrap().to_owned();
    let mut commands = Vec::new();
    while let (Some(block), Some(after)) = (blocks.next(), blocks.next()) {
        let (_, body) = block.split_once('\n').unwrap_or((block, ""));
        let label = before.trim_end().rsplit('\n').next().unwrap_or_default();
        match (label.strip_suffix("`:"), label.strip_suffix("` reports:")) {
            (Some(path), None) => {
                repository.write(path.trim_start_matches('`'), format!("{body}\n"))
            }
            (None, Some(line)) => {
                commands.push((line.trim_start_matches('`').to_owned(), body.to_owned()))
            }
            _ => panic!("{kind}.md: what is this block? {label}"),
        }
        before = after.to_owned();
    }
    let mut current = text.clone();
    assert!(!commands.is_empty(), "{kind}.md shows no command");
    for (line, shown) in &commands {
        let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
        let ran = repository.goldgate(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        let failures = failures(&ran.stdout);
        // What a page shows fails: its reader came because something did.
        assert!(failures.contains("FAILS"), "{}", ran.stdout);
        let block = |body: &str| format!("`{line}` reports:\n\n```text\n{body}\n```");
        assert!(
            current.contains(&block(shown)),
            "{kind}.md: the block of {line} has another form"
        );
        current = current.replace(&block(shown), &block(&failures));
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &current).unwrap();
    } else {
        assert!(
            current == text,
            "{kind}.md is not current; BLESS=1 rewrites it\n{current}"
        );
    }
}

/// The checks that fail in what `explain` prints, each with what was expected and what the agent gave.
fn failures(printed: &str) -> String {
    let mut lines = Vec::new();
    let mut is_failure = false;
    for line in printed.lines() {
        let is_detail = line.starts_with("          ");
        is_failure = line.starts_with("    FAILS ") || (is_failure && is_detail);
        let text = line.trim_start();
        if is_failure && (!is_detail || text.starts_with("expected ") || text.starts_with("got ")) {
            lines.push(line.strip_prefix("    ").unwrap_or(line));
        }
    }
    lines.join("\n")
}

/// What stands in quotes in the sender and its spans is what the page has to name.
fn names_of_traces() {
    let page = fs::read_to_string(root().join("docs/traces.md")).unwrap();
    let read = |file: &str| fs::read_to_string(root().join("src").join(file)).unwrap();
    let source = read("world/traces.rs") + &read("format/otlp/spans.rs");
    let is_name = |word: &&str| {
        ["OTEL_", "LANGSMITH_", "LANGCHAIN_", "goldgate."]
            .iter()
            .any(|start| word.starts_with(start))
    };
    let plain = |word: &&str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let known: Vec<&str> = source
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(is_name)
        .filter(plain)
        .collect();
    assert!(known.len() > 30, "{known:?}");
    for name in &known {
        assert!(
            page.contains(&format!("`{name}`")),
            "docs/traces.md does not name {name}"
        );
    }
    for name in page.split('`').filter(is_name).filter(plain) {
        assert!(
            known.contains(&name) || name == "goldgate.yaml",
            "docs/traces.md names {name}, and nothing reads or writes it"
        );
    }
}

fn metrics() {
    let mut text = "# Metrics\n\nAll metrics of all kinds: what each one measures, how it is combined over samples and cases, and its gates\n\
        with `policy: seed`. With `policy: regression`, [four rules](decides.md) and `coverage` decide. A gate in the config overrides that of the seed\n\
        key by key. A share is rendered in percent, a spread with four decimal\n\
        places. A test writes this table.\n"
        .to_owned();
    for kind in KINDS {
        text.push_str(&format!(
            "\n## `{}`\n\nGrades {} (scorer `{}`).\n\n",
            kind.name, kind.meaning, kind.scorer
        ));
        text.push_str(
            "| metric | what it is | unit | better | samples | cases | gates of `policy: seed` |\n|---|---|---|---|---|---|---|\n",
        );
        kind.own_metrics()
            .iter()
            .for_each(|spec| text.push_str(&row(spec)));
    }
    text.push_str(
        "\n## Every kind\n\nEvery kind also has these metrics, after its own. If `coverage` is below its floor, there is no verdict, and a gate\nfails only if no result of the missing cases could let it pass.\n\n\
         Missing samples and cases without a result may take back the pass of any gate ([lost samples](golden-changes.md#lost-samples)).\n\n\
         | metric | what it is | unit | better | samples | cases | gates of `policy: seed` |\n|---|---|---|---|---|---|---|\n",
    );
    COMMON.iter().for_each(|spec| text.push_str(&row(spec)));
    text.push_str(
        "\n## Answers\n\nA suite with a case that states [`answer`](kinds/answer.md) also has these metrics, after all others.\n\n\
         | metric | what it is | unit | better | samples | cases | gates of `policy: seed` |\n|---|---|---|---|---|---|---|\n",
    );
    ANSWER_METRICS
        .iter()
        .for_each(|spec| text.push_str(&row(spec)));
    text.push_str(
        "\n## Use\n\nA suite also has each of these metrics that its `gates` name, such as `tokens: { max_rise: 500 }`. Every kind but `triggers` has\n\
         them. They come from `metrics` of the recordings, `tool_calls` from the calls themselves. A gate on a value that a recording\n\
         does not state has no verdict. Amounts in US dollars have four decimal places.\n\n\
         | metric | what it is | unit | better | samples | cases | gates of `policy: seed` |\n|---|---|---|---|---|---|---|\n",
    );
    USE_METRICS
        .iter()
        .for_each(|spec| text.push_str(&row(spec)));
    let file = root().join("docs/metrics.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == text,
        "docs/metrics.md is not current; BLESS=1 rewrites it"
    );
}

/// What the page says of settings is written from the table that decides.
fn golden_changes() {
    let file = root().join("docs/golden-changes.md");
    let page = fs::read_to_string(&file).unwrap();
    let common = SETTINGS
        .iter()
        .map(|rule| (format!("`{}`", rule.path), rule));
    let of_kinds = KINDS.iter().flat_map(|kind| {
        kind.settings
            .rules
            .iter()
            .map(|rule| (format!("`suites.*.{}` (`{}`)", rule.path, kind.name), rule))
    });
    // What harms nothing, and what always needs an approval, is one row each: the reasons are in the program.
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (path, rule) in common.chain(of_kinds) {
        let what = match rule.treatment {
            Treatment::Harmless => "nothing".to_owned(),
            Treatment::Approval(_) => "needs an approval".to_owned(),
            Treatment::Listed | Treatment::Depends(_) => change(rule),
        };
        match rows.iter_mut().find(|(other, _)| *other == what) {
            Some((_, paths)) => paths.push(path),
            None => rows.push((what, vec![path])),
        }
    }
    let row = |(what, paths): (String, Vec<String>)| format!("| {} | {what} |\n", paths.join(", "));
    let rows: String = rows.into_iter().map(row).collect();
    let settings = format!("| setting | a change |\n|---|---|\n{rows}");
    let (before, rest) = page.split_once("<!-- settings: ").unwrap();
    let (note, rest) = rest.split_once("-->\n").unwrap();
    let (_, after) = rest.split_once("<!-- settings end -->").unwrap();
    let text =
        format!("{before}<!-- settings: {note}-->\n\n{settings}\n<!-- settings end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == text,
        "docs/golden-changes.md is not current; BLESS=1 rewrites it"
    );
}

/// What a change of a setting needs, with the reason.
pub fn change(rule: &SettingRule) -> String {
    let needed = match rule.treatment {
        Treatment::Harmless => "nothing",
        Treatment::Listed => "is listed",
        Treatment::Approval(_) => "needs an approval",
        Treatment::Depends(how) => how,
    };
    let mark = match rule.treatment {
        Treatment::Listed => ';',
        Treatment::Harmless | Treatment::Approval(_) | Treatment::Depends(_) => ':',
    };
    let why = if rule.why.is_empty() {
        String::new()
    } else {
        format!("{mark} {}", rule.why)
    };
    format!("{needed}{why}")
}

fn row(spec: &MetricSpec) -> String {
    let samples = match (spec.aggregate, spec.fold) {
        (Aggregate::Rate, _) => "majority",
        (Aggregate::Coverage | Aggregate::NewlyFailing, _) => "–",
        (_, SampleFold::Worst) => "worst",
        (_, SampleFold::Median) => "median",
        (_, SampleFold::Mean) => "mean",
    };
    let cases = match spec.aggregate {
        Aggregate::Harmonic(one, other) => format!("harmonic mean of {one} and {other}"),
        Aggregate::Worst
        | Aggregate::Mean
        | Aggregate::Sum
        | Aggregate::Median
        | Aggregate::P95
        | Aggregate::Rate => spec.aggregate.as_str().to_owned(),
        Aggregate::Coverage => "all planned".to_owned(),
        Aggregate::NewlyFailing => "count".to_owned(),
    };
    let mut gates: Vec<String> = spec.gates.iter().map(gate).collect();
    gates.extend(
        spec.model_gates
            .into_iter()
            .flatten()
            .map(|one| format!("{} in the model tier", gate(one))),
    );
    gates.extend(
        spec.switched_gates
            .iter()
            .map(|one| format!("{} where `no_newly_failing: true`", gate(one))),
    );
    let gates = if gates.is_empty() {
        "none".to_owned()
    } else {
        gates.join(", ")
    };
    // It decides how a value is shown, and how far a tolerance may go.
    let unit = match spec.unit {
        Unit::Share => "share",
        Unit::Count => "count",
        Unit::Points => "points",
        Unit::Spread => "spread",
        Unit::Dollars => "US dollars",
    };
    let MetricSpec {
        name,
        meaning,
        better,
        ..
    } = spec;
    format!(
        "| `{name}` | {meaning} | {unit} | {} | {samples} | {cases} | {gates} |\n",
        better.as_str()
    )
}

/// A gate as a config states it.
fn gate(gate: &Gate) -> String {
    match *gate {
        Gate::Threshold {
            side,
            limit,
            strictness,
        } => {
            let key = if side == LimitSide::Min { "min" } else { "max" };
            let (limit, otherwise) = match limit {
                Limit::Number(number) => (number.to_string(), None),
                Limit::Baseline { otherwise } => ("baseline".to_owned(), otherwise),
            };
            let otherwise =
                otherwise.map_or(String::new(), |number| format!(", otherwise: {number}"));
            let strictness = match strictness {
                Strictness::Hard => ", hard: true".to_owned(),
                Strictness::Band(zone) => format!(", zone: {zone}"),
                Strictness::ComparedBand { zone, tolerance } => {
                    let change = if side == LimitSide::Min {
                        "drop"
                    } else {
                        "rise"
                    };
                    format!(", zone: {zone}, in_zone: {{ max_{change}: {tolerance} }}")
                }
                Strictness::Open => String::new(),
            };
            format!("`{key}: {limit}{otherwise}{strictness}`")
        }
        Gate::Change {
            direction: ChangeDirection::Drop,
            tolerance,
        } => format!("`max_drop: {tolerance}`"),
        Gate::Change {
            direction: ChangeDirection::Rise,
            tolerance,
        } => format!("`max_rise: {tolerance}`"),
    }
}

/// What the page shows stands in what a case prints: `From tests/cases/AREA/SENTENCE:`, then the block.
fn shown(page: &str, examples: usize) {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let mut shown = 0;
    for (before, block) in text
        .split("\n```text\n")
        .zip(text.split("\n```text\n").skip(1))
    {
        let case = before
            .trim_end()
            .rsplit("From `")
            .next()
            .unwrap()
            .trim_end_matches("`:");
        let printed = fs::read_to_string(root().join(case).join("stdout")).unwrap();
        let (block, _) = block.split_once("\n```").unwrap();
        assert!(
            printed.contains(block),
            "docs/{page} shows what {case} does not print:\n{block}"
        );
        shown += 1;
    }
    assert!(shown >= examples, "{page} shows {shown} examples");
}

fn formats() {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = one_line(&ran(program(root()).args(["run", "--help"])).stdout);
    let action = one_line(&fs::read_to_string(root().join("action.yml")).unwrap());
    for format in RENDERERS {
        assert!(
            help.contains(&format!("- {}: {}", format.name, format.about)),
            "{}: {help}",
            format.name
        );
        if let Some(file) = format.file {
            assert!(help.contains(file) && action.contains(file), "{file}");
        }
    }
    assert!(
        help.contains("Write report.json, ")
            && help.contains(" and proposed-baseline.json to this folder"),
        "{help}"
    );
}

fn unknown_schema() {
    let ran = ran(program(root()).args(["schema", "confg"]));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .starts_with("command line: unknown format \"confg\"; did you mean \"config\"?"),
        "{}",
        ran.stderr
    );
}

/// The pages that people read on GitHub.
fn pages_of_the_repository() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in ["", "docs", "docs/coming-from", "docs/kinds", "docs/recipes"] {
        let entries = fs::read_dir(root().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        found.extend(
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")),
        );
    }
    found.sort();
    found
}

/// The id that GitHub gives a heading.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'));
    kept.collect::<String>()
        .trim()
        .to_lowercase()
        .replace(' ', "-")
}

fn links() {
    let pages = pages_of_the_repository();
    assert!(pages.len() >= 25, "{} pages", pages.len());
    let (mut count, mut broken) = (0, Vec::new());
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let headings = || fs::read_to_string(&path).unwrap_or_default();
            let is_there = path.exists()
                && (heading.is_empty()
                    || headings().lines().any(|line| {
                        line.starts_with('#') && slug(line.trim_start_matches('#')) == heading
                    }));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count} links");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}
