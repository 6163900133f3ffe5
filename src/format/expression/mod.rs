//! Expressions in CEL, the Common Expression Language, over the JSON of a run. Only this folder knows the crate.
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
pub use self::names::{FUNCTIONS, VARIABLES};
pub(crate) use self::program::{BadExpression, OutputUse};
use self::program::{IN_ORDER, PreparedExpression, prepared};
pub use self::values::ExpressionVariables;
use self::values::{in_order, json_of, sum};
use self::work::refuse_excessive_work;
use crate::text::line;

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

/// The longest value in a comparison, in characters.
const SHOWN: usize = 80;

/// The language: CEL's standard functions, and its extensions for numbers and texts.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| {
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
    output: OutputUse,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// It is not CEL, it is too long or nested too deeply, or it uses a name or a function that does not exist.
    pub fn parse(text: &str) -> Result<Self, BadExpression> {
        let PreparedExpression { program, output } = prepared(&LANGUAGE, text)?;
        Ok(Self {
            text: text.into(),
            program,
            output,
        })
    }

    /// The expression as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it uses of `output`.
    pub fn output(&self) -> &OutputUse {
        &self.output
    }

    /// The value for these variables.
    ///
    /// # Errors
    /// Why it has no value, in one line: a missing key, values of the wrong types, or too much work.
    pub fn evaluate(&self, variables: &ExpressionVariables) -> Result<Value, String> {
        refuse_excessive_work(&self.program, variables)?;
        value(&self.program, &context(variables))
    }

    /// The comparison that makes the expression false, with the values of its two sides: `139.9 == 129.9`. `None` if no comparison alone
    /// does.
    pub fn false_comparison(&self, variables: &ExpressionVariables) -> Option<String> {
        refuse_excessive_work(&self.program, variables).ok()?;
        false_comparison(&self.program, &context(variables))
    }
}

/// The variables and goldgate's own functions.
fn context(variables: &ExpressionVariables) -> Context<'static, 'static> {
    let mut context = Context::with_env(Arc::clone(&LANGUAGE));
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

fn false_comparison(part: &IdedExpr, context: &Context<'_, '_>) -> Option<String> {
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
    let shown = |side: &IdedExpr| {
        value(side, context)
            .ok()
            .map(|value| line(&value.to_string(), SHOWN))
    };
    Some(format!("{} {sign} {}", shown(left)?, shown(right)?))
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests;
