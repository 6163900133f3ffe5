//! Sixty kinds of text that a stranger can write, through the text of the comment.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::RUN;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "sixty kinds of foreign text become nothing but text",
        harmless,
    )]
}

/// Mentions, references, links, images, HTML, markup, markers, control and bidirectional characters.
const KINDS: [&str; 60] = [
    "@octocat",
    "@acme/all",
    "(@octocat)",
    "x@octocat",
    "mail@evil.example",
    "#12",
    "acme/agents#12",
    "GH-12",
    "gh-12",
    "Fixes #12",
    "closes acme/agents#1",
    "http://evil.example",
    "https://evil.example/?a=b",
    "HTTPS://evil.example",
    "ftp://evil.example",
    "www.evil.example",
    "WWW.evil.example",
    "javascript:alert(1)",
    "[text](https://evil.example)",
    "[text][1]",
    "[1]: https://evil.example",
    "<https://evil.example>",
    "![alt](https://evil.example/x.png)",
    "![alt][1]",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<details open>",
    "</details>",
    "<!-- goldgate:comment key=default -->",
    "<!-- goldgate:section deterministic {} -->",
    "<!-- goldgate:end -->",
    "-->",
    "&lt;img&gt; &#64;octocat",
    "`code`",
    "```sh",
    "~~~",
    "**bold** __bold__",
    "*em* _em_",
    "~~gone~~",
    "# heading",
    "> [!TIP]",
    "- [x] done",
    "| a | b |",
    "\\| \\` \\@octocat",
    "$`x`$ $x$",
    ":rocket: :+1:",
    "[^1] footnote",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "see 1234abc, or acme/agents@1234abcdef",
    "line\nbreak\r\n::error::pwned",
    "::set-output name=verdict::pass",
    "##[error]pwned",
    "tab\tand\u{b}\u{c}",
    "\u{0}\u{7}\u{1b}[31mred\u{1b}[0m",
    "\u{85}\u{9b}31m",
    "\u{202e}reversed\u{202c}",
    "\u{2066}isolated\u{2069} \u{200f}",
    "zero\u{200b}width\u{200d}\u{2060}\u{feff}",
    "\u{e0001}\u{e0041} tags \u{fff9}",
    "a\u{2028}b\u{2029}c\u{ad}",
];

fn harmless() {
    let repository = Repository::small();
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(repository.goldgate(&["run", "--out", "out"]).code, 1);
    let mut report: Value = serde_json::from_str(&repository.read("out/report.json")).unwrap();
    let marked: Vec<String> = KINDS
        .iter()
        .enumerate()
        .map(|(number, text)| format!("kind {number:02} {text} end"))
        .collect();
    report["notes"] = json!(marked);
    // The same texts where people look first: the evidence of a failed check.
    let check = report["suites"][0]["agents"][0]["cases"][0]["checks"]
        .as_array_mut()
        .unwrap();
    let failing = check
        .iter_mut()
        .find(|check| check["tag"].is_string())
        .unwrap();
    failing["detail"] = json!(KINDS[..30].join(" "));
    failing["next_action"] = json!(KINDS[30..].join(" "));
    repository.write("out/report.json", report.to_string());
    let ran = repository.goldgate(&["report", "out", "--format", "markdown"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = ran.stdout;
    assert_eq!(body.matches("<!--").count(), 0);
    assert_eq!(
        body.matches("<details").count(),
        body.matches("</details>").count()
    );
    for (number, text) in KINDS.iter().enumerate() {
        let start = format!("- kind {number:02} ");
        let lines: Vec<&str> = body
            .lines()
            .filter_map(|line| line.strip_prefix(&start))
            .collect();
        let [line] = lines.as_slice() else {
            panic!("{text:?}: {lines:?}")
        };
        assert!(line.ends_with(" end") || *line == "end", "{text:?}: {line}");
        // What is between two backticks is code, and escaped like the rest.
        plain(text, &line.replace("<code>", "").replace("</code>", ""));
    }
    let evidence = body
        .lines()
        .find(|line| line.contains("<br>next: "))
        .unwrap();
    let (detail, next) = evidence.split_once("<br>next: ").unwrap();
    for row in detail.split("<br>").skip(1) {
        plain("detail", row);
    }
    plain("next action", next.rsplit_once(" (`").unwrap().0);
}

/// Nothing in the raw text is Markdown or HTML, and nothing in the text as the page has it is what GitHub looks for there.
fn plain(what: &str, raw: &str) {
    let markup = [
        '<', '>', '`', '[', ']', '(', ')', '*', '_', '|', '~', '!', '\\', '@', '"', '\'',
    ];
    assert!(!raw.contains(markup), "{what:?}: {raw}");
    let hidden = |char: char| {
        char.is_control()
            || matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!raw.contains(hidden), "{what:?}: {raw}");
    let shown = decoded(raw);
    let found = |pattern: &str| {
        regex::Regex::new(pattern)
            .unwrap()
            .find(&shown)
            .map(|found| found.as_str().to_owned())
    };
    for pattern in [
        r"@[A-Za-z0-9]",
        r"#[0-9]",
        r"(?i)gh-[0-9]",
        r"(?i)www\.",
        r"://[a-z]",
        r"(?i)javascript:a",
        r":[a-z0-9+_-]+:",
        r"[0-9a-f]{7,40}",
        r"\$[^ \u{2060}]",
        r"::[a-z]",
    ] {
        // A word of hexadecimal letters alone is a word.
        let hit = found(pattern).filter(|hit| {
            !pattern.contains("7,40") || hit.contains(|char: char| char.is_ascii_digit())
        });
        assert_eq!(hit, None, "{what:?}: {raw}");
    }
}

/// The numeric references that we write, as the page has them.
fn decoded(raw: &str) -> String {
    let mut out = String::new();
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once("&#") {
        out.push_str(before);
        let (number, after) = after.split_once(';').unwrap();
        out.push(char::from_u32(number.parse().unwrap()).unwrap());
        rest = after;
    }
    out.push_str(rest);
    out.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
