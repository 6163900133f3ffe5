//! Pull requests and the branches of the repository.

mod set_up;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    Answer, Request, Standin, State, comparisons, forbidden, git_data, invalid, missing, ok, status,
};

/// The number of the repository in the payloads.
const REPOSITORY: u64 = 186_853_002;
/// The base commit in the payloads.
const BASE: &str = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e";
/// The pull request of the payloads.
pub const NUMBER: u64 = 2;

/// The test merge that GitHub keeps of the pull request of the payloads, which is what its workflows check out. It is built on the
/// tip of the base branch, while `base.sha` stays what it was when the pull request was opened (measured in
/// shakacode/react_on_rails#4819, lablup/backend.ai#11862).
pub const MERGE: &str = "5555555555555555555555555555555555555555";

/// Pull requests, branches, and what git keeps.
#[derive(Default)]
pub struct Pulls {
    all: BTreeMap<u64, Pull>,
    branches: BTreeMap<String, String>,
    /// The name of the default branch, if a test gives it one.
    default: Option<String>,
    /// The name that the last payload has.
    payload_default: Option<String>,
    pub(super) trees: Vec<(String, Value)>,
    moves: Option<String>,
    made: u64,
    /// Merges that are not made anew when a branch moves, by their commit.
    merges: BTreeMap<String, [String; 2]>,
    /// How many of the next lists lack what was merged. A list may be older than the event of the merge (measured in
    /// projectcalico/calico#13157, tektoncd/pipelines-as-code#2382).
    late: u32,
    /// Whether the pull requests are drafts.
    is_draft: bool,
    /// The one parent of commits that were made on a branch.
    below: BTreeMap<String, String>,
    /// The head that the pull request of the payloads was opened with.
    opened_head: Option<String>,
    /// The test merges that GitHub has made anew.
    renewed: BTreeMap<u64, String>,
    /// What GitHub says of the test merge: whether it can be made, where it knows.
    unmergeable: BTreeMap<u64, Value>,
    /// What commits have in common with the branch that they are compared with, by commit.
    pub(super) merge_bases: BTreeMap<String, String>,
    /// The commits with a history of their own.
    pub(super) unrelated: BTreeSet<String>,
}

/// Who has a fork. An organization may fork its own repository (GitHub docs, "Fork a repository").
#[derive(Default, Clone, Copy)]
enum ForkOwner {
    #[default]
    Other,
    Same,
}

#[derive(Default)]
struct Pull {
    author: String,
    branch: String,
    /// The head of a fork's pull request; another one's is its branch's.
    head: Option<String>,
    fork: ForkOwner,
    /// The commit of the base branch when the pull request was opened.
    base: String,
    into: String,
    title: String,
    body: String,
    state: String,
    /// When it was merged.
    merged: Option<String>,
    /// The commit of the base branch that the merge made.
    merged_as: Option<String>,
}

/// The test merge of a pull request.
pub fn test_merge(number: u64) -> String {
    if number == NUMBER {
        MERGE.to_owned()
    } else {
        format!("{number:040}")
    }
}

impl Pull {
    fn label(&self) -> String {
        let owner = match (&self.head, self.fork) {
            (Some(_), ForkOwner::Other) => "mallory",
            (Some(_), ForkOwner::Same) | (None, _) => "acme",
        };
        format!("{owner}:{}", self.branch)
    }
}

impl Standin {
    /// Gives the repository this default branch. Payloads of before have the former one.
    pub fn default_branch(&self, name: &str) {
        self.change(|state| state.pulls.default = Some(name.to_owned()));
    }

    /// The default branch that a payload names, where no other one was set.
    pub fn default_branch_of_payload(&self, name: &str) {
        self.change(|state| state.pulls.payload_default = Some(name.to_owned()));
    }
}

