//! Any bytes as a document: read without a panic, the same twice, with places that are within it and in its order.
#![no_main]

use rtf::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &[u8]| {
    let document = read(source);
    assert_eq!(document, read(source));
    for paragraph in &document.paragraphs {
        assert!(paragraph.source.start <= paragraph.source.end && paragraph.source.end <= source.len());
        let mut last = None;
        for (text, place) in &paragraph.map {
            let (text, place) = (*text as usize, *place as usize);
            assert!(last.is_none_or(|(before, at)| before < text && at < place));
            assert!(paragraph.text.is_char_boundary(text) && text < paragraph.text.len());
            assert!(paragraph.source.contains(&place));
            assert_eq!(paragraph.source_at(text), place);
            last = Some((text, place));
        }
        assert_eq!(paragraph.map.is_empty(), paragraph.text.is_empty());
    }
    assert!(document.paragraphs.is_sorted_by_key(|paragraph| paragraph.source.start));
    assert!(document.flaws.is_sorted_by_key(|flaw| flaw.at));
    assert!(document.flaws.len() <= 1000 && document.flaws.iter().all(|flaw| flaw.at <= source.len()));
    for bookmark in &document.bookmarks {
        assert!(bookmark.source.start <= bookmark.source.end && bookmark.source.end <= source.len());
    }
});
