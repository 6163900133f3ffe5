#!/usr/bin/env bash
# Records agents on the real clients of the registries (Python: openai, anthropic, LangGraph, pydantic-ai; TypeScript: openai, Vercel AI SDK)
# against a language model on this machine, replays them without it, and changes their code. Installs the clients into a cache folder.
# usage: tests/capture/run.sh     LLM_SERVER and LLM_PORT as for tests/live/model-tier.sh. STAND_IN=1 takes the table of answers in
#                                 tests/imports/endpoint.py for the model
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
server=${LLM_SERVER:-$HOME/.cache/llm-server}
port=${LLM_PORT:-18091}
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/capture
for program in npm node python3; do
  command -v "$program" > /dev/null || { echo "skipped: the check of captured agents needs $program"; exit 0; }
done
if [[ -z ${STAND_IN:-} && (! -x $server/build/bin/llama-server || ! -f $server/model.gguf) ]]; then
  echo "skipped: there is no model server at $server (build/bin/llama-server and model.gguf); STAND_IN=1 does without"
  exit 0
fi
mkdir -p "$tools"
[ -d "$tools/venv" ] || python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
cp "$here/package.json" "$tools/package.json"
(cd "$tools" && npm install --no-audit --no-fund --loglevel=error)
goldgate=${GOLDGATE_BINARY:-}
if [[ -z $goldgate ]]; then
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
  goldgate=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi

pid=
trap 'if [[ -n $pid ]]; then kill "$pid" 2> /dev/null || true; fi' EXIT
if [[ -n ${STAND_IN:-} ]]; then
  (cd "$root/tests/imports" && exec python3 -c "
import endpoint, http.server
http.server.ThreadingHTTPServer(('127.0.0.1', $port), endpoint.Handler).serve_forever()") 2> /dev/null &
else
  "$server/build/bin/llama-server" -m "$server/model.gguf" --host 127.0.0.1 --port "$port" -c 16384 -np 2 --jinja --alias smollm2 \
    > "$tools/server.log" 2>&1 &
fi
pid=$!
for _ in $(seq 120); do
  if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && { [[ -n ${STAND_IN:-} ]] || curl --silent --fail --output /dev/null "http://127.0.0.1:$port/health"; }; then break; fi
  sleep 0.5
done
python3 "$here/run.py" "$goldgate" "$tools" "http://127.0.0.1:$port" "$pid" ${STAND_IN:+find_order}
