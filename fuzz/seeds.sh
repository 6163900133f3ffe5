#!/bin/sh
# Lays the bundled contracts out as the first inputs of the targets `rtf` and `verifier`.
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
