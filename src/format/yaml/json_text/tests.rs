//! Values and positions of YAML that is read as JSON.

use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{prop_assert_eq, proptest};
use serde_json::{Map, Value, json};

use super::{YamlDialect, yaml_as_json};
use crate::diag::Point;
use crate::files::SourceText;
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::RepoPath;

fn source(text: &str) -> SourceText {
    SourceText::from_text(RepoPath::root().child("a.yaml"), text.to_owned())
}

#[track_caller]
fn value(text: &str) -> Value {
    let json = yaml_as_json(source(text), YamlDialect::Case)
        .unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
    serde_json::from_str(&json.text)
        .unwrap_or_else(|error| panic!("{text:?}: {}: {error}", json.text))
}

#[test]
fn plain_values_are_those_of_the_core_schema() {
    let texts = "no on off yes y n 2026-11-21 12:30:45 1_000 0b11 1e e1 . + 1.2.3 0x 0xg 0o8 .5. 1e+ nan inf -.nan TRue nULL = --1 +-1 1-";
    for text in texts.split(' ').chain(["1 2"]) {
        assert_eq!(value(&format!("a: {text}")), json!({"a": text}), "{text}");
    }
    for (text, expected) in [
        ("~", json!(null)),
        ("", json!(null)),
        ("Null", json!(null)),
        ("true", json!(true)),
        ("FALSE", json!(false)),
        ("0", json!(0)),
        ("-0", json!(-0.0)),
        ("+1", json!(1)),
        ("-17", json!(-17)),
        ("1.0", json!(1.0)),
        (".5", json!(0.5)),
        ("-.5", json!(-0.5)),
        ("5.", json!(5.0)),
        ("0.10", json!(0.1)),
        ("1e3", json!(1000.0)),
        ("+1.5E-3", json!(0.0015)),
        ("18446744073709551615", json!(u64::MAX)),
        ("\"1\"", json!("1")),
        ("'no'", json!("no")),
        ("|\n  a\n  b\n", json!("a\nb\n")),
        (">-\n  a\n  b\n", json!("a b")),
        ("[1, {b: [], c: {}}]", json!([1, {"b": [], "c": {}}])),
        ("\"\\u00e4\\n\\x01\"", json!("\u{e4}\n\u{1}")),
    ] {
        assert_eq!(
            value(&format!("a: {text}")),
            json!({"a": expected}),
            "{text}"
        );
    }
    assert_eq!(value(""), json!(null));
    assert_eq!(value("# nothing\n"), json!(null));
    assert_eq!(value("--- \n- a\n-\n  - b\n...\n"), json!(["a", ["b"]]));
}

#[test]
fn what_json_does_not_have_is_refused_at_its_position() {
    for (text, expected) in [
        (
            "a: &x 1\nb: *x\n",
            "1:4: an anchor marks this part for an alias",
        ),
        ("b: *x\n", "1:4: invalid YAML: "),
        (
            "ä: {b: &x {}}\n",
            "1:8: an anchor marks this part for an alias",
        ),
        ("a: !!str 1\n", "1:4: a tag sets the type of this value"),
        (
            "a: 1\n<<: {b: 1}\n",
            "2:1: a merge key refers to another part",
        ),
        ("a: 1\n---\nb: 1\n", "2:1: a second document starts here"),
        ("a:\n  1: x\n", "2:3: the key \"1\" is not a string"),
        ("true: x\n", "1:1: the key \"true\" is not a string"),
        ("a: {~: x}\n", "1:5: the key \"~\" is not a string"),
        ("? [a]\n: x\n", "1:3: this key is not a string"),
        ("a: .inf\n", "1:4: .inf is not a finite number"),
        ("a:\n- -.INF\n", "2:3: -.INF is not a finite number"),
        ("a: .nan\n", "1:4: .nan is not a finite number"),
        (
            "a: 007\n",
            "1:4: 007 can be read as a number in two ways, or as a text",
        ),
        (
            "a: 0x1F\n",
            "1:4: 0x1F can be read as a number in two ways, or as a text",
        ),
        (
            "a: -0o17\n",
            "1:4: -0o17 can be read as a number in two ways, or as a text",
        ),
        ("a: [1\n", "2:1: invalid YAML: "),
        ("a: 'b\n", "invalid YAML: "),
        ("a: b: c\n", "invalid YAML: "),
        ("a:\n\t- b\n", "invalid YAML: "),
    ] {
        let problem = yaml_as_json(source(text), YamlDialect::Case)
            .unwrap_err()
            .to_string();
        assert!(
            problem.contains(expected) && problem.contains("; "),
            "{text:?}: {problem}"
        );
    }
}

