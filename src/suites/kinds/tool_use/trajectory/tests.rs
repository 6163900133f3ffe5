//! Modes, arguments and partial credit, by tables and against brute force.

use proptest::collection::vec;
use proptest::proptest;
use serde_json::{Value, json};

use super::{Trajectory, TrajectoryForm, longest_common, one_to_one};
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
    names.chars().map(|name| ObservedCall { name: name.to_string(), ..ObservedCall::default() }).collect()
}

fn with(arguments: Value) -> Vec<ObservedCall> {
    vec![ObservedCall { name: "t".to_owned(), arguments, ..ObservedCall::default() }]
}

#[test]
fn every_mode_accepts_what_it_should() {
    let steps = |names: &str| names.chars().map(|name| json!({"name": name.to_string()})).collect::<Vec<_>>();
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
        assert_eq!(followed.strayed.is_none(), accepted, "{mode} {expected} {made}");
        assert!((followed.f1 - f1).abs() < 1e-12, "{mode} {expected} {made}: {}", followed.f1);
    }
}

#[test]
fn a_field_may_be_absent_have_several_values_or_a_type() {
    let fits = |fields: Value, made: Value| {
        let args = json!({"match": "exact", "values": {"city": "Berlin"}, "fields": fields});
        let trajectory = read(json!({"mode": "exact", "tools": [{"name": "t", "args": args}]})).unwrap();
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
        (json!({"equals": {"a": "B"}, "ignore_case": true}), json!({"a": "b"}), true),
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
    assert!(!fits(json!({"x": {"type": "string"}}), json!({"city": "Berlin"})), "a field is required by default");
}

#[test]
fn arguments_are_compared_by_the_mode_of_the_case() {
    let fits = |args: Value, made: Value| {
        let trajectory = read(json!({"mode": "exact", "tools": [{"name": "t", "args": args}]})).unwrap();
        trajectory.followed(&with(made)).strayed.is_none()
    };
    let values = json!({"a": 1, "b": {"c": "x", "d": 2}});
    for (how, made, accepted) in [
        ("exact", json!({"a": 1.0, "b": {"c": "x", "d": 2}}), true),
        ("exact", json!({"a": 1, "b": {"c": "x"}}), false),
        ("subset", json!({"b": {"c": "x"}}), true),
        ("subset", json!({"e": 1}), false),
        ("superset", json!({"a": 1, "b": {"c": "x", "d": 2, "e": 3}, "f": 4}), true),
        ("superset", json!({"a": 1}), false),
        ("ignore", json!({"z": 1}), true),
    ] {
        assert_eq!(fits(json!({"match": how, "values": values}), made.clone()), accepted, "{how} {made}");
    }
    assert!(fits(json!({}), Value::Null) && !fits(json!({}), json!({"a": 1})), "exact is the default");
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
    assert!(fits(placed("1"), right.clone()) && !fits(placed("+1"), right.clone()), "an index has digits only");
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
    assert_eq!(followed.forbidden.as_deref(), Some("called forbidden tools: x"));
    assert_eq!(followed.too_long.as_deref(), Some("calls made: 3"));
    assert!((followed.f1 - 0.5).abs() < 1e-12, "neither changes the partial credit");
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
        (json!({"mode": "exact", "tools": [{"name": ""}]}), "has no name"),
        (json!({"mode": "exact", "tools": [{"name": "t"}], "forbidden_tools": ["t"]}), "both expected and forbidden"),
        (json!({"mode": "exact", "tools": [{"name": "t"}], "max_steps": 0}), "max_steps is 0"),
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

/// The best result of all ways to follow the steps in order.
fn tried(fits: &[Vec<bool>], step: usize, call: usize, made: usize) -> usize {
    if step == fits.len() || call == made {
        return 0;
    }
    let skip = tried(fits, step + 1, call, made).max(tried(fits, step, call + 1, made));
    if fits[step][call] { skip.max(1 + tried(fits, step + 1, call + 1, made)) } else { skip }
}

proptest! {
    #[test]
    fn no_way_of_following_in_order_is_longer(fits in vec(vec(proptest::bool::ANY, 5), 0..5)) {
        assert_eq!(longest_common(&fits, 5), tried(&fits, 0, 0, 5));
        assert!(one_to_one(&fits, 5) >= longest_common(&fits, 5));
    }
}
