//! Parses an expression, and refuses what could not be evaluated: unknown names, and expressions that are too long or too deep.

use std::collections::BTreeSet;
use std::sync::Arc;

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::names::{FUNCTIONS, VARIABLES};
use crate::diag::did_you_mean;
use crate::model::InputLimit;
use crate::text::line;

/// Why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadExpression {
    /// The problem, with the position in the expression.
    pub what: String,
    pub help: String,
}

/// The function that fixes the order in which a comprehension walks a map.
pub const IN_ORDER: &str = "@in_order";

/// The variable with the outputs of the run.
const OUTPUT: &str = "output";

/// The operators that look for a key.
const INDEX: &str = "_[_]";
const IN: &str = "@in";

/// The deepest brackets that the parser's stack holds.
const DEEPEST_BRACKETS: u16 = 8;

/// The longest reason of the parser, in characters.
const REASON: usize = 160;

/// A parsed expression, ready to be evaluated.
#[derive(Debug)]
pub struct PreparedExpression {
    pub program: IdedExpr,
    /// What it uses of `output`.
    pub output: OutputUse,
}

/// What an expression uses of `output`.
#[derive(Debug, Default)]
pub struct OutputUse {
    /// The fields that it names, also those that it only asks for.
    pub fields: BTreeSet<String>,
    /// Whether it also uses all of it, as in `output.all(key, …)`.
    pub is_whole: bool,
}

/// The parsed expression, ready to be evaluated.
pub fn prepared(language: &Arc<Env>, text: &str) -> Result<PreparedExpression, BadExpression> {
    if text.trim().is_empty() {
        return Err(bad(
            "the expression is empty",
            "write a condition, such as output.total == expected.total",
        ));
    }
    if let Some(limit) = [
        (&InputLimit::EXPRESSION, text.chars().count()),
        (&InputLimit::OPERATORS, operators(text)),
    ]
    .into_iter()
    .find_map(|(limit, count)| limit.is_exceeded_by(count).then_some(limit))
    {
        return Err(bad(
            format!(
                "the expression is too long: the limit is {limit} {}",
                limit.input
            ),
            limit.help,
        ));
    }
    let parsed = language
        .parser()
        .max_recursion_depth(DEEPEST_BRACKETS)
        .parse(text);
    let mut program = parsed.map_err(|errors| {
        let first = errors.errors.iter().min_by_key(|error| error.pos);
        let (position, reason) = first.map_or(((1, 1), String::new()), |error| {
            (error.pos, plain(&error.msg))
        });
        let (row, column) = (position.0.max(1), position.1.max(1));
        let at = if text.contains('\n') {
            format!("line {row}, character {column}")
        } else {
            format!("character {column}")
        };
        bad(
            format!("the expression is not valid at {at}: {reason}"),
            "write an expression of CEL, such as output.total == 5",
        )
    })?;
    let mut names = Names::default();
    names.check(&mut program, 0)?;
    Ok(PreparedExpression {
        program,
        output: names.output,
    })
}

fn bad(what: impl Into<String>, help: impl Into<String>) -> BadExpression {
    BadExpression {
        what: what.into(),
        help: help.into(),
    }
}

/// The parser's reason without its internals.
fn plain(message: &str) -> String {
    if message.contains("Recursion limit") {
        return format!("more than {DEEPEST_BRACKETS} brackets inside each other");
    }
    line(message.trim_start_matches("Syntax error: "), REASON)
}

/// The signs outside of texts that are, or may be, operators: each can be one more level of the parsed expression.
fn operators(text: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut count = 0;
    for sign in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if sign == '\\' => escaped = true,
            Some(open) if sign == open => quote = None,
            Some(_) => {}
            None if matches!(sign, '"' | '\'') => quote = Some(sign),
            None => {
                count += usize::from(matches!(
                    sign,
                    '+' | '-' | '*' | '/' | '%' | '.' | '[' | '<' | '>' | '=' | '?' | '!'
                ))
            }
        }
    }
    count
}

/// The names that a part of an expression can use.
#[derive(Default)]
struct Names {
    /// The variables of the comprehensions around the part.
    local: Vec<String>,
    /// What is used of `output` so far.
    output: OutputUse,
}

