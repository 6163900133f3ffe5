#!/usr/bin/env bash
# Whether `goldgate repair` reads hostile answers in linear time, and every kind of suite and format of file is read and graded in
# it, by the instructions that the whole program executes, which no other work on the machine changes. Installs valgrind where it is
# missing. usage: tests/linear/run.sh [BINARY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v valgrind > /dev/null; then
    as_root=()
    if [[ $(id --user) != 0 ]]; then as_root=(sudo); fi
    "${as_root[@]}" apt-get update --quiet --quiet
    "${as_root[@]}" apt-get install --quiet --quiet --yes valgrind
fi
python3 tests/linear/count.py "${1:-target/release/goldgate}"
python3 tests/linear/suites.py "${1:-target/release/goldgate}"
