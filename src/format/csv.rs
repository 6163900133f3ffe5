//! Reads comma-separated values (RFC 4180): rows of fields, in which quotes keep commas and line breaks. It knows no types: every value is
//! a text.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::files::{OriginPiece, PieceChange, SourceText};

/// A field, and where it starts.
struct Field {
    text: String,
    start: usize,
}

struct Row {
    fields: Vec<Field>,
    range: Range<usize>,
}

/// The rows of a table, each an object by its header.
///
/// # Errors
/// A quote that is not closed.
pub fn csv_objects(source: &SourceText) -> Result<Vec<Map<String, Value>>, Diagnostic> {
    let mut rows = rows(source)?.into_iter();
    let header = rows.next().map_or_else(Vec::new, |row| row.fields);
    let mut objects = Vec::new();
    for row in rows {
        let mut object = Map::new();
        for (name, field) in header.iter().zip(row.fields) {
            object.insert(name.text.trim().to_owned(), Value::String(field.text));
        }
        objects.push(object);
    }
    Ok(objects)
}

/// A table as a JSON list of objects, with the positions of the table. An empty field is a missing key.
///
/// # Errors
/// The position of a quote that is not closed, or of a row with another number of fields than the header.
pub fn csv_as_json(source: SourceText) -> Result<SourceText, Diagnostic> {
    let mut rows = rows(&source)?.into_iter();
    let header = rows.next().map_or_else(Vec::new, |row| row.fields);
    let (mut text, mut pieces) = ("[".to_owned(), Vec::new());
    for (index, row) in rows.enumerate() {
        if row.fields.len() != header.len() {
            let (fields, expected) = (row.fields.len(), header.len());
            let description = format!(
                "the row has another number of fields than the header: {fields}, not {expected}"
            );
            let help =
                "write a field for each name of the header, and quotes around a text with a comma";
            return Err(source.problem(row.range.start, Code::BAD_VALUE, description, help));
        }
        text.push_str(if index > 0 { "," } else { "" });
        pieces.push(rewritten(&text, row.range.start));
        text.push('{');
        let columns = header.iter().zip(row.fields);
        let stated = columns.filter(|(_, field)| !field.text.is_empty());
        for (number, (name, field)) in stated.enumerate() {
            text.push_str(if number > 0 { "," } else { "" });
            pieces.push(rewritten(&text, name.start));
            text.push_str(&Value::from(name.text.trim()).to_string());
            text.push(':');
            pieces.push(rewritten(&text, field.start));
            text.push_str(&Value::from(field.text).to_string());
        }
        text.push('}');
    }
    text.push(']');
    Ok(SourceText::from_pieces(Arc::new(source), text, pieces))
}

/// The piece that begins at the end of the text so far, made from what is at `original` in the table.
fn rewritten(text: &str, original: usize) -> OriginPiece {
    OriginPiece {
        start: text.len(),
        original,
        change: PieceChange::Rewritten,
    }
}

/// Where the rows below the header are; `None` if the table is not valid.
pub fn case_rows(source: &SourceText) -> Option<Vec<Range<usize>>> {
    let rows = rows(source).ok()?;
    Some(rows.into_iter().skip(1).map(|row| row.range).collect())
}

fn rows(source: &SourceText) -> Result<Vec<Row>, Diagnostic> {
    csv_rows(&source.text).map_err(|at| {
        let help = "close it; a quote in a quoted field is written twice";
        source.problem(at, Code::BAD_VALUE, "this quote is not closed", help)
    })
}

/// The rows of a text without empty lines. A quote inside of a field without quotes is a character of it.
///
/// # Errors
/// The byte offset of a quote that is not closed.
fn csv_rows(text: &str) -> Result<Vec<Row>, usize> {
    let mut rows = Vec::new();
    let mut fields: Vec<Field> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let (content, after) = field(rest).ok_or(start)?;
        fields.push(Field {
            text: content,
            start,
        });
        let mut end = text.len() - after.len();
        if let Some(next) = after.strip_prefix(',') {
            rest = next;
            if !next.is_empty() {
                continue;
            }
            // A comma at the end of the text has an empty field after it.
            end = text.len();
            fields.push(Field {
                text: String::new(),
                start: end,
            });
        } else {
            let line = after.strip_prefix('\r').unwrap_or(after);
            rest = line.strip_prefix('\n').unwrap_or(line);
        }
        let fields = std::mem::take(&mut fields);
        if fields.iter().any(|field| !field.text.is_empty()) {
            let start = fields.first().map_or(end, |field| field.start);
            rows.push(Row {
                fields,
                range: start..end,
            });
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
    use serde_json::{Value, json};

    use super::{case_rows, csv_as_json, csv_rows};
    use crate::files::SourceText;
    use crate::format::JsonCursor;
    use crate::format::Step::{At, Key};
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.csv"), text.to_owned())
    }

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
            let texts = read
                .iter()
                .map(|row| row.fields.iter().map(|field| field.text.as_str()));
            let texts: Vec<Vec<&str>> = texts.map(Iterator::collect).collect();
            assert_eq!(texts, rows, "{text:?}");
        }
        assert_eq!(csv_rows("a,\"b\nc").err(), Some(2));
    }

    #[test]
    fn each_row_below_the_header_is_an_object_of_texts() {
        for (text, expected) in [
            ("", json!([])),
            ("id,expected\n", json!([])),
            (
                "id,expected\n1,yes\n2,\n",
                json!([{"id": "1", "expected": "yes"}, {"id": "2"}]),
            ),
            (
                "id, question\r\n1,\"a\r\nb\"\r\n\r\n2,ä",
                json!([{"id": "1", "question": "a\r\nb"}, {"id": "2", "question": "ä"}]),
            ),
        ] {
            let read = csv_as_json(source(text)).unwrap();
            let value: Value = serde_json::from_str(&read.text).unwrap();
            assert_eq!(value, expected, "{text:?}");
        }
    }

    #[test]
    fn each_field_has_its_position() {
        let table = "id,question\n1,a\n\n2,\"ä\"\n";
        let read = csv_as_json(source(table)).unwrap();
        let cursor = JsonCursor::whole(&read);
        let point = read.point(cursor.value(&[At(1), Key("question")]));
        assert_eq!((point.line, point.column), (4, 3));
        assert_eq!(case_rows(&source(table)).unwrap(), [12..15, 17..23]);
    }

    #[test]
    fn a_broken_table_is_refused_at_its_place() {
        for (text, at) in [
            (
                "id,q\n1\n",
                "2:1: the row has another number of fields than the header: 1, not 2",
            ),
            (
                "id,q\n1,a,b\n",
                "2:1: the row has another number of fields than the header: 3, not 2",
            ),
            ("id,q\n1,\"a\n", "2:3: this quote is not closed"),
        ] {
            let problem = csv_as_json(source(text)).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("a.csv:{at}")), "{problem}");
        }
    }
}
