//! Why an expression has no value, in words. Values are never shown: those of maps have no order, and may be long.

use cel::{ExecutionError, Value};

pub fn reason(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("the key \"{key}\" is missing"),
        ExecutionError::UndeclaredReference(name) => {
            format!("\"{name}\" does not fit these values")
        }
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => {
            format!("the list has no item {index}")
        }
        ExecutionError::IndexOutOfBounds(_) => "the list has no such item".to_owned(),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "division by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "the number is too large".to_owned(),
        ExecutionError::DuplicateKey(_) => "a map has a key twice".to_owned(),
        ExecutionError::NoSuchOverload(overload) => {
            format!(
                "\"{}\" does not fit {}",
                operator(overload.function()),
                overload.argument_types().join(" and ")
            )
        }
        ExecutionError::UnsupportedBinaryOperator(name, left, right) => {
            format!(
                "\"{}\" does not fit {} and {}",
                operator(name),
                kind(left),
                kind(right)
            )
        }
        ExecutionError::ValuesNotComparable(left, right) => {
            format!("{} and {} cannot be compared", kind(left), kind(right))
        }
        ExecutionError::UnexpectedType { got, want } => format!("expected {want}, got {got}"),
        ExecutionError::UnsupportedTargetType { target } => {
            format!("does not fit {}", kind(target))
        }
        ExecutionError::NotSupportedAsMethod { method, target } => {
            format!("\"{method}\" does not fit {}", kind(target))
        }
        ExecutionError::UnsupportedKeyType(key) => format!("{} cannot be a key", kind(key)),
        ExecutionError::UnsupportedIndex(index, container) => {
            format!("{} cannot select from {}", kind(index), kind(container))
        }
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("expected {expected} arguments, got {actual}")
        }
        ExecutionError::MissingArgumentOrTarget => "an argument is missing".to_owned(),
        ExecutionError::FunctionError { function, .. } => {
            format!("\"{function}\" does not fit these values")
        }
        // Deprecated variants, internal errors, and what later versions add.
        _ => "it does not fit these values".to_owned(),
    }
}

/// The operator as people write it.
fn operator(name: &str) -> String {
    let written = match name {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "div" => "/",
        "rem" => "%",
        name => name.trim_matches('_').trim_start_matches('@'),
    };
    written.to_owned()
}

fn kind(value: &Value) -> String {
    value.type_of().to_string()
}
