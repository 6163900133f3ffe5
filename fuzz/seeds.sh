#!/bin/sh
# Creates the first inputs of the fuzz targets from the bundled suites and from the files of other tools.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/rtf corpus/verifier
for case in ../fixtures/revision/cases/*; do
  name=$(basename "$case")
  cp "$case/original.rtf" "corpus/rtf/$name-original"
  cp "$case/revised.rtf" "corpus/rtf/$name-revised"
  {
    cat "$case/instructions.json"
    printf '\0\0'
    cat "$case/original.rtf"
    printf '\0\0'
    cat "$case/revised.rtf"
  } >"corpus/verifier/$name"
done
for planted in ../tests/revision/planted/*/*.rtf; do
  cp "$planted" "corpus/rtf/$(basename "$(dirname "$planted")")-$(basename "$planted" .rtf)"
done
# The fuzzer runs a contract of four paragraphs ten times as often as one of five pages, so this one is small.
{
  printf '%s' '{"entities": [{"from": "Acme Ltd", "to": "Borealis plc", "defined_as": ["Acme"], "becomes": ["Borealis"]}],
    "jurisdiction": {"from": "Northmark", "to": "Westhaven"}, "liability": {"indemnifier": "Supplier", "indemnitee": "Customer"},
    "clauses": [{"operation": "delete", "section": "2"}]}'
  printf '\0\0'
  printf '%s\n' '{\rtf1\ansi' 'Acme Ltd ("Acme") is the Supplier under the law of Northmark.\par' \
    '1. Delivery. The Supplier delivers.\par' '2. Exclusivity. Nobody else.\par' \
    '3. Indemnity. The Customer shall indemnify the Supplier under Section 1.\par' '}'
  printf '\0\0'
  printf '%s\n' '{\rtf1\ansi' 'Borealis plc ("Borealis") is the Supplier under the law of Westhaven.\par' \
    '1. Delivery. The Supplier delivers.\par' '2. Indemnity. The Supplier shall indemnify the Customer under Section 1.\par' '}'
} >corpus/verifier/small
mkdir -p corpus/recover corpus/matching corpus/goldens
number=0
while read -r line; do
  number=$((number + 1))
  # The whole line is an answer as well: its text is in it with escapes.
  printf '%s' "$line" >"corpus/recover/$number"
done <../crates/recover/src/testdata/real-model-outputs.jsonl
for answer in ../tests/cases/repair/*/stdin; do
  cp "$answer" "corpus/recover/$(basename "$(dirname "$answer")")"
done
number=0
# A line of a contract, and a keyword of a case.
for contract in ../fixtures/contracts/contracts/*; do
  number=$((number + 1))
  {
    tail -1 "$contract"
    printf '\0\0change of control'
  } >"corpus/matching/$number"
done
# A golden file of each kind, and an answer to it.
for kind in contracts cross custom evidence interview property reconciliation revision stochastic tool_use triggers; do
  find "../fixtures/$kind" -name '*.json' -size -8k -not -path '*/runs/*' | sort | head -12 | while read -r golden; do
    name=$(basename "$golden" .json)
    answer=$(find "../fixtures/$kind" -path "*/runs/*$name*" -name '*.json' -size -8k | sort | head -1)
    {
      cat "$golden"
      printf '\0\0'
      if [ -n "$answer" ]; then cat "$answer"; fi
    } >"corpus/goldens/$kind-$name"
  done
done
mkdir -p corpus/transcripts corpus/wires corpus/records corpus/own_files corpus/archives
number=0
find ../tests/imports/files -type f -size -20k | sort | while read -r file; do
  number=$((number + 1))
  cp "$file" "corpus/transcripts/$number"
done
cp ../tests/imports/files/anthropic/answer.json corpus/wires/anthropic
printf '%s' '{"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls":
  [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}}], "usage": {"prompt_tokens": 3}}' >corpus/wires/openai
printf '%s' '{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}]}},
  "stopReason": "tool_use", "usage": {"inputTokens": 3, "outputTokens": 1}}' >corpus/wires/converse
cp ../baselines/latest.json corpus/records/baseline
cp ../goldgate.yaml corpus/own_files/config
number=0
find ../fixtures -path '*/runs/*' -name '*.json' -size -8k | sort | awk 'NR % 40 == 0' | while read -r file; do
  number=$((number + 1))
  cp "$file" "corpus/records/$number"
done
cp ../docs/workflows/*.yml corpus/archives/
mkdir -p corpus/formats corpus/expressions
cp ../goldgate.yaml corpus/formats/config
number=0
find ../fixtures ../examples ../tests/it -name '*.yaml' -size -8k | sort | while read -r file; do
  number=$((number + 1))
  cp "$file" "corpus/formats/$number"
done
head -20 ../crates/recover/src/testdata/real-model-outputs.jsonl >corpus/formats/lines
number=0
# The expressions of the bundled cases and of their page.
grep -rhoE '"?expr"?: *("[^"]+"|[^",}]+)' ../fixtures/custom ../docs/kinds/custom.md ../goldgate.yaml | sed -E 's/^"?expr"?: *"?//; s/"$//' | sort -u |
  while read -r expression; do
    number=$((number + 1))
    printf '%s' "$expression" >"corpus/expressions/$number"
  done
