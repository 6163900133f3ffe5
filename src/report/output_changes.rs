//! What differs between the outputs of a case at the base commit and now.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::fold;
use crate::format::lenient;
use crate::model::{Better, CALL_LISTS, ChangedText, MovedUse, Run, Sample, SampleUse};
use crate::suites::{ObservedCall, calls, used};
use crate::text::{ChangedRange, changed_part, changed_ranges};

/// The number of values that are kept of a case.
const KEPT: usize = 6;

/// The longest text of a value, in characters.
const LONGEST: usize = 300;

/// A value up to this length is short: an answer, not an explanation. In characters.
const SHORT: usize = 40;

/// The least share by which a use has to move.
const LEAST: f64 = 0.1;

/// The calls of a run without any.
const NO_CALL: &str = "none";

const USES: [SampleUse; 3] = [SampleUse::Tokens, SampleUse::Latency, SampleUse::Cost];

/// A value that differs: its path, and its text on both sides.
type ChangedValue = (String, Option<String>, Option<String>);

/// What differs at one path, with the number of the sample of each difference.
#[derive(Default)]
struct ChangedPath {
    all: Vec<(usize, ChangedValue)>,
}

impl ChangedPath {
    fn samples(&self) -> usize {
        self.all
            .iter()
            .map(|(sample, _)| sample)
            .collect::<BTreeSet<_>>()
            .len()
    }

    fn has(&self, sample: usize) -> bool {
        self.all.iter().any(|(known, _)| *known == sample)
    }

    /// The difference without the indices of its path, if it is the same in all samples.
    fn anywhere(&self) -> Option<ChangedValue> {
        let (_, (name, old, new)) = self.all.first()?;
        let is_same = self
            .all
            .iter()
            .all(|(_, (_, base, head))| (base, head) == (old, new));
        is_same.then(|| (without_indices(name), old.clone(), new.clone()))
    }

    fn is_gone(&self) -> bool {
        self.all.iter().all(|(_, (_, _, new))| new.is_none())
    }

    fn is_long(&self) -> bool {
        self.all
            .iter()
            .any(|(_, (_, old, new))| length(old).max(length(new)) > SHORT)
    }

    /// The difference that most samples have, on a tie the first, and the number of samples with any difference at this path.
    fn most_frequent(&self) -> Option<ChangedText> {
        // `max_by_key` returns the last of equal elements, so the order is reversed.
        let values = self.all.iter().rev();
        let (_, (name, base, head)) = values.max_by_key(|(_, value)| self.count(value))?;
        let (old, new) = changed_part(
            base.as_deref().unwrap_or_default(),
            head.as_deref().unwrap_or_default(),
            LONGEST,
        );
        Some(ChangedText {
            name: name.clone(),
            before: base.as_ref().map(|_| old),
            now: head.as_ref().map(|_| new),
            samples: u32::try_from(self.samples()).ok(),
        })
    }

    fn count(&self, value: &ChangedValue) -> usize {
        let values = self.all.iter();
        values.filter(|(_, candidate)| candidate == value).count()
    }
}

fn length(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, |text| text.chars().count())
}

/// The values that differ, compared sample by sample. Those that differ in most samples come first, then
/// those that are still there, then short ones. The names are those of the runs of a sample, if it has several.
pub fn changed_outputs(names: &[&str], base: &[Sample], head: &[Sample]) -> Vec<ChangedText> {
    let mut by_path: BTreeMap<String, usize> = BTreeMap::new();
    let mut paths: Vec<ChangedPath> = Vec::new();
    for (sample, (old, new)) in base.iter().zip(head).enumerate() {
        let (Sample::Completed(old), Sample::Completed(new)) = (old, new) else {
            continue;
        };
        for (number, (old, new)) in old.iter().zip(new).enumerate() {
            let prefix = names
                .get(number)
                .map_or(String::new(), |name| format!("{name}: "));
            let mut changed = Vec::new();
            compare_runs(&prefix, old, new, &mut changed);
            for value in changed {
                let index = *by_path.entry(value.0.clone()).or_insert(paths.len());
                if index == paths.len() {
                    paths.push(ChangedPath::default());
                }
                paths[index].all.push((sample, value));
            }
        }
    }
    let mut paths = joined_elements(paths);
    // The sort is stable: on a tie the order of the paths decides.
    paths.sort_by_key(|path| (Reverse(path.samples()), path.is_gone(), path.is_long()));
    paths.truncate(KEPT);
    paths
        .iter()
        .filter_map(ChangedPath::most_frequent)
        .collect()
}

