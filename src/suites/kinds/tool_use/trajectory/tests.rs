//! Modes, arguments and partial credit, by tables and against brute force.

use proptest::collection::vec;
use proptest::proptest;
use serde_json::{Value, json};

use super::{Trajectory, TrajectoryCondition, TrajectoryForm, longest_in_order, one_to_one};
use crate::files::SourceText;
use crate::format::JsonCursor;
use crate::model::RepoPath;
use crate::suites::shared::calls::ObservedCall;

fn read(form: Value) -> Result<Trajectory, String> {
    let text = form.to_string();
    let source = SourceText::from_text(RepoPath::root().child("c.json"), text.clone());
    let form: TrajectoryForm = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Trajectory::read(form, &JsonCursor::whole(&source)).map_err(|problem| problem.to_string())
}

fn calls(names: &str) -> Vec<ObservedCall> {
    names
        .chars()
        .map(|name| ObservedCall {
            name: name.to_string(),
            ..ObservedCall::default()
        })
        .collect()
}

fn with(arguments: Value) -> Vec<ObservedCall> {
    vec![ObservedCall {
        name: "t".to_owned(),
        arguments,
        ..ObservedCall::default()
    }]
}

#[test]
fn every_mode_accepts_what_it_should() {
    let steps = |names: &str| {
        names
            .chars()
            .map(|name| json!({"name": name.to_string()}))
            .collect::<Vec<_>>()
    };
    // mode, expected, made, accepted, f1
    for (mode, expected, made, accepted, f1) in [
        ("exact", "ab", "ab", true, 1.0),
        ("exact", "ab", "ba", false, 0.5),
        ("exact", "ab", "abc", false, 0.8),
        ("exact", "ab", "a", false, 2.0 / 3.0),
        ("exact", "", "", true, 1.0),
        ("in_order", "ab", "axb", true, 0.8),
        ("in_order", "ab", "ba", false, 0.5),
        ("in_order", "aa", "a", false, 2.0 / 3.0),
        ("any_order", "ab", "ba", true, 1.0),
        ("any_order", "ab", "bab", false, 0.8),
        ("any_order", "ab", "b", false, 2.0 / 3.0),
        ("subset", "ab", "b", true, 2.0 / 3.0),
        ("subset", "ab", "", true, 0.0),
        ("subset", "ab", "bb", false, 0.5),
        ("superset", "ab", "xba", true, 0.8),
        ("superset", "ab", "xa", false, 0.5),
        ("superset", "", "x", true, 0.0),
    ] {
        let trajectory = read(json!({"mode": mode, "tools": steps(expected)})).unwrap();
        let followed = trajectory.followed(&calls(made));
        assert_eq!(
            followed.strayed.is_none(),
            accepted,
            "{mode} {expected} {made}"
        );
        assert!(
            (followed.f1 - f1).abs() < 1e-12,
            "{mode} {expected} {made}: {}",
            followed.f1
        );
    }
}

#[test]
fn a_field_may_be_absent_have_several_values_or_a_type() {
    let fits = |fields: Value, made: Value| {
        let args = json!({"match": "exact", "values": {"city": "Berlin"}, "fields": fields});
        let trajectory =
            read(json!({"mode": "exact", "tools": [{"name": "t", "args": args}]})).unwrap();
        trajectory.followed(&with(made)).strayed.is_none()
    };
    let unit = json!({"unit": {"one_of": ["c", "celsius"], "optional": true, "ignore_case": true}});
    for (made, accepted) in [
        (json!({"city": "Berlin"}), true),
        (json!({"city": "Berlin", "unit": "Celsius"}), true),
        (json!({"city": "Berlin", "unit": "kelvin"}), false),
        (json!({"city": "Berlin", "unit": null}), false),
        (json!({"city": "Bonn", "unit": "c"}), false),
        (json!({"city": "Berlin", "days": 3}), false),
    ] {
        assert_eq!(fits(unit.clone(), made.clone()), accepted, "{made}");
    }
    for (field, value, accepted) in [
        (json!({"one_of": [5, [1, 2]]}), json!(5.0), true),
        (json!({"one_of": [5, [1, 2]]}), json!([1.0, 2]), true),
        (json!({"one_of": [5, [1, 2]]}), json!([2, 1]), false),
        (
            json!({"equals": {"a": "B"}, "ignore_case": true}),
            json!({"a": "b"}),
            true,
        ),
        (json!({"equals": {"a": "B"}}), json!({"a": "b"}), false),
        (json!({"length": {"min": 2, "max": 3}}), json!("äöü"), true),
        (json!({"length": {"min": 2, "max": 3}}), json!([1]), false),
        (json!({"length": {"max": 3}}), json!(3), false),
        (json!({"type": "integer"}), json!(3.0), true),
        (json!({"type": "integer"}), json!(3.5), false),
        (json!({"type": "null"}), Value::Null, true),
        (json!({"type": "string"}), json!(3), false),
    ] {
        let made = json!({"city": "Berlin", "x": value});
        assert_eq!(fits(json!({"x": field}), made), accepted, "{field} {value}");
    }
    assert!(
        !fits(json!({"x": {"type": "string"}}), json!({"city": "Berlin"})),
        "a field is required by default"
    );
}

