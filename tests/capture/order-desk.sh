#!/usr/bin/env bash
# Replays the code of examples/order-desk without its model, from the recordings of the bundled suite: the same numbers as the recordings,
# another prompt without a verdict, and a mistake in the code caught. Needs Python, and neither a network nor a model.
# usage: tests/capture/order-desk.sh     GOLDGATE_BINARY is a program to use instead of a new build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
goldgate=${GOLDGATE_BINARY:-}
if [[ -z $goldgate ]]; then
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
  goldgate=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git init --quiet
cp -r "$root/examples" "$root/fixtures" "$root/baselines" "$root/goldgate.yaml" .
agent=examples/order-desk/agent.py

# numbers FILE: what the report of the suite says, without the time of the run.
numbers() {
  python3 -c '
import json, sys
(suite,) = json.load(open(sys.argv[1]))["suites"]
(agent,) = suite["agents"]
print({name: metric["value"] for name, metric in agent["metrics"].items()})
for case in agent["cases"]: print(case["case"], case["metrics"], case["samples_completed"])' "$1"
}
# run CODE NAME: grades the suite, which has to end with this code.
run() {
  local code=0
  "$goldgate" run --suite orders --format json --quiet > "$2" || code=$?
  ((code == $1)) || { echo "order-desk: $2 ended with $code, not $1" >&2; tail -c 2000 "$2" >&2; exit 1; }
}
# change FROM TO FILE: edits the copy.
change() {
  python3 -c '
import pathlib, sys
old, new, path = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
text = path.read_text()
assert old in text, f"{path} has no {old!r}"
path.write_text(text.replace(old, new))' "$@"
}

run 0 recordings
change 'deterministic: { replay: examples/order-desk/runs }' \
  'deterministic: { replay: exchanges, target: desk, recordings: examples/order-desk/runs }' goldgate.yaml
change $'\ntargets:\n' $'\ntargets:\n  desk: { command: [python3, examples/order-desk/agent.py], capture: openai, timeout: 60s }\n' goldgate.yaml
run 0 replay
diff <(numbers recordings) <(numbers replay)
echo "order-desk: the code gives the numbers of its recordings, without the model"

change 'one friendly sentence' 'one short sentence' examples/order-desk/prompts.json
run 3 prompt
grep -q 'not recorded' prompt
echo "order-desk: another prompt has no verdict until it is recorded"
cp "$root/examples/order-desk/prompts.json" examples/order-desk/

change 'return sentence if all(text in sentence for text in needed) else fact' 'return sentence' "$agent"
run 1 unchecked
echo "order-desk: an agent that lets every sentence through is caught"
cp "$root/$agent" "$agent"
change 'if found["status"] != "delivered"' 'if found["status"] == "cancelled"' "$agent"
code=0
"$goldgate" run --suite orders --quiet > refund || code=$?
((code == 1 || code == 3))
grep -q 'refund-too-early' refund
echo "order-desk: a refund before the delivery is caught (exit code $code)"
