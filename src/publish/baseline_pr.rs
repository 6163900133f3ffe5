//! Plans the one pull request with the moved baseline of the default branch, from its present state and the measured numbers.

use super::moves::{BaselineMove, has_same_entries, has_same_numbers, is_worse};
use super::reason::{reason as reason_in, reason_example};
use crate::model::{Acceptance, Baseline, metric_value};
use crate::render::{delta, inline};

/// Its title.
pub const TITLE: &str = "Move the baseline to the measured numbers";

/// The input of the plan.
#[derive(Debug, Clone)]
pub struct BaselinePrInput<'a> {
    /// The baseline that is committed on the default branch.
    pub before: Option<&'a Baseline>,
    /// The SHA-256 of its bytes.
    pub before_sha256: Option<String>,
    /// The baseline with the numbers of the run.
    pub proposed: &'a Baseline,
    /// The numbers that moved.
    pub moves: &'a [BaselineMove],
    /// The approvals of the worse numbers, newest first.
    pub accepted: Vec<AcceptedNumbers>,
    /// The baseline on the pull request's branch.
    pub branch: Option<&'a Baseline>,
    /// The open pull request.
    pub open: Option<OpenBaselinePr<'a>>,
    /// The newest pull request from the branch, if a person closed it without a merge.
    pub declined: Option<DeclinedBaselinePr<'a>>,
    /// The author of the commit.
    pub by: &'a str,
    /// Now, in UTC.
    pub at: &'a str,
}

/// An approval of worse numbers on a merged pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedNumbers {
    /// Who approved them.
    pub by: String,
    /// The reason that the pull request gave.
    pub reason: Option<String>,
    /// Its number.
    pub number: u64,
}

/// An open pull request from the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenBaselinePr<'a> {
    /// Its number.
    pub number: u64,
    /// Its description, which people may have edited.
    pub description: &'a str,
}

/// A pull request that somebody closed without a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeclinedBaselinePr<'a> {
    /// Its number.
    pub number: u64,
    /// The baseline at its head.
    pub baseline: &'a Baseline,
}

/// The last line of the description of a pull request that goldgate closes itself.
pub const CLOSED: &str = "Closed by goldgate: the numbers equal the baseline again.";

/// The lines around what goldgate writes into the description.
const START: &str =
    "<!-- goldgate: the text between these two lines is replaced by the next run -->";
const END: &str = "<!-- goldgate: end -->";

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum BaselinePrPlan {
    /// Nothing: no number moved, and no pull request is open.
    Nothing,
    /// Close the pull request with this number: no number moves any more.
    Close(u64),
    /// Nothing: somebody closed the pull request with these numbers.
    Declined(u64),
    /// Open or update the pull request.
    Keep {
        /// The baseline to commit; `None` if the branch already has it.
        commit: Option<Box<Baseline>>,
        /// The number of the pull request; `None` to open one.
        number: Option<u64>,
        /// Its description.
        description: String,
    },
}

/// Plans the pull request.
pub fn plan(asked: &BaselinePrInput<'_>) -> BaselinePrPlan {
    if asked
        .before
        .is_some_and(|committed| has_same_numbers(committed, asked.proposed))
    {
        return asked.open.map_or(BaselinePrPlan::Nothing, |open| {
            BaselinePrPlan::Close(open.number)
        });
    }
    let declined = asked
        .declined
        .filter(|declined| has_same_numbers(declined.baseline, asked.proposed));
    if let (None, Some(declined)) = (asked.open, declined) {
        return BaselinePrPlan::Declined(declined.number);
    }
    let reason = stated_reason(asked);
    let mut target = asked.proposed.clone();
    let by: Vec<&str> = asked
        .accepted
        .iter()
        .map(|accepted| accepted.by.as_str())
        .collect();
    let entry = Acceptance {
        by: if by.is_empty() {
            asked.by.to_owned()
        } else {
            by.join(", ")
        },
        at: asked.at.to_owned(),
        pull_request: asked.open.map(|open| open.number),
        reason: reason.clone(),
        previous_sha256: asked.before_sha256.clone(),
    };
    target
        .accepted
        .extend(is_entered(&entry, asked.moves).then_some(entry));
    let is_current = asked.open.and(asked.branch).is_some_and(|branch| {
        has_same_entries(branch, &target) && newest_entry(branch) == newest_entry(&target)
    });
    BaselinePrPlan::Keep {
        commit: (!is_current).then(|| Box::new(target)),
        number: asked.open.map(|open| open.number),
        description: description(asked, reason.as_deref()),
    }
}

