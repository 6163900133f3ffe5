//! A merge queue with several pull requests: each group is built on the one before it.

use libtest_mimic::Trial;
use serde_json::json;

use super::Job;
use super::approval::base_sha;
use super::pushes::{has_head, is_green, is_red, pull, report, tip, trunk, with};
use super::story::merges::{Default, LATER, Pull};
use super::{RUN, standin};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "two approved pull requests in one merge queue need no new approval",
            two_approved,
        ),
        trial(
            "an approval counts in a merge queue of thirteen pull requests",
            deep,
        ),
        trial(
            "a pull request behind one that nobody approved does not let it in",
            behind,
        ),
        trial(
            "two pull requests that change the same agent need a new approval in the merge queue",
            same_agent,
        ),
        trial(
            "an approval counts in a merge queue only in a group with its pull request",
            not_in_group,
        ),
        trial(
            "a golden change in front of a group is judged with it",
            golden_in_front,
        ),
        trial(
            "an approved pull request of more files than GitHub lists goes through the merge queue",
            many_files,
        ),
        trial(
            "the trusted gate judges a stacked group in the same way",
            trusted,
        ),
        trial(
            "a group that is built again without a failed entry is judged without it",
            rebuilt,
        ),
        trial(
            "an approval counts in a group on a base branch that moved on, for what was approved",
            other_base,
        ),
    ]
}

/// Groups one and two of the queue, each built on the one before it. Squashed, so no commit of them names a pull request.
struct Queue {
    trunk: Default,
    groups: Vec<(u64, String, Repository)>,
}

impl Queue {
    fn new(trunk: Default, pulls: &[&Pull]) -> Self {
        let mut queue = Self {
            trunk,
            groups: Vec::new(),
        };
        for (index, one) in pulls.iter().enumerate() {
            let checkout = with(&queue.trunk, &pulls[..=index]);
            queue.add(one.number, checkout);
        }
        queue
    }

    fn add(&mut self, number: u64, checkout: Repository) {
        self.place(number, &tip(number), checkout);
    }

    /// GitHub makes this commit of the next group.
    fn place(&mut self, number: u64, commit: &str, checkout: Repository) {
        let before = self
            .groups
            .last()
            .map_or_else(base_sha, |(_, commit, _)| commit.clone());
        self.trunk.github.commit(commit, &checkout);
        self.trunk.github.parents(commit, &[&before]);
        self.trunk.github.branch(
            &format!("gh-readonly-queue/master/pr-{number}-{before}"),
            commit,
        );
        self.groups.push((number, commit.to_owned(), checkout));
    }

    fn job<'a>(&'a self, index: usize, checkout: &'a Repository) -> Job<'a> {
        let (number, commit, _) = &self.groups[index];
        let before = if index == 0 {
            base_sha()
        } else {
            self.groups[index - 1].1.clone()
        };
        let mut job = Job::new(checkout, &self.trunk.github, "merge_group", "merge_group");
        job.event["merge_group"]["head_ref"] = json!(format!(
            "refs/heads/gh-readonly-queue/master/pr-{number}-{before}"
        ));
        job.event["merge_group"]["base_ref"] = json!("refs/heads/master");
        job.event["merge_group"]["base_sha"] = json!(before);
        job.event["merge_group"]["head_sha"] = json!(commit);
        job.run = 60;
        job.variable("SOURCE_DATE_EPOCH", LATER)
    }

    fn gate(&self, index: usize) -> Ran {
        let (_, commit, checkout) = &self.groups[index];
        self.job(index, checkout)
            .variable("GITHUB_SHA", commit)
            .runs()
    }
}

fn two_approved() {
    let trunk = trunk();
    let (first, second) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "rental"));
    trunk.is_approved(&first);
    trunk.is_approved(&second);
    let mut queue = Queue::new(trunk, &[&first, &second]);
    is_green(&queue.gate(0));
    is_green(&queue.gate(1));
    let of_second = report(&queue.groups[1].2);
    // Judged with everything in front of it.
    assert_eq!(of_second["base"], json!(base_sha()));
    assert_eq!(
        of_second["approval"]["by"],
        json!("alice on pull request 3, alice on pull request 2")
    );
    // A third one that moves nothing.
    let third = queue.trunk.opened(4, with(&queue.trunk, &[]));
    third.checkout.write("README.md", "Leases.\n");
    has_head(&queue.trunk, &third);
    let checkout = with(&queue.trunk, &[&first, &second]);
    queue.add(4, checkout);
    is_green(&queue.gate(2));
    // The first group was merged.
    queue.trunk.github.branch("master", &tip(2));
    queue.trunk.github.merge_as(2, &tip(2));
    is_green(&queue.gate(1));
    assert_eq!(report(&queue.groups[1].2)["base"], json!(tip(2)));
}

