//! Any text as YAML and as JSON Lines: what is read is valid JSON, and every position in it is one of the file.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::golden_json;
use goldgate::model::RepoPath;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let lines = text.lines().count() + 1;
    for name in ["cases.yaml", "cases.jsonl"] {
        let source = SourceText::from_text(RepoPath::root().child(name), text.to_owned());
        let Ok(json) = golden_json(source) else { continue };
        assert!(serde_json::from_str::<Value>(&json.text).is_ok(), "{name}: {}", json.text);
        for at in (0..=json.text.len()).filter(|at| json.text.is_char_boundary(*at)) {
            assert!((1..=lines).contains(&(json.point(at).line as usize)), "{name}: byte {at} of {}", json.text);
        }
    }
});
