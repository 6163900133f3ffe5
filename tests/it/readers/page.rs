//! What the page shows, and what it must not run.

use libtest_mimic::Trial;

use super::red;
use crate::repository::{RUN, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a page plots the tokens and the time of each agent's samples, without a base commit as well",
            use_plots,
        ),
        trial("a page shows hostile texts and runs none of them", hostile),
        trial("a page allows its own style and script alone", policy),
    ]
}

const HOSTILE: &str = "</script><script>alert(1)</script><img src=//evil.example onerror=alert(1)>\" ' & <!-- \u{2028} ]]>";

fn page(repository: &Repository) -> String {
    let ran = repository.goldgate(&["run", "--format", "html"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.stdout
}

fn hostile() {
    let page = page(&red(HOSTILE));
    assert!(
        page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
        "the text is shown: {page}"
    );
    assert!(
        page.contains("\\u003c/script\\u003e"),
        "the details have it, too: {page}"
    );
    assert_eq!(
        (
            page.matches("<script").count(),
            page.matches("</script").count()
        ),
        (2, 2),
        "{page}"
    );
    for tag in ["<img", "<!--", "\u{2028}", "]]&gt;<"] {
        assert!(!page.contains(tag), "{tag:?}: {page}");
    }
    let data = details(&page);
    assert_eq!(data["cases"].as_array().unwrap().len(), 1);
    assert!(data.to_string().contains("onerror=alert(1)"), "{data}");
}

/// The data of a page's table.
pub fn details(page: &str) -> serde_json::Value {
    let data = page
        .split("type=\"application/json\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(data.unwrap()).unwrap()
}

fn use_plots() {
    let repository = Repository::small();
    let without = repository.goldgate(&["run", "--format", "html"]).stdout;
    assert!(
        !without.contains("Tokens of a sample"),
        "nothing is known: {without}"
    );
    let metrics =
        "\"metrics\": { \"total_tokens\": 1379, \"total_latency_ms\": 2400 },\n  \"outputs\"";
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replace("\"outputs\"", metrics),
    );
    let page = repository.goldgate(&["run", "--format", "html"]).stdout;
    for (title, value) in [
        ("Tokens of a sample", "1,379"),
        ("Time of a sample", "2.4 s"),
    ] {
        let plot = page
            .split(&format!("{title}, each mark a case"))
            .nth(1)
            .unwrap_or_else(|| panic!("{page}"));
        let plot = plot.split("</svg>").next().unwrap();
        assert!(
            plot.contains(&format!("aria-label=\"contracts/legal {value}. \"")),
            "{plot}"
        );
        assert_eq!(plot.matches("<circle").count(), 1, "{plot}");
    }
    assert!(!page.contains("Cost of a sample"), "{page}");
    let repository = Repository::bundled();
    let page = repository.goldgate(&["run", "--format", "html"]).stdout;
    assert!(
        page.contains("assistant/assistant median 1,378 (1,199 to 2,087). "),
        "{page}"
    );
}

fn policy() {
    let page = page(&red("Rent"));
    let policy = page
        .split("http-equiv=\"Content-Security-Policy\" content=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let policy = policy.unwrap();
    assert!(
        policy.starts_with(
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
        ),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    for loading in [
        " src=",
        "url(",
        "@import",
        " style=",
        " onclick=",
        "http:",
        "https:",
    ] {
        assert!(!page.contains(loading), "{loading}: {page}");
    }
}
