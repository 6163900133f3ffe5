#!/usr/bin/env bash
# The setup action's script against releases on this machine: a good one is on the PATH, every other one is refused in words.
# The provenance is not verified here: that needs GitHub. usage: tests/live/setup.sh, after cargo build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
[[ -x $binary ]] || { echo "skipped: build goldgate first"; exit 0; }
port=${GOLDGATE_SETUP_PORT:-14040}
work=$(mktemp -d)
server=
cleanup() {
    if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap cleanup EXIT
version=$("$binary" --version | cut -d' ' -f2)
archive=goldgate-$(uname -m)-linux.tar.gz

# release VERSION: a release with this machine's binary.
release() {
    mkdir -p "$work/served/acme/agents/releases/download/v$1" "$work/temp"
    tar --directory "$(dirname "$binary")" --create --gzip --file "$work/served/acme/agents/releases/download/v$1/$archive" goldgate
    (cd "$work/served/acme/agents/releases/download/v$1" && sha256sum "$archive" > SHA256SUMS)
}
release "$version"
release 9.9.9
release 9.9.8
echo "more" >> "$work/served/acme/agents/releases/download/v9.9.8/$archive"
release 9.9.7
echo "" > "$work/served/acme/agents/releases/download/v9.9.7/SHA256SUMS"
(cd "$work/served" && exec python3 -m http.server --bind 127.0.0.1 "$port" > "$work/server.log" 2>&1) &
server=$!
for _ in $(seq 50); do
    if curl --silent --output /dev/null "http://127.0.0.1:$port/"; then break; fi
    sleep 0.2
done

# install WANTED-CODE WANTED-WORDS VERSION ATTESTATION
install() {
    : > "$work/path"
    : > "$work/output"
    local code=0
    GITHUB_SERVER_URL=http://127.0.0.1:$port SETUP_REPOSITORY=acme/agents SETUP_VERSION=$3 SETUP_ATTESTATION=$4 RUNNER_TEMP=$work/temp \
        GITHUB_ACTION_PATH=$root/setup GITHUB_PATH=$work/path GITHUB_OUTPUT=$work/output bash "$root/setup/install.sh" > "$work/log" 2>&1 || code=$?
    if [[ $code != "$1" ]] || ! grep -qF -- "$2" "$work/log"; then
        echo "wanted $1 and: $2; came $code and:" >&2
        cat "$work/log" >&2
        exit 1
    fi
    [[ $code == 0 ]] || [[ ! -s $work/path ]] || { echo "a refused binary is on the PATH" >&2; exit 1; }
    echo "setup: $2"
}
install 0 "goldgate $version is on the PATH" "" false
"$(cat "$work/path")/goldgate" --version > "$work/told"
grep -qx "goldgate $version" "$work/told"
grep -qx "version=$version" "$work/output"
install 0 "goldgate $version is on the PATH" "v$version" false
install 1 "the archive of 9.9.9 holds goldgate $version" 9.9.9 false
install 1 "is not what SHA256SUMS of the release says" 9.9.8 false
install 1 "is not what SHA256SUMS of the release says" 9.9.7 false
install 1 'version is "1.x; id"' '1.x; id' false
install 1 'attestation is "yes"; write true or false' "" yes
