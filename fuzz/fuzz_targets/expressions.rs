//! Any text as an expression, and any JSON as what a run produced. Two zero bytes separate them.
#![no_main]

use expr::Variables;
use goldgate::format::expression::{VARIABLES, parsed};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|texts: &str| {
    let (text, produced) = texts.split_once("\0\0").unwrap_or((texts, ""));
    let Ok(expression) = parsed(text) else { return };
    assert_eq!(expression.as_str(), text);
    let produced: Value = serde_json::from_str(produced).unwrap_or_else(|_| json!({ "text": "a b", "list": [1, 2.5, "c"], "n": 7 }));
    let variables = Variables::new(VARIABLES.iter().map(|(name, _)| (*name, produced.clone())));
    let one = expression.evaluate(&variables);
    let other = expression.evaluate(&variables);
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "the same variables give the same value");
    let _ = expression.false_comparison(&variables);
});