#[test]
fn arguments_are_compared_by_the_mode_of_the_case() {
    let fits = |args: Value, made: Value| {
        let trajectory =
            read(json!({"mode": "exact", "tools": [{"name": "t", "args": args}]})).unwrap();
        trajectory.followed(&with(made)).strayed.is_none()
    };
    let values = json!({"a": 1, "b": {"c": "x", "d": 2}});
    for (how, made, accepted) in [
        ("exact", json!({"a": 1.0, "b": {"c": "x", "d": 2}}), true),
        ("exact", json!({"a": 1, "b": {"c": "x"}}), false),
        ("subset", json!({"b": {"c": "x"}}), true),
        ("subset", json!({"e": 1}), false),
        (
            "superset",
            json!({"a": 1, "b": {"c": "x", "d": 2, "e": 3}, "f": 4}),
            true,
        ),
        ("superset", json!({"a": 1}), false),
        ("ignore", json!({"z": 1}), true),
    ] {
        assert_eq!(
            fits(json!({"match": how, "values": values}), made.clone()),
            accepted,
            "{how} {made}"
        );
    }
    assert!(
        fits(json!({}), Value::Null) && !fits(json!({}), json!({"a": 1})),
        "exact is the default"
    );
    let fields = json!({"values": {"k": 1}, "fields": {
        "a.b": {"equals": [1, 2]}, "list.1": {"regex": "^x+$"}, "n": {"near": {"value": 10, "within": 0.5}}}});
    let made = json!({"k": 1, "a": {"b": [1.0, 2]}, "n": 10.5});
    assert!(!fits(fields.clone(), made.clone()), "a missing path fails");
    let mut right = made;
    right["list"] = json!(["no", "xx"]);
    // `list.1` is checked by itself; the list is still an argument to compare.
    assert!(!fits(fields.clone(), right.clone()));
    let mut loose = fields;
    loose["match"] = json!("superset");
    assert!(fits(loose.clone(), right.clone()));
    let placed = |step: &str| json!({"match": "superset", "fields": {format!("list.{step}"): {"equals": "xx"}}});
    assert!(
        fits(placed("1"), right.clone()) && !fits(placed("+1"), right.clone()),
        "an index has digits only"
    );
    for (key, wrong) in [
        ("n", json!(10.6)),
        ("n", json!("10")),
        ("list", json!(["no", "xy"])),
        ("a", json!({"b": [1]})),
        ("k", json!(2)),
    ] {
        let mut other = right.clone();
        other[key] = wrong;
        assert!(!fits(loose.clone(), other), "{key}");
    }
}

#[test]
fn forbidden_tools_and_steps_are_separate_conditions() {
    let trajectory =
        read(json!({"mode": "superset", "tools": [{"name": "a"}], "forbidden_tools": ["x"], "max_steps": 2})).unwrap();
    let clean = trajectory.followed(&calls("ab"));
    assert!(clean.strayed.is_none() && clean.forbidden.is_none() && clean.too_long.is_none());
    let followed = trajectory.followed(&calls("xab"));
    assert_eq!(
        followed.forbidden.as_deref(),
        Some("called forbidden tools: x")
    );
    assert_eq!(followed.too_long.as_deref(), Some("calls made: 3"));
    assert!(
        (followed.f1 - 0.5).abs() < 1e-12,
        "neither changes the partial credit"
    );
}

