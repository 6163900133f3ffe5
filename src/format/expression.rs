//! Expressions over a run: the variables that they may use, and their problems in words.

use expr::{BadExpression, Expression, FUNCTIONS, Language};

use crate::diag::did_you_mean;
use crate::model::InputLimit;
use crate::text::line;

/// What an expression can use, each with its meaning. docs/kinds/custom.md prints this table.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "output",
        "the outputs of the run. If `text` is the only output: the JSON in it. Otherwise: all outputs, and the keys of a JSON object in `text`",
    ),
    (
        "text",
        "the text of the answer, or `null`. An answer that is not a string is given as JSON, followed by the decoded form of each string and key that JSON escapes",
    ),
    (
        "calls",
        "the tool calls: `name`, `server`, `arguments`, `result`, whether it `failed`, its `turn` in a conversation, and its `step`, which is \
         the same for calls that the model asked for in one answer; `null` if they cannot be read",
    ),
    ("input", "`input` of the case, or its `query`"),
    (
        "expected",
        "`expected` of the case; without such a key the case, without its id, tags, notes and owner",
    ),
    (
        "used",
        "what the run used: `input_tokens`, `output_tokens`, `total_tokens`, `latency_ms`, `cost_usd`; null if unknown",
    ),
];

/// The same, without their meanings.
const NAMES: [&str; VARIABLES.len()] = {
    let mut names = [""; VARIABLES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = VARIABLES[index].0;
        index += 1;
    }
    names
};

const LANGUAGE: Language = Language {
    variables: &NAMES,
    noted: "output",
    characters: InputLimit::EXPRESSION.count(),
    operators: InputLimit::OPERATORS.count(),
    levels: InputLimit::EXPRESSION_LEVELS.count(),
};

/// The longest reason of the parser, in characters.
const REASON: usize = 160;

/// What is wrong with the text of an expression, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionProblem {
    /// The problem, with the position in the expression.
    pub what: String,
    /// What would be right.
    pub help: String,
}

/// Parses an expression.
///
/// # Errors
/// It is not CEL, it is too long or nested too deeply, or it uses a name or a function that does not exist.
pub fn parsed(text: &str) -> Result<Expression, ExpressionProblem> {
    Expression::parse(text, &LANGUAGE).map_err(problem)
}

fn problem(bad: BadExpression) -> ExpressionProblem {
    let (description, help) = match bad {
        BadExpression::Empty => (
            "the expression is empty".to_owned(),
            "write a condition, such as output.total == expected.total".to_owned(),
        ),
        BadExpression::TooLong => too_long(&InputLimit::EXPRESSION),
        BadExpression::TooManyOperators => too_long(&InputLimit::OPERATORS),
        BadExpression::TooDeep => {
            let limit = &InputLimit::EXPRESSION_LEVELS;
            (
                format!("the expression is nested too deeply: the limit is {limit}"),
                limit.help.to_owned(),
            )
        }
        BadExpression::Invalid {
            line: row,
            character,
            reason,
        } => {
            let row = row.map_or_else(String::new, |row| format!("line {row}, "));
            let reason = line(&reason, REASON);
            (
                format!("the expression is not valid at {row}character {character}: {reason}"),
                "write an expression of CEL, such as output.total == 5".to_owned(),
            )
        }
        BadExpression::UnknownName { name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            unknown("name", &name, &known)
        }
        BadExpression::UnknownFunction { name } => unknown("function", &name, FUNCTIONS),
        BadExpression::WrongForm { name } => {
            let right = match name.as_str() {
                "sum" | "has" => format!("write {name}(output.key)"),
                _ => format!("write output.list.{name}(item, …)"),
            };
            let description = format!("\"{name}\" is called in a form that it does not have");
            (description, right)
        }
        BadExpression::WrongCount { name, given, takes } => {
            let (least, most) = takes;
            let needed = if least == most {
                least.to_string()
            } else {
                format!("{least} to {most}")
            };
            (
                format!("\"{name}\" takes {needed} values, not {given}"),
                "correct the call: a value before the dot counts, too".to_owned(),
            )
        }
        BadExpression::NamedType => (
            "the expression builds a value of a named type".to_owned(),
            "write a map: {\"key\": value}".to_owned(),
        ),
    };
    ExpressionProblem {
        what: description,
        help,
    }
}

fn too_long(limit: &InputLimit) -> (String, String) {
    let input = limit.input;
    let description = format!("the expression is too long: the limit is {limit} {input}");
    (description, limit.help.to_owned())
}

fn unknown(kind: &str, name: &str, known: &[&str]) -> (String, String) {
    let otherwise = format!("the {kind}s are {}", known.join(", "));
    (
        format!("unknown {kind} \"{name}\" in the expression"),
        did_you_mean(name, known, otherwise),
    )
}

#[cfg(test)]
mod tests {
    use super::parsed;

    #[test]
    fn what_is_no_expression_is_refused_with_its_position() {
        for (text, problem) in [
            (
                "",
                "the expression is empty (write a condition, such as output.total == expected.total)",
            ),
            (
                "outptu.total == 5",
                "unknown name \"outptu\" in the expression (did you mean \"output\"?)",
            ),
            (
                "output.items.exist(x, x > 1)",
                "unknown function \"exist\" in the expression (did you mean \"exists\"?)",
            ),
            (
                "output.total = 5",
                "the expression is not valid at character 14: token recognition error at: '= ' (write an expression of CEL, such as output.total == 5)",
            ),
            (
                "output.items.map(x, x) == y",
                "unknown name \"y\" in the expression (the names are output, text, calls, input, expected, used)",
            ),
            (
                "google.Thing{a: 1}",
                "the expression builds a value of a named type (write a map: {\"key\": value})",
            ),
        ] {
            let bad = parsed(text).unwrap_err();
            assert_eq!(format!("{} ({})", bad.what, bad.help), problem, "{text}");
        }
    }

    #[test]
    fn an_expression_has_at_most_2000_characters_80_operators_and_40_levels() {
        let at_limit = [
            format!("'{}'", "x".repeat(1998)),
            format!("[1{}]", ", 1+1".repeat(79)),
            format!("1{}", "+1".repeat(39)),
        ];
        for text in at_limit {
            assert!(parsed(&text).is_ok(), "{text}");
        }
        for (text, limit) in [
            (format!("'{}'", "x".repeat(1999)), "2,000 characters"),
            (format!("[1{}]", ", 1+1".repeat(80)), "80 operators"),
            (format!("1{}", "+1".repeat(41)), "40 levels"),
        ] {
            let what = parsed(&text).unwrap_err().what;
            assert!(what.contains(&format!("the limit is {limit}")), "{what}");
        }
    }
}
