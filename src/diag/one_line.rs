//! Turns a text into one safe line for a terminal or a log.
//!
//! Names, keys and values come from others. A line break in one of them would start a new line, and a GitHub runner executes lines that
//! start with `::` as commands.

/// The text as one line: white space with line breaks becomes one space, other control characters and invisible or reordering characters
/// become `\u{1b}`, and runner commands are defused.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (number, part) in text
        .split([
            '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
        ])
        .enumerate()
    {
        let part = if number == 0 {
            part.trim_end()
        } else {
            part.trim()
        };
        if part.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for char in part.chars() {
            match char {
                '\t' => line.push(' '),
                char if char.is_control() || is_deceptive(char) => {
                    line.extend(char.escape_unicode())
                }
                char => line.push(char),
            }
        }
    }
    without_commands(line)
}

/// Whether a character is invisible or changes the order or look of others.
fn is_deceptive(char: char) -> bool {
    matches!(char,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Defuses the runner commands in a result that a person reads, or that is an object of JSON, where an escape keeps the text.
pub fn without_runner_commands(text: &str) -> String {
    if text.starts_with('{') {
        return IN_LINE.iter().fold(text.to_owned(), |text, command| {
            text.replace(command, &format!("\\u0023{}", &command[1..]))
        });
    }
    text.split_inclusive('\n')
        .map(|line| without_commands(line.to_owned()))
        .collect()
}

/// What begins a command anywhere in a line, for runners of GitHub and of Azure Pipelines.
const IN_LINE: [&str; 2] = ["##[", "##vso["];

/// Defuses runner commands: a line that starts with `::` after white space, or that contains `##[`.
fn without_commands(line: String) -> String {
    let start = line.len() - line.trim_start().len();
    let line = if line[start..].starts_with("::") {
        format!("{}: :{}", &line[..start], &line[start + 2..])
    } else {
        line
    };
    IN_LINE.iter().fold(line, |line, command| {
        line.replace(command, &format!("## {}", &command[2..]))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::one_line;

    #[test]
    fn a_text_is_one_line_without_commands() {
        for (text, line) in [
            ("a.json: unknown key \"x\"", "a.json: unknown key \"x\""),
            (
                "\n::error title=forged::All gates pass\n::stop-commands::x\n",
                ": :error title=forged::All gates pass ::stop-commands::x",
            ),
            ("  ::error::x", "  : :error::x"),
            ("a ##[error]b", "a ## [error]b"),
            ("a ##vso[task.complete]b", "a ## vso[task.complete]b"),
            ("a\u{1b}[31mb\u{7}", "a\\u{1b}[31mb\\u{7}"),
            ("a\u{202e}b\u{2028}c", "a\\u{202e}b c"),
            ("unknown status [\n  1\n]", "unknown status [ 1 ]"),
            ("ä\tö ü", "ä ö ü"),
        ] {
            assert_eq!(one_line(text), line);
        }
    }

    proptest! {
        #[test]
        fn no_text_starts_a_line_or_a_command(text in any::<String>()) {
            let line = one_line(&text);
            assert!(!line.chars().any(char::is_control), "{line:?}");
            assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line:?}");
        }

        #[test]
        fn hidden_characters_never_form_a_command(text in "[\n\r\t :#\\[x\u{200b}\u{feff}]{0,12}") {
            let line = one_line(&text);
            assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line:?}");
        }
    }

    #[test]
    fn no_line_of_a_result_is_a_command() {
        let text = "it said:\n  ::error::x\n  ##[add-mask]y\n";
        assert_eq!(
            super::without_runner_commands(text),
            "it said:\n  : :error::x\n  ## [add-mask]y\n"
        );
        let json = "{ \"text\": \"##[add-mask]y\" }\n";
        assert_eq!(
            super::without_runner_commands(json),
            "{ \"text\": \"\\u0023#[add-mask]y\" }\n"
        );
    }
}