/// Joins elements of one list that changed alike: an answer of another sample may list the same thing at another place. Their path then has
/// no index.
fn joined_elements(paths: Vec<ChangedPath>) -> Vec<ChangedPath> {
    let mut places: BTreeMap<ChangedValue, usize> = BTreeMap::new();
    let mut joined: Vec<ChangedPath> = Vec::new();
    for path in paths {
        let Some(anywhere) = path.anywhere() else {
            joined.push(path);
            continue;
        };
        match places
            .get(&anywhere)
            .and_then(|index| joined.get_mut(*index))
        {
            // Two elements of one answer are two changes.
            Some(same) if path.all.iter().any(|(sample, _)| same.has(*sample)) => joined.push(path),
            Some(same) => {
                same.all.extend(path.all);
                for (_, value) in &mut same.all {
                    *value = anywhere.clone();
                }
            }
            None => {
                places.insert(anywhere, joined.len());
                joined.push(path);
            }
        }
    }
    joined
}

/// A path with `[]` for each index.
fn without_indices(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| {
        let rest = part.split_once(']').map_or(part, |(_, rest)| rest);
        format!("{path}[]{rest}")
    })
}

/// The output of a run without its calls.
fn output(run: &Run) -> Value {
    let mut output =
        lenient::any(&run.outputs).unwrap_or_else(|_| Value::String(run.outputs.to_string()));
    if let Value::Object(fields) = &mut output {
        fields.retain(|key, _| !CALL_LISTS.contains(&key.as_str()));
    }
    output
}

/// Compares two runs: their outputs; and the names of the tools that they called, or, where these are the same, the arguments. What a tool
/// returned is not the agent's.
fn compare_runs(prefix: &str, base: &Run, head: &Run, changed: &mut Vec<ChangedValue>) {
    compare(prefix, Some(&output(base)), Some(&output(head)), changed);
    let (old, new) = (calls(base).0, calls(head).0);
    let (base_names, head_names) = (call_names(&old), call_names(&new));
    if base_names != head_names {
        changed.push((format!("{prefix}calls"), Some(base_names), Some(head_names)));
        return;
    }
    for (old, new) in old.iter().zip(&new) {
        let path = format!("{prefix}{}", new.name);
        compare(&path, Some(&old.arguments), Some(&new.arguments), changed);
    }
}

fn call_names(calls: &[ObservedCall]) -> String {
    if calls.is_empty() {
        return NO_CALL.to_owned();
    }
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    names.join(" → ")
}

fn compare(
    path: &str,
    base: Option<&Value>,
    head: Option<&Value>,
    changed: &mut Vec<ChangedValue>,
) {
    match (base, head) {
        (base, head) if base == head => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let dot = if path.is_empty() || path.ends_with(": ") {
                    ""
                } else {
                    "."
                };
                compare(
                    &format!("{path}{dot}{key}"),
                    old.get(key),
                    new.get(key),
                    changed,
                );
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => elements(path, old, new, changed),
        (base, head) => {
            let (old, new) = (base.map(text), head.map(text));
            // Texts that read the same differ in their format alone.
            let (old, new) = if old == new {
                (base.map(Value::to_string), head.map(Value::to_string))
            } else {
                (old, new)
            };
            changed.push((path.to_owned(), old, new));
        }
    }
}

/// Compares lists: elements that both have are left out, the others are paired in their order.
fn elements(path: &str, base: &[Value], head: &[Value], changed: &mut Vec<ChangedValue>) {
    let old: Vec<String> = base.iter().map(Value::to_string).collect();
    let new: Vec<String> = head.iter().map(Value::to_string).collect();
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.iter().map(String::as_str).collect(),
        new.iter().map(String::as_str).collect(),
    );
    for ChangedRange {
        before: from,
        after: to,
    } in changed_ranges(&old, &new)
    {
        for step in 0..from.len().max(to.len()) {
            let (old, new) = (from.clone().nth(step), to.clone().nth(step));
            let index = new.or(old).unwrap_or_default();
            compare(
                &format!("{path}[{index}]"),
                old.and_then(|index| base.get(index)),
                new.and_then(|index| head.get(index)),
                changed,
            );
        }
    }
}

/// A value in words: a call as `name(key: value)`, another object by its plain values, a list by its elements, a document of RTF by
/// its paragraphs.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with("{\\rtf") => {
            let paragraphs = rtf::read(text.as_bytes())
                .paragraphs
                .into_iter()
                .map(|paragraph| paragraph.text);
            paragraphs.collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Object(fields) => match (fields.get("name"), fields.get("arguments")) {
            (Some(Value::String(name)), Some(Value::Object(arguments))) => {
                format!("{name}({})", listed(arguments, ", "))
            }
            (_, _) => listed(fields, "; "),
        },
        Value::Array(all) if !all.is_empty() => {
            let between = if all.iter().all(is_plain) {
                ", "
            } else {
                " | "
            };
            all.iter().map(text).collect::<Vec<_>>().join(between)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
    }
}

