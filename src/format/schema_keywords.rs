//! The keywords of JSON Schema, and those in a schema that have no effect.

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::diag::misspelt;

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
const OF_NAMED_SCHEMAS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

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

/// Keywords that count next to `$ref` where its other neighbours do not: they name and define, and check nothing.
const WITH_REF: [&str; 5] = ["$ref", "$schema", "$id", "id", "definitions"];

/// Keywords that only count together with another one.
const COMPANIONS: [(&str, &str); 4] = [
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
];

/// Why the first keyword without effect has none; `None` if each can make a value invalid, or is a note for other tools.
pub fn ineffective_keyword(schema: &Value, draft: Draft) -> Option<String> {
    let stated = schema.get("$schema");
    let mut schemas = vec![schema];
    while let Some(schema) = schemas.pop() {
        let Value::Object(members) = schema else {
            schemas.extend(schema.as_array().into_iter().flatten());
            continue;
        };
        if let Some(draft) = members
            .get("$schema")
            .filter(|draft| Some(*draft) != stated)
        {
            return Some(format!(
                "a schema within the schema states another draft: {draft}"
            ));
        }
        for (name, value) in members {
            if let Some(why) = no_effect(name, members, draft) {
                return Some(why);
            }
            if OF_NAMED_SCHEMAS.contains(&name.as_str()) {
                schemas.extend(value.as_object().into_iter().flat_map(Map::values));
            } else if OF_SCHEMAS.contains(&name.as_str()) {
                schemas.push(value);
            }
        }
    }
    None
}

/// Why a keyword has no effect among the others of its schema.
fn no_effect(name: &str, members: &Map<String, Value>, draft: Draft) -> Option<String> {
    if !KEYWORDS.contains(&name) {
        let meant = misspelt(name, KEYWORDS).filter(|_| !name.starts_with("x-"))?;
        return Some(format!(
            "unknown keyword \"{name}\"; did you mean \"{meant}\"?"
        ));
    }
    if !draft.is_known_keyword(name) {
        // What the newest draft does not know either is of OpenAPI, or only a note.
        let is_check = Draft::default().is_known_keyword(name);
        return is_check.then(|| format!("\"{name}\" has no effect in {}", number(draft)));
    }
    if draft <= Draft::Draft7 && members.contains_key("$ref") && !WITH_REF.contains(&name) {
        return Some(format!(
            "\"{name}\" has no effect next to $ref in {}",
            number(draft)
        ));
    }
    if name == "additionalItems" && !members.get("items").is_some_and(Value::is_array) {
        return Some(format!(
            "\"{name}\" has no effect without a list of \"items\""
        ));
    }
    if name == "if" && !members.contains_key("then") && !members.contains_key("else") {
        return Some("\"if\" has no effect without \"then\" or \"else\"".to_owned());
    }
    let (_, companion) = COMPANIONS
        .iter()
        .find(|(keyword, companion)| *keyword == name && !members.contains_key(*companion))?;
    Some(format!("\"{name}\" has no effect without \"{companion}\""))
}

fn number(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 => "draft 4",
        Draft::Draft6 => "draft 6",
        Draft::Draft7 => "draft 7",
        Draft::Draft201909 => "draft 2019-09",
        _ => "draft 2020-12",
    }
}
