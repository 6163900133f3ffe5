//! A list inside something broken: the reported layer is correct, and the siblings of the list are kept.

use serde_json::{Value, json};

use super::{ATOMS, Anchor, FINDINGS, RecoveryLayer, found, recover, recover_any};

const DELTAS: Anchor<'static> = Anchor {
    list: "deltas",
    field: "item",
};

fn assert_salvaged(anchor: &Anchor<'_>, rows: &[(&str, Value, usize)]) {
    for (text, value, lost) in rows {
        assert_eq!(
            recover(text, anchor),
            Some(found(value.clone(), RecoveryLayer::Salvaged, *lost)),
            "{text}"
        );
    }
}

#[test]
fn a_list_in_a_broken_object_is_not_strict_and_keeps_its_siblings() {
    let both = json!({"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]});
    let rows = [
        // A colon, a comma, the opening bracket or a quote is missing, or the quotes are typographic.
        r#"{"note" "x", "deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{"deltas" [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{"deltas": [{"item": "a"}] "recommendations": [{"action": "x"}]}"#,
        r#""deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        "{“deltas”: [{\"item\": \"a\"}], “recommendations”: [{\"action\": \"x\"}]}",
        "{\"deltas`: [{\"item\": \"a\"}], \"recommendations\": [{\"action\": \"x\"}]}",
        // The break is in the list, after it, before it, or in a sibling.
        r#"{"recommendations": [{"action": "x"}], "deltas": [{"item": "a"} oops]}"#,
        r#"{"note": "say "no"", "recommendations": [{"action": "x"}], "deltas": [{"item": "a"}]}"#,
        r#"{"note": "say "no"", "deltas": [{"item": "a"}], "recommendations": [{"action": "x"}, {"act"#,
        // Everything is inside another object, broken or complete.
        r#"{"note": "say "no"", "result": {"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}}"#,
        r#"{"result": {"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}}"#,
    ];
    for text in rows {
        assert_salvaged(&DELTAS, &[(text, both.clone(), 0)]);
    }
}

#[test]
fn a_value_after_a_lost_object_and_a_comma_is_not_an_answer() {
    let rest = json!({"findings": [{"category": "b"}]});
    let rows = [
        // The list's bracket and the key of its first object are missing: that object's end closes the outermost one.
        (
            r#"{"findings"ategory": "a", "title": "t"}, {"category": "b"}], "gaps": []}"#,
            rest.clone(),
            0,
        ),
        (
            r#"{"findings"ategory": "a", "citations": [{"file": "x"}]}, {"category": "b"}], "gaps": []}"#,
            rest,
            0,
        ),
    ];
    assert_salvaged(&FINDINGS, &rows);
    let list = json!({"findings": [{"category": "b"}], "gaps": ["c"]});
    let wrapper =
        r#"{"findings"ategory": "a"}, {"findings": [{"category": "b"}], "gaps": ["c"]}]}"#;
    assert_salvaged(&FINDINGS, &[(wrapper, list, 0)]);
    assert_eq!(
        recover_any(r#"{"findings"ategory": "a"}, {"category": "b"}]}"#),
        None
    );
    // In prose an answer may follow a bracket with a word.
    let prose = r#"The keys {"category"} and {"title"} are there: {"category": "b"}"#;
    assert_eq!(
        recover(prose, &FINDINGS),
        Some(found(
            json!({"findings": [{"category": "b"}]}),
            RecoveryLayer::Strict,
            0
        ))
    );
}

#[test]
fn an_object_of_a_sibling_does_not_belong_to_the_list() {
    let list = json!({"deltas": [{"item": "a"}], "recommendations": [{"item": "b"}]});
    let rows = [
        (
            r#"{"deltas": [{"item": "a"}] "recommendations": [{"item": "b"}]}"#,
            list.clone(),
            0,
        ),
        (
            r#"{"x": y, "recommendations": [{"item": "b"}], "deltas": [{"item": "a"}]}"#,
            list,
            0,
        ),
        // Without a list, any object with the field is kept.
        (
            r#"{"x": y, "changes": [{"item": "b"}]}"#,
            json!({"deltas": [{"item": "b"}]}),
            1,
        ),
        (
            r#"{"x" y, "changes": [{"item": "b"}]}"#,
            json!({"deltas": [{"item": "b"}]}),
            0,
        ),
    ];
    assert_salvaged(&DELTAS, &rows);
}

#[test]
fn a_number_next_to_the_list_is_kept_and_one_inside_it_is_not() {
    let rows = [
        (
            r#"{"atoms": [{"description": "a"} {"description": "b"}], "rounds": 3, "questions": ["c"]}"#,
            json!({"atoms": [{"description": "a"}, {"description": "b"}], "rounds": 3, "questions": ["c"]}),
            0,
        ),
        (
            r#"{"rounds": 3, "note": "say "no"", "atoms": [{"description": "b"}]}"#,
            json!({"atoms": [{"description": "b"}], "rounds": 3}),
            0,
        ),
        (
            r#"{"atoms": [{"title": "say "no"", "rounds": 4}, {"description": "b"}]}"#,
            json!({"atoms": [{"description": "b"}]}),
            1,
        ),
    ];
    assert_salvaged(&ATOMS, &rows);
}

#[test]
fn elements_of_the_list_that_cannot_be_kept_are_counted() {
    let rows = [
        (
            r#"{"findings": ["x", null, {"category": "b"} oops]}"#,
            json!({"findings": [{"category": "b"}]}),
            2,
        ),
        (
            r#"{"findings": [{"title": "x"}, {"category": "b"}] "gaps": []}"#,
            json!({"findings": [{"category": "b"}], "gaps": []}),
            1,
        ),
        (
            r#"{"result": {"findings": [1, {"category": "b"}]}}"#,
            json!({"findings": [{"category": "b"}]}),
            1,
        ),
    ];
    assert_salvaged(&FINDINGS, &rows);
}

#[test]
fn a_single_object_inside_something_broken_is_not_standalone() {
    let one = json!({"findings": [{"category": "a"}]});
    for text in [
        r#"{"note" "x", "result": {"category": "a"}}"#,
        r#"{"findings"e [{"category": "a"}], "gaps": 1}"#,
        r#"{"note" oops {"category": "a"}}"#,
        r#"["x" oops {"category": "a"}]"#,
        r#"{"note{"category": "a"}s": [], }"#,
        r#"{"findings{"findings": [{"category": "a"}]}"#,
        r#"{oops, {"category": "a"}}"#,
    ] {
        assert_salvaged(&FINDINGS, &[(text, one.clone(), 0)]);
    }
}

#[test]
fn brackets_swallowed_by_a_missing_quote_do_not_end_a_broken_value() {
    let text = r#"{"a": 1, "x': [{"y": 1}]}, {"findings": [{"category": "a"}]}]}"#;
    let read = recover(text, &FINDINGS).expect("the list is there");
    assert_eq!(
        (read.layer, &read.value["findings"]),
        (RecoveryLayer::Salvaged, &json!([{"category": "a"}]))
    );
}

#[test]
fn without_an_anchor_a_member_of_a_broken_value_is_not_an_answer() {
    for text in [
        r#"{"note" "x", "files": ["a"]}"#,
        r#""files": ["a"], "result": "x"}"#,
        r#"{"files" ["a"]}"#,
    ] {
        assert_eq!(recover_any(text), None, "{text}");
    }
}

#[test]
fn a_list_introduced_by_prose_is_an_answer() {
    let one = json!({"findings": [{"category": "a"}]});
    for text in [
        r#"Findings: [{"category": "a"}]"#,
        r#"I looked {at all of it}. The findings: [{"category": "a"}]"#,
        r#"{{"findings": [{"category": "a"}]}}"#,
        r#"As "JSON" [{"category": "a"}]"#,
        r#"{"so" they say} but [{"category": "a"}]"#,
    ] {
        assert_eq!(
            recover(text, &FINDINGS),
            Some(found(one.clone(), RecoveryLayer::Strict, 0)),
            "{text}"
        );
    }
}
