//! The normal form and what is compared in it. Two zero bytes separate a text from the one that it is compared with.
#![no_main]

use goldgate::text::{Keyword, norm, same_category, token_overlap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: &str| {
    let (text, other) = texts.split_once("\0\0").unwrap_or((texts, texts));
    let normal = norm(text);
    assert_eq!(normal.trim(), normal);
    assert!(!normal.contains("  "));
    let _ = same_category(text);
    let overlap = token_overlap(&normal, &norm(other));
    assert!((0.0..=1.0).contains(&overlap));
    if let Some(keyword) = Keyword::new(other) {
        // A whole word is a substring as well.
        assert!(!keyword.is_word_of(&normal) || keyword.is_in(&normal));
        assert!(keyword.is_in(&norm(other)));
    }
});
