#!/usr/bin/env bash
# Every form of request and answer that goldgate exchanges with models is shown to the vendors' own descriptions: the types of their
# npm packages (openai; @anthropic-ai/sdk before 1.0, which speaks the version 2023-06-01 as goldgate and compatible servers do) and botocore's model of Bedrock's runtime. Installs them into a cache folder; calls nobody.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/wires
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in npm node python3; do
  command -v "$program" > /dev/null || { echo "skipped: the wire formats' check needs $program"; exit 0; }
done
mkdir -p "$tools"
cd "$tools"
[ -d node_modules/openai ] && [ -d node_modules/@anthropic-ai/sdk ] && [ -d node_modules/typescript ] ||
  npm install --no-save --no-audit --no-fund --loglevel=error openai @anthropic-ai/sdk@0 typescript@5
[ -d venv ] || python3 -m venv venv
venv/bin/python -c 'import botocore' 2> /dev/null || venv/bin/pip install -q botocore

GOLDGATE_WIRES="$work" cargo test --quiet --locked --manifest-path "$root/Cargo.toml" --test it -- "every form of a request is written down" > "$work/test.log" ||
  { cat "$work/test.log" >&2; exit 1; }

# A literal of a type may have no key that the type does not know.
for file in "$work"/openai.*.json; do
  case $file in *.answer.json) type=ChatCompletion ;; *) type=ChatCompletionCreateParamsNonStreaming ;; esac
  name=$(basename "$file" .json)
  { echo "import type { $type } from 'openai/resources/chat/completions';"; printf 'export const it: %s = ' "$type"; cat "$file"; echo ';'; } > "check-$name.ts"
done
for file in "$work"/anthropic.*.json; do
  case $file in *.answer.json) type="Message" ;; *) type=MessageCreateParamsNonStreaming ;; esac
  name=$(basename "$file" .json)
  { echo "import type { $type } from '@anthropic-ai/sdk/resources/messages';"; printf 'export const it: %s = ' "$type"; cat "$file"; echo ';'; } > "check-$name.ts"
done
# What is no request must not pass, or this check checks nothing.
printf "import type { ChatCompletionCreateParamsNonStreaming as T } from 'openai/resources/chat/completions';\nexport const it: T = { model: 'm', messages: [], max_tokenz: 3 };\n" > must-fail-1.ts
printf "import type { MessageCreateParamsNonStreaming as T } from '@anthropic-ai/sdk/resources/messages';\nexport const it: T = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'txt' }] }] };\n" > must-fail-2.ts
tsc() { node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --module nodenext --moduleResolution nodenext --target es2022 "$@"; }
tsc check-*.ts
for file in must-fail-*.ts; do
  ! tsc "$file" > /dev/null || { echo "$file passes, and must not" >&2; exit 1; }
done
count=$(find . -maxdepth 1 -name 'check-*.ts' | wc -l)
rm -f check-*.ts must-fail-*.ts
venv/bin/python "$here/converse.py" "$work"
echo "the wire formats hold: $count bodies of OpenAI and Anthropic, $(find "$work" -name 'bedrock.*.json' | wc -l) of Bedrock"
