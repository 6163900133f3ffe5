//! Values, reasons and refusals of expressions.

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;
use serde_json::{Value, json};

use super::{BadExpression, Expression, Language, Variables};

const LANGUAGE: Language = Language {
    variables: &["output", "text", "calls", "input", "expected", "used"],
    noted: "output",
    characters: 2000,
    operators: 80,
    levels: 40,
};

fn parsed(text: &str) -> Result<Expression, BadExpression> {
    Expression::parse(text, &LANGUAGE)
}

fn variables() -> Variables {
    Variables::new([
        (
            "output",
            json!({"total": 5, "price": 2.5, "items": [3, 1, 2], "name": "Ab", "none": null, "by": {"b": 2, "a": 1}}),
        ),
        ("text", json!("Hello")),
        ("expected", json!({"total": 5, "items": [1, 2]})),
        ("calls", json!([{"name": "find", "arguments": {"id": 7}}])),
        ("input", json!("Q")),
        ("used", json!({"cost_usd": null})),
    ])
}

fn value(text: &str) -> Result<Value, String> {
    value_with(text, &variables())
}

fn value_with(text: &str, variables: &Variables) -> Result<Value, String> {
    parsed(text)
        .map_err(|bad| format!("{bad:?}"))?
        .evaluate(variables)
}

