//! Finished samples on disk: those of an unfinished run, and the cache of answers.

use serde_json::{Value, json};

use crate::files::sha256_hex;
use crate::format::called_target::called_target;
use crate::model::{CannedTool, RepoPath, SampleRequest, Target, Toolbox};
use crate::world::Disk;

/// A sample's address: the digest of everything that its answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleAddress(String);

/// The files that an answer depends on, as digests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerInputs {
    /// The files that the agent declares.
    pub agent: Option<String>,
    /// The fixture repository that it may read.
    pub folder: Option<String>,
}

/// Who takes part in a sample besides its agent.
#[derive(Default)]
pub struct OtherParties<'a> {
    /// The target that judges the answers, with the identity of the refinement loop.
    pub critic: Option<(&'a Target, String)>,
    /// The target that plays the user.
    pub user: Option<&'a Target>,
}

impl SampleAddress {
    /// Computes the address of a request to a target.
    pub fn of(
        request: &SampleRequest,
        target: &Target,
        state: &AnswerInputs,
        others: &OtherParties<'_>,
    ) -> Self {
        let SampleRequest {
            key,
            sample,
            system,
            ask,
            conversation: _,
        } = request;
        let tools = match &ask.tools {
            Toolbox::Empty => json!(null),
            Toolbox::Canned(tools) => tools.iter().map(canned).collect(),
            Toolbox::Folder { root, max_calls } => {
                json!({ "root": root.as_str(), "calls": max_calls, "files": state.folder })
            }
        };
        let mut whole = json!({
            "target": called_target(target),
            "suite": key.suite.as_str(),
            "agent": key.agent.as_str(),
            "case": key.case.as_str(),
            "sample": sample,
            "system": system,
            "prompt": ask.prompt,
            "inputs": ask.inputs,
            "schema": ask.answer.as_ref().map(|form| &form.schema),
            "tools": tools,
            "fingerprint": state.agent,
        });
        if let Some((target, identity)) = &others.critic {
            whole["critic"] = json!([called_target(target), identity]);
        }
        if let Some(target) = others.user {
            whole["user"] = called_target(target);
        }
        Self(sha256_hex(whole.to_string().as_bytes()))
    }

    fn file(&self, folder: &RepoPath) -> RepoPath {
        let (files, rest) = self.0.split_at(2);
        folder.child(files).child(&format!("{rest}.json"))
    }
}

fn canned(tool: &CannedTool) -> Value {
    let results: Vec<_> = tool
        .results
        .iter()
        .map(|result| json!([result.when, result.says]))
        .collect();
    json!([
        tool.spec.name,
        tool.spec.description,
        tool.spec.parameters,
        results
    ])
}

/// A folder of finished samples.
pub struct SampleStore<'a> {
    disk: &'a Disk,
    folder: RepoPath,
}

impl<'a> SampleStore<'a> {
    pub fn new(disk: &'a Disk, folder: RepoPath) -> Self {
        Self { disk, folder }
    }

    pub fn get(&self, address: &SampleAddress) -> Option<String> {
        self.disk
            .read(&address.file(&self.folder))
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
    }

    /// Saves a record atomically.
    pub fn keep(&self, address: &SampleAddress, record: &str) -> anyhow::Result<()> {
        self.disk
            .replace(&address.file(&self.folder), record.as_bytes())
    }

    /// Removes all records.
    pub fn clear(&self) -> anyhow::Result<()> {
        self.disk.remove(&self.folder)
    }

    pub fn is_empty(&self) -> bool {
        !self.disk.holds(&self.folder)
    }
}
