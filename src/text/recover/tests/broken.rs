//! A list inside of something broken: how it was read is said honestly, and what stands beside it is kept.

use serde_json::{Value, json};

use super::{ATOMS, Anchor, FINDINGS, RecoveryLayer, found, recover, recover_any};

const DELTAS: Anchor<'static> = Anchor { list: "deltas", field: "item" };

fn assert_salvaged(anchor: &Anchor<'_>, rows: &[(&str, Value, usize)]) {
    for (text, value, lost) in rows {
        assert_eq!(recover(text, anchor), Some(found(value.clone(), RecoveryLayer::Salvaged, *lost)), "{text}");
    }
}

#[test]
fn a_list_in_a_broken_object_is_not_strict_and_keeps_its_siblings() {
    let both = json!({"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]});
    let rows = [
        // A colon, a comma, the opening bracket or a quote is missing, or the quotes are those of print.
        r#"{"note" "x", "deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{"deltas" [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{"deltas": [{"item": "a"}] "recommendations": [{"action": "x"}]}"#,
        r#""deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        r#"{deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}"#,
        "{“deltas”: [{\"item\": \"a\"}], “recommendations”: [{\"action\": \"x\"}]}",
        "{\"deltas`: [{\"item\": \"a\"}], \"recommendations\": [{\"action\": \"x\"}]}",
        // The break is in the list, behind it, or in front of it, and in a sibling.
        r#"{"recommendations": [{"action": "x"}], "deltas": [{"item": "a"} oops]}"#,
        r#"{"note": "say "no"", "recommendations": [{"action": "x"}], "deltas": [{"item": "a"}]}"#,
        r#"{"note": "say "no"", "deltas": [{"item": "a"}], "recommendations": [{"action": "x"}, {"act"#,
        // All of it stands in another object, which is broken or whole.
        r#"{"note": "say "no"", "result": {"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}}"#,
        r#"{"result": {"deltas": [{"item": "a"}], "recommendations": [{"action": "x"}]}}"#,
    ];
    for text in rows {
        assert_salvaged(&DELTAS, &[(text, both.clone(), 0)]);
    }
}

#[test]
fn what_follows_a_lost_object_behind_a_comma_is_no_answer_of_its_own() {
    let rest = json!({"findings": [{"category": "b"}]});
    let rows = [
        // The list's bracket and the key of its first object are gone: that object's end closes the outermost one.
        (r#"{"findings"ategory": "a", "title": "t"}, {"category": "b"}], "gaps": []}"#, rest.clone(), 0),
        (r#"{"findings"ategory": "a", "citations": [{"file": "x"}]}, {"category": "b"}], "gaps": []}"#, rest, 0),
    ];
    assert_salvaged(&FINDINGS, &rows);
    let list = json!({"findings": [{"category": "b"}], "gaps": ["c"]});
    let wrapper = r#"{"findings"ategory": "a"}, {"findings": [{"category": "b"}], "gaps": ["c"]}]}"#;
    assert_salvaged(&FINDINGS, &[(wrapper, list, 0)]);
    assert_eq!(recover_any(r#"{"findings"ategory": "a"}, {"category": "b"}]}"#), None);
    // In prose an answer may stand behind a bracket with a word.
    let prose = r#"The keys {"category"} and {"title"} are there: {"category": "b"}"#;
    assert_eq!(
        recover(prose, &FINDINGS),
        Some(found(json!({"findings": [{"category": "b"}]}), RecoveryLayer::Strict, 0))
    );
}

#[test]
fn an_object_of_a_sibling_is_no_object_of_the_list() {
    let list = json!({"deltas": [{"item": "a"}], "recommendations": [{"item": "b"}]});
    let rows = [
        (r#"{"deltas": [{"item": "a"}] "recommendations": [{"item": "b"}]}"#, list.clone(), 0),
        (r#"{"x": y, "recommendations": [{"item": "b"}], "deltas": [{"item": "a"}]}"#, list, 0),
        // Where there is no list, whatever carries the field is all there is.
        (r#"{"x": y, "changes": [{"item": "b"}]}"#, json!({"deltas": [{"item": "b"}]}), 1),
        (r#"{"x" y, "changes": [{"item": "b"}]}"#, json!({"deltas": [{"item": "b"}]}), 0),
    ];
    assert_salvaged(&DELTAS, &rows);
}

#[test]
fn a_number_beside_the_list_is_kept_and_one_inside_of_it_is_not_taken_for_it() {
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
fn what_the_list_has_and_cannot_be_kept_is_counted() {
    let rows = [
        (r#"{"findings": ["x", null, {"category": "b"} oops]}"#, json!({"findings": [{"category": "b"}]}), 2),
        (
            r#"{"findings": [{"title": "x"}, {"category": "b"}] "gaps": []}"#,
            json!({"findings": [{"category": "b"}], "gaps": []}),
            1,
        ),
        (r#"{"result": {"findings": [1, {"category": "b"}]}}"#, json!({"findings": [{"category": "b"}]}), 1),
    ];
    assert_salvaged(&FINDINGS, &rows);
}

#[test]
fn a_single_object_in_something_broken_does_not_stand_by_itself() {
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
fn brackets_that_a_lost_quote_swallows_do_not_end_what_is_broken() {
    let text = r#"{"a": 1, "x': [{"y": 1}]}, {"findings": [{"category": "a"}]}]}"#;
    let read = recover(text, &FINDINGS).expect("the list is there");
    assert_eq!((read.layer, &read.value["findings"]), (RecoveryLayer::Salvaged, &json!([{"category": "a"}])));
}

#[test]
fn without_an_anchor_a_member_of_something_broken_is_no_answer() {
    for text in [r#"{"note" "x", "files": ["a"]}"#, r#""files": ["a"], "result": "x"}"#, r#"{"files" ["a"]}"#] {
        assert_eq!(recover_any(text), None, "{text}");
    }
}

#[test]
fn a_list_that_prose_leads_up_to_is_an_answer_of_its_own() {
    let one = json!({"findings": [{"category": "a"}]});
    for text in [
        r#"Findings: [{"category": "a"}]"#,
        r#"I looked {at all of it}. The findings: [{"category": "a"}]"#,
        r#"{{"findings": [{"category": "a"}]}}"#,
        r#"As "JSON" [{"category": "a"}]"#,
        r#"{"so" they say} but [{"category": "a"}]"#,
    ] {
        assert_eq!(recover(text, &FINDINGS), Some(found(one.clone(), RecoveryLayer::Strict, 0)), "{text}");
    }
}
