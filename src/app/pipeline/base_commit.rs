//! The commit that `--base` names.

use anyhow::Context;

use super::base_branch::BaseBranch;
use super::run_options::RunOptions;
use crate::render::words::short;
use crate::text::short_commit;
use crate::world::{Env, Git, World};

/// Variables of build servers that do not set `CI`: Azure Pipelines, TeamCity, Jenkins, CodeBuild.
const BUILD_SERVERS: [&str; 4] = [
    "TF_BUILD",
    "TEAMCITY_VERSION",
    "JENKINS_URL",
    "CODEBUILD_BUILD_ID",
];

/// Whose machine this runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// A build server: the verdict may decide about a merge.
    BuildServer,
    /// A developer's: the verdict is for them alone.
    Developer,
}

/// What names the base commit in a command that a person copies: the branch, on a build server by its name of the remote.
pub fn revision(branch: &BaseBranch, base: Option<&str>, machine: Machine) -> String {
    match (&branch.name, machine) {
        (Some(name), Machine::BuildServer) if !name.contains("origin/") => format!("origin/{name}"),
        (Some(name), _) => name.clone(),
        (None, _) => short_commit(base.unwrap_or_default()).to_owned(),
    }
}

impl Machine {
    /// Returns whose machine has this environment. `CI` wins over the variables of a server.
    pub fn of(env: &Env) -> Self {
        let is_ci = match env.get("CI") {
            Some(value) => !matches!(value, "0" | "false"),
            None => BUILD_SERVERS.iter().any(|name| env.get(name).is_some()),
        };
        if is_ci {
            Self::BuildServer
        } else {
            Self::Developer
        }
    }
}

/// Sets the job's base commit from the value of `--base`. Locally it is the commit where the branch began, because later
/// commits of others are not changes of this branch; the config and the baseline are those of the named commit, because they judge the
/// merge. The returned note names the commits, if the value is not the id of the base commit. In CI the base commit is the named commit
/// itself, because a check judges what would be merged.
///
/// # Errors
/// The commit does not exist, the name is ambiguous, or the clone is too shallow.
pub fn name_base(
    job: &mut RunOptions,
    name: Option<&str>,
    git: &Git,
    world: &World,
) -> anyhow::Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let tip = git
        .commit(name)
        .map_err(|error| anyhow::anyhow!("--base {error:#}"))?;
    let began = || {
        git.fork_point(&tip)
            .with_context(|| format!("--base {name}"))
    };
    let commit = match Machine::of(&world.env) {
        Machine::BuildServer => tip.clone(),
        Machine::Developer => began()?,
    };
    let (here, there) = (short(Some(&commit)), short(Some(&tip)));
    let is_id = tip.starts_with(name);
    let note = match commit == tip {
        true if is_id => None,
        true if name != "HEAD" && git.commit("HEAD").is_ok_and(|head| head == commit) => {
            Some(format!(
                "compared with {here}, the commit of {name}, which is checked out: only uncommitted changes count"
            ))
        }
        true => Some(format!("compared with {here}, the commit of {name}")),
        false => Some(format!(
            "compared with {here}, where this branch began; {name} is now at {there}, whose config and baseline count"
        )),
    };
    let is_branch = name != "HEAD" && !is_id && !name.contains(['~', '^', '@', ':']);
    let rules = (commit != tip).then_some(tip);
    job.branch = BaseBranch {
        name: is_branch.then(|| name.to_owned()),
        rules,
    };
    job.base = Some(commit);
    Ok(note)
}
