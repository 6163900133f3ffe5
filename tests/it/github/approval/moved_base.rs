//! The base branch moves on after an approval: what was approved and is the same again needs no new label.

use super::*;
use crate::github::pushes::{is_green, is_red, report, with};
use crate::github::story::merges::{Default, Pull, RENTAL_RUN};

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an approval outlives another agent's approved change on the base branch",
            other_agent,
        ),
        trial(
            "an approval does not cover an agent that the base branch made another one",
            same_agent,
        ),
        trial(
            "an approval of a result against another branch covers no other result",
            other_branch,
        ),
        trial(
            "an artifact with another result than the approved one covers nothing",
            forged_artifact,
        ),
        trial(
            "without actions: read an approval counts only for exactly its result",
            denied,
        ),
        trial(
            "the baseline's pull request takes an approval whose run measured again after it",
            measured_again,
        ),
    ]
}

/// Two approved pull requests of two agents, and what GitHub tests of the first one after the merge of the second.
struct TwoAgents {
    branch: Default,
    legal: Pull,
    rental: Pull,
}

impl TwoAgents {
    fn new() -> Self {
        let branch = Default::new();
        let legal = branch.pull(2, "legal", "the agent reports more on purpose");
        let rental = branch.pull(3, "rental", "rents are listed one by one");
        branch.is_approved(&legal);
        branch.is_approved(&rental);
        Self {
            branch,
            legal,
            rental,
        }
    }

    fn merge_rental(&self) -> Pull {
        let checkout = with(&self.branch, &[&self.legal, &self.rental]);
        self.branch
            .merge(&self.rental, &[RENTAL_RUN, "prompts/rental.md"]);
        Pull {
            number: 2,
            head: self.legal.head.clone(),
            run: 21,
            checkout,
        }
    }
}

fn other_agent() {
    let world = TwoAgents::new();
    let again = world.merge_rental();
    let ran = world.branch.gate(&again);
    is_green(&ran);
    let found = report(&again.checkout);
    assert_eq!(found["approval"]["by"], json!("alice"));
    // The run's own result differs from the approved one, which still covers it.
    is_green(&world.branch.gate(&Pull { run: 22, ..again }));
}

fn same_agent() {
    let world = TwoAgents::new();
    let again = world.merge_rental();
    again.checkout.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"c\"},",
    );
    let ran = world.branch.gate(&again);
    is_red(
        &ran,
        "it is for another result, without the numbers of contracts/legal: add the label again",
    );
}

fn other_branch() {
    for (branch, code) in [("master", 0), ("release", 1)] {
        let world = TwoAgents::new();
        let report = world.legal.checkout.read(".goldgate/report/report.json");
        let own = "\"base_branch\": \"master\"";
        assert!(report.contains(own), "{report}");
        let report = report.replace(own, &format!("\"base_branch\": \"{branch}\""));
        let again = world.merge_rental();
        world.branch.github.expire();
        world
            .branch
            .github
            .artifact(20, "goldgate-report", uploaded(&report));
        let ran = world.branch.gate(&again);
        assert_eq!(ran.code, code, "{branch}: {}{}", ran.stdout, ran.stderr);
    }
}

fn forged_artifact() {
    let world = TwoAgents::new();
    let again = world.merge_rental();
    // As if the result of the approved run were that of the later one.
    world.branch.gate(&again);
    let zip = uploaded(&again.checkout.read(".goldgate/report/report.json"));
    world.branch.github.expire();
    world.branch.github.artifact(20, "goldgate-report", zip);
    is_red(
        &world.branch.gate(&Pull { run: 22, ..again }),
        "it is for another result: add the label again",
    );
}

fn denied() {
    let world = TwoAgents::new();
    let again = world.merge_rental();
    world.branch.github.deny("actions: read");
    is_red(
        &world.branch.gate(&again),
        "it is for another result: add the label again",
    );
}

fn measured_again() {
    let world = TwoAgents::new();
    let again = world.merge_rental();
    is_green(&world.branch.gate(&again));
    world.branch.merge(&world.legal, &[RUN, "prompts/legal.md"]);
    world.branch.pushed();
    let head = world.branch.github.head("goldgate/baseline").unwrap();
    let checkout = with(&world.branch, &[]);
    checkout.write(BASELINE, world.branch.github.read_at(&head, BASELINE));
    let ran = world.branch.gate(&Pull {
        number: 4,
        head,
        run: 50,
        checkout,
    });
    is_green(&ran);
}
