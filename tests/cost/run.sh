#!/usr/bin/env bash
# What a base commit costs on 1,000 cases, by the instructions that the whole program executes, which no other work on the machine
# changes. Installs valgrind where it is missing. usage: tests/cost/run.sh [BINARY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v valgrind > /dev/null; then
    as_root=()
    if [[ $(id --user) != 0 ]]; then as_root=(sudo); fi
    "${as_root[@]}" apt-get update --quiet --quiet
    "${as_root[@]}" apt-get install --quiet --quiet --yes valgrind
fi
work=$(mktemp --directory)
trap 'rm --recursive --force "$work"' EXIT
python3 benches/cases.py "${COUNT:-1000}" "$work"
rm --recursive --force "$work/.git"
git -C "$work" init --quiet
git -C "$work" add --all
git -C "$work" -c user.name=Subject -c user.email=a@example.org commit --quiet --no-verify --message base
python3 tests/cost/count.py "${1:-target/release/goldgate}" "$work"