fn of_config(text: &str) -> Result<SourceText, String> {
    yaml_as_json(source(text), YamlDialect::Config).map_err(|problem| problem.to_string())
}

#[test]
fn aliases_are_written_out() {
    let text = "a: &x {b: &y [1, é], c: *y}\n&k d: [*x, *k, &z , *z]\n";
    let json = of_config(text).unwrap();
    assert_eq!(
        json.text,
        r#"{"a":{"b":[1,"é"],"c":[1,"é"]},"d":[{"b":[1,"é"],"c":[1,"é"]},"d",null,null]}"#
    );
    let cursor = JsonCursor::whole(&json);
    let at = |path: &[_]| {
        let Point { line, column } = json.point(cursor.value(path));
        (line, column)
    };
    assert_eq!(at(&[Key("a"), Key("c")]), (1, 25));
    assert_eq!(at(&[Key("a"), Key("c"), At(1)]), (1, 18));
    assert_eq!(at(&[Key("d"), At(0)]), (2, 8));
    assert_eq!(at(&[Key("d"), At(0), Key("b"), At(1)]), (1, 18));
    let redefined = of_config("- &a 1\n- *a\n- &a 2\n- *a\n").unwrap();
    assert_eq!(redefined.text, "[1,1,2,2]");
}

#[test]
fn an_alias_is_a_value_that_is_complete() {
    for (text, expected) in [
        (
            "a: &x [*x]\n",
            "1:8: this alias is part of the value that it refers to",
        ),
        ("a: &x b\n*x : 1\n", "2:1: this key is not a string"),
        (
            "a: 1\n<<: {b: 1}\n",
            "2:1: a merge key refers to another part, which this file does not allow",
        ),
        (
            "a: !!str 1\n",
            "1:4: a tag sets the type of this value, which this file does not allow",
        ),
    ] {
        let problem = of_config(text).unwrap_err();
        assert!(problem.contains(expected), "{text:?}: {problem}");
    }
}

#[test]
fn the_aliases_of_a_file_repeat_at_most_1_mib() {
    let of_bytes = |bytes: usize| format!("- &a {}\n- *a\n", "x".repeat(bytes - 2));
    assert!(of_config(&of_bytes(1024 * 1024)).is_ok());
    let refused = "a.yaml:2:3: the aliases of this file repeat more than 1 MiB; write the values out [too-large]";
    assert_eq!(of_config(&of_bytes(1024 * 1024 + 1)).unwrap_err(), refused);
    let laughs: String = (1..30)
        .map(|level| {
            format!(
                "- &a{level} [{}]\n",
                vec![format!("*a{}", level - 1); 9].join(", ")
            )
        })
        .collect();
    let problem = of_config(&format!("- &a0 lol\n{laughs}")).unwrap_err();
    assert!(problem.ends_with("[too-large]"), "{problem}");
    let deep: String = (1..200)
        .map(|level| format!("- &a{level} [*a{}]\n", level - 1))
        .collect();
    let json = of_config(&format!("- &a0 x\n{deep}")).unwrap();
    let read = crate::format::json::with_unique_keys::<Value>(&json);
    assert_eq!(read.unwrap_err().code.as_str(), "too-deep");
}

#[test]
fn a_file_of_another_program_may_use_more() {
    let text =
        "1: &a 007\n~: 0x1F\n<<: {b: *a}\nd: !!str 2\ne: !!int 3\nf: .inf\non: [no, 2026-11-21]\n";
    let json = yaml_as_json(source(text), YamlDialect::Foreign).unwrap();
    let expected = json!({
        "1": "007", "~": "0x1F", "<<": {"b": "007"}, "d": "2", "e": 3, "f": ".inf", "on": ["no", "2026-11-21"]
    });
    assert_eq!(serde_json::from_str::<Value>(&json.text).unwrap(), expected);
    assert!(yaml_as_json(source("a: !x 1\n"), YamlDialect::Foreign).is_err());
}

