//! Any text as a model's answer: no panic, and what is called strict is read by a strict parser from some bracket on.
#![no_main]

use recover::{Anchor, RecoveryLayer, recover, recover_any};
use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, Value};

const ANCHORS: [Anchor<'static>; 3] = [
    Anchor { list: "findings", field: "category" },
    Anchor { list: "atoms", field: "description" },
    Anchor { list: "deltas", field: "item" },
];

fuzz_target!(|text: &str| {
    for anchor in &ANCHORS {
        let Some(found) = recover(text, anchor) else { continue };
        assert!(found.value[anchor.list].is_array());
        assert!(found.layer == RecoveryLayer::Salvaged || found.lost == 0);
        if found.layer == RecoveryLayer::Strict {
            let list = &found.value[anchor.list];
            let only = |read: &Value| list[0] == *read && list[1].is_null();
            assert!(strictly(text, |read| *read == found.value || read == list || only(read)));
        }
    }
    if let Some(found) = recover_any(text)
        && found.layer == RecoveryLayer::Strict
    {
        assert!(strictly(text, |read| *read == found.value));
    }
});

/// Whether a strict parser reads such a value from some bracket on; looked for in short texts, for it is quadratic.
fn strictly(text: &str, wanted: impl Fn(&Value) -> bool) -> bool {
    text.len() > 4096
        || text.match_indices(['{', '[']).any(|(at, _)| {
            let first = Deserializer::from_str(&text[at..]).into_iter::<Value>().next();
            first.and_then(Result::ok).is_some_and(|read| wanted(&read))
        })
}
