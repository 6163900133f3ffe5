//! Expressions over a run: checks that a suite or a case states itself, and the suite's own metrics.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use expr::{Comparison, Expression, FieldUse, Variables};
use serde_json::{Map, Value, json};

use super::text::{AnswerOutput, AnswerText};
use crate::format::expression::parsed;
use crate::format::lenient;
use crate::model::{OwnExpressions, Run, Unit};
use crate::suites::shared::calls::{ObservedCall, calls};
use crate::suites::shared::case_keys::{DescriptionKeys, leave_out_marks};
use crate::text::line;

/// The longest expression in a report, in characters.
const SHOWN: usize = 160;

/// The longest value of a comparison, in characters.
const COMPARED: usize = 80;

/// An expression that must be true.
#[derive(Debug)]
pub struct StatedExpression {
    /// The name of its check; without one it is part of `answer`.
    pub name: Option<Box<str>>,
    pub expression: Expression,
}

/// Why an expression is not true for a run.
pub enum ExpressionMiss {
    False(String),
    /// It has no value for this run, or one that is neither true nor false.
    NoValue(String),
}

impl ExpressionMiss {
    pub fn detail(self) -> String {
        match self {
            Self::False(detail) | Self::NoValue(detail) => detail,
        }
    }
}

impl StatedExpression {
    /// The expectation in one line.
    pub fn expectation(&self) -> String {
        line(self.expression.as_str(), SHOWN)
    }

    /// Why the expression is not true for a run; `None` if it is.
    pub fn miss(&self, run: &GradedRunValues<'_>) -> Option<ExpressionMiss> {
        match run.value(&self.expression) {
            Ok(Value::Bool(true)) => None,
            Ok(Value::Bool(false)) => {
                let detail = match self.expression.false_comparison(run.variables()) {
                    Some(Comparison { left, sign, right }) => {
                        let left = line(&left.to_string(), COMPARED);
                        let right = line(&right.to_string(), COMPARED);
                        format!("{left} {sign} {right} is false; {}", run.shown())
                    }
                    None => format!("it is false for {}", run.shown()),
                };
                Some(ExpressionMiss::False(detail))
            }
            Ok(value) => Some(ExpressionMiss::NoValue(format!(
                "it is {}, not true or false",
                line(&value.to_string(), SHOWN)
            ))),
            Err(reason) => {
                let detail = format!("it has no value: {reason}; {}", run.shown());
                Some(ExpressionMiss::NoValue(detail))
            }
        }
    }
}

/// The checks and metrics that a suite states itself, parsed.
#[derive(Default)]
pub struct ParsedExpressions {
    /// The checks, each with its rule.
    pub checks: Vec<(StatedExpression, Option<String>)>,
    metrics: BTreeMap<String, (Expression, Unit)>,
}

impl ParsedExpressions {
    /// Parses the expressions of a config again.
    pub fn of(stated: &OwnExpressions) -> Self {
        let mut expressions = Self::default();
        for (name, check) in &stated.checks {
            let expression = StatedExpression {
                name: Some(name.as_str().into()),
                expression: parsed_again(&check.expr),
            };
            expressions.checks.push((expression, check.rule.clone()));
        }
        for (name, metric) in &stated.metrics {
            let expression = parsed_again(&metric.expr);
            expressions
                .metrics
                .insert(name.clone(), (expression, metric.unit));
        }
        expressions
    }

    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.metrics.is_empty()
    }
}

fn parsed_again(text: &str) -> Expression {
    parsed(text).expect("reading the config refused every bad expression")
}

/// The value of a metric for a run, `None` if there is nothing to measure; or why it has none, in one line.
pub type MetricOutcome = Result<Option<f64>, String>;

impl GradedRunValues<'_> {
    /// The value of a metric for this run; `None` if the suite has no metric of this name.
    pub fn metric(&self, expressions: &ParsedExpressions, name: &str) -> Option<MetricOutcome> {
        let (expression, unit) = expressions.metrics.get(name)?;
        Some(match self.value(expression) {
            Ok(Value::Null) => Ok(None),
            Ok(Value::Bool(value)) => Ok(Some(f64::from(u8::from(value)))),
            Ok(Value::Number(number)) => match number.as_f64() {
                Some(value) if *unit == Unit::Share && !(0.0..=1.0).contains(&value) => Err(
                    format!("{value} is not a share of 0 to 1; state another unit, such as count"),
                ),
                value => Ok(value),
            },
            Ok(value) => Err(format!(
                "it is {}, not a number",
                line(&value.to_string(), SHOWN)
            )),
            Err(reason) => Err(format!("{reason}; {}", self.shown())),
        })
    }
}

#[derive(Clone, Copy)]
pub struct ExpressionCase<'a> {
    /// Its JSON; empty if it is not known.
    pub json: &'a str,
    /// The keys that state its origin and owner.
    pub description: DescriptionKeys,
}

/// The values of a run that expressions use; they are read once for all expressions.
pub struct GradedRunValues<'a> {
    run: &'a Run,
    answer: AnswerOutput,
    /// The case in the golden file.
    case: ExpressionCase<'a>,
    variables: OnceCell<Variables>,
}

impl<'a> GradedRunValues<'a> {
    pub fn new(run: &'a Run, answer: AnswerOutput, case: ExpressionCase<'a>) -> Self {
        Self {
            run,
            answer,
            case,
            variables: OnceCell::new(),
        }
    }

