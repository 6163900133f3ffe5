//! Properties of all texts and all values.

use proptest::prelude::{Just, ProptestConfig, Strategy, any};
use proptest::test_runner::TestCaseError;
use proptest::{collection, prop_assert, prop_assert_eq, prop_oneof, proptest, sample};
use serde_json::{Map, Value};

use super::{FINDINGS, RecoveryLayer, recover, recover_any};

/// Pieces of broken answers, without escapes and adjacent digits, so that a result can be searched in the text.
const SOUP: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\n",
    " ",
    "\"category\"",
    "\"findings\"",
    "'a'",
    "\"b c\"",
    "key",
    "{\"category\":\"x\"}",
    "{\"findings\":[",
    "7",
    "-2.5",
    " 1e999 ",
    "NaN",
    "True",
    "None",
    "null",
    "//",
    "#",
    "/*",
    "*/",
    "```json\n",
    "\n```\n",
    "it's",
    "ä",
    "oops ",
    "{'category': 'y',",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\[\\]{}\"'`,:/#*\\\\\n a-c]{0,8}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof!["[a-z]{1,4}", any::<String>()];
    collection::vec((key, inner), 0..6).prop_map(|members| members.into_iter().collect())
}

fn object() -> impl Strategy<Value = Value> {
    (members(value()), value()).prop_map(|(mut members, first)| {
        members.insert("first".to_owned(), first);
        Value::Object(members)
    })
}

fn findings() -> impl Strategy<Value = Value> {
    (collection::vec(object(), 0..4), members(value())).prop_map(|(list, mut members)| {
        members.insert("findings".to_owned(), Value::from(list));
        Value::Object(members)
    })
}

fn reread(text: &str) -> Value {
    serde_json::from_str(text).expect("what was printed is JSON")
}

/// Whether a value equals another one with members and array tails removed.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|whole| is_part(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len()
                && part
                    .iter()
                    .zip(whole)
                    .all(|(part, whole)| is_part(part, whole))
        }
        (part, whole) => part == whole,
    }
}

/// Every string and number in a value, and every key except the list's, which recovery adds when it wraps an array.
fn words(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Bool(truth) => into.push(if *truth { "rue" } else { "alse" }.to_owned()),
        Value::Number(number) => into.push(number.to_string()),
        Value::String(string) => into.push(string.clone()),
        Value::Array(elements) => elements.iter().for_each(|element| words(element, into)),
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            if key != FINDINGS.list {
                into.push(key.clone());
            }
            words(member, into);
        }),
    }
}

fn was_written(value: &Value, text: &str) -> Result<(), TestCaseError> {
    let mut all = Vec::new();
    words(value, &mut all);
    for word in all {
        prop_assert!(text.contains(&word), "{word:?} was never written");
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), ascii in "[\\[\\]{}\"'`,:/#*\\\\\nunull0-9eE.+-]{0,40}") {
        for text in [text, ascii] {
            let _ = recover(&text, &FINDINGS);
            let _ = recover_any(&text);
        }
    }

    #[test]
    fn a_printed_object_comes_back_as_a_strict_parser_reads_it(value in object(), pretty in any::<bool>()) {
        let printed = if pretty { format!("{value:#}") } else { value.to_string() };
        for text in [
            printed.clone(),
            format!("Sure, here it is: {printed}\nAnything else?"),
            format!("It's done (see below).\n```json\n{printed}\n```\nThat's all; don't ask."),
            format!("{{braces}} and [brackets] first\n\n{printed}"),
        ] {
            let found = recover_any(&text).expect("it is there");
            prop_assert_eq!(found.layer, RecoveryLayer::Strict);
            prop_assert_eq!(found.value, reread(&printed));
        }
    }

    #[test]
    fn a_printed_list_comes_back_behind_other_values(value in findings(), other in "\\{\"[a-c]\": [0-9]\\} |") {
        let text = format!("{other}then ```{value}```");
        let found = recover(&text, &FINDINGS).expect("it is there");
        prop_assert_eq!((found.layer, found.lost), (RecoveryLayer::Strict, 0));
        prop_assert_eq!(found.value, reread(&value.to_string()));
    }

    #[test]
    fn our_reader_agrees_with_the_strict_parser(value in object()) {
        // The trailing comma is the only thing that the strict parser rejects.
        let printed = value.to_string();
        let text = format!("{},}}", &printed[..printed.len() - 1]);
        let found = recover_any(&text).expect("it is there");
        prop_assert_eq!(found.layer, RecoveryLayer::Repaired);
        prop_assert_eq!(found.value, reread(&printed));
    }

    #[test]
    fn what_comes_out_was_written(pieces in collection::vec(sample::select(&SOUP[..]), 0..60)) {
        let text = pieces.concat();
        if let Some(found) = recover(&text, &FINDINGS) {
            prop_assert!(found.value["findings"].is_array());
            was_written(&found.value, &text)?;
        }
        if let Some(found) = recover_any(&text) {
            was_written(&found.value, &text)?;
        }
    }
}

proptest! {
    // Few values are enough, because every prefix is tried.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_prefix_yields_a_part(value in object(), pretty in any::<bool>()) {
        let printed = if pretty { format!("{value:#}") } else { value.to_string() };
        let whole = reread(&printed);
        for (end, _) in printed.char_indices() {
            if let Some(found) = recover_any(&printed[..end]) {
                prop_assert_eq!(found.layer, RecoveryLayer::Repaired);
                prop_assert!(is_part(&found.value, &whole), "{} of {}", found.value, whole);
            }
        }
    }

    #[test]
    fn a_prefix_of_a_list_is_never_an_empty_list_that_was_not_written(value in findings()) {
        let printed = value.to_string();
        let whole = reread(&printed);
        for (end, _) in printed.char_indices() {
            let Some(found) = recover(&printed[..end], &FINDINGS) else { continue };
            if found.layer == RecoveryLayer::Repaired && found.value["findings"] == Value::Array(Vec::new()) {
                prop_assert_eq!(&whole["findings"], &found.value["findings"]);
            }
        }
    }
}
