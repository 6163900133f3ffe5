#!/usr/bin/env bash
# Opens the HTML report of 1,000 cases with hostile texts in a headless Chromium: it stays below 1 MiB, prints how long it takes to open,
# loads nothing, breaks no rule of its own content security policy, runs no script of an agent, and axe-core has no serious finding,
# light, dark and on a phone. Filter, order and details work with the keyboard. The node packages come from npm and are kept in
# $GOLDGATE_TOOLS. usage: tests/page/run.sh [BINARY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for program in chromium node npm; do
    command -v "$program" > /dev/null || { echo "skipped: the page's test needs $program"; exit 0; }
done
node=(axe-core@4.14.1 puppeteer-core@25.16.0)
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/page
mkdir -p "$tools"
if [[ ! -f $tools/installed || $(<"$tools/installed") != "${node[*]}" ]]; then
    rm -rf "$tools/node_modules"
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools" "${node[@]}"
    printf '%s\n' "${node[*]}" > "$tools/installed"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
binary=$(realpath "${1:-target/release/goldgate}")

node tests/page/cases.mjs "$work" right
(cd "$work" && "$binary" run --update-baseline > /dev/null 2>&1)
node tests/page/cases.mjs "$work" wrong
code=0
(cd "$work" && "$binary" run --out out > /dev/null) || code=$?
[[ $code == 1 ]] || { echo "page: the run of the wrong answers ended with $code" >&2; exit 1; }
CHROMIUM=$(command -v chromium) NODE_PATH=$tools/node_modules node tests/page/open.cjs "$work/out/report.html" "${PICTURES:-}"