impl Names {
    /// Refuses unknown names, and makes comprehensions walk maps in order.
    fn check(&mut self, part: &mut IdedExpr, depth: usize) -> Result<(), BadExpression> {
        let limit = &InputLimit::EXPRESSION_LEVELS;
        if limit.is_exceeded_by(depth) {
            return Err(bad(
                format!("the expression is nested too deeply: the limit is {limit}"),
                limit.help,
            ));
        }
        let depth = depth + 1;
        match &mut part.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => {
                self.output.is_whole |= self.is_output(name);
                self.check_variable(name)
            }
            Expr::Select(select) => match self.note_field(&select.operand, &select.field) {
                true => Ok(()),
                false => self.check(&mut select.operand, depth),
            },
            Expr::Call(call) => self.check_call(call, depth),
            Expr::List(list) => list
                .elements
                .iter_mut()
                .try_for_each(|item| self.check(item, depth)),
            Expr::Map(map) => map
                .entries
                .iter_mut()
                .try_for_each(|entry| match &mut entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        self.check(&mut entry.key, depth)?;
                        self.check(&mut entry.value, depth)
                    }
                    EntryExpr::StructField(field) => self.check(&mut field.value, depth),
                }),
            Expr::Comprehension(loop_over) => {
                self.check(&mut loop_over.iter_range, depth)?;
                let range = std::mem::take(&mut loop_over.iter_range);
                let call = CallExpr {
                    func_name: IN_ORDER.to_owned(),
                    target: None,
                    args: vec![range],
                };
                loop_over.iter_range = IdedExpr {
                    id: loop_over.accu_init.id,
                    expr: Expr::Call(call),
                };
                self.check(&mut loop_over.accu_init, depth)?;
                let known = self.local.len();
                let second = loop_over.iter_var2.iter();
                self.local.extend(
                    [&loop_over.iter_var, &loop_over.accu_var]
                        .into_iter()
                        .chain(second)
                        .cloned(),
                );
                let parts = [
                    &mut loop_over.loop_cond,
                    &mut loop_over.loop_step,
                    &mut loop_over.result,
                ];
                let checked = parts
                    .into_iter()
                    .try_for_each(|part| self.check(part, depth));
                self.local.truncate(known);
                checked
            }
            Expr::Struct(_) | Expr::Unspecified => Err(bad(
                "the expression builds a value of a named type",
                "write a map: {\"key\": value}",
            )),
        }
    }

    fn check_variable(&self, name: &str) -> Result<(), BadExpression> {
        let known = || {
            VARIABLES
                .iter()
                .map(|(name, _)| *name)
                .chain(self.local.iter().map(String::as_str))
        };
        if known().any(|known| known == name) {
            return Ok(());
        }
        Err(unknown(
            "name",
            name,
            known().filter(|name| !name.starts_with('@')),
        ))
    }

    /// Whether a name is the variable `output`.
    fn is_output(&self, name: &str) -> bool {
        name == OUTPUT && !self.local.iter().any(|local| local == name)
    }

    /// Notes the field of a value if that is `output`; returns whether it is.
    fn note_field(&mut self, of: &IdedExpr, field: &str) -> bool {
        let is_output = matches!(&of.expr, Expr::Ident(name) if self.is_output(name));
        if is_output {
            self.output.fields.insert(field.to_owned());
        }
        is_output
    }

    /// Notes the field in `output["total"]` and in `"total" in output`; returns whether the call is one of these.
    fn note_index(&mut self, call: &CallExpr) -> bool {
        let (of, field) = match (call.func_name.as_str(), call.args.as_slice()) {
            (INDEX, [of, field]) | (IN, [field, of]) => (of, field),
            _ => return false,
        };
        match &field.expr {
            Expr::Literal(LiteralValue::String(field)) => self.note_field(of, field.inner()),
            _ => false,
        }
    }

    fn check_call(&mut self, call: &mut CallExpr, depth: usize) -> Result<(), BadExpression> {
        if self.note_index(call) {
            return Ok(());
        }
        // Macros have names with `@` of their own.
        let is_operator = call.func_name.contains('@')
            || !call
                .func_name
                .starts_with(|first: char| first.is_ascii_alphabetic());
        let is_math = match call.target.as_deref() {
            Some(IdedExpr {
                expr: Expr::Ident(name),
                ..
            }) => name == "math" && !self.local.contains(name),
            Some(_) | None => false,
        };
        let name = if is_math {
            format!("math.{}", call.func_name)
        } else {
            call.func_name.clone()
        };
        if !is_operator && !FUNCTIONS.contains(&name.as_str()) {
            return Err(unknown("function", &name, FUNCTIONS.iter().copied()));
        }
        if let (false, Some(target)) = (is_math, &mut call.target) {
            self.check(target, depth)?;
        }
        call.args
            .iter_mut()
            .try_for_each(|part| self.check(part, depth))
    }
}

fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> BadExpression {
    let help = did_you_mean(
        name,
        known.clone(),
        format!("the {what}s are {}", known.collect::<Vec<_>>().join(", ")),
    );
    bad(format!("unknown {what} \"{name}\" in the expression"), help)
}
