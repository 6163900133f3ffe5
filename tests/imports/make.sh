#!/bin/sh
# Writes tests/imports/files again with the tools of the registries. No vendor is asked: endpoint.py answers on this machine.
# The files have ids and times, so each run changes them; commit only what a newer version of a tool writes differently.
set -eu
cd "$(dirname "$0")"
tools=$(mktemp -d)
python3 -m venv "$tools/python"
"$tools/python/bin/pip" install --quiet -r requirements.txt
npm install --prefix "$tools" --no-audit --no-fund promptfoo@0.121.20 @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0
python=$tools/python/bin/python
"$python" sdks.py files
"$python" vendors.py files
"$python" deepeval_goldens.py files
"$python" inspect_logs.py files
"$python" langchain_dumps.py files
"$python" langfuse_observations.py files
"$python" coding_agents.py files "$tools/node_modules/.bin/claude" "$tools/node_modules/.bin/codex"
for spans in openinference-openai openinference-openai-responses openinference-langchain openinference-anthropic \
  opentelemetry-openai pydantic-ai langfuse-sdk failing-openai; do
  "$python" spans.py files "$spans"
done
PATH=$PATH:$tools/node_modules/.bin ./promptfoo.sh "$PWD/files"
