//! The paragraphs of a text in Markdown.

/// Paragraphs, list items, rows of tables and headings, each trimmed.
pub fn paragraphs(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines().map(str::trim) {
        match blocks.last_mut() {
            Some(block) if goes_on && !line.is_empty() && !starts_block(line) => {
                block.push(' ');
                block.push_str(line);
            }
            _ if line.is_empty() => {}
            _ => blocks.push(line.to_owned()),
        }
        goes_on = !line.is_empty() && !line.starts_with('#');
    }
    blocks
}

/// Whether a line begins a list item, a row of a table, a heading or a rule such as `E-3: be short`.
fn starts_block(line: &str) -> bool {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered =
        number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    let label = line
        .split_whitespace()
        .next()
        .and_then(|word| word.strip_suffix([':', ')']));
    is_numbered
        || label.is_some_and(is_rule_id)
        || line.starts_with(['#', '|'])
        || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn is_rule_id(label: &str) -> bool {
    label.starts_with(char::is_alphabetic)
        && label.ends_with(|letter: char| letter.is_ascii_digit())
}
