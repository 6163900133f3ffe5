//! Reads comma-separated values (RFC 4180): rows of fields, in which quotes keep commas and line breaks.

use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;

/// The rows of a table, each an object by its header.
///
/// # Errors
/// A quote that is not closed.
pub fn csv_objects(source: &SourceText) -> Result<Vec<Map<String, Value>>, Diagnostic> {
    let rows = csv_rows(&source.text).map_err(|at| {
        let help = "close it; a quote in a quoted field is written twice";
        source.problem(at, Code::BAD_VALUE, "this quote is not closed", help)
    })?;
    let mut rows = rows.into_iter();
    let header = rows.next().unwrap_or_default();
    let object = |fields: Vec<String>| {
        let columns = header.iter().map(|name| name.trim().to_owned());
        columns.zip(fields.into_iter().map(Value::String)).collect()
    };
    Ok(rows.map(object).collect())
}

/// The rows of a text without empty lines. A quote inside of a field without quotes is a character of it.
///
/// # Errors
/// The byte offset of a quote that is not closed.
fn csv_rows(text: &str) -> Result<Vec<Vec<String>>, usize> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (field, after) = field(rest).ok_or(at)?;
        row.push(field);
        if let Some(next) = after.strip_prefix(',') {
            rest = next;
            if !next.is_empty() {
                continue;
            }
            // A comma at the end of the text has an empty field after it.
            row.push(String::new());
        } else {
            let line = after.strip_prefix('\r').unwrap_or(after);
            rest = line.strip_prefix('\n').unwrap_or(line);
        }
        let row = std::mem::take(&mut row);
        if row.iter().any(|field| !field.is_empty()) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The first field of a text, and the text after it; `None` if its quote is not closed.
fn field(text: &str) -> Option<(String, &str)> {
    let ends = [',', '\n', '\r'];
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(ends).unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut field = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        if let Some(next) = after.strip_prefix('"') {
            field.push('"');
            rest = next;
        } else {
            let end = after.find(ends).unwrap_or(after.len());
            field.push_str(&after[..end]);
            return Some((field, &after[end..]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::csv_rows;

    #[test]
    fn quotes_keep_commas_line_breaks_and_quotes() {
        for (text, rows) in [
            ("a,b\r\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]]),
            (
                "\"x, y\",\"two\nlines\"\n",
                vec![vec!["x, y", "two\nlines"]],
            ),
            (
                "\"say \"\"hi\"\"\",5\" wide",
                vec![vec!["say \"hi\"", "5\" wide"]],
            ),
            ("a,\n\n,\n,b,", vec![vec!["a", ""], vec!["", "b", ""]]),
            ("\"\"", vec![]),
            ("", vec![]),
        ] {
            let read = csv_rows(text).unwrap();
            assert_eq!(read, rows, "{text:?}");
        }
        assert_eq!(csv_rows("a,\"b\nc").err(), Some(2));
    }
}
