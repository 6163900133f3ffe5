//! Expressions in CEL, the Common Expression Language, over JSON. Only this crate knows `cel`.
//!
//! An expression reads no file, no clock and no variable of the environment. It ends: it has no loops but those over lists and maps,
//! and its greatest possible work is estimated before it runs. It gives the same value in every run: maps are walked in the order of
//! their keys.

mod extent;
mod failure;
mod names;
mod program;
mod values;
mod work;

use std::sync::{Arc, LazyLock};

use cel::common::ast::{Expr, IdedExpr};
use cel::extensions::{math, strings};
use cel::{Context, Env};
use serde_json::Value;

use self::failure::reason;
pub use self::names::FUNCTIONS;
pub use self::program::{BadExpression, FieldUse, Language};
use self::program::{IN_ORDER, PreparedExpression, prepared};
pub use self::values::Variables;
use self::values::{in_order, json_of, sum};
use self::work::refuse_excessive_work;

/// The name of the operator `&&`.
const AND: &str = "_&&_";

/// The comparisons by their names in a parsed expression, as people write them.
const COMPARISONS: &[(&str, &str)] = &[
    ("_==_", "=="),
    ("_!=_", "!="),
    ("_<_", "<"),
    ("_<=_", "<="),
    ("_>_", ">"),
    ("_>=_", ">="),
    ("@in", "in"),
];

/// The language: CEL's standard functions, and its extensions for numbers and texts.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut language = Env::stdlib().with_optional_support(false);
    language
        .add_extension(math)
        .expect("the extension adds functions of its own");
    language
        .add_extension(strings)
        .expect("the extension adds functions of its own");
    Arc::new(language)
});

/// An expression, parsed.
#[derive(Debug)]
pub struct Expression {
    text: Box<str>,
    program: IdedExpr,
    used: FieldUse,
}

/// A comparison with the values of its two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The value of its left side.
    pub left: Value,
    /// How they are compared, as people write it.
    pub sign: &'static str,
    /// The value of its right side.
    pub right: Value,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// It is not CEL, it is too long or nested too deeply, or it uses a name or a function that does not exist.
    pub fn parse(text: &str, language: &Language) -> Result<Self, BadExpression> {
        let PreparedExpression { program, used } = prepared(&ENVIRONMENT, language, text)?;
        Ok(Self {
            text: text.into(),
            program,
            used,
        })
    }

    /// The expression as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it uses of the variable that is noted.
    #[must_use]
    pub fn used(&self) -> &FieldUse {
        &self.used
    }

    /// The value for these variables.
    ///
    /// # Errors
    /// Why it has no value, in one line: a missing key, values of the wrong types, or too much work.
    pub fn evaluate(&self, variables: &Variables) -> Result<Value, String> {
        refuse_excessive_work(&self.program, variables)?;
        value(&self.program, &context(variables))
    }

    /// The comparison that makes the expression false; `None` if no comparison alone does.
    #[must_use]
    pub fn false_comparison(&self, variables: &Variables) -> Option<Comparison> {
        refuse_excessive_work(&self.program, variables).ok()?;
        false_comparison(&self.program, &context(variables))
    }
}

/// The variables, and the functions that CEL does not have.
fn context(variables: &Variables) -> Context<'static, 'static> {
    let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
    for (name, value) in variables.values() {
        context.add_variable_from_value(name, value.clone());
    }
    let added = [
        context.add_function("sum", sum),
        context.add_function(IN_ORDER, in_order),
    ];
    added
        .into_iter()
        .collect::<Result<(), _>>()
        .expect("the language has no functions of these names");
    context
}

fn value(part: &IdedExpr, context: &Context<'_, '_>) -> Result<Value, String> {
    let value = context.resolve(part).map_err(|error| reason(&error))?;
    json_of(&value)
}

fn false_comparison(part: &IdedExpr, context: &Context<'_, '_>) -> Option<Comparison> {
    let Expr::Call(call) = &part.expr else {
        return None;
    };
    let [left, right] = call.args.as_slice() else {
        return None;
    };
    if call.func_name == AND {
        return [left, right]
            .into_iter()
            .find(|side| value(side, context) == Ok(Value::Bool(false)))
            .and_then(|side| false_comparison(side, context));
    }
    let (_, sign) = COMPARISONS
        .iter()
        .find(|(name, _)| *name == call.func_name)?;
    Some(Comparison {
        left: value(left, context).ok()?,
        sign,
        right: value(right, context).ok()?,
    })
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests;