#[test]
fn expressions_have_the_values_of_the_language() {
    for (text, expected) in [
        ("output.total == expected.total", json!(true)),
        ("output.total == 5.0", json!(true)),
        ("output.total / 2", json!(2)),
        ("double(output.total) / 2.0", json!(2.5)),
        ("has(output.missing)", json!(false)),
        ("output.none == null", json!(true)),
        ("output.items.filter(x, x > 1).size()", json!(2)),
        ("expected.items.all(x, x in output.items)", json!(true)),
        ("output.by.map(key, key)", json!(["a", "b"])),
        ("{2: 'x', 1: 'y'}.map(key, key)", json!([1, 2])),
        ("output.name.lowerAscii() == 'ab'", json!(true)),
        ("text.matches('^H.*o$')", json!(true)),
        (
            "calls.exists_one(call, call.name == 'find' && call.arguments.id == 7)",
            json!(true),
        ),
        ("sum(output.items)", json!(6)),
        ("sum([1, 2.5])", json!(3.5)),
        ("math.greatest(output.price, 3.0)", json!(3.0)),
        ("output.total > 3 ? 'many' : 'few'", json!("many")),
        ("output.items", json!([3, 1, 2])),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn an_expression_without_a_value_gives_the_reason() {
    for (text, reason) in [
        ("output.missing == 1", "the key \"missing\" is missing"),
        ("output.items[7]", "the list has no item 7"),
        ("output.total / 0", "division by zero"),
        (
            "output.total + output.name",
            "\"+\" does not fit int and string",
        ),
        (
            "output.total < output.name",
            "\"<\" does not fit int and string",
        ),
        (
            "9223372036854775807 + output.total",
            "the number is too large",
        ),
        (
            "double(output.total) / 0.0",
            "its value is not a finite number",
        ),
        (
            "output.name.matches('(')",
            "\"matches\" does not fit these values",
        ),
        ("sum([text])", "\"sum\" does not fit these values"),
    ] {
        assert_eq!(value(text), Err(reason.to_owned()), "{text}");
    }
}

#[test]
fn an_expression_has_at_most_the_characters_operators_and_levels_of_its_language() {
    assert!(value(&format!("'{}'", "x".repeat(1998))).is_ok());
    assert!(
        value(&format!("'{}'", "x".repeat(1999)))
            .unwrap_err()
            .contains("TooLong")
    );
    assert!(value(&format!("[1{}]", ", 1+1".repeat(79))).is_ok());
    assert!(
        value(&format!("[1{}]", ", 1+1".repeat(80)))
            .unwrap_err()
            .contains("TooManyOperators")
    );
    let repeated = |count: usize, open: &str, middle: &str, close: &str| {
        value(&format!(
            "{}{middle}{}",
            open.repeat(count),
            close.repeat(count)
        ))
        .unwrap_err()
    };
    assert!(repeated(9, "(", "1", ")").contains("more than 8 brackets inside each other"));
    assert!(repeated(1000, "[", "1", "").contains("TooManyOperators"));
    assert!(repeated(81, "", "1", "+1").contains("TooManyOperators"));
    assert!(repeated(41, "", "1", "+1").contains("TooDeep"));
    assert!(repeated(1001, "'", "", "'").contains("TooLong"));
    assert_eq!(value(&format!("1{}", "+1".repeat(39))), Ok(json!(40)));
    assert_eq!(
        value(&format!("{}1{}", "(".repeat(8), ")".repeat(8))),
        Ok(json!(1))
    );
}

#[test]
fn an_expression_that_could_take_hours_is_not_evaluated() {
    let long: Vec<u32> = (0..10_000).collect();
    let variables = Variables::new([("output", json!(long)), ("text", json!("ab"))]);
    assert_eq!(
        value_with("output.all(a, a >= 0)", &variables),
        Ok(json!(true))
    );
    for text in [
        "output.all(a, output.all(b, a + b >= 0))".to_owned(),
        format!("[text]{}.size()", ".map(x, x + x)".repeat(30)),
        format!(
            "text{}.size()",
            ".replace('a', 'aaaaaaaaaaaaaaaa')".repeat(20)
        ),
        format!(
            "[1]{}.size()",
            ".map(x, [x, x, x, x, x, x, x, x])".repeat(20)
        ),
    ] {
        assert!(
            value_with(&text, &variables)
                .unwrap_err()
                .starts_with("it could take too long"),
            "{text}"
        );
    }
}

#[test]
fn a_false_comparison_is_shown_with_its_values() {
    let shown = |text: &str| {
        let comparison = parsed(text).unwrap().false_comparison(&variables())?;
        Some(format!(
            "{} {} {}",
            comparison.left, comparison.sign, comparison.right
        ))
    };
    for (text, expected) in [
        ("output.total == 6", Some("5 == 6")),
        (
            "output.total == 5 && output.name == 'B'",
            Some("\"Ab\" == \"B\""),
        ),
        ("4 in output.items", Some("4 in [3,1,2]")),
        ("output.items.all(x, x > 1)", None),
        ("output.missing == 1", None),
    ] {
        assert_eq!(shown(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn whole_numbers_keep_all_digits() {
    let variables = Variables::new([(
        "output",
        json!({"id": 9_007_199_254_740_993_i64, "large": u64::MAX}),
    )]);
    assert_eq!(
        value_with("output.id == 9007199254740993", &variables),
        Ok(json!(true))
    );
    assert_eq!(
        value_with("output.id == 9007199254740992", &variables),
        Ok(json!(false))
    );
    assert_eq!(value_with("output.large", &variables), Ok(json!(u64::MAX)));
}

/// What random expressions are made of.
const TOKENS: &[&str] = &[
    "output",
    "text",
    "calls",
    ".total",
    ".items",
    ".name",
    ".none",
    ".by",
    "[0]",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ":",
    ",",
    "'a'",
    "''",
    "1",
    "0",
    "-1",
    "2.5",
    "1u",
    "b'x'",
    "null",
    "true",
    "==",
    "<",
    "&&",
    "||",
    "!",
    "?",
    "+",
    "-",
    "*",
    "/",
    "%",
    " in ",
    ".size()",
    ".map(x, x)",
    ".filter(x, x > 1)",
    ".all(k, ",
    ".exists(k, k == 1)",
    "has(",
    "size(",
    "sum(",
    "string(",
    "int(",
    "double(",
    "type(",
    "math.abs(",
    "math.greatest(",
    ".matches('",
    ".replace('a', ",
    ".split(''",
    ".join(",
    ".substring(",
    ".charAt(",
    "9223372036854775807",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_expression_ends_the_program(tokens in proptest::collection::vec(any::<Index>(), 1..14)) {
        let text: String = tokens.iter().map(|token| *token.get(TOKENS)).collect();
        if let Ok(expression) = parsed(&text) {
            let first = expression.evaluate(&variables());
            assert_eq!(first, expression.evaluate(&variables()), "{text}");
        }
    }
}
