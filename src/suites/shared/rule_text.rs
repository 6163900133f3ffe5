//! The text of one rule in a prompt package, and how a commit changed it.

use crate::text::{Keyword, norm, paragraphs};

/// How many characters of a change are shown on each side.
const SHOWN: usize = 120;

/// The change of a rule's text between two prompt packages; `None` if it is unchanged or in neither of them.
pub fn rule_change(rule: &str, before: &str, after: &str) -> Option<String> {
    let keyword = Keyword::new(rule)?;
    let (old, new) = (rule_text(&keyword, before), rule_text(&keyword, after));
    if norm(&old) == norm(&new) {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.split_whitespace().collect(),
        new.split_whitespace().collect(),
    );
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(left, right)| left == right)
        .count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(left, right)| left == right).count();
    Some(match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("rule {rule} is new in this commit"),
        (false, true) => format!("this commit removed rule {rule}"),
        (false, false) => format!(
            "rule {rule} was changed in this commit: {} became {}",
            quoted(&old[start..old.len() - end]),
            quoted(&new[start..new.len() - end])
        ),
    })
}

fn quoted(words: &[&str]) -> String {
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("\"{} …\"", &text[..cut]),
        None if text.is_empty() => "nothing".to_owned(),
        None => format!("\"{text}\""),
    }
}

/// The paragraphs and list items that name the rule; for a heading that names it, everything up to the next heading.
fn rule_text(rule: &Keyword, package: &str) -> String {
    let (mut text, mut below_heading) = (String::new(), false);
    for block in paragraphs(package) {
        let names = rule.is_word_of(&norm(&block));
        if block.starts_with('#') {
            below_heading = names;
        }
        if names || below_heading {
            text.push_str(&block);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rule_change;

    #[test]
    fn a_rule_is_the_paragraph_the_item_or_the_section_that_names_it() {
        for (before, after, change) in [
            ("- T-1: a\n- T-2: b\n", "- T-1: c\n- T-2: b\n", None),
            (
                "- T-2: ask\n  for the week\n- T-3: x",
                "- T-2: ask for\n  the week\n- T-3: y",
                None,
            ),
            (
                "- T-2: ask for the week.",
                "- T-2: ask for one day.",
                Some("\"the week.\" became \"one day.\""),
            ),
            (
                "1. T-2 a b\n2. T-3 c",
                "1. T-2 a\n2. T-3 c",
                Some("\"b\" became nothing"),
            ),
            (
                "## T-2\n\nAsk for the week.\n\n## T-3\nx",
                "## T-2\n\nAsk.\n\n## T-3\ny",
                Some("\"Ask for the week.\" became \"Ask.\""),
            ),
            (
                "T-2: a\nwith b\nT-3: c",
                "T-2: a with b\nT-3: d\nT-4: e",
                None,
            ),
            ("T-2 a\n\nT-20 b", "T-2 a\n\nT-20 c", None),
            ("nothing", "nothing else", None),
        ] {
            let found = rule_change("T-2", before, after);
            let expected =
                change.map(|change| format!("rule T-2 was changed in this commit: {change}"));
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
        assert_eq!(
            rule_change("T-2", "x", "- T-2: b").as_deref(),
            Some("rule T-2 is new in this commit")
        );
        assert_eq!(
            rule_change("T-2", "- T-2: b", "x").as_deref(),
            Some("this commit removed rule T-2")
        );
    }
}
