//! Checks of answers that cannot be read.

use super::{Case, TOOL};

/// A case of which only the checks of the answer are wrong; they begin in line 2, column 11.
macro_rules! with_answer {
    ($answer:literal) => {
        concat!(
            r#"[{"id": "c", "category": "edge_case", "query": "q", "expected_tools": [], "expected_output_contains": [], "#,
            "\n",
            r#""answer": "#,
            $answer,
            "}]"
        )
    };
}

pub const CASES: &[Case] = &[
    (
        TOOL,
        "c.json",
        with_answer!("3"),
        ":2:11: invalid type: integer `3`; expected an object of checks of the answer, or a list of them",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {"account": {"equals": 9400110200881234567890}}}"#),
        ":2:43: 9400110200881234567890 is too long to be compared digit by digit; write it as a text, also in the recordings",
    ),
    (
        TOOL,
        "c.json",
        with_answer!("{}"),
        ":2:11: an entry of answer states no condition; state a condition, such as",
    ),
    (
        TOOL,
        "c.json",
        with_answer!("[]"),
        ":2:11: the list of checks is empty; state a check",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"contains": "a"}"#),
        ":2:21: unknown key \"contains\"; known keys: equals",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"alof": ["a"]}"#),
        ":2:17: unknown key \"alof\"; did you mean \"all_of\"?",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"all_of": "a"}"#),
        ":2:24: invalid type: string \"a\"; expected a list",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"all_of": []}"#),
        ":2:22: the list all_of is empty; state a text",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"none_of": ["a", " "]}"#),
        ":2:29: the text \" \" is empty; write a text",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"equals": ""}"#),
        ":2:22: the text \"\" is empty; write a text",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"[{"equals": "a"}, {"regex": "a("}]"#),
        ":2:39: invalid regular expression \"a(\": unclosed group; write a regular expression",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"not_regex": "(?=a)"}"#),
        ":2:25: invalid regular expression \"(?=a)\": look-around",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"regex": "a", "case_sensitive": true}"#),
        ":2:26: case_sensitive has no effect on this entry; remove it, or state a text",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"equals": "a", "whole_words": true}"#),
        ":2:27: whole_words has no effect on this entry; remove it",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json_schema": {"type": "objekt"}}"#),
        ":2:27: invalid JSON Schema: \"objekt\" is not valid under any of the schemas listed in the 'anyOf' keyword; write",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json_schema": {"$ref": "https://schemas.example.com/a.json"}}"#),
        ":2:27: invalid JSON Schema: ",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json_schema": "../../a.json"}"#),
        ":2:27: \"../../a.json\": ",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {}}"#),
        ":2:20: json has no path; state a path",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {"a..b": {"equals": 1}}}"#),
        ":2:21: invalid path \"a..b\"; write keys",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {"a": {"optional": true}}}"#),
        ":2:21: the field a must state exactly one condition; state equals, one_of, any_of, fields, items, regex, near, length or type",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {"a": {"type": "text"}}}"#),
        ":2:40: unknown value \"text\"; known values: string",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"json": {"a": {"regex": "b", "ignore_case": true}}}"#),
        ":2:21: ignore_case of the field a has no effect; use it with equals or one_of",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"length": {}}"#),
        ":2:22: length states no unit; state chars, words or lines",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"length": {"words": {}}}"#),
        ":2:32: the range has no limit; state min, max or both",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"length": {"words": {"min": 3, "max": 2}}}"#),
        ":2:32: min is 3 and max is 2; write a min that is not above max",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"length": {"words": {"min": -1}}}"#),
        ":2:41: invalid value: integer `-1`; expected",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"similar": {"to": "a"}}"#),
        ":2:23: similar states no minimum; state rouge_l",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"not": {}}"#),
        ":2:19: not states no condition; state a condition",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"not": {"rule": "a", "equals": "a"}}"#),
        ":2:20: rule has no effect in not; state it next",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"whole_json": true, "equals": "a"}"#),
        ":2:12: whole_json has no effect on this entry",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"max_cost_usd": -1}"#),
        ":2:28: max_cost_usd is -1; write a number",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"similar": {"to": "a", "rouge_l": 85}}"#),
        ":2:46: the minimum of rouge_l is 85; write a number above 0 and up to 1",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"similar": {"to": "", "rouge_l": 1}}"#),
        ":2:30: the text to compare with is empty",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"refusal": "yes"}"#),
        ":2:27: invalid type: string \"yes\"; expected a boolean",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"equals": "a", "rule": " "}"#),
        ":2:35: the rule is empty",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"equals": "a", "weight": -1}"#),
        ":2:37: the weight is -1; write a number from 0",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"[{"equals": "a", "weight": 0}]"#),
        ":2:11: all weights are 0; give an entry",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"equals": "a", "min_score": 0.5}"#),
        ":2:27: min_score without checks; state the entries",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"checks": [{"equals": "a"}]}"#),
        ":2:12: checks without min_score; state min_score",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"checks": [{"equals": "a"}], "min_score": 0}"#),
        ":2:54: min_score is 0; write a number above 0 and up to 1",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"checks": [], "min_score": 1}"#),
        ":2:22: the list of checks is empty",
    ),
    (
        TOOL,
        "c.json",
        with_answer!(r#"{"checks": [{"equals": "a"}], "min_score": 1, "regex": "a"}"#),
        ":2:12: an entry with checks has conditions or a rule of its own; move them",
    ),
];
