#!/usr/bin/env bash
# Checks SARIF files of goldgate against the schema of SARIF 2.1.0. The schema comes from npm, the validator from PyPI; both are kept
# in $GOLDGATE_TOOLS. usage: tests/formats/run.sh     GOLDGATE_BINARY is a program to check instead of a new build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
validator=jsonschema==4.26.0
schema=@microsoft/jest-sarif@1.0.0-beta.0
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/formats
binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi

mkdir -p "$tools"
exec 9> "$tools/lock"
flock 9
if [[ ! -f $tools/installed || $(<"$tools/installed") != "$validator $schema" ]]; then
    rm -rf "$tools/installed" "$tools/python" "$tools/node"
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check "$validator"
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools/node" "$schema"
    printf '%s' "$validator $schema" > "$tools/installed"
fi
flock --unlock 9

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# sarif NAME FOLDER: the report of a repository in this folder.
sarif() {
    cp -r "$2" "$work/$1"
    mkdir -p "$work/$1/.git"
    local code=0
    (cd "$work/$1" && SOURCE_DATE_EPOCH=1795219200 "$binary" run --format sarif > "$work/$1.sarif") || code=$?
    ((code < 2))
}
mkdir "$work/own"
(cd "$root" && cp -r --parents goldgate.yaml fixtures examples baselines "$work/own")
sarif bundled "$work/own"
sarif failing "$root/tests/cases/run/sarif_points_to_the_lines_of_the_golden_files/files"
sarif missed "$root/tests/cases/run/a_missed_finding_blocks/files"

"$tools/python/bin/python" - "$tools/node/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" "$work"/*.sarif << 'PYTHON'
import json
import pathlib
import sys

import jsonschema

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
validator = jsonschema.validators.validator_for(schema)(schema)
results = 0
for name in sys.argv[2:]:
    log = json.loads(pathlib.Path(name).read_text())
    problems = [f"{problem.json_path}: {problem.message}" for problem in validator.iter_errors(log)]
    assert not problems, f"{name}: {problems}"
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    for result in log["runs"][0]["results"]:
        assert result["ruleId"] in rules, result
        results += 1
# The validator refuses what the schema forbids.
log["runs"][0]["tool"]["driver"]["nam"] = log["runs"][0]["tool"]["driver"].pop("name")
assert list(validator.iter_errors(log)), "the validator accepts everything"
assert results > 4, f"only {results} results"
print(f"formats: {len(sys.argv) - 2} SARIF files with {results} results are valid")
PYTHON
