//! Validates JSON against a JSON Schema. Only this file knows the crate; nothing is fetched, and patterns are linear.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::text::line;

/// The longest reason why a value is not valid, in characters.
const REASON: usize = 200;

/// A JSON Schema, compiled.
#[derive(Debug)]
pub struct JsonSchemaValidator(Validator);

impl JsonSchemaValidator {
    /// Compiles a schema. Drafts 4 to 2020-12 are known; without `$schema` it is 2020-12.
    ///
    /// # Errors
    /// Why it is not a valid schema, in one line. A `$ref` to another document is not resolved.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        options.build(schema).map(Self).map_err(|error| line(&error.to_string(), REASON))
    }

    /// Every reason why a value is not valid, each with its path in the value; empty if it is valid.
    pub fn reasons(&self, value: &Value) -> Vec<String> {
        let errors = self.0.iter_errors(value).map(|error| {
            let path = error.instance_path().to_string();
            let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
            line(&format!("{at}{error}"), REASON)
        });
        errors.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonSchemaValidator;

    #[test]
    fn a_value_that_is_not_valid_has_reasons_with_paths() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}});
        let validator = JsonSchemaValidator::new(&schema).unwrap();
        assert_eq!(validator.reasons(&json!({"id": 1})), Vec::<String>::new());
        assert_eq!(validator.reasons(&json!({"id": "x"})), ["/id: \"x\" is not of type \"integer\""]);
        assert_eq!(validator.reasons(&json!({})), ["\"id\" is a required property"]);
    }

    #[test]
    fn a_schema_that_is_not_valid_or_is_elsewhere_is_refused() {
        assert!(JsonSchemaValidator::new(&json!({"type": "objekt"})).is_err());
        let elsewhere = json!({"$ref": "https://schemas.example.com/order.json"});
        assert!(JsonSchemaValidator::new(&elsewhere).is_err());
        let file = json!({"$ref": "file:///etc/hostname"});
        assert!(JsonSchemaValidator::new(&file).is_err());
    }

    #[test]
    fn a_pattern_takes_linear_time() {
        assert!(JsonSchemaValidator::new(&json!({"pattern": "(?<!a)b"})).is_err(), "look-behind is not linear");
        let validator = JsonSchemaValidator::new(&json!({"pattern": "^(a+)+$"})).unwrap();
        assert_eq!(validator.reasons(&json!(format!("{}!", "a".repeat(100_000)))).len(), 1);
    }
}
