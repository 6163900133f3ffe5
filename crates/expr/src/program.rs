//! Parses an expression, and refuses what could not be evaluated: unknown names, and expressions that are too long or too deep.

use std::collections::BTreeSet;
use std::sync::Arc;

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::names::{FUNCTIONS, is_prefix_only, operands};

/// What an expression may use.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    /// The variables.
    pub variables: &'static [&'static str],
    /// The variable whose fields are noted.
    pub noted: &'static str,
    /// The most characters.
    pub characters: usize,
    /// The most operators.
    pub operators: usize,
    /// The most levels of parts inside each other.
    pub levels: usize,
}

/// Why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadExpression {
    /// It has no text.
    Empty,
    /// It has too many characters.
    TooLong,
    /// It has too many operators.
    TooManyOperators,
    /// Its parts are nested too deeply.
    TooDeep,
    /// It is not CEL.
    Invalid {
        /// The line, from 1; `None` if it has only one.
        line: Option<isize>,
        /// The character in the line, from 1.
        character: isize,
        /// The reason, in the words of the parser.
        reason: String,
    },
    /// It uses a variable that does not exist.
    UnknownName {
        /// The name.
        name: String,
        /// The variables that it could use there.
        known: Vec<String>,
    },
    /// It uses a function that does not exist.
    UnknownFunction {
        /// The name.
        name: String,
    },
    /// It calls a function in another form than its own.
    WrongForm {
        /// The name.
        name: String,
    },
    /// It calls a function with too few or too many values.
    WrongCount {
        /// The name.
        name: String,
        /// How many values it has, the one before its dot among them.
        given: usize,
        /// The least and the most values that it takes.
        takes: (usize, usize),
    },
    /// It builds a value of a named type.
    NamedType,
}

/// The function that fixes the order in which a comprehension walks a map.
pub const IN_ORDER: &str = "@in_order";

/// The operators that look for a key.
const INDEX: &str = "_[_]";
const IN: &str = "@in";

/// The deepest brackets that the parser's stack holds.
const DEEPEST_BRACKETS: u16 = 8;

/// A parsed expression, ready to be evaluated.
#[derive(Debug)]
pub struct PreparedExpression {
    pub program: IdedExpr,
    pub used: FieldUse,
}

/// What an expression uses of the variable that is noted.
#[derive(Debug, Default)]
pub struct FieldUse {
    /// The fields that it names, also those that it only asks for.
    pub fields: BTreeSet<String>,
    /// Whether it also uses all of it, as in `variable.all(key, …)`.
    pub is_whole: bool,
}

/// The parsed expression, ready to be evaluated.
pub fn prepared(
    environment: &Arc<Env>,
    language: &Language,
    text: &str,
) -> Result<PreparedExpression, BadExpression> {
    if text.trim().is_empty() {
        return Err(BadExpression::Empty);
    }
    if text.chars().count() > language.characters {
        return Err(BadExpression::TooLong);
    }
    if operators(text) > language.operators {
        return Err(BadExpression::TooManyOperators);
    }
    let parsed = environment
        .parser()
        .max_recursion_depth(DEEPEST_BRACKETS)
        .parse(text);
    let mut program = parsed.map_err(|errors| {
        let first = errors.errors.iter().min_by_key(|error| error.pos);
        let ((row, column), reason) = first.map_or(((1, 1), String::new()), |error| {
            (error.pos, plain(&error.msg))
        });
        BadExpression::Invalid {
            line: text.contains('\n').then_some(row.max(1)),
            character: column.max(1),
            reason,
        }
    })?;
    let mut names = Names {
        language,
        local: Vec::new(),
        used: FieldUse::default(),
    };
    names.check(&mut program, 0)?;
    Ok(PreparedExpression {
        program,
        used: names.used,
    })
}

/// The parser's reason without its internals.
fn plain(message: &str) -> String {
    if message.contains("Recursion limit") {
        return format!("more than {DEEPEST_BRACKETS} brackets inside each other");
    }
    message.trim_start_matches("Syntax error: ").to_owned()
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
struct Names<'l> {
    language: &'l Language,
    /// The variables of the comprehensions around the part.
    local: Vec<String>,
    /// What is used so far of the variable that is noted.
    used: FieldUse,
}

impl Names<'_> {
    /// Refuses unknown names, and makes comprehensions walk maps in order.
    fn check(&mut self, part: &mut IdedExpr, depth: usize) -> Result<(), BadExpression> {
        if depth > self.language.levels {
            return Err(BadExpression::TooDeep);
        }
        let depth = depth + 1;
        match &mut part.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => {
                self.used.is_whole |= self.is_noted(name);
                self.check_variable(name)
            }
            Expr::Select(select) => {
                if self.note_field(&select.operand, &select.field) {
                    return Ok(());
                }
                self.check(&mut select.operand, depth)
            }
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
            Expr::Struct(_) | Expr::Unspecified => Err(BadExpression::NamedType),
        }
    }

    fn check_variable(&self, name: &str) -> Result<(), BadExpression> {
        let variables = self.language.variables.iter().copied();
        let local = self.local.iter().map(String::as_str);
        let known = variables.chain(local);
        if known.clone().any(|known| known == name) {
            return Ok(());
        }
        // Comprehensions have variables of their own with `@`.
        let known = known
            .filter(|name| !name.starts_with('@'))
            .map(str::to_owned);
        Err(BadExpression::UnknownName {
            name: name.to_owned(),
            known: known.collect(),
        })
    }

    /// Whether a name is the variable that is noted.
    fn is_noted(&self, name: &str) -> bool {
        name == self.language.noted && !self.local.iter().any(|local| local == name)
    }

    /// Notes the field of a value if that is the variable; returns whether it is.
    fn note_field(&mut self, operand: &IdedExpr, field: &str) -> bool {
        let is_noted = matches!(&operand.expr, Expr::Ident(name) if self.is_noted(name));
        if is_noted {
            self.used.fields.insert(field.to_owned());
        }
        is_noted
    }

    /// Notes the field in `variable["total"]` and in `"total" in variable`; returns whether the call is one of these.
    fn note_index(&mut self, call: &CallExpr) -> bool {
        let (operand, field) = match (call.func_name.as_str(), call.args.as_slice()) {
            (INDEX, [operand, field]) | (IN, [field, operand]) => (operand, field),
            _ => return false,
        };
        match &field.expr {
            Expr::Literal(LiteralValue::String(field)) => self.note_field(operand, field.inner()),
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
            return Err(BadExpression::UnknownFunction { name });
        }
        let is_method = call.target.is_some() && !is_math;
        if !is_operator {
            let given = call.args.len() + usize::from(is_method);
            match operands(&name) {
                None => return Err(BadExpression::WrongForm { name }),
                Some(_) if is_method && is_prefix_only(&name) => {
                    return Err(BadExpression::WrongForm { name });
                }
                Some(takes) if !(takes.0..=takes.1).contains(&given) => {
                    return Err(BadExpression::WrongCount { name, given, takes });
                }
                Some(_) => {}
            }
        }
        if let (false, Some(target)) = (is_math, &mut call.target) {
            self.check(target, depth)?;
        }
        call.args
            .iter_mut()
            .try_for_each(|part| self.check(part, depth))
    }
}
