//! `goldgate schema`: prints the JSON Schema of each file format, generated from the types that read it.

use std::collections::BTreeMap;

use schemars::{Schema, schema_for};

use crate::app::cli::SchemaArgs;
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::format::baseline_v1::BaselineFile;
use crate::format::report_v1::ReportFile;
use crate::format::request_v1::RequestFile;
use crate::format::run_v1::RunFile;
use crate::format::shard_v1::ShardFile;
use crate::render::CliError;
use crate::suites::{KINDS, LabelForm, config_schema};
use crate::world::World;

fn all() -> BTreeMap<&'static str, Schema> {
    let mut schemas = BTreeMap::from([
        ("config", config_schema()),
        ("baseline", schema_for!(BaselineFile)),
        ("report", schema_for!(ReportFile)),
        ("request", schema_for!(RequestFile<'_>)),
        ("run", schema_for!(RunFile<'_>)),
        ("shard", schema_for!(ShardFile<ReportFile<'_>>)),
        ("labels", schema_for!(Vec<LabelForm>)),
    ]);
    schemas.extend(KINDS.iter().flat_map(|kind| (kind.schemas)()));
    schemas
}

/// Prints one schema, or the names of all. Returns the exit code.
pub fn schema(args: &SchemaArgs, world: &World) -> Result<u8, CliError> {
    let schemas = all();
    let Some(name) = &args.name else {
        let names: Vec<&str> = schemas.keys().copied().collect();
        world.say(&format!("{}\n", names.join("\n")));
        return Ok(0);
    };
    let Some(schema) = schemas.get(name.as_str()) else {
        let known: Vec<&str> = schemas.keys().copied().collect();
        let help = did_you_mean(name, &known, format!("use one of {}", known.join(", ")));
        return Err(Diagnostic::of_command_line(
            Code::UNKNOWN_SCHEMA,
            format!("unknown format \"{name}\""),
            help,
        )
        .into());
    };
    let text = serde_json::to_string_pretty(schema).map_err(anyhow::Error::from)?;
    world.say(&format!("{text}\n"));
    Ok(0)
}
