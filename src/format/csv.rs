//! Reads comma-separated values (RFC 4180): rows of fields, in which quotes keep commas and line breaks.

/// A row, and the byte offset at which it starts.
pub struct CsvRow {
    pub at: usize,
    pub fields: Vec<String>,
}

/// The rows of a text without empty lines. A quote inside of a field without quotes is a character of it.
///
/// # Errors
/// The byte offset of a quote that is not closed.
pub fn csv_rows(text: &str) -> Result<Vec<CsvRow>, usize> {
    let mut rows = Vec::new();
    let mut row = CsvRow {
        at: 0,
        fields: Vec::new(),
    };
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        if row.fields.is_empty() {
            row.at = at;
        }
        let (field, after) = field(rest).ok_or(at)?;
        row.fields.push(field);
        rest = match after.strip_prefix(',') {
            // A comma at the end of the text has an empty field after it.
            Some("") => {
                row.fields.push(String::new());
                ""
            }
            Some(next) => {
                rest = next;
                continue;
            }
            None => {
                let line = after.strip_prefix('\r').unwrap_or(after);
                line.strip_prefix('\n').unwrap_or(line)
            }
        };
        let fields = std::mem::take(&mut row.fields);
        if fields.iter().any(|field| !field.is_empty()) {
            let at = row.at;
            rows.push(CsvRow { at, fields });
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
            let read: Vec<Vec<String>> = csv_rows(text)
                .unwrap()
                .into_iter()
                .map(|row| row.fields)
                .collect();
            assert_eq!(read, rows, "{text:?}");
        }
        assert_eq!(csv_rows("a,\"b\nc").err(), Some(2));
        let starts: Vec<usize> = csv_rows("a\n\n\"b\"\nc")
            .unwrap()
            .iter()
            .map(|row| row.at)
            .collect();
        assert_eq!(starts, [0, 3, 7]);
    }
}