    /// Whether the case has this text, apart from its notes.
    pub fn expects(&self, text: &str) -> bool {
        self.case.json.contains(text) && self.case_values().to_string().contains(text)
    }

    /// The case without its notes: a changed note needs no approval, so expressions do not see it.
    fn case_values(&self) -> Value {
        let mut case = lenient::any(self.case.json).unwrap_or(Value::Null);
        if let Some(fields) = case.as_object_mut() {
            leave_out_marks(fields, self.case.description);
        }
        case
    }

    /// The value of an expression; an error says why it has none.
    fn value(&self, expression: &Expression) -> Result<Value, String> {
        let value = expression.evaluate(self.variables())?;
        match self.unknown_output(expression.used()) {
            Some(unknown) => Err(format!(
                "the answer is a text without JSON, so {unknown} is unknown"
            )),
            None => Ok(value),
        }
    }

    /// What an expression uses of `output` and no output has, if the answer is prose in place of JSON: then whether it is there is unknown.
    fn unknown_output(&self, used: &FieldUse) -> Option<String> {
        let outputs = lenient::any(&self.run.outputs)
            .ok()
            .filter(|outputs| self.is_prose(outputs))?;
        for field in &used.fields {
            if !has_value(&outputs, field) {
                return Some(format!("output.{field}"));
            }
        }
        used.is_whole.then(|| "output".to_owned())
    }

    fn variables(&self) -> &Variables {
        self.variables.get_or_init(|| {
            let case = self.case_values();
            let input = case.get("input").or_else(|| case.get("query"));
            let input = input.cloned().unwrap_or(Value::Null);
            let expected = case.get("expected").unwrap_or(&case).clone();
            let answer = AnswerText::of(self.run, self.answer);
            let text = answer.map_or(Value::Null, |answer| Value::String(answer.for_expression()));
            let (observed, flaws) = calls(self.run);
            let calls = if flaws.is_empty() {
                Value::Array(observed.into_iter().map(call).collect())
            } else {
                Value::Null
            };
            Variables::new([
                ("output", self.output()),
                ("text", text),
                ("calls", calls),
                ("input", input),
                ("expected", expected),
                ("used", self.used()),
            ])
        })
    }

    /// The outputs, with the JSON in their text: alone it is the output; its keys are added to other keys.
    fn output(&self) -> Value {
        let mut outputs = lenient::any(&self.run.outputs).unwrap_or(Value::Null);
        match (
            self.json_of_text(),
            is_text_alone(&outputs),
            outputs.as_object_mut(),
        ) {
            (Some(object), true, _) => object,
            (Some(Value::Object(object)), false, Some(fields)) => {
                for (key, value) in object {
                    fields.entry(key).or_insert(value);
                }
                outputs
            }
            _ => outputs,
        }
    }

    /// The object or list in the text of the outputs.
    fn json_of_text(&self) -> Option<Value> {
        let outputs = lenient::any(&self.run.outputs).ok()?;
        outputs.get("text").filter(|text| text.is_string())?;
        let answer = AnswerText::of(self.run, AnswerOutput::Under(&["text"]))?;
        answer
            .json()
            .map(|(value, _)| value.clone())
            .filter(|value| value.is_object() || value.is_array())
    }

    /// Whether the answer is a text without JSON, and not in another output.
    fn is_prose(&self, outputs: &Value) -> bool {
        let is_elsewhere = match self.answer {
            AnswerOutput::None => false,
            AnswerOutput::Under(keys) | AnswerOutput::UnderOrWhole(keys) => keys
                .iter()
                .find(|key| has_value(outputs, key))
                .is_some_and(|key| *key != "text"),
            AnswerOutput::TextOrList(list) => has_value(outputs, list),
        };
        !is_elsewhere && has_value(outputs, "text") && self.json_of_text().is_none()
    }

    fn used(&self) -> Value {
        let tokens = &self.run.tokens;
        json!({
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "total_tokens": tokens.total,
            "latency_ms": tokens.latency_ms,
            "cost_usd": tokens.cost_usd,
        })
    }

    /// The run in one line, with what cannot be read of its calls.
    fn shown(&self) -> String {
        let output = format!("output {}", line(&self.output().to_string(), SHOWN));
        match calls(self.run).1.first() {
            Some(flaw) => format!("{output}; its calls cannot be read: {flaw}"),
            None => output,
        }
    }
}

fn has_value(outputs: &Value, key: &str) -> bool {
    outputs.get(key).is_some_and(|value| !value.is_null())
}

/// Whether outputs have a text and nothing else.
fn is_text_alone(outputs: &Value) -> bool {
    let mut fields = outputs
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null());
    fields.next().is_some_and(|(key, _)| key == "text") && fields.next().is_none()
}

/// A call as an expression sees it.
fn call(call: ObservedCall) -> Value {
    let ObservedCall {
        name,
        server,
        arguments,
        result,
        failed,
        turn,
        step,
    } = call;
    let fields: [(&str, Value); 7] = [
        ("name", Value::String(name)),
        ("server", server.map_or(Value::Null, Value::String)),
        ("arguments", arguments),
        ("result", result.unwrap_or_default()),
        ("failed", Value::Bool(failed)),
        ("turn", turn.map_or(Value::Null, Value::from)),
        ("step", step.map_or(Value::Null, Value::from)),
    ];
    Value::Object(
        fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<Map<_, _>>(),
    )
}
