//! The one pull request that carries the moved baseline of the default branch: what stands and what was measured become a plan.

use super::bump::is_same;
use super::moves::{BaselineMove, MoveDirection};
use super::reason::{reason, writes_reason};
use crate::model::{Acceptance, Baseline, metric_value};
use crate::render::{delta, inline};

/// Its title.
pub const TITLE: &str = "Move the baseline to the measured numbers";

/// What the plan is made from.
#[derive(Debug, Clone)]
pub struct BaselinePrInput<'a> {
    /// The baseline that is committed on the default branch.
    pub before: Option<&'a Baseline>,
    /// The digest of its bytes.
    pub before_sha256: Option<String>,
    /// The baseline with the numbers of the run.
    pub proposed: &'a Baseline,
    /// What moves.
    pub moves: &'a [BaselineMove],
    /// What stands on the branch.
    pub branch: Option<&'a Baseline>,
    /// The open pull request.
    pub open: Option<OpenBaselinePr<'a>>,
    /// Who writes the commit.
    pub by: &'a str,
    /// Now, in UTC.
    pub at: &'a str,
}

/// An open pull request from the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenBaselinePr<'a> {
    /// Its number.
    pub number: u64,
    /// Its description; people may have added to it.
    pub description: &'a str,
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum BaselinePrPlan {
    /// Nothing: no number moved, and nothing is open.
    Nothing,
    /// No number moved any more: what is open is closed.
    Close(u64),
    /// The pull request is brought to this.
    Keep {
        /// The file, where the branch does not have it yet.
        commit: Option<Box<Baseline>>,
        /// The pull request; `None` where it has to be opened.
        number: Option<u64>,
        /// Its description.
        description: String,
    },
}

/// Plans it.
pub fn plan(asked: &BaselinePrInput<'_>) -> BaselinePrPlan {
    if asked.before.is_some_and(|before| is_same(before, asked.proposed)) {
        return asked.open.map_or(BaselinePrPlan::Nothing, |open| BaselinePrPlan::Close(open.number));
    }
    let reason = asked.open.and_then(|open| reason(open.description));
    let mut wanted = asked.proposed.clone();
    let worse = asked.moves.iter().any(|one| one.turn == MoveDirection::Worse);
    // A worse number has no entry before somebody says why, and an entry without a reason would say that nobody has to.
    if !worse || reason.is_some() {
        wanted.accepted.push(Acceptance {
            by: asked.by.to_owned(),
            at: asked.at.to_owned(),
            pull_request: asked.open.map(|open| open.number),
            reason: reason.clone(),
            previous_sha256: asked.before_sha256.clone(),
        });
    }
    let stands =
        asked.open.and(asked.branch).is_some_and(|branch| is_same(branch, &wanted) && says(branch) == says(&wanted));
    BaselinePrPlan::Keep {
        commit: (!stands).then(|| Box::new(wanted)),
        number: asked.open.map(|open| open.number),
        description: description(asked.moves, reason.as_deref()),
    }
}

/// The newest entry, but for when it was written.
fn says(baseline: &Baseline) -> Option<(Option<u64>, Option<&str>, usize)> {
    let last = baseline.accepted.last()?;
    Some((last.pull_request, last.reason.as_deref(), baseline.accepted.len()))
}

/// Rows of the table; the rest is counted.
const ROWS: usize = 200;

fn description(moves: &[BaselineMove], reason: Option<&str>) -> String {
    let worse = moves.iter().filter(|one| one.turn == MoveDirection::Worse).count();
    let mut out =
        "These numbers were measured on the default branch and differ from the committed baseline.\n\n".to_owned();
    match (worse, reason) {
        (0, _) => out.push_str("None of them is worse.\n"),
        (_, Some(_)) => out.push_str("> [!WARNING]\n> **Numbers get worse.** The reason below goes into the file.\n"),
        (_, None) => out.push_str(&format!(
            "> [!CAUTION]\n> **Numbers get worse, and a reason is needed.** Write a line `{}` into this description; the next run \
             puts it into the file. Do not merge before.\n",
            writes_reason()
        )),
    }
    out.push_str("\n| suite | agent | metric | baseline | measured | delta |\n|---|---|---|---:|---:|---:|\n");
    for one in moves.iter().take(ROWS) {
        let change = one.before.zip(one.after).map(|(before, after)| after - before);
        let mark = if one.turn == MoveDirection::Worse { " ▼ worse" } else { "" };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {}{mark} |\n",
            one.suite,
            one.agent,
            inline(&one.metric, 80),
            metric_value(one.unit, one.before),
            metric_value(one.unit, one.after),
            delta(one.unit, change),
        ));
    }
    if moves.len() > ROWS {
        out.push_str(&format!("\n… and {} more.\n", moves.len() - ROWS));
    }
    if let Some(reason) = reason {
        out.push_str(&format!("\nGoldgate-Reason: {reason}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{BaselinePrInput, BaselinePrPlan, OpenBaselinePr, plan};
    use crate::publish::moves::MoveDirection;
    use crate::publish::samples::{baseline, moved};

    #[test]
    fn one_pull_request_is_opened_kept_and_closed() {
        let (before, after, moves) = (baseline(0.9), baseline(0.8), moved(MoveDirection::Worse));
        let base = BaselinePrInput {
            before: Some(&before),
            before_sha256: Some("p".to_owned()),
            proposed: &after,
            moves: &moves,
            branch: None,
            open: None,
            by: "bot",
            at: "t",
        };
        let same = BaselinePrInput { proposed: &before, ..base.clone() };
        assert_eq!(plan(&same), BaselinePrPlan::Nothing);
        let open = OpenBaselinePr { number: 7, description: "" };
        assert_eq!(plan(&BaselinePrInput { open: Some(open), ..same }), BaselinePrPlan::Close(7));

        let BaselinePrPlan::Keep { commit: Some(first), number: None, description } = plan(&base) else {
            unreachable!("not opened")
        };
        assert!(first.accepted.is_empty(), "an entry without a reason");
        assert!(description.contains("| contracts | legal | recall | 90% | 80% | −10 pp ▼ worse |"), "{description}");
        assert!(description.contains("a reason is needed"), "{description}");
        // The template of the line in our own description is no reason.
        let again = BaselinePrInput {
            branch: Some(&first),
            open: Some(OpenBaselinePr { number: 7, description: &description }),
            ..base.clone()
        };
        let BaselinePrPlan::Keep { commit: None, number: Some(7), description: same } = plan(&again) else {
            unreachable!("not kept")
        };
        assert_eq!(same, description);

        let said = format!("Goldgate-Reason: stricter cases\n{description}");
        let open = Some(OpenBaselinePr { number: 7, description: &said });
        let with = BaselinePrInput { branch: Some(&first), open, ..base };
        let BaselinePrPlan::Keep { commit: Some(second), number: Some(7), description } = plan(&with) else {
            unreachable!("not written")
        };
        assert_eq!(second.accepted.last().unwrap().reason.as_deref(), Some("stricter cases"));
        assert_eq!(second.accepted.last().unwrap().pull_request, Some(7));
        let open = Some(OpenBaselinePr { number: 7, description: &description });
        let BaselinePrPlan::Keep { commit: None, description: kept, .. } =
            plan(&BaselinePrInput { branch: Some(&second), open, ..with })
        else {
            unreachable!("written twice")
        };
        assert_eq!(kept, description);
    }
}
