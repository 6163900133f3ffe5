//! Writes JSON with one key a line; a list of scalars stays on one line.

use serde_json::value::RawValue;

use crate::format::json_cursor::Fields;

/// Deeper levels stay unformatted: agents may nest without limit, and each level is parsed again.
const DEPTH: usize = 8;

/// Writes one key per line; a list of scalars stays on one line.
pub(super) fn lines(out: &mut String, text: &str, depth: usize) {
    let text = text.trim();
    let (fields, list) = match text.as_bytes().first() {
        Some(b'{') if depth < DEPTH => (serde_json::from_str::<Fields<'_>>(text).ok(), None),
        Some(b'[') if depth < DEPTH => (None, serde_json::from_str::<Vec<&RawValue>>(text).ok()),
        _ => (None, None),
    };
    let parts: Vec<(&str, &str)> = match (fields, list) {
        (Some(Fields(fields)), _) => fields
            .iter()
            .map(|(key, value)| (key.get(), value.get()))
            .collect(),
        (None, Some(list)) if list.iter().any(|item| item.get().starts_with('{')) => {
            list.iter().map(|item| ("", item.get())).collect()
        }
        (None, Some(list)) => {
            let plain: Vec<&str> = list.iter().map(|item| item.get()).collect();
            out.extend(["[", &plain.join(", "), "]"]);
            return;
        }
        (None, None) => return out.push_str(text),
    };
    if parts.is_empty() {
        return out.push_str("{}");
    }
    let (open, close) = if text.starts_with('{') {
        ('{', '}')
    } else {
        ('[', ']')
    };
    out.push(open);
    for (index, (key, value)) in parts.into_iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        line_break(out, depth + 1);
        if !key.is_empty() {
            out.extend([key, ": "]);
        }
        lines(out, value, depth + 1);
    }
    line_break(out, depth);
    out.push(close);
}

fn line_break(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
