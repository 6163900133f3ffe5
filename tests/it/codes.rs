//! The codes of problems: used, explained and documented.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use goldgate::diag::{Code, CodeText};
use libtest_mimic::Trial;

use crate::repository::{Repository, root};
use crate::tidy::all_sources;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("every code of a problem is used", used),
        trial("every code in an expected text exists", expected_texts),
        trial(
            "codes are found in expected lines and in tests, and nothing else is",
            codes_are_found,
        ),
        trial("every example of a code is a text of the program", examples),
        trial(
            "a text of the program is recognized with its values filled in",
            texts_are_recognized,
        ),
        trial(
            "every code is explained with its cause, example and fix",
            explained,
        ),
        trial("the list of codes has every code", listed),
    ]
}

/// The source of the program and of the crates beside it, without their tests and without the table.
fn program() -> String {
    let table = Path::new("src/diag/code.rs");
    let is_program = |path: &Path| !path.starts_with(table) && !path.ends_with("tests.rs");
    let texts = all_sources()
        .into_iter()
        .filter(|(path, _)| is_program(path));
    texts
        .map(|(_, text)| {
            text.split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

fn used() {
    let program = program();
    let names: BTreeSet<&str> = program
        .split("Code::")
        .skip(1)
        .filter_map(|rest| {
            rest.split(|char: char| !char.is_ascii_alphanumeric() && char != '_')
                .next()
        })
        .collect();
    for code in Code::all() {
        let name = code.as_str().replace('-', "_").to_uppercase();
        assert!(
            names.contains(name.as_str()),
            "no problem has the code {}: remove it",
            code.as_str()
        );
    }
}

fn expected_texts() {
    let mut found = BTreeSet::new();
    for folder in ["tests/cases", "tests/it"] {
        found.extend(codes_below(&root().join(folder)));
    }
    assert!(found.len() > 60, "{found:?}");
    for (code, file) in &found {
        assert!(
            Code::of_word(code).is_some(),
            "{file} expects the code {code}, which does not exist"
        );
    }
}

/// The codes in the expected texts of a folder, with the file that has each.
fn codes_below(folder: &Path) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(codes_below(&path));
            continue;
        }
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let read: fn(&str) -> Option<&str> = match name {
            "stdout" | "stderr" => code_of_output,
            name if name.ends_with(".rs") => code_of_test,
            _ => continue,
        };
        let text = fs::read_to_string(&path).unwrap();
        found.extend(
            text.lines()
                .filter_map(read)
                .map(|code| (code.to_owned(), path.display().to_string())),
        );
    }
    found
}

/// The code at the end of a diagnostic.
fn code_of_output(line: &str) -> Option<&str> {
    let (before, word) = line.strip_suffix(']')?.rsplit_once(" [")?;
    Some(word)
        .filter(|_| before.contains("; "))
        .filter(|word| is_word(word))
}

/// The code in brackets at the end of a string.
fn code_of_test(line: &str) -> Option<&str> {
    let (before, word) = line.split_once("]\"")?.0.rsplit_once('[')?;
    // A list of a YAML text has one word as well, and so has the mark of a removed secret.
    let is_other = before.trim_end().ends_with(':') || word == "redacted";
    Some(word).filter(|word| !is_other && before.ends_with([' ', '"']) && is_word(word))
}