#[test]
fn an_invalid_trajectory_is_refused() {
    for (form, expected) in [
        (
            json!({"mode": "exact", "tools": [{"name": "t", "args": {"fields": {"a": {"regex": "("}}}}]}),
            "invalid regular expression \"(\": unclosed group",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "t", "args": {"fields": {"a": {}}}}]}),
            "must state exactly one condition",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "t", "args": {"fields": {"a..b": {"equals": 1}}}}]}),
            "invalid path",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": ""}]}),
            "has no name",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "t"}], "forbidden_tools": ["t"]}),
            "both expected and forbidden",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "t"}], "max_steps": 0}),
            "max_steps is 0",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "t", "args": {"fields": {"a": {"near": {"value": 1, "within": -1}}}}}]}),
            "within is -1",
        ),
        (json!({"mode": "exakt"}), "unknown variant"),
    ] {
        let refused = read(form).err().unwrap();
        assert!(refused.contains(expected), "{refused}");
    }
}

/// The best result of all orders of the steps within the groups.
fn tried(fits: &[Vec<bool>], sizes: &[usize]) -> usize {
    let mut orders = vec![Vec::new()];
    for size in sizes {
        let permuted = |order: &Vec<usize>| {
            let with = |of: &Vec<usize>| {
                order
                    .iter()
                    .copied()
                    .chain(of.iter().map(|at| order.len() + at))
                    .collect()
            };
            permutations(*size)
                .iter()
                .map(with)
                .collect::<Vec<Vec<usize>>>()
        };
        orders = orders.iter().flat_map(permuted).collect();
    }
    let rows = |order: &Vec<usize>| order.iter().map(|at| &fits[*at]).collect::<Vec<_>>();
    orders
        .iter()
        .map(|order| in_this_order(&rows(order), 0, 0))
        .max()
        .unwrap_or(0)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let with_last = |shorter: &Vec<usize>| {
        (0..count)
            .map(|at| [&shorter[..at], &[last], &shorter[at..]].concat())
            .collect::<Vec<_>>()
    };
    permutations(last).iter().flat_map(with_last).collect()
}

/// The best result of all ways to follow the steps in order.
fn in_this_order(fits: &[&Vec<bool>], step: usize, call: usize) -> usize {
    if step == fits.len() || call == fits[step].len() {
        return 0;
    }
    let skip = in_this_order(fits, step + 1, call).max(in_this_order(fits, step, call + 1));
    if fits[step][call] {
        skip.max(1 + in_this_order(fits, step + 1, call + 1))
    } else {
        skip
    }
}

proptest! {
    #[test]
    fn no_way_of_following_in_order_is_longer(
        sizes in vec(1..4_usize, 0..4),
        fits in vec(vec(proptest::bool::ANY, 5), 9),
    ) {
        let fits = &fits[..sizes.iter().sum()];
        let found = longest_in_order(fits, &sizes, 5);
        assert_eq!(found, tried(fits, &sizes));
        assert!(one_to_one(fits, 5) >= found);
    }
}

#[test]
fn calls_in_parallel_come_in_any_order_at_their_place() {
    let list = json!([{"name": "a"}, {"parallel": [{"name": "b"}, {"any_of": [{"name": "c"}, {"name": "d"}]}]}, {"name": "e"}]);
    for (mode, made, accepted, f1) in [
        ("exact", "abce", true, 1.0),
        ("exact", "acbe", true, 1.0),
        ("exact", "adbe", true, 1.0),
        ("exact", "bace", false, 0.75),
        ("exact", "abcde", false, 8.0 / 9.0),
        ("exact", "acde", false, 0.75),
        ("in_order", "axdxbxe", true, 8.0 / 11.0),
        ("in_order", "axdxexb", false, 6.0 / 11.0),
    ] {
        let followed = read(json!({"mode": mode, "tools": list}))
            .unwrap()
            .followed(&calls(made));
        assert_eq!(followed.strayed.is_none(), accepted, "{mode} {made}");
        assert!(
            (followed.f1 - f1).abs() < 1e-12,
            "{mode} {made}: {}",
            followed.f1
        );
    }
    let trajectory = read(json!({"mode": "exact", "tools": list})).unwrap();
    assert_eq!(
        trajectory.expectation(TrajectoryCondition::Calls),
        "exactly a → (b, c or d in any order) → e"
    );
    assert_eq!(
        trajectory.followed(&calls("ab")).strayed.unwrap(),
        "called a → b"
    );
}

