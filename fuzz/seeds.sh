#!/bin/sh
# Creates the first inputs of the fuzz targets `rtf` and `verifier` from the bundled contracts.
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