/// The reason: what somebody wrote into the description, else what the merged pull requests gave. Their reasons grow with each merge.
fn stated_reason(asked: &BaselinePrInput<'_>) -> Option<String> {
    let reasons: Vec<String> = asked
        .accepted
        .iter()
        .rev()
        .filter_map(|accepted| {
            let reason = accepted.reason.as_ref()?;
            Some(format!("{reason} (pull request {})", accepted.number))
        })
        .collect();
    let given = reason_in(&format!("Goldgate-Reason: {}", reasons.join("; ")));
    let stated = asked.open.and_then(|open| reason_in(open.description));
    match (stated, given) {
        (Some(stated), Some(given)) => Some(if given.starts_with(&stated) {
            given
        } else {
            stated
        }),
        (stated, given) => stated.or(given),
    }
}

/// Whether the pull request writes this entry into the file. A worse number gets one only with a reason: an entry without a reason would
/// claim that none is needed.
pub fn is_entered(entry: &Acceptance, moves: &[BaselineMove]) -> bool {
    entry.reason.is_some() || !moves.iter().any(is_worse)
}

/// The reason of the newest entry, and the number of entries. Its time and its number say nothing of the numbers.
fn newest_entry(baseline: &Baseline) -> Option<(Option<&str>, usize)> {
    let last = baseline.accepted.last()?;
    Some((last.reason.as_deref(), baseline.accepted.len()))
}

/// The number of rows in the table.
const ROWS: usize = 200;

/// The description: what people wrote around goldgate's own text stays.
fn description(asked: &BaselinePrInput<'_>, reason: Option<&str>) -> String {
    let open = asked.open.map(|open| open.description).unwrap_or_default();
    let (above, below) = around(open);
    let below = below.replace(CLOSED, "");
    let mut text = own_description(asked.moves, reason);
    let is_stated = reason_in(above).as_deref() == reason || reason_in(&below).as_deref() == reason;
    if let Some(reason) = reason.filter(|_| !is_stated) {
        // Indented, a line is code: the text of others is not read as Markdown. The next run reads the line there.
        text.push_str(&format!("\n    Goldgate-Reason: {reason}\n"));
    }
    let text = format!("{START}\n\n{text}\n{END}");
    let parts = [above.trim(), &text, below.trim()];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
        + "\n"
}

/// The text before and after goldgate's own.
fn around(description: &str) -> (&str, &str) {
    let parts = description.split_once(START).and_then(|(above, rest)| {
        let (_, below) = rest.split_once(END)?;
        Some((above, below))
    });
    parts.unwrap_or((description, ""))
}

const NO_CHECK: &str = "A workflow's own token pushed this branch, so no check has started: set any label, and its check runs.\n";

