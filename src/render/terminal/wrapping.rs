//! Names in narrow columns, and sentences that are longer than the screen is wide.

/// A name on several lines, if it is longer than `columns`: lines end after `_`, `-` and `/`, and before `[`.
pub(super) fn wrapped(name: &str, columns: usize) -> String {
    let mut lines = vec![String::new()];
    for part in parts(name) {
        let last = lines.last_mut().filter(|last| {
            last.is_empty() || last.chars().count() + part.chars().count() <= columns
        });
        match last {
            Some(last) => last.push_str(part),
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}

/// The parts of a name between which a line may end.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive(['_', '-', '/']).flat_map(|part| {
        let at = part.find('[').unwrap_or(0);
        let (name, index) = part.split_at(at);
        [name, index].into_iter().filter(|part| !part.is_empty())
    })
}

/// How far a sentence's further lines are indented beyond its first, in characters.
const HANGING: usize = 4;

/// A text whose lines fit the screen: a longer one goes on below, indented. Lines with escapes are tables, which fit already.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_long = line.chars().count() > columns && !line.contains('\u{1b}');
        if is_long {
            fit(&mut out, line, columns);
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

fn fit(out: &mut String, line: &str, columns: usize) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut used = 0;
    for (index, word) in words(line).enumerate() {
        let length = word.chars().count();
        if index > 0 && used + 1 + length > columns && used > indent {
            out.push('\n');
            out.push_str(&" ".repeat(indent + HANGING));
            used = indent + HANGING;
        } else if index > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
}

/// The words of a line. What is between backquotes is one word: a command that is broken on two lines would be pasted as two.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        let end = loop {
            let Some(end) = text[at..].find(' ').map(|end| at + end) else {
                break text.len();
            };
            let closing = match text[..end].matches('`').count() % 2 {
                0 => None,
                _ => text[end..].find('`').map(|closing| end + closing + 1),
            };
            match closing {
                Some(closing) => at = closing,
                None => break end,
            }
        };
        rest = text.get(end + 1..);
        text.get(..end)
    })
}

#[cfg(test)]
mod tests {
    use super::{fitted, wrapped};

    #[test]
    fn a_long_line_goes_on_below_with_an_indentation() {
        for (text, lines) in [
            ("short\n", "short\n"),
            (
                "  got      a call of a tool\n",
                "  got      a call\n      of a tool\n",
            ),
            (
                "runs `one command` now\n",
                "runs\n    `one command`\n    now\n",
            ),
            (
                "an odd ` and some words\n",
                "an odd ` and some\n    words\n",
            ),
            (
                "averyveryveryverylongword a\n",
                "averyveryveryverylongword\n    a\n",
            ),
            (
                "\u{1b}[1m a table row is left alone\n",
                "\u{1b}[1m a table row is left alone\n",
            ),
        ] {
            assert_eq!(fitted(text, 17), lines);
        }
    }

    #[test]
    fn a_long_name_is_wrapped_between_its_words() {
        for (name, columns, lines) in [
            ("f1_score", 16, "f1_score"),
            ("citation_accuracy", 12, "citation_\naccuracy"),
            ("case_pass_rate[edge]", 15, "case_pass_rate\n[edge]"),
            ("agreement[finding]", 8, "agreement\n[finding]"),
            (
                "contracts/commercial-lease",
                11,
                "contracts/\ncommercial-\nlease",
            ),
            ("", 8, ""),
        ] {
            assert_eq!(wrapped(name, columns), lines);
        }
    }
}