/// Whether a word may be a code; shorter ones are indices and lists.
fn is_word(word: &str) -> bool {
    word.len() > 3
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn codes_are_found() {
    let diagnostic = "a.json:1:2: unknown key \"x\"; did you mean \"y\"? [unknown-key]";
    assert_eq!(code_of_output(diagnostic), Some("unknown-key"));
    assert_eq!(code_of_test("        \"[bad-glob]\","), Some("bad-glob"));
    assert_eq!(
        code_of_test("assert!(ran.stderr.contains(\"[negative]\"), \"{}\", ran.stderr);"),
        Some("negative")
    );
    assert!(
        ["1 problem found; nothing was done", "  a list [one]"]
            .into_iter()
            .all(|line| code_of_output(line).is_none())
    );
    assert!(
        ["let x = list[index];", "keys: \"[a, b]\"", "\"[A]\""]
            .into_iter()
            .all(|line| code_of_test(line).is_none())
    );
}

/// Their texts come from a parser, or are put together from several literals.
const COMPOSED: &[&str] = &["bad-judgements", "wrong-type"];

/// Compares with the string literals of the source, so that a changed text changes its example too.
fn examples() {
    let texts = templates(&program());
    assert!(texts.len() > 2_000, "only {} texts", texts.len());
    // A template of a short word between two values would fit most sentences.
    let is_close = |pieces: &[String], text: &str| {
        letters(pieces.iter().map(String::as_str)) * 10 >= letters([text])
    };
    let is_text = |text: &str| {
        texts
            .iter()
            .any(|pieces| is_close(pieces, text) && fits(pieces, text))
    };
    let is_of_program = |code: &Code| {
        let example = code
            .text()
            .example
            .strip_suffix(&format!(" [{}]", code.as_str()))
            .unwrap();
        let (_, text) = example.split_once(": ").unwrap();
        let mut parts = text
            .match_indices("; ")
            .map(|(at, mark)| (&text[..at], &text[at + mark.len()..]));
        parts.any(|(what, help)| is_text(what) && is_text(help))
    };
    let others: Vec<&str> = Code::all()
        .filter(|code| !is_of_program(code))
        .map(Code::as_str)
        .collect();
    assert_eq!(
        others, COMPOSED,
        "examples that the program never prints, and those that are expected here"
    );
}

/// The string literals of a source with at least two letters, each as its pieces between the values.
fn templates(source: &str) -> Vec<Vec<String>> {
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let code = code.replace("'\"'", "").replace("'\\\"'", "");
    let (mut found, mut rest) = (Vec::new(), code.as_str());
    while let Some((_, start)) = rest.split_once('"') {
        let (mut text, mut chars) = (String::new(), start.char_indices());
        let mut end = start.len();
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match chars.next() {
                    Some((next, '\n')) => {
                        let line = &start[next + 1..];
                        let indent = line.len() - line.trim_start().len();
                        chars = start.char_indices();
                        chars
                            .by_ref()
                            .take_while(|(at, _)| at + 1 < next + 1 + indent)
                            .for_each(drop);
                    }
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                },
                char => text.push(char),
            }
        }
        rest = &start[end..];
        let pieces = pieces(&text);
        if letters(pieces.iter().map(String::as_str)) > 1 {
            found.push(pieces);
        }
    }
    found
}

fn letters<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts
        .into_iter()
        .flat_map(str::chars)
        .filter(|char| char.is_alphabetic())
        .count()
}

/// The pieces of a template between its values.
fn pieces(template: &str) -> Vec<String> {
    let plain = template.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut pieces = Vec::new();
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest
        .split_once('{')
        .and_then(|(before, value)| Some((before, value.split_once('}')?.1)))
    {
        pieces.push(before);
        rest = after;
    }
    pieces.push(rest);
    pieces
        .into_iter()
        .map(|piece| piece.replace('\u{1}', "{").replace('\u{2}', "}"))
        .collect()
}

/// Whether a text is these pieces with values between them.
fn fits(pieces: &[String], text: &str) -> bool {
    let [first, inner @ .., last] = pieces else {
        return pieces.first().is_some_and(|only| only == text);
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in inner {
        match rest.split_once(piece.as_str()) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

fn texts_are_recognized() {
    let found = templates(
        "// \"no text\"\nlet a = \"unknown key \\\"{found}\\\" in \\\n        {{}}\"; let b = '\"'; f(\"a\", \"remove it\")\n",
    );
    assert_eq!(
        found,
        [
            vec!["unknown key \"".to_owned(), "\" in {}".to_owned()],
            vec!["remove it".to_owned()]
        ]
    );
    assert!(fits(&found[0], "unknown key \"x\" in {}") && fits(&found[1], "remove it"));
    assert!(!fits(&found[0], "unknown key \"x\" of {}") && !fits(&found[1], "remove them"));
}

fn explained() {
    let repository = Repository::empty();
    for code in Code::all() {
        let ran = repository.goldgate(&["explain", code.as_str()]);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (0, ""),
            "{}",
            code.as_str()
        );
        let CodeText {
            cause,
            example,
            fix,
        } = code.text();
        for text in [code.as_str(), cause, example, fix] {
            assert!(
                ran.stdout.contains(text),
                "{}: {}",
                code.as_str(),
                ran.stdout
            );
        }
    }
}

fn listed() {
    let ran = Repository::empty().goldgate(&["explain", "--codes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let mut words: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    words.sort_unstable();
    assert_eq!(words, Code::all().map(Code::as_str).collect::<Vec<_>>());
}
