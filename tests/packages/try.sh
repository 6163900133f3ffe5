#!/usr/bin/env bash
# Installs the packages for PyPI and npm on this machine, from their folder alone, and reaches the first verdict with each in an empty
# folder. Runs with the bash 3.2 of macOS. usage: tests/packages/try.sh FOLDER VERSION
set -euo pipefail
packages=$(cd "${1:?the folder of the packages}" && pwd)
version=${2:?the version}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
pid=
cleanup() {
    if [[ -n $pid ]]; then kill "$pid"; fi
    rm -rf "$work"
}
trap cleanup EXIT

steps=0
# holds WHAT COMMAND…: counts a statement that is true, or shows the log and ends.
holds() {
    local what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        steps=$((steps + 1))
        printf 'packages: %s\n' "$what"
    else
        printf 'packages: NOT TRUE: %s\n' "$what" >&2
        cat "$work/log" >&2
        exit 1
    fi
}
# ends CODE COMMAND…
ends() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    echo "exit code $code"
    ((code == wanted))
}
is_version() { [[ $("$@" --version) == "goldgate $version" ]]; }
# first_verdict COMMAND…: from an empty folder to a baseline, and to the same numbers again.
first_verdict() {
    local folder
    folder=$(mktemp -d "$work/empty.XXXXXX")
    (cd "$folder" && git init --quiet && "$@" init --yes && "$@" check && "$@" run --update-baseline && "$@" run)
}
completes() {
    local script
    script=$("$@" completions bash)
    bash -c "$script"$'\ncomplete -p goldgate'
    "$@" completions zsh | grep -q '#compdef goldgate'
}

holds "the checksums are those of the packages" bash -c "cd '$packages' && if command -v sha256sum; then sha256sum --check SHA256SUMS; else shasum -a 256 --check SHA256SUMS; fi"

python3 -m venv "$work/venv"
holds "pip installs the wheel without a network" \
    "$work/venv/bin/python" -m pip install --disable-pip-version-check --no-index --find-links "$packages/pypi" "goldgate==$version"
holds "pip: goldgate $version is on the PATH" is_version "$work/venv/bin/goldgate"
holds "pip: from an empty folder to the first verdict" first_verdict "$work/venv/bin/goldgate"
holds "pip: completions" completes "$work/venv/bin/goldgate"
holds "pip: the manual page" grep -q '.TH goldgate 1' "$work/venv/share/man/man1/goldgate.1"
holds "pip: the licences" test -f "$work/venv/lib"/python3*/site-packages/"goldgate-$version.dist-info/licenses/LICENSE-MIT"
holds "pip removes all of it" "$work/venv/bin/python" -m pip uninstall --yes goldgate
holds "nothing is left" test ! -e "$work/venv/bin/goldgate" -a ! -e "$work/venv/share/man/man1/goldgate.1"

python3 "$here/registry.py" "$packages/npm" > "$work/address" &
pid=$!
for _ in $(seq 50); do
    if [[ -s $work/address ]]; then break; fi
    sleep 0.1
done
mkdir "$work/project"
printf '{ "private": true }\n' > "$work/project/package.json"
npm_here() { (cd "$work/project" && npm "$@" --registry "$(<"$work/address")" --cache "$work/cache" --no-audit --no-fund --no-update-notifier); }
holds "npm installs from a registry, without scripts" npm_here install --ignore-scripts "goldgate@$version"
system=$(node --eval "console.log(process.platform + '-' + process.arch)")
holds "npm installs the binary of this system alone" test "$(ls "$work/project/node_modules/@goldgate")" = "$system"
holds "npm installs the same again from its lock file" npm_here ci --ignore-scripts
program=$work/project/node_modules/.bin/goldgate
holds "npm: goldgate $version is in node_modules/.bin" is_version "$program"
holds "npx starts it" npm_here exec --no -- goldgate --version
holds "npm: from an empty folder to the first verdict" first_verdict "$program"
holds "npm: completions" completes "$program"
holds "npm: the exit code is the program's" ends 2 "$program" run --config "$work/none.yaml"
# A signal to the launcher ends the program behind it. It reads standard input, which stays open.
terminated() {
    mkfifo "$work/open"
    "$program" repair < "$work/open" &
    local started=$!
    exec 8> "$work/open"
    sleep 1
    local behind
    behind=$(ps -A -o pid=,ppid= | awk -v parent="$started" '$2 == parent { print $1 }')
    [[ -n $behind ]] || return 1
    kill -TERM "$started"
    ends 143 wait "$started" || return 1
    exec 8>&-
    ! kill -0 "$behind"
}
holds "npm: a signal reaches the program" terminated
rm -r "$work/project/node_modules/@goldgate"
holds "npm: without the package of this system, the message names it" bash -c "'$program' --version 2>&1 | grep -q '@goldgate/$system is not installed'"
printf 'packages: %d statements are true\n' "$steps"
