//! Single fields of a call's arguments by path, and the comparison without them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A path: keys of objects, and indices of lists in digits.
pub type FieldPath = Vec<String>;

/// The value at a path; digits are indices of a list.
pub fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Array(list) => list.get(list_index(step)?),
        object => object.get(step),
    })
}

/// The arguments of the case and of the call, both without the fields. Every path exists in the call.
///
/// If a list of the case is shorter than the call's by exactly the items that fields name, those items are missing in it.
/// Otherwise they are at their indices, with any value.
pub fn without<'a>(
    listed: &Value,
    made: &Value,
    paths: impl Iterator<Item = &'a FieldPath>,
) -> (Value, Value) {
    let paths: Vec<&[String]> = paths.map(Vec::as_slice).collect();
    let (mut listed, mut rest) = (listed.clone(), made.clone());
    put_back(&mut listed, made, &paths);
    cut(&mut listed, &paths);
    cut(&mut rest, &paths);
    (listed, rest)
}

fn list_index(step: &str) -> Option<usize> {
    // `parse` alone would accept a plus sign.
    step.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| step.parse().ok())
        .flatten()
}

/// The remaining paths, grouped by their first step.
fn by_key<'a>(paths: &[&'a [String]]) -> BTreeMap<&'a str, Vec<&'a [String]>> {
    let mut grouped: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for (first, rest) in paths.iter().filter_map(|path| path.split_first()) {
        grouped.entry(first).or_default().push(rest);
    }
    grouped
}

/// The remaining paths, grouped by list index; `0` and `00` are equal.
fn by_index<'a>(paths: &[&'a [String]]) -> BTreeMap<usize, Vec<&'a [String]>> {
    let mut grouped: BTreeMap<usize, Vec<&[String]>> = BTreeMap::new();
    for (at, rests) in by_key(paths)
        .into_iter()
        .filter_map(|(step, rests)| Some((list_index(step)?, rests)))
    {
        grouped.entry(at).or_default().extend(rests);
    }
    grouped
}

fn ends(rests: &[&[String]]) -> bool {
    rests.iter().any(|rest| rest.is_empty())
}

/// Inserts a null where a list of the case leaves out an item that a field names.
fn put_back(listed: &mut Value, made: &Value, paths: &[&[String]]) {
    match (listed, made) {
        (Value::Object(listed), Value::Object(made)) => {
            for (key, rests) in by_key(paths) {
                if let (Some(inner), Some(made)) = (listed.get_mut(key), made.get(key)) {
                    put_back(inner, made, &rests);
                }
            }
        }
        (Value::Array(listed), Value::Array(made)) => {
            let grouped = by_index(paths);
            let named = grouped
                .iter()
                .filter(|(at, rests)| **at < made.len() && ends(rests))
                .map(|(at, _)| *at);
            let named: Vec<usize> = named.collect();
            if listed.len() + named.len() == made.len() {
                // In ascending order, so that every index is valid when its item is inserted.
                named.iter().for_each(|at| listed.insert(*at, Value::Null));
            }
            for (at, rests) in grouped {
                if let (Some(inner), Some(made)) = (listed.get_mut(at), made.get(at)) {
                    put_back(inner, made, &rests);
                }
            }
        }
        _ => {}
    }
}

/// Removes the values at the paths; an object or list that becomes empty is removed, too.
fn cut(value: &mut Value, paths: &[&[String]]) {
    match value {
        Value::Object(fields) => {
            for (key, rests) in by_key(paths) {
                if fields
                    .get_mut(key)
                    .is_some_and(|inner| is_removed(inner, &rests))
                {
                    fields.remove(key);
                }
            }
        }
        Value::Array(items) => {
            // From the end, so that the remaining indices stay valid.
            for (at, rests) in by_index(paths).into_iter().rev() {
                if items
                    .get_mut(at)
                    .is_some_and(|inner| is_removed(inner, &rests))
                {
                    items.remove(at);
                }
            }
        }
        _ => {}
    }
}

/// Cuts inside a value; returns whether the value itself is removed.
fn is_removed(value: &mut Value, rests: &[&[String]]) -> bool {
    if ends(rests) {
        return true;
    }
    cut(value, rests);
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FieldPath, at, without};

    fn paths(text: &str) -> Vec<FieldPath> {
        text.split(' ')
            .map(|path| path.split('.').map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn a_named_field_is_left_out_on_both_sides() {
        let two = || json!({"d": ["ab", 2]});
        for (listed, made, fields, same) in [
            (json!({"d": ["zz", 2]}), two(), "d.0", true),
            (json!({"d": [null, 2]}), two(), "d.0", true),
            (json!({"d": [2]}), two(), "d.0", true),
            (json!({"d": ["ab"]}), two(), "d.1", true),
            (json!({"d": ["zz", 2]}), two(), "d.00", true),
            (json!({"d": ["zz", 2]}), two(), "d.0 d.00", true),
            (json!({}), two(), "d.0 d.1", true),
            (json!({"d": []}), two(), "d.0 d.1", true),
            (json!({"d": ["ab", "zz"]}), two(), "d.0 d.1", true),
            (json!({}), two(), "d.0", false),
            (json!({"d": []}), two(), "d.0", false),
            (json!({"d": [3]}), two(), "d.0", false),
            (json!({"d": ["zz", 2, 3]}), two(), "d.0", false),
            (json!({"d": {"0": 1}}), two(), "d.0", false),
            (
                json!({"d": ["x", {"n": "y", "m": 1}]}),
                json!({"d": ["a", {"n": "b", "m": 1}]}),
                "d.0 d.1.n",
                true,
            ),
            (
                json!({"d": [{"m": 1}]}),
                json!({"d": ["a", {"n": "b", "m": 1}]}),
                "d.0 d.1.n",
                true,
            ),
            (
                json!({"d": [{"m": 2}]}),
                json!({"d": ["a", {"n": "b", "m": 1}]}),
                "d.0 d.1.n",
                false,
            ),
            (json!([[1, 2], 3]), json!([[0, 2], 3]), "0.0", true),
            (
                json!({"d": {"f": 1}}),
                json!({"d": {"e": 1, "f": 1}}),
                "d.e",
                true,
            ),
            (json!({}), json!({"d": {"e": 1}}), "d.e", true),
            (json!({}), json!({"d": {"e": 1, "f": 1}}), "d.e", false),
        ] {
            let (left, rest) = without(&listed, &made, paths(fields).iter());
            assert_eq!(
                left == rest,
                same,
                "{listed} and {made} without {fields}: {left} and {rest}"
            );
        }
    }

    #[test]
    fn a_path_that_does_not_exist_removes_nothing() {
        let made = json!({"d": [1, {"n": 2}], "e": "t"});
        for path in [
            "x",
            "d.7",
            "d.+1",
            "d.x",
            "d.0.n",
            "e.0",
            "d.99999999999999999999999999",
        ] {
            let found = paths(path);
            assert_eq!(at(&made, &found[0]), None, "{path}");
            assert_eq!(without(&Value::Null, &made, found.iter()).1, made, "{path}");
        }
        assert_eq!(at(&made, &paths("d.1.n")[0]), Some(&json!(2)));
        // One of the two paths does not exist in the call; the other item is still inserted.
        let (left, rest) = without(
            &json!({"d": [2]}),
            &json!({"d": [1, 2]}),
            paths("d.0 d.5").iter(),
        );
        assert_eq!(left, rest);
    }
}
