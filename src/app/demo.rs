//! `goldgate demo`: an agent, one changed line of its prompt, the red run, and what to do next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Parser;
use serde_json::Value;

use super::commands::run::run;
use crate::app::cli::{Cli, Command, DemoArgs};
use crate::diag::{Code, Diagnostic};
use crate::model::RepoPath;
use crate::render::CliError;
use crate::world::{Disk, World};

const CONFIG: &str = "goldgate.yaml";
const CASES: &str = "golden/cases.json";
const PROMPT: &str = "prompts/desk.md";
const RUNS: &str = "golden/runs/desk";

/// The files of the example that stay as they are.
const FILES: [(&str, &str); 2] = [
    (CONFIG, include_str!("demo/goldgate.yaml")),
    (CASES, include_str!("demo/cases.json")),
];

const PROMPT_BEFORE: &str = include_str!("demo/desk.md");

/// The line of the prompt that somebody changes.
const LINE: &str = "Refund an order only if it was delivered.";
const CHANGED_LINE: &str = "Refund an order when the customer asks for it.";

/// The recordings with either prompt: the samples of each case.
const BEFORE: &str = include_str!("demo/before.json");
const AFTER: &str = include_str!("demo/after.json");

/// The exit codes of the runs before and after the change.
const GREEN: u8 = 0;
const RED: u8 = 1;

/// Writes the example to a new folder, changes a line of its prompt, and grades it before and after. Returns the exit code.
///
/// # Errors
/// A folder that exists or cannot be written, or another result than the expected one.
pub fn demo(args: &DemoArgs, world: &World) -> Result<u8, CliError> {
    let folder = new_folder(args)?;
    let shown = folder.display();
    let disk = Disk::create(&folder)?;
    for (file, text) in FILES {
        disk.replace(&path(file)?, text.as_bytes())?;
    }
    write_agent(&disk, PROMPT_BEFORE, BEFORE)?;
    world.say(&format!(
        "A support agent of a lamp shop, in {shown}: it answered 5 questions, 3 times each.\n\n\
         $ goldgate run --update-baseline\n"
    ));
    grade(&folder, &["--update-baseline", "--quiet"], GREEN, world)?;
    let changed = PROMPT_BEFORE.replace(LINE, CHANGED_LINE);
    write_agent(&disk, &changed, AFTER)?;
    world.say(&format!(
        "\nSomebody changes one line of {PROMPT} and records the agent again.\n\n\
         \x20 - {LINE}\n\x20 + {CHANGED_LINE}\n\n$ goldgate run\n"
    ));
    grade(&folder, &[], RED, world)?;
    world.say(&format!(
        "\nWhat to do: put the line back and record again; where the new behaviour is right, change {CASES}.\n\
         Look closer:    cd {shown} && goldgate explain not-delivered-yet\n\
         Your own agent: goldgate init --from transcripts/ --files 'prompts/**'\n"
    ));
    Ok(0)
}

/// The named folder, or a new one in the folder of temporary files.
fn new_folder(args: &DemoArgs) -> Result<PathBuf, Diagnostic> {
    let folder = match &args.folder {
        Some(folder) => PathBuf::from(folder),
        None => std::env::temp_dir().join(format!("goldgate-demo-{}", std::process::id())),
    };
    if folder.exists() {
        let name = folder.display().to_string();
        let help = "name a folder that does not exist";
        return Err(Diagnostic::of_file(
            name,
            Code::WOULD_OVERWRITE,
            "this folder exists",
            help,
        ));
    }
    Ok(folder)
}

/// Writes the agent's prompt and its recordings.
fn write_agent(disk: &Disk, prompt: &str, recordings: &str) -> anyhow::Result<()> {
    disk.replace(&path(PROMPT)?, prompt.as_bytes())?;
    let cases: BTreeMap<String, Vec<Value>> =
        serde_json::from_str(recordings).context("while reading the recordings of the example")?;
    for (case, samples) in cases {
        for (number, sample) in samples.iter().enumerate() {
            let file = path(&format!("{RUNS}/{case}/{number}.json"))?;
            disk.replace(&file, format!("{sample:#}\n").as_bytes())?;
        }
    }
    Ok(())
}

fn path(file: &str) -> anyhow::Result<RepoPath> {
    RepoPath::root()
        .join(file)
        .map_err(|bad| anyhow!("the path {file} {bad}"))
}

/// Runs `goldgate run` on the example, which has to end with `code`.
fn grade(folder: &Path, options: &[&str], code: u8, world: &World) -> Result<(), CliError> {
    let config = folder.join(CONFIG);
    let config = config.to_str().context("the folder's name is not UTF-8")?;
    let arguments = ["goldgate", "run", "--config", config];
    let cli = Cli::try_parse_from(arguments.iter().chain(options))
        .context("while reading the options of the example")?;
    let Command::Run(args) = cli.command else {
        return Err(anyhow!("the example runs `goldgate run`").into());
    };
    match run(&args, world)? {
        ended if ended == code => Ok(()),
        ended => Err(anyhow!("the run of the example ended with {ended}, not with {code}").into()),
    }
}