impl Pulls {
    /// Opens the pull request of the payloads at a head commit.
    pub fn open(&mut self, head: &str) {
        self.branches.insert("changes".to_owned(), head.to_owned());
        self.opened_head = Some(head.to_owned());
        // Some payloads name the one as the default branch, some the other, and some none.
        for branch in ["master", "main"] {
            self.branches.insert(branch.to_owned(), BASE.to_owned());
        }
        let pull = Pull {
            author: "Codertocat".to_owned(),
            branch: "changes".to_owned(),
            base: BASE.to_owned(),
            into: "master".to_owned(),
            title: "Update".to_owned(),
            state: "open".to_owned(),
            ..Pull::default()
        };
        self.all.insert(NUMBER, pull);
    }

    pub fn default_branch(&self) -> &str {
        self.default
            .as_deref()
            .or(self.payload_default.as_deref())
            .unwrap_or("main")
    }

    pub fn head_of(&self, branch: &str) -> Option<String> {
        self.branches.get(branch).cloned()
    }

    pub fn push(&mut self, branch: &str, commit: &str) {
        self.branches.insert(branch.to_owned(), commit.to_owned());
    }

    /// The test merge of the pull request of the payloads stays what it is when a branch moves.
    pub fn keep_merge(&mut self) {
        let merge = self.merge_of(NUMBER);
        if let Ok(parents) = <[String; 2]>::try_from(self.parents(&merge)) {
            self.merges.insert(merge, parents);
        }
    }

    /// A push makes the test merge of the pull request of the payloads anew.
    pub fn renew(&mut self, digit: &str, head: &str) {
        self.renewed
            .insert(NUMBER, format!("{digit}{}", &head[1..]));
    }

    /// A commit is made on top of another one.
    pub fn grow(&mut self, parent: &str, commit: &str) {
        self.below.insert(commit.to_owned(), parent.to_owned());
    }

    /// Another push comes right before the next commit by GraphQL.
    pub fn meets(&mut self) {
        if let Some(commit) = self.moves.take() {
            self.push("changes", &commit);
        }
    }

    /// Whether a branch or a pull request is at this commit, or was when it was opened.
    pub fn is_tip(&self, commit: &str) -> bool {
        let pulls = self.all.values();
        self.branches.values().any(|tip| tip == commit)
            || pulls
                .clone()
                .any(|pull| pull.head.as_deref() == Some(commit) || pull.base == commit)
    }

    /// The present test merge of a pull request.
    pub fn merge_of(&self, number: u64) -> String {
        let renewed = self.renewed.get(&number).cloned();
        renewed.unwrap_or_else(|| test_merge(number))
    }

    /// The tips that a branch of a pull request is known to have had, newest first.
    pub fn heads_of(&self, branch: &str) -> Vec<String> {
        let of_forks = self
            .all
            .values()
            .filter(|pull| pull.branch == branch)
            .filter_map(|pull| pull.head.clone());
        let opened = self.opened_head.clone().filter(|_| branch == "changes");
        let own = self.head_of(branch).into_iter().chain(opened);
        of_forks.chain(own).collect()
    }

    /// The branch of a pull request, and its repository.
    pub fn origin_of(&self, number: u64) -> (Value, Value) {
        match self.all.contains_key(&number) {
            true => {
                let head = &self.shown(number, &[])["head"];
                (head["ref"].clone(), head["repo"]["full_name"].clone())
            }
            false => (json!("main"), json!("acme/agents")),
        }
    }

    /// A commit id that nobody had before.
    pub fn fresh(&mut self) -> String {
        self.made += 1;
        format!("{:0<40x}", 0xc0_ffee + self.made)
    }