/// The plain values of an object with their keys; an object without any as JSON.
fn listed(fields: &Map<String, Value>, between: &str) -> String {
    let plain = fields
        .iter()
        .filter(|(_, value)| is_plain(value) && !value.is_null());
    let plain: Vec<String> = plain
        .map(|(key, value)| format!("{key}: {}", text(value)))
        .collect();
    match (plain.is_empty(), fields.is_empty()) {
        (true, true) => String::new(),
        (true, false) => Value::Object(fields.clone()).to_string(),
        (false, _) => plain.join(between),
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// The uses that moved by a tenth or more: the medians over all samples, each case with the samples at the base commit and now.
pub fn moved_uses<'a>(
    cases: impl Iterator<Item = (&'a [Sample], &'a [Sample])> + Clone,
) -> Vec<MovedUse> {
    let mut moved = Vec::new();
    for sample_use in USES {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (base, head) in cases.clone() {
            let (base, head) = (use_values(base, sample_use), use_values(head, sample_use));
            if !base.is_empty() && !head.is_empty() {
                old.extend(base);
                new.extend(head);
            }
        }
        let medians = fold::median(Better::Lower, old).zip(fold::median(Better::Lower, new));
        let Some((base, head)) = medians else {
            continue;
        };
        let is_seen = match sample_use {
            SampleUse::Tokens | SampleUse::Latency => base.round() != head.round(),
            SampleUse::Cost => true,
        };
        if base > 0.0 && is_seen && (head - base).abs() >= LEAST * base {
            moved.push(MovedUse {
                what: sample_use,
                before: base,
                now: head,
            });
        }
    }
    moved
}

/// What each completed sample used.
fn use_values(samples: &[Sample], sample_use: SampleUse) -> Vec<f64> {
    let mut values = Vec::new();
    for sample in samples {
        match sample {
            Sample::Completed(runs) => values.extend(used(sample_use.as_str(), runs)),
            Sample::Inconclusive { .. } | Sample::Spared => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{changed_outputs, moved_uses};
    use crate::model::{Run, Sample, Tokens};

    fn sample(outputs: &str) -> Sample {
        Sample::Completed(vec![Run::of(outputs)])
    }

    #[test]
    fn values_are_named_by_their_path_and_elements_that_both_have_are_left_out() {
        let before = [sample(
            r#"{"findings":[{"id":1,"severity":"high"},{"id":2,"severity":"low"}],"note":"a"}"#,
        )];
        let now = [sample(
            r#"{"findings":[{"id":0},{"id":1,"severity":"high"},{"id":2,"severity":"high"}]}"#,
        )];
        let found = changed_outputs(&[], &before, &now);
        let texts: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.before.as_deref(), one.now.as_deref()))
            .collect();
        assert_eq!(
            texts,
            [
                ("findings[0]", None, Some("id: 0")),
                ("findings[2].severity", Some("low"), Some("high")),
                ("note", Some("a"), None),
            ]
        );
    }

    #[test]
    fn an_added_call_is_written_as_a_call_and_an_added_object_by_its_plain_values() {
        let now = [sample(
            r#"{"call":{"name":"convert","arguments":{"to":"C","value":3},"result":{"value":1}},"list":["a","b"],
                "finding":{"category":"rent","cited":["x"],"none":null},"nested":{"cited":["x"]},"empty":{}}"#,
        )];
        let found = changed_outputs(&[], &[sample("{}")], &now);
        let texts: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.now.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(
            texts,
            [
                ("call", "convert(to: C, value: 3)"),
                ("empty", ""),
                ("finding", "category: rent"),
                ("list", "a, b"),
                ("nested", "{\"cited\":[\"x\"]}"),
            ]
        );
    }

    #[test]
    fn a_document_is_shown_without_its_control_codes_unless_only_they_differ() {
        let document = |text: &str| {
            [sample(&format!(
                "{{\"document\":\"{{\\\\rtf1 \\\\b Rent\\\\b0  is {text}.\\\\par}}\"}}"
            ))]
        };
        let shown = |before: &str, now: &str| {
            let found = changed_outputs(&[], &document(before), &document(now));
            let texts = found
                .into_iter()
                .map(|one| (one.before.unwrap_or_default(), one.now.unwrap_or_default()));
            texts.collect::<Vec<_>>()
        };
        let words = shown("due", "paid");
        assert!(
            words[0].0.contains("due") && words[0].1.contains("paid"),
            "{words:?}"
        );
        assert!(
            !format!("{words:?}").contains("par") && !format!("{words:?}").contains("rtf"),
            "{words:?}"
        );
        assert!(
            format!("{:?}", shown("due", "\\\\i due\\\\i0")).contains("\\\\i"),
            "only the format differs"
        );
    }

    #[test]
    fn what_most_samples_have_comes_first_and_a_missing_sample_is_not_compared() {
        let before = [
            sample(r#"{"a":1,"b":1}"#),
            sample(r#"{"a":1,"b":1}"#),
            Sample::Spared,
        ];
        let now = [
            sample(r#"{"a":1,"b":2}"#),
            sample(r#"{"a":3,"b":2}"#),
            sample("{}"),
        ];
        let found = changed_outputs(&[], &before, &now);
        let texts: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.samples))
            .collect();
        assert_eq!(texts, [("b", Some(2)), ("a", Some(1))]);
    }

    #[test]
    fn an_element_that_changed_alike_at_other_places_is_one_difference() {
        let finding = |at: usize, severity: &str| {
            let mut findings = vec![r#"{"id":1}"#.to_owned(); 3];
            findings[at] = format!(r#"{{"severity":"{severity}"}}"#);
            sample(&format!(r#"{{"findings":[{}]}}"#, findings.join(",")))
        };
        let samples = |severity: &str| [0, 1, 2].map(|at| finding(at, severity));
        let found = changed_outputs(&[], &samples("high"), &samples("low"));
        let texts: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.now.as_deref(), one.samples))
            .collect();
        assert_eq!(texts, [("findings[].severity", Some("low"), Some(3))]);
    }

    #[test]
    fn calls_differ_by_their_tools_and_else_by_their_arguments() {
        let called = |calls: &str| {
            let calls = format!(r#"{{"tool_calls":[{calls}]}}"#);
            [Sample::Completed(vec![Run {
                intermediate: Some(calls.into()),
                ..Run::of("{}")
            }])]
        };
        let read = r#"{"name":"read","arguments":{"id":1},"latency_ms":21,"result":"a"}"#;
        let read_again = r#"{"name":"read","arguments":{"id":1},"latency_ms":31,"result":"b"}"#;
        let read_other = r#"{"name":"read","arguments":{"id":2}}"#;
        let send = r#"{"name":"send","arguments":{}}"#;
        for (before, now, changed) in [
            (read, read_again, None),
            (read, read_other, Some(("read.id", "1", "2"))),
            (read, "", Some(("calls", "read", "none"))),
            (
                read,
                &format!("{read_other},{send}"),
                Some(("calls", "read", "read → send")),
            ),
        ] {
            let found = changed_outputs(&[], &called(before), &called(now));
            let texts: Vec<_> = found
                .iter()
                .map(|one| {
                    (
                        one.name.as_str(),
                        one.before.as_deref().unwrap_or_default(),
                        one.now.as_deref().unwrap_or_default(),
                    )
                })
                .collect();
            assert_eq!(texts, changed.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_value_of_one_of_several_runs_has_the_name_of_its_run() {
        let both =
            |first: &str, second: &str| [Sample::Completed(vec![Run::of(first), Run::of(second)])];
        let (before, now) = (
            both(r#"{"a":1}"#, r#"{"a":1}"#),
            both(r#"{"a":1}"#, r#"{"a":2}"#),
        );
        let found = changed_outputs(&["legal", "privacy"], &before, &now);
        assert_eq!(
            found
                .iter()
                .map(|one| one.name.as_str())
                .collect::<Vec<_>>(),
            ["privacy: a"]
        );
    }

    #[test]
    fn a_use_is_the_median_of_all_samples_and_has_to_move_by_a_tenth() {
        let with = |total: f64| {
            let tokens = Tokens {
                total: Some(total),
                latency_ms: Some(total / 100.0),
                ..Tokens::default()
            };
            Sample::Completed(vec![Run {
                tokens,
                ..Run::of("{}")
            }])
        };
        let (before, now) = (
            [with(100.0), with(200.0), with(300.0)],
            [with(100.0), with(400.0), with(500.0)],
        );
        let cases = [(before.as_slice(), now.as_slice())];
        let found: Vec<_> = moved_uses(cases.iter().copied())
            .iter()
            .map(|one| (one.what.as_str(), one.before, one.now))
            .collect();
        assert_eq!(found, [("tokens", 200.0, 400.0), ("latency_ms", 2.0, 4.0)]);
        let slightly = [with(210.0)];
        assert!(moved_uses([(before.as_slice(), slightly.as_slice())].into_iter()).is_empty());
    }
}
