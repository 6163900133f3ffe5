//! The golden changes since the base commit.

use maud::{Markup, html};

use super::texts::{bounded, with_commands};
use crate::model::{Report, Weight};
use crate::render::words;

/// The golden changes; those that need an approval are open.
pub fn golden_changes(report: &Report) -> Markup {
    let (heavy, light): (Vec<_>, Vec<_>) = report
        .golden_changes
        .iter()
        .partition(|change| change.weight == Weight::NeedsApproval);
    let class = if report.approval.is_some() {
        "soft"
    } else {
        "fail"
    };
    html! {
        @if !heavy.is_empty() {
            section aria-labelledby="changes" {
                h2 id="changes" { "Golden changes that need an approval" } "\n"
                @if let Some(approval) = &report.approval { p { (bounded(&words::approval(approval))) } "\n" }
                ul {
                    "\n"
                    @for change in &heavy {
                        li { b class=(class) { (words::weight(report, change)) } " " (with_commands(&words::change(change))) } "\n"
                    }
                }
                @if let Some(next) = words::next_of_changes(report, words::PUSH_FIRST) { p { (with_commands(&next)) "." } "\n" }
            } "\n"
        }
        @if !light.is_empty() {
            details {
                summary { (words::plural(light.len(), "golden change that needs no approval", "golden changes that need no approval")) }
                ul {
                    "\n"
                    @for change in &light { li { (with_commands(&words::change(change))) } "\n" }
                }
            } "\n"
        }
    }
}
