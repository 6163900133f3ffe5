//! Tool-use cases.

use super::{Case, TOOL};

pub const CASES: &[Case] = &[
    (TOOL, "c.json", "{}", ":1:2: the key \"cases\" is missing"),
    (TOOL, "c.json", "3", ":1:1: invalid type: integer `3`; expected a list of cases, or { \"cases\": [] }"),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"two words\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": []}]",
        ":1:15: \"two words\" is not a valid id",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": \"find\"}]",
        ":1:65: invalid type: string \"find\"; expected a list",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": []}]",
        ":1:62: the key \"expected_output_contains\" is missing",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [\" \"]}]",
        ":1:93: the keyword \" \" is empty",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [\"\"], \"expected_output_contains\": []}]",
        ":1:61: a tool has no name",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"expected_flags\": {\"can_diagnos\": false}}]",
        ":1:115: unknown flag \"can_diagnos\"; did you mean \"can_diagnose\"?",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"id\": \"a b\"}]",
        ":1:102: \"a b\" is not a valid id",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"trajectory\": {\"mode\": \"exact\", \"steps\": []}}]",
        ":1:134: unknown key \"steps\"",
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": " ", "expected_tools": ["t"], "expected_output_contains": ["k"]}]"#,
        r#":1:37: the query is empty; write it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"id": "c", "category": "edge_case", "query": "c", "expected_tools": [], "expected_output_contains": []}, {"query": "c", "id": "c", "category": "edge_case", "expected_tools": [], "expected_output_contains": []}]"#,
        r#":1:129: duplicate id "c"; give each case its own id"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "exact", "tools": [{"name": "t"}], "forbidden_tools": ["t"]}}]"#,
        r#":1:160: the tool "t" is both expected and forbidden; remove it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "exact", "tools": [{"name": "name", "args": {}}, {"name": ""}]}}]"#,
        r#":1:183: a tool of the trajectory has no name; name it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "subset", "tools": [{"name": "t", "args": {"values": {"n": 1}, "fields": {"n": {"near": {"value": 1, "within": -1}}}}}]}}]"#,
        r#":1:199: within is -1; write 0 or more"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "expected_flags": {"can_diagnose": true, "can_diagnose": false}}]"#,
        r#":1:143: duplicate key "can_diagnose"; keep one of them"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "quarantine": {"owner": "o", "reason": "r", "expires": "2026-12-22"}}]"#,
        r#":1:157: the quarantine of "edge_case-0" needs an owner, a reason and an end date up to 2026-12-21; write expires"#,
    ),
];