    fn shown(&self, number: u64, labels: &[String]) -> Value {
        let pull = &self.all[&number];
        let head = pull
            .head
            .clone()
            .or_else(|| self.head_of(&pull.branch))
            .unwrap_or_default();
        let (from, from_name) = match (&pull.head, pull.fork) {
            (None, _) => (REPOSITORY, "acme/agents"),
            (Some(_), ForkOwner::Other) => (1, "mallory/agents"),
            (Some(_), ForkOwner::Same) => (2, "acme/agents-fork"),
        };
        // REST, "Get a pull request": before the merge `merge_commit_sha` is the test merge, afterwards the merge commit, the squashed commit, or
        // "the commit that the base branch was updated to" by a rebase.
        let merge = pull
            .merged_as
            .clone()
            .unwrap_or_else(|| self.merge_of(number));
        let says = self
            .unmergeable
            .get(&number)
            .or_else(|| self.unmergeable.get(&0));
        let mergeable = says.cloned().unwrap_or(true.into());
        let labels: Vec<Value> = labels.iter().map(|name| json!({ "name": name })).collect();
        json!({
            "number": number, "state": pull.state, "title": pull.title, "body": pull.body, "user": { "login": pull.author },
            "draft": self.is_draft, "mergeable_state": if self.is_draft { "draft" } else { "clean" }, "labels": labels, "merged_at": pull.merged, "mergeable": mergeable, "merge_commit_sha": merge,
            "head": { "sha": head, "label": pull.label(), "ref": pull.branch, "repo": { "id": from, "full_name": from_name } },
            "base": { "sha": pull.base, "ref": pull.into, "repo": { "id": REPOSITORY, "full_name": "acme/agents", "default_branch": self.default_branch() } },
        })
    }

    /// A commit's parents: a test merge is of the tips of both branches, unless it was kept as it was.
    pub fn parents(&self, commit: &str) -> Vec<String> {
        if let Some(kept) = self.merges.get(commit) {
            return kept.to_vec();
        }
        if let Some(parent) = self.below.get(commit) {
            return vec![parent.clone()];
        }
        let Some((_, pull)) = self
            .all
            .iter()
            .find(|(number, _)| self.merge_of(**number) == commit)
        else {
            return Vec::new();
        };
        let head = pull.head.clone().or_else(|| self.head_of(&pull.branch));
        self.head_of(&pull.into).into_iter().chain(head).collect()
    }

    /// REST, "List pull requests": `state`, `base` and `head` filter; a closed one has `merged_at` if it was merged.
    fn closed(&mut self, request: &Request, labels: impl Fn(u64) -> Vec<String>) -> Answer {
        let (into, from) = (request.asked("base"), request.asked("head"));
        let is_late = self.is_late();
        let is_of = |pull: &Pull| {
            pull.state == "closed"
                && !(is_late && pull.merged.is_some())
                && into.as_ref().is_none_or(|into| *into == pull.into)
                && from.as_ref().is_none_or(|from| *from == pull.label())
        };
        let found: Vec<u64> = self
            .all
            .iter()
            .rev()
            .filter(|(_, pull)| is_of(pull))
            .map(|(number, _)| *number)
            .collect();
        request.page(&found, |number| self.shown(*number, &labels(*number)))
    }

    /// The commit of the base branch when the pull request of the payloads was opened.
    pub fn opened_at(&self) -> String {
        self.all[&NUMBER].base.clone()
    }

    /// Whether this list lacks what was merged.
    fn is_late(&mut self) -> bool {
        let is_late = self.late > 0;
        self.late = self.late.saturating_sub(1);
        is_late
    }

    /// The branches below a prefix, with their commits.
    pub fn branches_below(&self, prefix: &str) -> Vec<(String, String)> {
        let found = self
            .branches
            .iter()
            .filter(|(name, _)| name.starts_with(prefix));
        found
            .map(|(name, commit)| (name.clone(), commit.clone()))
            .collect()
    }

    fn ours(&mut self) -> &mut Pull {
        self.all.get_mut(&NUMBER).unwrap()
    }
}

