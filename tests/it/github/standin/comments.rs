//! Comments of the pull request.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, forbidden, invalid, missing, nothing, ok, status};

/// Every comment, in the order of their numbers.
#[derive(Default)]
pub struct Comments {
    all: Vec<Comment>,
    next: u64,
    locked: bool,
    /// How many more lists lack the newest comment.
    late: u32,
}

struct Comment {
    id: u64,
    issue: u64,
    author: String,
    body: String,
    /// When it was last written.
    at: String,
    /// Who wrote each of its texts, and when; the oldest first.
    edits: Vec<[String; 2]>,
}

impl Standin {
    pub fn comment(&self, author: &str, body: &str) {
        self.change(|state| {
            let at = state.tick();
            state
                .comments
                .add(super::pulls::NUMBER, [author, body, &at])
        });
    }

    /// A person with write access edits a comment, whoever wrote it.
    pub fn change_comment(&self, id: u64, body: &str) {
        self.change(|state| {
            let at = state.tick();
            state.comments.write(id, ["mallory", body, &at]);
        });
    }

    /// These many lists lack the newest comment: GitHub promises no list to be as new as the last write.
    pub fn lists_late(&self, lists: u32) {
        self.change(|state| state.comments.late = lists);
    }

    /// Somebody locks the conversation.
    pub fn lock(&self) {
        self.change(|state| state.comments.locked = true);
    }

    /// The comments of one pull request, whoever wrote them.
    pub fn bodies_on(&self, issue: u64) -> Vec<String> {
        self.change(|state| {
            let all = state
                .comments
                .all
                .iter()
                .filter(|comment| comment.issue == issue);
            all.map(|comment| comment.body.clone()).collect()
        })
    }

    pub fn bodies(&self, author: &str) -> Vec<String> {
        self.change(|state| {
            state
                .comments
                .all
                .iter()
                .filter(|comment| comment.author == author)
                .map(|comment| comment.body.clone())
                .collect()
        })
    }
}

impl Comments {
    fn add(&mut self, issue: u64, [author, body, at]: [&str; 3]) -> u64 {
        self.next += 1;
        let [author, body, at] = [author, body, at].map(str::to_owned);
        let edits = vec![[author.clone(), at.clone()]];
        self.all.push(Comment {
            id: self.next,
            issue,
            author,
            body,
            at,
            edits,
        });
        self.next
    }

    fn write(&mut self, id: u64, [by, body, at]: [&str; 3]) {
        for comment in self.all.iter_mut().filter(|comment| comment.id == id) {
            comment.edits.push([by, at].map(str::to_owned));
            [comment.body, comment.at] = [body, at].map(str::to_owned);
        }
    }

    /// GraphQL, "IssueComment": `editor` is "the actor who edited the comment", and `userContentEdits` is "a list of edits to this content".
    /// "Bot": the `login` has no suffix (cli/cli: "github-actions").
    pub fn edits(&self, node: &str) -> Value {
        let Some(comment) = self.all.iter().find(|comment| node_of(comment) == node) else {
            return Value::Null;
        };
        let editor = |by: &str| match by.strip_suffix("[bot]") {
            Some(login) => json!({ "__typename": "Bot", "login": login }),
            None => json!({ "__typename": "User", "login": by }),
        };
        let edits = comment
            .edits
            .iter()
            .rev()
            .map(|[by, at]| json!({ "editedAt": at, "editor": editor(by) }));
        // The query asks for the first 100.
        let edits: Vec<Value> = edits.take(100).collect();
        let last = edits
            .first()
            .filter(|_| edits.len() > 1)
            .cloned()
            .unwrap_or_default();
        json!({ "lastEditedAt": last["editedAt"], "editor": last["editor"], "userContentEdits": { "nodes": edits } })
    }

    /// Another writer's older text stands there again.
    pub fn overwrite(&mut self) {
        let old = self.all[0].body.replace("\"run\":8", "\"run\":7");
        self.all[0].body = old;
    }

    fn shown(&self, id: u64) -> Value {
        self.all
            .iter()
            .find(|comment| comment.id == id)
            .map(shown)
            .unwrap()
    }
}

fn node_of(comment: &Comment) -> String {
    format!("IC_{}", comment.id)
}

fn shown(comment: &Comment) -> Value {
    let Comment {
        id,
        issue: _,
        author,
        body,
        at,
        edits: _,
    } = comment;
    let url = format!("https://github.example/c/{id}");
    // REST, "Get an issue comment": `updated_at` is when it was last written.
    json!({ "id": id, "node_id": node_of(comment), "body": body, "html_url": url, "user": { "login": author, "type": "Bot" }, "updated_at": at })
}

/// `issues/N/comments` and `issues/comments/ID`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let allowed = state.allows("pull-requests: write");
    let login = state.account.login.clone();
    let at = if request.method == "GET" {
        String::new()
    } else {
        state.tick()
    };
    let comments = &mut state.comments;
    Some(match (request.method.as_str(), segments) {
        ("GET", ["issues", issue, "comments"]) => {
            let issue: u64 = issue.parse().unwrap();
            let mut own: Vec<&Comment> = comments
                .all
                .iter()
                .filter(|comment| comment.issue == issue)
                .collect();
            if comments.late > 0 && own.pop().is_some() {
                comments.late -= 1;
            }
            request.page(&own, |comment| shown(comment))
        }
        ("POST", ["issues", _, "comments"]) if !allowed => {
            forbidden("issues=write; pull_requests=write")
        }
        // Docs, "Locking conversations"; the text is GitHub's answer to this request.
        ("POST", ["issues", _, "comments"]) if comments.locked => status(
            403,
            json!({ "message": "Unable to create comment because issue is locked." }),
        ),
        ("POST", ["issues", issue, "comments"]) => {
            let issue: u64 = issue.parse().unwrap();
            match request.body["body"]
                .as_str()
                .filter(|body| body.chars().count() <= 65_536)
            {
                Some(body) => {
                    let id = comments.add(issue, [&login, body, &at]);
                    status(201, comments.shown(id))
                }
                None => invalid(),
            }
        }
        (method, ["issues", "comments", id]) => {
            let id: u64 = id.parse().unwrap();
            if !comments.all.iter().any(|comment| comment.id == id) {
                return Some(missing());
            }
            match method {
                "GET" => ok(comments.shown(id)),
                "PATCH" => {
                    comments.write(id, [&login, request.body["body"].as_str().unwrap(), &at]);
                    ok(comments.shown(id))
                }
                "DELETE" => {
                    comments.all.retain(|comment| comment.id != id);
                    nothing()
                }
                // GitHub documents PATCH; a POST here is a mistake.
                _ => missing(),
            }
        }
        _ => return None,
    })
}