#[test]
fn one_of_several_calls_may_have_its_own_arguments() {
    let call = |name: &str, value: Value| json!({"name": name, "args": {"values": {"x": value}}});
    let list = json!([{"any_of": [call("t", json!(1)), call("t", json!(2)), call("u", json!(3))]}]);
    let trajectory = read(json!({"mode": "exact", "tools": list})).unwrap();
    for (made, strayed) in [
        (json!({"x": 1}), None),
        (json!({"x": 2}), None),
        (
            json!({"x": 3}),
            Some("called t; nearest call t(x: 3), expected 1"),
        ),
    ] {
        assert_eq!(
            trajectory.followed(&with(made.clone())).strayed.as_deref(),
            strayed,
            "{made}"
        );
    }
}

#[test]
fn conditions_of_a_tool_hold_for_every_call_without_its_own() {
    let conditions = json!({"t": {"match": "superset", "values": {"x": 1}}});
    let fits = |step: Value, made: Value| {
        let trajectory =
            read(json!({"mode": "exact", "tools": [step], "args_of": conditions})).unwrap();
        trajectory.followed(&with(made)).strayed.is_none()
    };
    assert!(
        fits(json!({"name": "t"}), json!({"x": 1, "y": 2}))
            && !fits(json!({"name": "t"}), json!({"y": 2}))
    );
    let own = json!({"name": "t", "args": {"values": {"y": 2}}});
    assert!(fits(own.clone(), json!({"y": 2})) && !fits(own, json!({"x": 1, "y": 2})));
}

#[test]
fn calls_are_compared_with_their_servers() {
    let of = |name: &str, server: Option<&str>| ObservedCall {
        name: name.to_owned(),
        server: server.map(str::to_owned),
        ..ObservedCall::default()
    };
    let step = |server: Value| json!([{"name": "find", "server": server}]);
    for (server, call, accepted) in [
        (json!("docs"), of("find", Some("docs")), true),
        (json!("docs"), of("mcp__docs__find", Some("docs")), true),
        (json!("docs"), of("find", None), false),
        (json!("docs"), of("find", Some("web")), false),
        (Value::Null, of("find", Some("web")), true),
    ] {
        let trajectory = read(json!({"mode": "exact", "tools": step(server.clone())})).unwrap();
        assert_eq!(
            trajectory
                .followed(std::slice::from_ref(&call))
                .strayed
                .is_none(),
            accepted,
            "{server} {call:?}"
        );
    }
    let servers = json!({"required": ["docs"], "forbidden": ["web"], "max_calls": {"docs": 1}});
    let trajectory = read(json!({"mode": "superset", "servers": servers})).unwrap();
    let (docs, web) = (of("find", Some("docs")), of("open", Some("web")));
    for (made, broken) in [
        (vec![docs.clone()], None),
        (vec![], Some("no call of the server docs")),
        (
            vec![docs.clone(), docs.clone()],
            Some("calls of the server docs: 2"),
        ),
        (
            vec![web.clone(), web],
            Some("no call of the server docs, calls of the server web: 2"),
        ),
        (
            vec![docs.clone(), of("mcp__web__open", Some("gateway"))],
            Some("calls of the server web: 1"),
        ),
        (
            vec![docs.clone(), of("open", Some(" Web"))],
            Some("calls of the server web: 1"),
        ),
        (vec![of("mcp__docs__find", Some("gateway"))], None),
        (
            vec![docs.clone(), of("find", Some("Docs"))],
            Some("calls of the server docs: 2"),
        ),
    ] {
        assert_eq!(
            trajectory.followed(&made).servers.as_deref(),
            broken,
            "{made:?}"
        );
    }
    let forbidden =
        read(json!({"mode": "superset", "forbidden_tools": ["mcp__docs__delete", "drop"]}))
            .unwrap();
    for (made, is_met) in [
        (of("mcp__docs__delete", None), true),
        (of("mcp__docs__delete", Some("gateway")), true),
        (of("delete", Some("Docs")), true),
        (of("delete", Some("web")), false),
        (of("delete", None), false),
        (of("mcp__web__delete", None), false),
        (of("mcp__web__drop", None), true),
    ] {
        let forbidden = forbidden.followed(std::slice::from_ref(&made)).forbidden;
        assert_eq!(forbidden.is_some(), is_met, "{made:?}");
    }
}

