//! What an approval needs of the gate: a comment that shows the result, the uploaded report, and the same key in both workflows.

use super::gate_step::GateStep;
use crate::app::github::inputs::ActionMode;
use crate::diag::{Code, Diagnostics};
use crate::format::workflow::{OnNewerRun, WorkflowStep};
use crate::model::RepoPath;
use crate::publish::ConfigKey;

/// Problems between the gates and the steps that approve their results; none where nothing approves.
pub fn of_approvals(gates: &[GateStep<'_>]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let approving: Vec<&GateStep<'_>> = gates
        .iter()
        .filter(|gate| gate.mode() == Some(ActionMode::Approve))
        .collect();
    for gate in approving
        .iter()
        .filter(|gate| gate.job.on_newer_run == OnNewerRun::Cancel)
    {
        let what = "a newer run cancels this job, so an approval can be lost half-way";
        problems.push(
            gate.problem(
                Code::CANCELLED_APPROVAL,
                what.to_owned(),
                "write cancel-in-progress: false",
            )
            .at(gate.job.at),
        );
    }
    // An expression, such as one of a matrix, can be any key.
    let keys: Option<Vec<ConfigKey>> = approving.iter().map(|gate| key(gate)).collect();
    for gate in gates
        .iter()
        .filter(|gate| gate.decides() && !approving.is_empty())
    {
        if gate.input("comment") == "false" {
            let what = "this step writes no comment, so nobody can see the result, and no label approves it";
            problems.push(
                gate.problem(Code::NO_COMMENT, what.to_owned(), "remove comment: false")
                    .at(gate.step.at),
            );
        }
        let Some(own) = key(gate) else { continue };
        uploaded(gate, &own, &mut problems);
        if keys.as_ref().is_some_and(|keys| !keys.contains(&own)) {
            let what = format!(
                "this step has the key \"{}\", and no step with mode: approve has it, so no label approves its result",
                own.as_str()
            );
            let help = "give a step with mode: approve the same config and comment-key";
            problems.push(gate.problem(Code::OTHER_KEY, what, help).at(gate.step.at));
        }
    }
    problems
}

/// The key of a step's config; `None` if an expression makes it.
fn key(gate: &GateStep<'_>) -> Option<ConfigKey> {
    let stated = gate.input("comment-key");
    gate.config()
        .filter(|_| !stated.contains("${{"))
        .map(|config| ConfigKey::new(stated, &config))
}

/// Checks that the job uploads the report by a name that an approval finds.
fn uploaded(gate: &GateStep<'_>, key: &ConfigKey, problems: &mut Diagnostics) {
    let uses = |step: &WorkflowStep| step.uses.clone().unwrap_or_default();
    // An action of the repository itself may upload it.
    if gate
        .job
        .steps
        .iter()
        .any(|step| uses(step).starts_with("./") && uses(step) != "./")
    {
        return;
    }
    let root = ConfigKey::new("", &RepoPath::root().child("goldgate.yaml"));
    let names = [key.artifact(), root.artifact()];
    let uploads = gate
        .job
        .steps
        .iter()
        .filter(|step| uses(step).contains("/upload-artifact@"));
    let mut given = uploads.map(|step| step.inputs.get("name").map_or("artifact", String::as_str));
    if !given.any(|name| name.contains("${{") || names.iter().any(|one| one == name)) {
        let what = format!(
            "this job does not upload its report as {}, so an approval does not find the result",
            names[0]
        );
        let help = "add the step \"Upload the report\" of docs/workflows/goldgate.yml";
        problems.push(
            gate.problem(Code::NOT_UPLOADED, what, help)
                .at(gate.step.at),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::of_approvals;
    use crate::app::github::setup::gate_step::GateStep;
    use crate::files::SourceText;
    use crate::format::workflow::{Workflow, read_workflow};
    use crate::model::RepoPath;

    const GATE: &str = include_str!("../../../../docs/workflows/goldgate.yml");
    const APPROVAL: &str = include_str!("../../../../docs/workflows/goldgate-approval.yml");

    fn workflow(name: &str, text: &str) -> Workflow {
        let file = RepoPath::root().child(name);
        read_workflow(&SourceText::new(file, text.as_bytes().to_vec()).unwrap()).unwrap()
    }

    fn codes(gate: &str, approval: &str) -> Vec<&'static str> {
        let workflows = [
            workflow("gate.yml", gate),
            workflow("approval.yml", approval),
        ];
        let problems = of_approvals(&GateStep::all(&workflows));
        problems
            .sorted()
            .iter()
            .map(|problem| problem.code.as_str())
            .collect()
    }

    fn with(gate: &str) -> String {
        GATE.replacen(
            "# the commit of a release\n",
            &format!("\n        with: {gate}\n"),
            1,
        )
    }

    #[test]
    fn the_workflows_that_ship_can_be_approved() {
        assert_eq!(codes(GATE, APPROVAL), [] as [&str; 0]);
        for gate in [
            include_str!("../../../../docs/workflows/goldgate-shards.yml"),
            include_str!("../../../../docs/workflows/goldgate-trusted.yml"),
        ] {
            assert_eq!(codes(gate, APPROVAL), [] as [&str; 0], "{gate}");
        }
    }

    #[test]
    fn each_gap_between_gate_and_approval_is_found() {
        for (gate, expected) in [
            (with("{ comment: false }"), vec!["no-comment"]),
            (with("{ comment-key: one }"), vec!["other-key"]),
            (
                with("{ config: services/a/goldgate.yaml }"),
                vec!["other-key"],
            ),
            (with("{ comment-key: \"${{ matrix.key }}\" }"), vec![]),
            (with("{ blocking: false, comment: false }"), vec![]),
            (
                GATE.replace("name: goldgate-report #", "name: report #"),
                vec!["not-uploaded"],
            ),
            (
                GATE.replace(
                    "name: goldgate-report #",
                    "name: ${{ steps.gate.outputs.artifact }} #",
                ),
                vec![],
            ),
            (
                GATE.split("      - name: Upload")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                vec!["not-uploaded"],
            ),
        ] {
            assert_ne!(gate, GATE);
            assert_eq!(codes(&gate, APPROVAL), expected, "{gate}");
        }
        let cancels = APPROVAL.replace("cancel-in-progress: false", "cancel-in-progress: true");
        assert_eq!(codes(GATE, &cancels), ["cancelled-approval"]);
        let own = APPROVAL.replace(
            "    name: approval\n",
            "    concurrency: { group: a, cancel-in-progress: true }\n",
        );
        assert_eq!(codes(GATE, &own), ["cancelled-approval"]);
        assert_eq!(
            codes(&with("{ comment: false }"), ""),
            [] as [&str; 0],
            "nothing approves"
        );
    }
}