/// `pulls` and `git/…`.
#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let labels = |number: u64| state.approval.labels_of(number);
    let writes = request.method != "GET";
    for (permission, accepted, area) in [
        ("pull-requests: write", "pull_requests=write", "pulls"),
        ("contents: write", "contents=write", "git"),
    ] {
        if writes && segments.first() == Some(&area) && !state.allows(permission) {
            return Some(forbidden(accepted));
        }
    }
    let author = state.account.login.clone();
    let reads = state.allows("pull-requests: read");
    let pulls = &mut state.pulls;
    let text = |name: &str| request.body[name].as_str().map(str::to_owned);
    Some(match (request.method.as_str(), segments) {
        ("GET", ["pulls", ..]) if !reads => forbidden("pull_requests=read"),
        ("GET", ["pulls"]) if request.asked("state").as_deref() == Some("closed") => {
            pulls.closed(request, labels)
        }
        ("GET", ["pulls"]) => {
            let from = request.asked("head");
            let found: Vec<u64> = pulls
                .all
                .iter()
                .filter(|(_, pull)| {
                    pull.state == "open" && from.as_ref().is_none_or(|from| *from == pull.label())
                })
                .map(|(number, _)| *number)
                .collect();
            request.page(&found, |number| pulls.shown(*number, &[]))
        }
        ("GET", ["pulls", number]) => {
            match number
                .parse::<u64>()
                .ok()
                .filter(|number| pulls.all.contains_key(number))
            {
                Some(number) => ok(pulls.shown(number, &labels(number))),
                None => missing(),
            }
        }
        ("POST", ["pulls"]) => {
            let branch = text("head").unwrap();
            let is_open =
                |pull: &Pull| pull.head.is_none() && pull.branch == branch && pull.state == "open";
            if pulls.all.values().any(is_open) {
                return Some(invalid());
            }
            let number = pulls.all.keys().max().unwrap_or(&0) + 1;
            let (title, body) = (text("title").unwrap(), text("body").unwrap());
            let state = "open".to_owned();
            pulls.all.insert(
                number,
                Pull {
                    author,
                    branch,
                    base: BASE.to_owned(),
                    into: text("base").unwrap(),
                    title,
                    body,
                    state,
                    ..Pull::default()
                },
            );
            status(201, pulls.shown(number, &[]))
        }
        ("PATCH", ["pulls", number]) => {
            let number: u64 = number.parse().unwrap();
            let pull = pulls.all.get_mut(&number).unwrap();
            text("title")
                .into_iter()
                .for_each(|title| pull.title = title);
            text("body").into_iter().for_each(|body| pull.body = body);
            text("state")
                .into_iter()
                .for_each(|state| pull.state = state);
            ok(pulls.shown(number, &[]))
        }
        // The open pull requests that have the commit, and "the merged pull request that introduced the commit to the repository" (REST, "List pull requests associated with a commit": for a commit that the default branch lacks "it will
        // return merged and open pull requests associated with the commit"). Of a commit that only forks have, none (measured in
        // TooTallNate/nx.js#410, quarkusio/pt.quarkus.io#389).
        ("GET", ["commits", _, "pulls"]) if !reads => forbidden("pull_requests=read"),
        ("GET", ["commits", commit, "pulls"]) => {
            let is_late = pulls.is_late();
            let tip = |pull: &Pull| pull.head.clone().or_else(|| pulls.head_of(&pull.branch));
            let is_here = pulls
                .all
                .values()
                .any(|pull| pull.head.is_none() && tip(pull).as_deref() == Some(*commit));
            // Whether those of forks are listed where the repository has the commit as well is not documented.
            let is_tip = |pull: &Pull| {
                is_here && pull.head.is_none() && tip(pull).as_deref() == Some(*commit)
            };
            let has = |pull: &Pull| match (&pull.merged, pull.state.as_str()) {
                (Some(_), _) if is_late => false,
                (Some(_), _) => is_tip(pull) || pull.merged_as.as_deref() == Some(*commit),
                (None, state) => state == "open" && is_tip(pull),
            };
            let found: Vec<u64> = pulls
                .all
                .iter()
                .filter(|(_, pull)| has(pull))
                .map(|(number, _)| *number)
                .collect();
            request.page(&found, |number| pulls.shown(*number, &[]))
        }
        ("GET", ["compare", _]) => return comparisons::answer(request, segments, state),
        (_, ["git", ..]) => return git_data::answer(request, segments, state),
        _ => return None,
    })
}