#[test]
fn an_entry_that_cannot_be_followed_or_has_no_effect_is_refused() {
    let a = json!({"name": "a"});
    let nine = vec![a.clone(); 9];
    for (form, code) in [
        (
            json!({"mode": "exact", "tools": [{"parallel": [a]}]}),
            "bad-trajectory",
        ),
        (
            json!({"mode": "exact", "tools": [{"parallel": nine}]}),
            "bad-trajectory",
        ),
        (
            json!({"mode": "exact", "tools": [{"any_of": []}]}),
            "bad-trajectory",
        ),
        (
            json!({"mode": "exact", "tools": [{"name": "a", "any_of": [a]}]}),
            "bad-trajectory",
        ),
        (
            json!({"mode": "exact", "tools": [{"any_of": [{"parallel": [a, a]}]}]}),
            "bad-trajectory",
        ),
        (
            json!({"mode": "exact", "tools": [{"parallel": [a, {"parallel": [a, a]}]}]}),
            "bad-trajectory",
        ),
        (json!({"mode": "exact", "tools": [{}]}), "empty-tool"),
        (
            json!({"mode": "any_order", "tools": [{"parallel": [a, a]}]}),
            "no-effect",
        ),
        (
            json!({"mode": "exact", "tools": [a], "args_of": {"b": {}}}),
            "no-effect",
        ),
        (
            json!({"mode": "exact", "tools": [{"any_of": [a]}], "forbidden_tools": ["a"]}),
            "unsatisfiable",
        ),
        (
            json!({"mode": "exact", "tools": [{"parallel": [a, a]}], "max_steps": 1}),
            "unsatisfiable",
        ),
        (json!({"mode": "subset", "servers": {}}), "asks-nothing"),
        (
            json!({"mode": "subset", "servers": {"required": ["x"], "forbidden": ["x"]}}),
            "unsatisfiable",
        ),
        (
            json!({"mode": "subset", "servers": {"required": ["x"], "forbidden": ["X"]}}),
            "unsatisfiable",
        ),
        (
            json!({"mode": "subset", "servers": {"max_calls": {"x": 1}, "forbidden": ["x"]}}),
            "unsatisfiable",
        ),
    ] {
        let refused = read(form.clone())
            .err()
            .unwrap_or_else(|| panic!("{form} is accepted"));
        assert!(refused.contains(&format!("[{code}]")), "{form}: {refused}");
    }
}

#[test]
fn conditions_may_be_nested() {
    let order = json!({"fields": {
        "id": {"type": "integer"},
        "items": {"items": [{"fields": {"name": {"equals": "Tea", "ignore_case": true}, "size": {"one_of": ["s", "m"], "optional": true}}}]},
        "note": {"any_of": [{"type": "null"}, {"length": {"max": 5}}], "optional": true},
    }});
    let trajectory = |field: Value| {
        read(
            json!({"mode": "exact", "tools": [{"name": "t", "args": {"fields": {"order": field}}}]}),
        )
    };
    for (made, accepted) in [
        (json!({"id": 1, "items": [{"name": "tea"}]}), true),
        (
            json!({"id": 1, "items": [{"name": "Tea", "size": "m"}], "note": null}),
            true,
        ),
        (
            json!({"id": 1, "items": [{"name": "tea"}], "note": "short"}),
            true,
        ),
        (
            json!({"id": 1, "items": [{"name": "tea"}], "note": "too long"}),
            false,
        ),
        (
            json!({"id": 1, "items": [{"name": "tea", "size": "xl"}]}),
            false,
        ),
        (json!({"id": 1, "items": []}), false),
        (
            json!({"id": 1, "items": [{"name": "tea"}, {"name": "tea"}]}),
            false,
        ),
        (json!({"items": [{"name": "tea"}]}), false),
        (
            json!({"id": 1, "items": [{"name": "tea"}], "more": 1}),
            false,
        ),
        (json!([]), false),
    ] {
        let followed = trajectory(order.clone())
            .unwrap()
            .followed(&with(json!({"order": made})));
        assert_eq!(followed.strayed.is_none(), accepted, "{made}");
    }
    for form in [
        json!({"any_of": []}),
        json!({"any_of": [{"equals": 1, "optional": true}]}),
        json!({"items": [{"equals": 1, "optional": true}]}),
        json!({"fields": {}, "items": []}),
        json!({"fields": {"a": {}}}),
        json!({"any_of": [{"equals": 1}], "ignore_case": true}),
    ] {
        let refused = trajectory(form.clone())
            .err()
            .unwrap_or_else(|| panic!("{form} is accepted"));
        assert!(refused.contains("[bad-field]"), "{form}: {refused}");
    }
}
