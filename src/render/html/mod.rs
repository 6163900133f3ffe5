//! The report as one HTML page that loads nothing; light or dark by the reader's setting. The templates escape every value.

mod cases;
mod changes;
mod details;
mod failed;
mod plots;
pub(super) mod policy;
mod suites;
mod texts;
mod uses;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::texts::{bounded, with_commands};
use super::words;
use super::words::GateCounts;
use crate::model::Report;
use crate::text::clauses;

/// The longest headline, in characters.
const HEADLINE: usize = 1_000;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub fn html(report: &Report) -> String {
    let headline = clauses(&words::headline(report), HEADLINE);
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta http-equiv="Content-Security-Policy" content=(policy::policy(STYLE, Some(SCRIPT))); "\n"
                title { "goldgate: " (headline) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                "\n"
                a.skip href="#result" { "Skip to the result" } "\n"
                header {
                    h1 { "goldgate · " (words::tiers(report)) " tier" } "\n"
                    p class={ "verdict " (report.verdict.as_str()) } { (with_commands(&headline)) } "\n"
                    (facts(report))
                } "\n"
                main id="result" {
                    "\n"
                    (notes(report))
                    (changes::golden_changes(report))
                    (failed::broken_cases(report))
                    (failed::other_failures(report))
                    (plots::differences(report))
                    (uses::uses(report))
                    (cases::cases(report))
                    (suites::numbers(report))
                }
                (details::data(report))
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

fn facts(report: &Report) -> Markup {
    html! {
        p.soft {
            (GateCounts::of(&report.suites).to_words())
            " · " (bounded(&words::graded_commit(report, "commit")))
            " · baseline of " (bounded(&words::base(report, str::to_owned)))
            " · goldgate " (bounded(&report.tool.version))
        } "\n"
    }
}

/// The reasons for a missing verdict, and the notes.
fn notes(report: &Report) -> Markup {
    html! {
        @for why in &report.not_gateable { p.note { b { "No verdict: " } (with_commands(&words::reason(why))) } "\n" }
        @for note in &report.notes { p.note { (with_commands(&words::note(note))) } "\n" }
    }
}
