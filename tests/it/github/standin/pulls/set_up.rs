//! What tests make of pull requests and branches, and what they look up.

use serde_json::Value;

use super::{BASE, ForkOwner, MERGE, Pull, Standin};

impl Standin {
    /// Somebody pushes to the pull request's branch.
    pub fn push(&self, commit: &str) {
        self.push_by("Codertocat", commit);
    }

    /// The present test merge of a pull request.
    pub fn merge_of(&self, number: u64) -> String {
        self.change(|state| state.pulls.merge_of(number))
    }

    /// GitHub makes the test merge of a pull request anew.
    pub fn renew_merge(&self, number: u64, merge: &str) {
        self.change(|state| state.pulls.renewed.insert(number, merge.to_owned()));
    }

    /// A branch gets another tip, or comes into being.
    pub fn branch(&self, name: &str, tip: &str) {
        self.change(|state| state.pulls.push(name, tip));
    }

    /// Somebody changes the base branch of the pull request. GitHub moves no commit for it, and starts workflows on `edited` alone.
    pub fn retarget(&self, into: &str) {
        self.change(|state| into.clone_into(&mut state.pulls.ours().into));
    }

    /// The same of one pull request.
    pub fn retarget_of(&self, number: u64, into: &str) {
        self.change(|state| into.clone_into(&mut state.pulls.all.get_mut(&number).unwrap().into));
    }

    /// The merge that workflows checked out stays of these commits, as in a run that is started again.
    pub fn keep_merge(&self, base: &str, head: &str) {
        self.change(|state| {
            state
                .pulls
                .merges
                .insert(MERGE.to_owned(), [base.to_owned(), head.to_owned()])
        });
    }

    /// What `mergeable` says: false with a conflict, null while GitHub computes it (REST, "Get a pull request").
    pub fn mergeable(&self, says: Value) {
        self.change(|state| state.pulls.unmergeable.insert(0, says));
    }

    /// The same of one pull request.
    pub fn mergeable_of(&self, number: u64, says: Value) {
        self.change(|state| state.pulls.unmergeable.insert(number, says));
    }

    /// Where a commit left the branch that it is compared with.
    pub fn merge_base(&self, commit: &str, base: &str) {
        self.change(|state| {
            state
                .pulls
                .merge_bases
                .insert(commit.to_owned(), base.to_owned())
        });
    }

    /// The pull request is from a fork, which alone has its head.
    pub fn move_to_fork(&self, head: &str) {
        self.change(|state| state.pulls.ours().head = Some(head.to_owned()));
    }

    /// A second pull request with the same head, into another branch.
    pub fn second_pull(&self, number: u64, into: &str) {
        self.change(|state| {
            let ours = state.pulls.ours();
            let (author, branch, head) =
                (ours.author.clone(), ours.branch.clone(), ours.head.clone());
            let [title, body] = ["Backport".to_owned(), String::new()];
            let (base, into) = (BASE.to_owned(), into.to_owned());
            state.pulls.all.insert(
                number,
                Pull {
                    author,
                    branch,
                    head,
                    base,
                    into,
                    title,
                    body,
                    state: "open".to_owned(),
                    ..Pull::default()
                },
            );
        });
    }

    /// Somebody opens a pull request from a branch of the repository.
    pub fn open_pull(&self, number: u64, branch: &str, head: &str) {
        self.change(|state| {
            state.pulls.push(branch, head);
            let ours = state.pulls.ours();
            let [author, into, base] = [&ours.author, &ours.into, &ours.base].map(Clone::clone);
            let [branch, title, state_of] = [branch, "Update", "open"].map(str::to_owned);
            let pull = Pull {
                author,
                branch,
                base,
                into,
                title,
                state: state_of,
                ..Pull::default()
            };
            state.pulls.all.insert(number, pull);
        });
    }