fn own_description(moves: &[BaselineMove], reason: Option<&str>) -> String {
    if moves.is_empty() {
        return format!(
            "Suites or agents of the committed baseline have other names on the default branch. No number differs.\n\n{NO_CHECK}"
        );
    }
    let worse = moves.iter().filter(|number| is_worse(number)).count();
    let mut out =
        "These numbers were measured on the default branch and differ from the committed baseline.\n\n".to_owned();
    match (worse, reason) {
        (0, _) => out.push_str("None of them is worse.\n"),
        (_, Some(_)) => out.push_str("> [!WARNING]\n> **Numbers get worse.** The reason in this description goes into the file.\n"),
        (_, None) => out.push_str(&format!(
            "> [!CAUTION]\n> **Numbers get worse, and a reason is needed.** Write a line `{}` into this description; the next run \
             puts it into the file. Do not merge before.\n",
            reason_example()
        )),
    }
    out.push_str(&format!("\n{NO_CHECK}"));
    out.push_str("\n| suite | agent | metric | baseline | measured | delta |\n|---|---|---|---:|---:|---:|\n");
    for number in moves.iter().take(ROWS) {
        let change = number
            .before
            .zip(number.after)
            .map(|(baseline, measured)| measured - baseline);
        let mark = if is_worse(number) { " ▼ worse" } else { "" };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {}{mark} |\n",
            number.suite,
            number.agent,
            inline(&number.metric, 80),
            metric_value(number.unit, number.before),
            metric_value(number.unit, number.after),
            delta(number.unit, change),
        ));
    }
    if moves.len() > ROWS {
        out.push_str(&format!("\n… and {} more.\n", moves.len() - ROWS));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{
        AcceptedNumbers, BaselinePrInput, BaselinePrPlan, CLOSED, DeclinedBaselinePr,
        OpenBaselinePr, plan,
    };
    use crate::model::Baseline;
    use crate::publish::moves::{BaselineMove, MoveDirection};
    use crate::publish::samples::{baseline, moved};

    fn input<'a>(
        before: &'a Baseline,
        proposed: &'a Baseline,
        moves: &'a [BaselineMove],
    ) -> BaselinePrInput<'a> {
        BaselinePrInput {
            before: Some(before),
            before_sha256: Some("p".to_owned()),
            proposed,
            moves,
            accepted: Vec::new(),
            branch: None,
            open: None,
            declined: None,
            by: "bot",
            at: "t",
        }
    }

    #[test]
    fn one_pull_request_is_opened_kept_and_closed() {
        let (before, after, moves) = (baseline(0.9), baseline(0.8), moved(MoveDirection::Worse));
        let base = input(&before, &after, &moves);
        let same = BaselinePrInput {
            proposed: &before,
            ..base.clone()
        };
        assert_eq!(plan(&same), BaselinePrPlan::Nothing);
        let open = OpenBaselinePr {
            number: 7,
            description: "",
        };
        assert_eq!(
            plan(&BaselinePrInput {
                open: Some(open),
                ..same
            }),
            BaselinePrPlan::Close(7)
        );

        let declined = |baseline| {
            Some(DeclinedBaselinePr {
                number: 6,
                baseline,
            })
        };
        assert_eq!(
            plan(&BaselinePrInput {
                declined: declined(&after),
                ..base.clone()
            }),
            BaselinePrPlan::Declined(6)
        );
        let other = BaselinePrInput {
            declined: declined(&before),
            ..base.clone()
        };
        assert!(matches!(
            plan(&other),
            BaselinePrPlan::Keep { number: None, .. }
        ));

        let BaselinePrPlan::Keep {
            commit: Some(first),
            number: None,
            description,
        } = plan(&base)
        else {
            unreachable!("not opened")
        };
        assert!(first.accepted.is_empty(), "an entry without a reason");
        assert!(
            description.contains("| contracts | legal | recall | 90% | 80% | −10 pp ▼ worse |"),
            "{description}"
        );
        assert!(description.contains("a reason is needed"), "{description}");
        // The example line in goldgate's own description does not count as a reason.
        let again = BaselinePrInput {
            branch: Some(&first),
            open: Some(OpenBaselinePr {
                number: 7,
                description: &description,
            }),
            ..base.clone()
        };
        let BaselinePrPlan::Keep {
            commit: None,
            number: Some(7),
            description: same,
        } = plan(&again)
        else {
            unreachable!("not kept")
        };
        assert_eq!(same, description);

        let edited = format!("Goldgate-Reason: stricter cases\n{description}");
        let open = Some(OpenBaselinePr {
            number: 7,
            description: &edited,
        });
        let with = BaselinePrInput {
            branch: Some(&first),
            open,
            ..base
        };
        let BaselinePrPlan::Keep {
            commit: Some(second),
            number: Some(7),
            description,
        } = plan(&with)
        else {
            unreachable!("not written")
        };
        assert_eq!(
            second.accepted.last().unwrap().reason.as_deref(),
            Some("stricter cases")
        );
        assert_eq!(second.accepted.last().unwrap().pull_request, Some(7));
        let open = Some(OpenBaselinePr {
            number: 7,
            description: &description,
        });
        let BaselinePrPlan::Keep {
            commit: None,
            description: kept,
            ..
        } = plan(&BaselinePrInput {
            branch: Some(&second),
            open,
            ..with
        })
        else {
            unreachable!("written twice")
        };
        assert_eq!(kept, description);
        assert!(
            description.starts_with("Goldgate-Reason: stricter cases\n\n<!-- goldgate"),
            "{description}"
        );
        assert_eq!(
            description.matches("stricter cases").count(),
            1,
            "{description}"
        );
    }

    #[test]
    fn what_people_write_around_the_description_stays() {
        let (before, after, moves) = (baseline(0.9), baseline(0.8), moved(MoveDirection::Worse));
        let described = |description: &str| {
            let open = Some(OpenBaselinePr {
                number: 7,
                description,
            });
            let BaselinePrPlan::Keep { description, .. } = plan(&BaselinePrInput {
                open,
                ..input(&before, &after, &moves)
            }) else {
                unreachable!("not kept")
            };
            description
        };
        let own = described("");
        let edited = own.replace("| legal |", "| other |");
        let discussed = format!("See #12.\r\n\r\n{edited}\r\n\r\nAsked Subject A.\n\n{CLOSED}\n");
        let kept = described(&discussed);
        assert_eq!(
            kept,
            format!("See #12.\n\n{}\n\nAsked Subject A.\n", own.trim_end())
        );
        assert_eq!(described(&kept), kept);
        assert_eq!(
            described("without the two lines"),
            format!("without the two lines\n\n{own}")
        );
    }

    #[test]
    fn the_reasons_of_merged_pull_requests_are_kept_unless_somebody_writes_another() {
        let (before, after, moves) = (baseline(0.9), baseline(0.8), moved(MoveDirection::Worse));
        let accepted = |reasons: &[(&str, u64)]| {
            let one = |(reason, number): &(&str, u64)| AcceptedNumbers {
                by: format!("alice on pull request {number}"),
                reason: Some((*reason).to_owned()),
                number: *number,
            };
            reasons.iter().rev().map(one).collect::<Vec<_>>()
        };
        let reason_with = |reasons: &[(&str, u64)], description: Option<&str>| {
            let open = description.map(|description| OpenBaselinePr {
                number: 7,
                description,
            });
            let input = BaselinePrInput {
                before_sha256: None,
                accepted: accepted(reasons),
                open,
                ..input(&before, &after, &moves)
            };
            let BaselinePrPlan::Keep {
                commit: Some(commit),
                description,
                ..
            } = plan(&input)
            else {
                unreachable!("nothing is committed")
            };
            (
                commit
                    .accepted
                    .last()
                    .and_then(|entry| entry.reason.clone()),
                description,
            )
        };
        let one = "stricter (pull request 2)";
        let first = [("stricter", 2)];
        let second = [("stricter", 2), ("shorter", 5)];
        let (reason, description) = reason_with(&first, None);
        assert_eq!(reason.as_deref(), Some(one));
        assert!(!description.contains("a reason is needed"), "{description}");
        assert!(
            description.contains("\n\n    Goldgate-Reason: stricter (pull request 2)\n"),
            "code, not Markdown: {description}"
        );
        // The next merge adds its reason to the one that the description has from the first.
        let both = "stricter (pull request 2); shorter (pull request 5)";
        let (reason, description) = reason_with(&second, Some(&description));
        assert_eq!(reason.as_deref(), Some(both));
        let edited = description.replace(both, "both on purpose");
        assert_eq!(
            reason_with(&second, Some(&edited)).0.as_deref(),
            Some("both on purpose")
        );
        assert_eq!(
            reason_with(&[], Some(&edited)).0.as_deref(),
            Some("both on purpose")
        );
        assert_eq!(reason_with(&[], None).0, None);
    }
}