/// A queue can be a hundred pull requests deep (docs, "Managing a merge queue": "Maximum group size").
fn deep() {
    let trunk = trunk();
    let first = pull(&trunk, 2, "legal");
    trunk.is_approved(&first);
    let mut queue = Queue::new(trunk, &[&first]);
    for number in 10..22 {
        let branch = format!("changes-{number}");
        queue
            .trunk
            .github
            .open_pull(number, &branch, &format!("{number:e<40}"));
        let checkout = with(&queue.trunk, &[&first]);
        queue.add(number, checkout);
    }
    is_green(&queue.gate(12));
}

/// GitHub lists 300 files of a comparison (REST, "Compare two commits").
fn many_files() {
    let trunk = trunk();
    let approved = pull(&trunk, 2, "legal");
    trunk.is_approved(&approved);
    let more = |checkout: &Repository| {
        for file in 0..310 {
            checkout.write(&format!("src/{file}.py"), format!("{file}\n"));
        }
    };
    more(&approved.checkout);
    has_head(&trunk, &approved);
    let mut queue = Queue::new(trunk, &[]);
    let group = with(&queue.trunk, &[&approved]);
    more(&group);
    queue.add(2, group);
    is_green(&queue.gate(0));
    // Another change of the same file is seen all the same.
    let (_, commit, group) = &queue.groups[0];
    group.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"z\"},",
    );
    queue.trunk.github.commit(commit, group);
    is_red(
        &queue.gate(0),
        "another change touched golden/runs/legal/lease.json as well",
    );
}

/// A queue can be set to merge a group whose checks failed, if those of the last group pass (GitHub docs, "Managing a merge queue", "Only
/// merge non-failing pull requests").
fn behind() {
    let trunk = trunk();
    let (first, second) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "rental"));
    assert_eq!(trunk.gate(&first).code, 1);
    trunk.is_approved(&second);
    let queue = Queue::new(trunk, &[&first, &second]);
    is_red(&queue.gate(0), "Merge blocked");
    is_red(
        &queue.gate(1),
        "the approval of pull request 3 does not count, because it is for another result than this merge group's. No approval in the queue \
         covers this: the numbers of contracts/legal",
    );
    // Nothing of its own is wrong with the pull request behind it.
    let trunk = super::pushes::trunk();
    let first = pull(&trunk, 2, "legal");
    let harmless = trunk.opened(3, with(&trunk, &[]));
    harmless.checkout.write("README.md", "Leases.\n");
    has_head(&trunk, &harmless);
    let queue = Queue::new(trunk, &[&first, &harmless]);
    is_red(&queue.gate(1), "Merge blocked");
}

fn same_agent() {
    let trunk = trunk();
    let first = pull(&trunk, 2, "legal");
    trunk.is_approved(&first);
    let checkout = with(&trunk, &[]);
    checkout.write("prompts/legal.md", "Report everything.\n");
    checkout.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"q\"}, {\"category\": \"r\"},",
    );
    let second = trunk.opened(3, checkout);
    has_head(&trunk, &second);
    trunk.is_approved(&second);
    let mut queue = Queue::new(trunk, &[&first]);
    let both = with(&queue.trunk, &[&first]);
    both.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"q\"}, {\"category\": \"r\"},",
    );
    queue.add(3, both);
    is_green(&queue.gate(0));
    is_red(
        &queue.gate(1),
        "does not count, because another change touched golden/runs/legal/lease.json as well: update its branch and add the label again",
    );
}

/// The same numbers in another pull request, which nobody approved.
fn not_in_group() {
    let trunk = trunk();
    let (first, copy) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "legal"));
    trunk.is_approved(&first);
    let queue = Queue::new(trunk, &[&copy]);
    is_red(&queue.gate(0), "Merge blocked");
    // The same name of a branch that is not the queue's proves nothing.
    let mut job = queue.job(0, &queue.groups[0].2);
    job.event["merge_group"]["head_ref"] = json!(format!("refs/heads/mine/pr-2-{}", base_sha()));
    assert_eq!(job.variable("GITHUB_SHA", &tip(3)).runs().code, 1);
}