    /// A pull request from a fork of the same owner. "head: Filter pulls by head user or head organization and branch name" (REST, "List
    /// pull requests") finds it together with those of the repository's own branch.
    pub fn open_pull_of_fork(&self, number: u64, branch: &str, head: &str) {
        self.open_pull(number, branch, head);
        self.change(|state| {
            state.pulls.branches.remove(branch);
            let pull = state.pulls.all.get_mut(&number).unwrap();
            (pull.head, pull.fork) = (Some(head.to_owned()), ForkOwner::Same);
        });
    }

    /// Somebody merges a pull request. Its branch stays.
    pub fn merge(&self, number: u64) {
        self.change(|state| {
            let at = state.tick();
            let pull = state.pulls.all.get_mut(&number).unwrap();
            pull.state = "closed".to_owned();
            pull.merged = Some(at);
        });
    }

    /// GitHub answers so many of the next lists without what was merged.
    pub fn lists_merges_late(&self, lists: u32) {
        self.change(|state| state.pulls.late = lists);
    }

    /// Somebody merges a pull request, which makes this commit of the base branch.
    pub fn merge_as(&self, number: u64, commit: &str) {
        self.merge(number);
        self.change(|state| {
            state.pulls.all.get_mut(&number).unwrap().merged_as = Some(commit.to_owned())
        });
    }

    /// The parents of a commit.
    pub fn parents(&self, commit: &str, parents: &[&str]) {
        self.change(|state| match parents {
            [one] => state.pulls.grow(one, commit),
            [one, other] => {
                state
                    .pulls
                    .merges
                    .insert(commit.to_owned(), [(*one).to_owned(), (*other).to_owned()]);
            }
            other => unreachable!("{other:?}"),
        });
    }

    /// A pull request is open, as if it had never been merged.
    pub fn reopen(&self, number: u64) {
        self.change(|state| {
            let pull = state.pulls.all.get_mut(&number).unwrap();
            (pull.state, pull.merged) = ("open".to_owned(), None);
        });
    }

    /// Somebody closes a pull request without a merge.
    pub fn close(&self, number: u64) {
        self.change(|state| state.pulls.all.get_mut(&number).unwrap().state = "closed".to_owned());
    }

    /// A pull request comes from another branch.
    pub fn move_pull(&self, number: u64, branch: &str) {
        self.change(|state| {
            branch.clone_into(&mut state.pulls.all.get_mut(&number).unwrap().branch)
        });
    }

    /// Somebody pushes right before the next commit by GraphQL.
    pub fn push_before_commit(&self, commit: &str) {
        self.change(|state| state.pulls.moves = Some(commit.to_owned()));
    }

    /// The pull request comes from a fork.
    pub fn fork(&self) {
        self.change(|state| {
            let head = state.pulls.head_of("changes");
            state.pulls.ours().head = head;
        });
    }

    /// The pull requests are drafts. GitHub makes their test merges all the same (REST, "Get a pull request": `draft`, `mergeable`).
    pub fn draft(&self, is_draft: bool) {
        self.change(|state| state.pulls.is_draft = is_draft);
    }

    /// The same of one pull request.
    pub fn fork_of(&self, number: u64) {
        self.change(|state| {
            let branch = state.pulls.all[&number].branch.clone();
            let head = state.pulls.head_of(&branch);
            state.pulls.all.get_mut(&number).unwrap().head = head;
        });
    }

    pub fn describe(&self, number: u64, body: &str) {
        self.change(|state| body.clone_into(&mut state.pulls.all.get_mut(&number).unwrap().body));
    }

    pub fn description(&self, number: u64) -> String {
        self.change(|state| state.pulls.all[&number].body.clone())
    }

    /// The open pull requests by number.
    pub fn open_pulls(&self) -> Vec<u64> {
        self.change(|state| {
            state
                .pulls
                .all
                .iter()
                .filter(|(_, pull)| pull.state == "open")
                .map(|(number, _)| *number)
                .collect()
        })
    }

    pub fn head(&self, branch: &str) -> Option<String> {
        self.change(|state| state.pulls.head_of(branch))
    }
}
