//! The commit that `--base` stands for.

use super::run::RunOptions;
use crate::render::words::short;
use crate::world::{Env, Git, World};

/// What build servers set that set no `CI`: Azure Pipelines, TeamCity, Jenkins, CodeBuild.
const BUILD_SERVERS: [&str; 4] = ["TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "CODEBUILD_BUILD_ID"];

/// Whether a build server runs this. What `CI` says goes before what a server is called.
fn is_ci(env: &Env) -> bool {
    match env.get("CI") {
        Some(value) => !matches!(value, "0" | "false"),
        None => BUILD_SERVERS.iter().any(|name| env.get(name).is_some()),
    }
}

/// Sets the job's base to the commit of this name, and gives what has to be said of it. Where a person works on a branch, and the
/// named one has gone on since then, it is the commit where the branch began: what others did since is no change of this
/// branch. In CI it is the named one, because a check speaks of what is merged.
///
/// # Errors
/// That the commit does not exist, or that the name means more than one.
pub fn name_base(job: &mut RunOptions, name: Option<&str>, git: &Git, world: &World) -> anyhow::Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let tip = git.commit(name)?;
    let in_ci = is_ci(&world.env);
    let commit = if in_ci { tip.clone() } else { git.fork_point(&tip) };
    let note = (commit != tip).then(|| {
        let (here, there) = (short(Some(&commit)), short(Some(&tip)));
        format!("compared with {here}, where this branch began; {name} has gone on to {there} since then")
    });
    job.base = Some(commit);
    Ok(note)
}
