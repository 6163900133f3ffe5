//! Foreign text made harmless: what an agent, a model or a pull request wrote is data.

pub use crate::text::line;

/// A foreign text for GitHub's Markdown: one line in which nothing is a mention, a link, an image, HTML, a table cell's end,
/// a fence, a reference or a comment marker.
pub fn inline(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for char in line(text, limit).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A numeric reference is shown as the character and is no syntax any more.
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' | '$' | '@' | ':'
            | '"' => {
                out.push_str(&format!("&#{};", u32::from(char)));
            }
            other => out.push(other),
        }
    }
    // Bare addresses and commit ids would become links: a word joiner is shown as nothing and ends them.
    neutral_words(&out)
}

fn neutral_words(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let lower = word.to_ascii_lowercase();
        let address = lower.contains("www.") || lower.contains("gh-");
        let commit = word.len() >= 7
            && word.len() <= 40
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit());
        match (address, commit) {
            (true, _) => word.replace('.', "&#46;").replace('-', "&#45;"),
            (_, true) => format!("{}&#8288;{}", &word[..3], &word[3..]),
            (false, false) => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::inline;

    proptest! {
        #[test]
        fn nothing_of_markdown_is_left(text in any::<String>()) {
            let out = inline(&text, 200);
            assert!(!out.contains(['<', '>', '`', '*', '_', '[', ']', '|', '@', '!', '~', '\n', '\r', '\\', ':']), "{out}");
        }
    }
}