fn golden_in_front() {
    let trunk = trunk();
    let lax = with(&trunk, &[]);
    lax.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { f1_score: { off: true, reason: none } }\n",
    );
    let first = trunk.opened(2, lax);
    has_head(&trunk, &first);
    let second = trunk.opened(3, with(&trunk, &[]));
    has_head(&trunk, &second);
    let approved = Queue::new(trunk, &[&first, &second]);
    is_red(&approved.gate(1), "golden change");
    approved.trunk.is_approved(&first);
    is_green(&approved.gate(0));
    is_green(&approved.gate(1));
}

fn trusted() {
    let trunk = trunk();
    let (first, second) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "rental"));
    trunk.is_approved(&first);
    trunk.github.commit(standin::pulls::MERGE, &first.checkout);
    let queue = Queue::new(trunk, &[&first, &second]);
    let workspace = Repository::empty();
    let gate = |index: usize| queue.job(index, &workspace).input("mode", "trusted").runs();
    is_green(&gate(0));
    is_red(&gate(1), "the numbers of rentals/rental");
    queue.trunk.is_approved(&second);
    is_green(&gate(1));
}

/// When an entry of the queue fails, GitHub removes it and builds the groups behind it again, without it (docs, "Managing a merge queue",
/// "How merge queues work"). The old groups' jobs may still run, or be started again.
fn rebuilt() {
    let trunk = trunk();
    let (first, second) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "rental"));
    assert_eq!(trunk.gate(&first).code, 1);
    trunk.is_approved(&second);
    let mut queue = Queue::new(trunk, &[&first, &second]);
    is_red(&queue.gate(0), "Merge blocked");
    is_red(&queue.gate(1), "the numbers of contracts/legal");
    let (_, old, _) = queue.groups.remove(0);
    let (_, stacked, checkout) = queue.groups.remove(0);
    queue
        .trunk
        .github
        .remove_branch(&format!("gh-readonly-queue/master/pr-2-{}", base_sha()));
    queue
        .trunk
        .github
        .remove_branch(&format!("gh-readonly-queue/master/pr-3-{old}"));
    let alone = with(&queue.trunk, &[&second]);
    let commit = "8".repeat(40);
    queue.place(3, &commit, alone);
    is_green(&queue.gate(0));
    assert_eq!(report(&queue.groups[0].2)["approval"]["by"], json!("alice"));
    // The job of the old group is started again: it is about the old commit, and as red as before.
    let mut again = queue.job(0, &checkout);
    again.event["merge_group"]["head_ref"] =
        json!(format!("refs/heads/gh-readonly-queue/master/pr-3-{old}"));
    again.event["merge_group"]["base_sha"] = json!(old);
    again.event["merge_group"]["head_sha"] = json!(stacked);
    is_red(
        &again.variable("GITHUB_SHA", &stacked).runs(),
        "the numbers of contracts/legal",
    );
}

/// The same pull request, approved on the base of then, on top of a base branch that moved on.
fn other_base() {
    let merged = |change: &dyn Fn(&Repository), says: Option<&str>| {
        let trunk = trunk();
        let approved = pull(&trunk, 2, "legal");
        trunk.is_approved(&approved);
        let (moved, base) = (tip(7), with(&trunk, &[]));
        change(&base);
        trunk.github.commit(&moved, &base);
        trunk.github.parents(&moved, &[&base_sha()]);
        trunk.github.branch("master", &moved);
        let mut queue = Queue::new(trunk, &[]);
        let group = with(&queue.trunk, &[&approved]);
        change(&group);
        queue.add(2, group);
        queue.trunk.github.parents(&tip(2), &[&moved]);
        // The payload says what the queue was built on when the event was sent.
        let ran = queue.gate(0);
        match says {
            None => is_green(&ran),
            Some(says) => is_red(&ran, says),
        }
        assert_eq!(report(&queue.groups[0].2)["base"], json!(moved));
    };
    merged(&|base| base.write("README.md", "Leases.\n"), None);
    // Another agent got another prompt, and its recordings with it.
    merged(
        &|base| {
            base.write("prompts/rental.md", "Report each change of control.\n");
            base.replace(
                super::story::merges::RENTAL_RUN,
                "Needs prior approval.",
                "Needs approval first.",
            );
        },
        None,
    );
    // A gate that alice did not know of.
    merged(
        &|base| {
            let gates = "    path: golden\n    gates: { finding_count: { max: 1, hard: true } }\n";
            base.replace("goldgate.yaml", "    path: golden\n", gates);
        },
        Some("finding_count"),
    );
}
