#!/usr/bin/env bash
# Runs the tests that agentevals ships and compares the verdicts of its trajectory evaluators with goldgate's: docs/coming-from/trajectories.md.
# Installs agentevals from PyPI into a temporary folder. usage: tests/agentevals/run.sh GOLDGATE_BINARY [--invert N]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
pip=("$work/python/bin/pip" --disable-pip-version-check --quiet)
"${pip[@]}" install --requirement "$here/requirements.txt"
# The tests are in the source alone.
package=$(grep '^agentevals==' "$here/requirements.txt")
"${pip[@]}" download --no-deps --no-binary agentevals --dest "$work" "$package"
tar -xzf "$work/${package/==/-}.tar.gz" -C "$work"
PYTHONDONTWRITEBYTECODE=1 "$work/python/bin/python" "$here/run.py" "$binary" "$work/${package/==/-}" "$@"