#[test]
fn no_position_is_behind_the_end_of_the_text() {
    for text in [
        "a: 1\nb",
        "a: 1\nb\n",
        "a: 1\nb: [",
        "a: 1\r\r\rb\n",
        "a: {b: 1\r\rb: 2}",
        "a: 1\r\ra: 2",
    ] {
        let read = yaml_as_json(source(text), YamlDialect::Config)
            .and_then(|json| crate::format::json::with_unique_keys::<Value>(&json));
        let at = read.unwrap_err().at.unwrap();
        let lines = 1 + u32::try_from(text.matches('\n').count()).unwrap();
        assert!((1..=lines).contains(&at.line), "{text:?}: {at:?}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        "- ".repeat(40_000),
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        format!("a: {}", "[".repeat(100_000)),
    ] {
        assert_eq!(
            yaml_as_json(source(&text), YamlDialect::Case)
                .unwrap_err()
                .code
                .as_str(),
            "too-deep",
            "{}",
            &text[..8]
        );
    }
    let fits = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    assert!(yaml_as_json(source(&fits), YamlDialect::Case).is_ok());
    assert!(yaml_as_json(source(&format!("[{fits}]")), YamlDialect::Case).is_err());
}

#[test]
fn every_part_has_its_position() {
    let text = "# ä\nquery: >-\n  ä\n  b\n\"tööls\":\n  - name: find # c\n    with: { \"ä\": 1, id: [2] }\n  - x\n";
    let json = yaml_as_json(source(text), YamlDialect::Case).unwrap();
    let cursor = JsonCursor::whole(&json);
    let value = |path: &[_]| json.point(cursor.value(path));
    let key = |path: &[_]| json.point(cursor.key(path));
    let at = |line, column| Point { line, column };
    // A block of lines starts at its first line.
    assert_eq!(
        (value(&[]), key(&[Key("query")]), value(&[Key("query")])),
        (at(2, 1), at(2, 1), at(3, 3))
    );
    let tools = Key("tööls");
    assert_eq!((key(&[tools]), value(&[tools])), (at(5, 1), at(6, 3)));
    assert_eq!(
        (value(&[tools, At(0)]), key(&[tools, At(0), Key("with")])),
        (at(6, 5), at(7, 5))
    );
    let inner = [tools, At(0), Key("with"), Key("id")];
    assert_eq!((key(&inner), value(&inner)), (at(7, 21), at(7, 25)));
    assert_eq!(
        (value(&[tools, At(1)]), json.line(json.text.len())),
        (at(8, 5), 2)
    );
}

/// Any value without infinite numbers, nested three levels deep.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<Option<bool>>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| json!(value)),
        any::<String>().prop_map(|value| json!(value)),
        "[-+.0-9a-z~ ]{0,6}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array);
        let keys = proptest::collection::btree_map("[a-z0-9.~]{0,3}", inner, 0..4);
        let object = keys.prop_map(|keys| Value::Object(keys.into_iter().collect::<Map<_, _>>()));
        prop_oneof![list, object]
    })
}

proptest! {
    #[test]
    fn what_a_yaml_writer_writes_is_the_same_value(expected in values()) {
        let Ok(text) = serde_yaml::to_string(&expected) else { return Ok(()) };
        // In YAML 1.1, which it writes, these are line breaks, and it indents after them; in YAML 1.2 they are letters.
        if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
            return Ok(());
        }
        // Its writer marks texts that an older YAML reads in another way, which does not matter here.
        if let Ok(json) = yaml_as_json(source(&text), YamlDialect::Case) {
            prop_assert_eq!(serde_json::from_str::<Value>(&json.text).unwrap(), expected, "{}", text);
        }
    }

    #[test]
    fn json_is_yaml(expected in values()) {
        let text = format!("{expected:#}");
        let Ok(json) = yaml_as_json(source(&text), YamlDialect::Case) else { return Ok(()) };
        prop_assert_eq!(serde_json::from_str::<Value>(&json.text).unwrap(), expected, "{}", text);
    }

    #[test]
    fn no_text_causes_a_panic(text in "([-a&*!?:{}\\[\\]#|>'\"%<~ \\n\\t\\r0-9.ä,]{0,6}){0,12}") {
        if let Ok(json) = yaml_as_json(source(&text), YamlDialect::Case) {
            prop_assert_eq!(serde_json::from_str::<Value>(&json.text).map(|_| ()).map_err(|error| error.to_string()), Ok(()));
        }
    }
}
