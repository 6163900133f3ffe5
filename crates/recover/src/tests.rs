//! Recovery from model answers, by example.

mod broken;
mod hammer;
mod hostile;
mod properties;
mod real;

use std::cell::Cell;

use serde_json::{Value, json};

use super::{Anchor, Recovered, RecoveryLayer, recover, recover_any};

thread_local! {
    /// Bytes visited by this test's thread.
    pub(super) static VISITED: Cell<usize> = const { Cell::new(0) };
}

const FINDINGS: Anchor<'static> = Anchor {
    list: "findings",
    field: "category",
};
const ATOMS: Anchor<'static> = Anchor {
    list: "atoms",
    field: "description",
};

fn found(value: Value, layer: RecoveryLayer, lost: usize) -> Recovered {
    Recovered { value, layer, lost }
}

fn assert_read(layer: RecoveryLayer, rows: &[(&str, Value)]) {
    for (text, value) in rows {
        assert_eq!(
            recover_any(text),
            Some(found(value.clone(), layer, 0)),
            "{text}"
        );
    }
}

fn assert_unread(texts: &[&str]) {
    for text in texts {
        assert_eq!(recover_any(text), None, "{text}");
    }
}

#[test]
fn complete_json_is_found_strictly_anywhere() {
    let rows = [
        (r#"{"a": [1, {"b": null}]}"#, json!({"a": [1, {"b": null}]})),
        ("\u{feff} [1] ", json!([1])),
        ("Sure!\n```json\n{\"a\": 1}\n```\nDone.", json!({"a": 1})),
        ("[2] says so:\n```\n{\"a\": 1}\n```", json!({"a": 1})),
        ("```json\n{\"a\": 1}", json!({"a": 1})),
        ("```json {\"a\": 1}``` inline", json!({"a": 1})),
        ("It is {\"a\": 1} and [2].", json!({"a": 1})),
        (
            "use {braces} or [brackets](url), it's {\"a\": 1}",
            json!({"a": 1}),
        ),
        ("open with {\" and close. {\"a\": \"b\"}", json!({"a": "b"})),
        ("- [ ] to do, {} is empty\n{\"a\": {}}", json!({"a": {}})),
        ("None found:\n  []\nBye", json!([])),
        (r#"{"a": 1, "a": 2}"#, json!({"a": 2})),
        (r#"{'a': 1} then {"b": 2}"#, json!({"b": 2})),
        (
            r#"{"a": "http://x # y /* z"} // {"#,
            json!({"a": "http://x # y /* z"}),
        ),
    ];
    assert_read(RecoveryLayer::Strict, &rows);
    assert_unread(&[
        "no JSON at all",
        "- [ ] one\n- [ ] two",
        "\"a string\"",
        "12",
        "",
    ]);
}

#[test]
fn each_repair_yields_what_was_written() {
    let rows = [
        (r#"{"a": [1, 2,], }"#, json!({"a": [1, 2]})),
        (
            "{\"a\": \"one\ntwo\tthree\u{1}\"}",
            json!({"a": "one\ntwo\tthree\u{1}"}),
        ),
        (
            r#"{'a': 'say "b"', "c": "it's"}"#,
            json!({"a": "say \"b\"", "c": "it's"}),
        ),
        (
            r"{'a': 'the vendor's duty', 'b': 'don\'t'}",
            json!({"a": "the vendor's duty", "b": "don't"}),
        ),
        (
            r"{a: 1, _b-c: 2, $d: 3, größe: 4}",
            json!({"a": 1, "_b-c": 2, "$d": 3, "größe": 4}),
        ),
        (
            "[True, False, None, true]",
            json!([true, false, null, true]),
        ),
        (
            "{// one\n\"a\": /* , */ 1, # two\n\"b\": 2 /**/}",
            json!({"a": 1, "b": 2}),
        ),
        (
            r#"{"a": "\d C:\x \u12 \ud800"}"#,
            json!({"a": "\\d C:\\x \\u12 \\ud800"}),
        ),
        (
            r#"{"a": "\"\\\/\b\f\n\r\t\ud83d\ude00\u00e4",}"#,
            json!({"a": "\"\\/\u{8}\u{c}\n\r\t\u{1f600}ä"}),
        ),
        (
            r#"{"a": NaN, "b": 1e999, "c": -Infinity, "d": .5, "e": 01, "f": 1}"#,
            json!({"f": 1}),
        ),
        ("[Infinity, 1]", json!([1])),
        (r#"{"a": 1, "a": 'x', "b": 0}"#, json!({"a": "x", "b": 0})),
        (
            r#"{"a": [{"b": 1}, {"c": [2}}"#,
            json!({"a": [{"b": 1}, {"c": [2]}]}),
        ),
        ("{\u{a0}\"a\": 1}", json!({"a": 1})),
    ];
    assert_read(RecoveryLayer::Repaired, &rows);
}

#[test]
fn other_errors_are_not_repaired() {
    assert_unread(&[
        r#"{"a": "Suffix: "candles"}"#,
        r#"{"a": high}"#,
        r#"{"a" 1}"#,
        r#"{"a": 1 "b": 2}"#,
        r#"{"a": 72 hours}"#,
        "[1,,2]",
        r#"{"a", "b"}"#,
        r#"{"a": x, "b": [1]}"#,
        "[[1] is a citation, [2]]",
    ]);
}

#[test]
fn a_truncated_tail_is_closed_and_incomplete_values_are_dropped() {
    let rows = [
        (r#"{"a": 1, "b": "two"#, json!({"a": 1})),
        (r#"{"a": 1, "b": "two""#, json!({"a": 1, "b": "two"})),
        (r#"{"a": 1, "b": "two\"#, json!({"a": 1})),
        (r#"{"a": 1, "b\"#, json!({"a": 1})),
        (r#"{"a": 1, "b": 12"#, json!({"a": 1})),
        ("{\"a\": 1, \"b\": 12\n", json!({"a": 1, "b": 12})),
        (r#"{"a": 1, "b": tru"#, json!({"a": 1})),
        (r#"{"a": 1, "b":"#, json!({"a": 1})),
        (r#"{"a": 1, "b"#, json!({"a": 1})),
        (r#"{"a": 1, b"#, json!({"a": 1})),
        (r#"{"a": 1, "b": [{"c": ["#, json!({"a": 1})),
        (r#"{"a": {"b": [[1, 2], [3"#, json!({"a": {"b": [[1, 2]]}})),
        (r#"{"a": 1, /* and"#, json!({"a": 1})),
        (
            "```json\n{\"a\": [1, {\"b\": 2}\n```\nprose",
            json!({"a": [1, {"b": 2}]}),
        ),
    ];
    assert_read(RecoveryLayer::Repaired, &rows);
    assert_unread(&[r#"{"a": ["#, r#"{"a"#, "[", r#"{"a": 12"#]);
}

#[test]
fn a_fence_inside_of_a_text_does_not_cut_the_answer() {
    let text = "```json\n{'findings': [{'category': 'a', 'fix': 'use\n```\ncode\n```\n'}]}\n```\n";
    let whole = json!({"findings": [{"category": "a", "fix": "use\n```\ncode\n```\n"}]});
    assert_eq!(
        recover(text, &FINDINGS),
        Some(found(whole, RecoveryLayer::Repaired, 0))
    );
}

#[test]
fn the_four_repairs_of_the_seed_keep_every_atom() {
    let whole = json!({"atoms": [{"description": "a\nb"}, {"description": "c"}]});
    for text in [
        "{\"atoms\": [{\"description\": \"a\\nb\",}, {\"description\": \"c\"},],}",
        "{\"atoms\": [{\"description\": \"a\nb\"}, {\"description\": \"c\"}]}",
        "{'atoms': [{'description': 'a\\nb'}, {'description': 'c'}]}",
        "{\"atoms\": [{\"description\": \"a\\nb\"}, {\"description\": \"c\"",
    ] {
        assert_eq!(
            recover(text, &ATOMS),
            Some(found(whole.clone(), RecoveryLayer::Repaired, 0)),
            "{text}"
        );
    }
}

#[test]
fn the_list_is_taken_from_an_object_an_array_or_a_single_object() {
    let whole = json!({"findings": [{"category": "x"}]});
    for (text, layer) in [
        (
            r#"{"findings": [{"category": "x"}]}"#,
            RecoveryLayer::Strict,
        ),
        (r#"[{"category": "x"}]"#, RecoveryLayer::Strict),
        (r#"Here: {"category": "x"}"#, RecoveryLayer::Strict),
        (
            r#"{"findings": [{"category": "x"},]}"#,
            RecoveryLayer::Repaired,
        ),
        (r"[{'category': 'x'}]", RecoveryLayer::Repaired),
        (
            r#"{"category": "x", "severity": "hi"#,
            RecoveryLayer::Repaired,
        ),
        (r#"[{"category": "x"}, {"cat"#, RecoveryLayer::Repaired),
        (
            r#"{"result": {"findings": [{"category": "x"}]}}"#,
            RecoveryLayer::Salvaged,
        ),
    ] {
        assert_eq!(
            recover(text, &FINDINGS),
            Some(found(whole.clone(), layer, 0)),
            "{text}"
        );
    }
}

#[test]
fn an_object_with_the_list_is_preferred() {
    let expected = json!({"findings": [{"category": "x"}], "gaps": []});
    for (text, layer) in [
        (
            r#"{"plan": [1]} {"findings": [{"category": "x"}], "gaps": []}"#,
            RecoveryLayer::Strict,
        ),
        (
            "```\n{\"plan\": 1}\n```\n```\n{\"findings\": [{\"category\": \"x\"}], \"gaps\": []}\n```",
            RecoveryLayer::Strict,
        ),
        (
            r#"[{"file": "a"}] {"findings": [{"category": "x"}], "gaps": []}"#,
            RecoveryLayer::Strict,
        ),
        (
            r#"{"findings": "none"} {"findings": [{"category": "x"}], "gaps": [],}"#,
            RecoveryLayer::Repaired,
        ),
        (
            r#"{"findings": [{"category": text}]} {"findings": [{"category": "x"}], "gaps": []}"#,
            RecoveryLayer::Strict,
        ),
    ] {
        assert_eq!(
            recover(text, &FINDINGS),
            Some(found(expected.clone(), layer, 0)),
            "{text}"
        );
    }
    for text in [
        r#"{"plan": [1]}"#,
        r#"{"findings": {"a": 1}}"#,
        r#"[{"file": "a"}]"#,
        "[1, 2]",
    ] {
        assert_eq!(recover(text, &FINDINGS), None, "{text}");
    }
}

#[test]
fn an_empty_list_must_be_written_explicitly() {
    let none = json!({"findings": []});
    assert_eq!(
        recover(r#"{"findings": []}"#, &FINDINGS),
        Some(found(none.clone(), RecoveryLayer::Strict, 0))
    );
    assert_eq!(
        recover(r#"{"findings": [], "note": "cu"#, &FINDINGS),
        Some(found(none.clone(), RecoveryLayer::Repaired, 0))
    );
    assert_eq!(
        recover("[]", &FINDINGS),
        Some(found(none.clone(), RecoveryLayer::Strict, 0))
    );
    assert_eq!(
        recover("None:\n```json\n[]\n```", &FINDINGS),
        Some(found(none, RecoveryLayer::Strict, 0))
    );
    for text in [
        "- [ ] check the date",
        r#"{"findings": ["#,
        r#"{"findings": [{"#,
        r#"{"findings": [{"cat"#,
    ] {
        assert_eq!(recover(text, &FINDINGS), None, "{text}");
    }
}

#[test]
fn objects_around_a_broken_one_are_salvaged_and_lost_ones_counted() {
    let kept = |categories: &[&str]| {
        let objects: Vec<Value> = categories
            .iter()
            .map(|category| json!({"category": category}))
            .collect();
        json!({"findings": objects})
    };
    for (text, categories, lost) in [
        (
            r#"{"findings": [{"category": "a"} {"category": "b"}]}"#,
            &["a", "b"][..],
            0,
        ),
        (
            r#"{"findings": [{"category": "a "b" c"}, {"category": "d"}]}"#,
            &["d"],
            1,
        ),
        (
            r#"{"findings": [{"category": "a", "title": "say "no""}, {"category": "b"}]}"#,
            &["a", "b"],
            0,
        ),
        (
            r#"{"findings": [{"title": "say "no"", "category": "a"}, {"category": "b"}, {"ti"#,
            &["b"],
            2,
        ),
        (r#"{"findings": [{oops}, {"category": "b"}]}"#, &["b"], 1),
        (
            r#"{"findings": [{"title": t, "category": "a"}]} {"category": "b"}"#,
            &["b"],
            1,
        ),
        (r#"{"findings": ["x" oops {"category": "b"}]}"#, &["b"], 0),
        (r#"{"category": "a"}{"category": "b"}"#, &["a", "b"], 0),
        (
            r#"{"category": "all", "findings": [oops {"category": "b"}]}"#,
            &["b"],
            0,
        ),
    ] {
        assert_eq!(
            recover(text, &FINDINGS),
            Some(found(kept(categories), RecoveryLayer::Salvaged, lost)),
            "{text}"
        );
    }
    assert_eq!(
        recover(r#"{"findings": [{"category": "a "b""}]}"#, &FINDINGS),
        None
    );
    assert_eq!(
        recover(
            r#"{"properties": {"category": {"type": "string"}}}"#,
            &FINDINGS
        ),
        None
    );
}

#[test]
fn an_inner_list_of_something_broken_is_not_taken_for_the_answer() {
    let text =
        r#"{"findings": [{"category": "a", "title": "x"y", "parts": [{"category": "inner"}]}]}"#;
    let salvaged = json!({"findings": [{"category": "a"}, {"category": "inner"}]});
    assert_eq!(
        recover(text, &FINDINGS),
        Some(found(salvaged, RecoveryLayer::Salvaged, 0))
    );
}

#[test]
fn the_depth_limit_is_that_of_the_strict_parser() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(
        recover_any(&nested(127)).map(|found| found.layer),
        Some(RecoveryLayer::Strict)
    );
    assert_eq!(
        recover_any(&nested(127).replace('1', "1,")).map(|found| found.layer),
        Some(RecoveryLayer::Repaired)
    );
    let deeper = recover_any(&nested(128));
    assert!(deeper.is_none_or(|found| found.value.to_string().len() < nested(128).len()));
}
