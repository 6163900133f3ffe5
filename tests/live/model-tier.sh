#!/usr/bin/env bash
# The bundled model tier end to end against a real model over both wire formats: three samples at temperature 1 are made, graded
# and recorded, and the recordings replay to the same numbers.
# usage: tests/live/model-tier.sh     LLM_SERVER names the folder of a built llama.cpp server with a model.gguf in it
#                                     (build/bin/llama-server; ~/.cache/llm-server where it is not set); LLM_PORT its port
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
server=${LLM_SERVER:-$HOME/.cache/llm-server}
port=${LLM_PORT:-18090}
if [[ ! -x $server/build/bin/llama-server || ! -f $server/model.gguf ]]; then
    echo "skipped: there is no model server at $server (build/bin/llama-server and model.gguf)"
    exit 0
fi
work=$(mktemp -d)
pid=
cleanup() {
    if [[ -n $pid ]]; then kill "$pid" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap cleanup EXIT

cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
goldgate=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
"$server/build/bin/llama-server" -m "$server/model.gguf" --host 127.0.0.1 --port "$port" -c 16384 -np 2 --jinja --alias smollm2 > "$work/server.log" 2>&1 &
pid=$!
for _ in $(seq 120); do
    if curl --silent --fail --output /dev/null --max-time 1 "http://127.0.0.1:$port/health"; then break; fi
    sleep 0.5
done

export ANTHROPIC_BASE_URL=http://127.0.0.1:$port ANTHROPIC_API_KEY=local
export OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_API_KEY=local
chosen=(--suite contracts --agent privacy --case dpa)
# Both tiers grade the same case; the numbers are those of the report, without what says where they are from.
numbers='import json, sys
agent = json.load(open(sys.argv[1]))["suites"][0]["agents"][0]
case = agent["cases"][0]
print(json.dumps([{k: v["value"] for k, v in agent["metrics"].items()}, case["metrics"], case["samples_completed"]], sort_keys=True))'
for target in reviewer reviewer-openai; do
    copy=$work/$target
    mkdir "$copy"
    cp -r "$root/fixtures" "$root/examples" "$root/baselines" "$copy"
    sed 's/max_tokens: 4096/max_tokens: 400/' "$root/goldgate.yaml" > "$copy/goldgate.yaml"
    rm -rf "$copy/fixtures/contracts/runs/privacy/dpa" "$copy/fixtures/contracts/runs/privacy/dpa.json"
    (cd "$copy" && "$goldgate" run --tier model --target "$target" --samples 3 "${chosen[@]}" --record fixtures/contracts/runs --out live)
    (cd "$copy" && "$goldgate" run --tier deterministic --samples 3 --non-blocking "${chosen[@]}" --out replayed > /dev/null)
    live=$(python3 -c "$numbers" "$copy/live/report.json")
    replayed=$(python3 -c "$numbers" "$copy/replayed/report.json")
    if [[ $live != "$replayed" ]]; then
        printf '%s: the recordings replay to other numbers\n%s\n%s\n' "$target" "$live" "$replayed"
        exit 1
    fi
    if [[ $live != *', 3]' ]]; then
        printf '%s: not all of three samples completed: %s\n' "$target" "$live"
        exit 1
    fi
    echo "$target: three samples of a real model, recorded, and replayed to the same numbers"
done
