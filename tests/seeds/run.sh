#!/usr/bin/env bash
# Brings the data of other evaluation systems to a verdict with one goldgate.yaml each: see README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "${1:?the folder with the data, with a folder for each system}" && pwd)
goldgate=${GOLDGATE:-$here/../../target/debug/goldgate}
[ -x "$goldgate" ] || { echo "$goldgate is missing: cargo build, or name it as GOLDGATE" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$data/." "$work"
chmod -R u+w "$work"
before=$(cd "$work" && find . -type f | sort | xargs -d '\n' sha256sum)
python3 "$here/runs.py" "$work"

failed=0
verdict() { # the system's folder
    cp "$here/$1.yaml" "$work/$1/goldgate.yaml"
    local code=0
    (cd "$work/$1" && "$goldgate" check >"$work/$1.check" 2>&1) || code=$?
    if [ "$code" -ne 0 ]; then
        echo "$1: check: exit code $code"
        tail -20 "$work/$1.check"
        failed=1
        return
    fi
    (cd "$work/$1" && "$goldgate" run >"$work/$1.run" 2>&1) || code=$?
    echo "$1: exit code $code: $(tail -1 "$work/$1.run")"
    # 0 is green, 1 is red: both are verdicts.
    if [ "$code" -gt 1 ]; then
        tail -20 "$work/$1.run"
        failed=1
    fi
}

for system in 000 001 002; do
    [ -d "$work/$system" ] || { echo "$system: no data"; continue; }
    verdict "$system"
done
(cd "$work" && sha256sum --check --quiet <<<"$before") || { echo "a file of the data changed"; failed=1; }
exit "$failed"
