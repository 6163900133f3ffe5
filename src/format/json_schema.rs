//! Validates JSON against a JSON Schema. Only this file knows the crate; nothing is fetched, and patterns are linear.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::diag::misspelt;
use crate::text::line;

/// The longest reason why a value is not valid, in characters.
const REASON: usize = 200;

/// The keywords of drafts 4 to 2020-12, and those that OpenAPI adds.
const KEYWORDS: [&str; 68] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
    "xml",
];

/// Keywords whose values are schemas by name.
const OF_NAMED_SCHEMAS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Keywords whose values are a schema, or a list of schemas.
const OF_SCHEMAS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// A JSON Schema, compiled.
#[derive(Debug)]
pub struct JsonSchemaValidator(Validator);

impl JsonSchemaValidator {
    /// Compiles a schema. Drafts 4 to 2020-12 are known; without `$schema` it is 2020-12. A `format` is checked, not only noted.
    ///
    /// # Errors
    /// Why it is not a valid schema, in one line. A `$ref` to another document is not resolved. An unknown format is an error, and so is a
    /// misspelt keyword: JSON Schema ignores both, so the check could not fail.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if let Some((found, meant)) = misspelt_keyword(schema) {
            return Err(line(&format!("unknown keyword \"{found}\"; did you mean \"{meant}\"?"), REASON));
        }
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        let options = options.should_validate_formats(true).should_ignore_unknown_formats(false);
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

/// The first unknown keyword that looks like a known one, and that one. Other unknown keywords are notes for other tools.
fn misspelt_keyword(schema: &Value) -> Option<(&str, &'static str)> {
    let mut schemas = vec![schema];
    while let Some(schema) = schemas.pop() {
        let Value::Object(members) = schema else {
            schemas.extend(schema.as_array().into_iter().flatten());
            continue;
        };
        for (name, value) in members {
            match name.as_str() {
                named if OF_NAMED_SCHEMAS.contains(&named) => {
                    schemas.extend(value.as_object().into_iter().flat_map(serde_json::Map::values));
                }
                schema if OF_SCHEMAS.contains(&schema) => schemas.push(value),
                known if KEYWORDS.contains(&known) || known.starts_with("x-") => {}
                other => {
                    if let Some(meant) = misspelt(other, KEYWORDS) {
                        return Some((other, meant));
                    }
                }
            }
        }
    }
    None
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
    fn a_format_is_checked() {
        let validator = JsonSchemaValidator::new(&json!({"properties": {"due": {"format": "date"}}})).unwrap();
        assert_eq!(validator.reasons(&json!({"due": "2026-11-30"})), Vec::<String>::new());
        assert_eq!(validator.reasons(&json!({"due": "soon"})), ["/due: \"soon\" is not a \"date\""]);
        assert!(JsonSchemaValidator::new(&json!({"format": "price"})).unwrap_err().contains("price"));
    }

    #[test]
    fn a_misspelt_keyword_is_refused_and_another_unknown_one_is_not() {
        for (schema, meant) in [
            (json!({"requird": ["id"]}), Some("required")),
            (json!({"properties": {"id": {"minlength": 1}}}), Some("minLength")),
            (json!({"anyOf": [{"type": "null"}, {"item": {}}]}), Some("items")),
            (json!({"properties": {"requird": {}, "item": {"type": "string"}}}), None),
            (json!({"enum": [{"requird": 1}], "default": {"typ": 1}}), None),
            (json!({"discriminator": {"propertyName": "kind"}, "dependentRequired": {"item": ["id"]}}), None),
            (json!({"propertyOrder": ["id"], "markdownDescription": "an order", "x-items": 1}), None),
        ] {
            let refused = JsonSchemaValidator::new(&schema).err();
            let expected = meant.map(|meant| format!("did you mean \"{meant}\"?"));
            assert_eq!(refused.is_some(), expected.is_some(), "{schema}: {refused:?}");
            assert!(refused.zip(expected).is_none_or(|(refused, expected)| refused.ends_with(&expected)), "{schema}");
        }
    }

    #[test]
    fn a_pattern_takes_linear_time() {
        assert!(JsonSchemaValidator::new(&json!({"pattern": "(?<!a)b"})).is_err(), "look-behind is not linear");
        let validator = JsonSchemaValidator::new(&json!({"pattern": "^(a+)+$"})).unwrap();
        assert_eq!(validator.reasons(&json!(format!("{}!", "a".repeat(100_000)))).len(), 1);
    }
}
