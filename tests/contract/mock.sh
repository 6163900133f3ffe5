#!/usr/bin/env bash
# Sourced by the checks of this folder: the folders `$root`, `$tools` and `$work` (removed at the end), and a validating mock of GitHub's official OpenAPI
# description behind a small server of the check. Installs its own packages (npm) into a cache folder; speaks to this machine alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export root=${here%/tests/contract}
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/contract
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

mkdir -p "$tools"
(
  cd "$tools"
  for package in @stoplight/prism-cli @octokit/openapi @octokit/graphql-schema graphql; do
    [ -d "node_modules/$package" ] || exec npm install --no-save --no-audit --no-fund --loglevel=error \
      @stoplight/prism-cli@5 @octokit/openapi @octokit/graphql-schema graphql@16
  done
)
# start_mock PORT PATH…: the mock answers on PORT and knows the paths, of which those below a repository are named from there.
start_mock() {
  local port=$1 repository='/repos/{owner}/{repo}/'
  shift
  node "$here/trim.mjs" "$tools/node_modules/@octokit/openapi/generated/api.github.com.json" "$work/api.json" /user "${repository%/}" "${@/#/$repository}"
  (cd "$tools" && exec node node_modules/@stoplight/prism-cli/dist/index.js mock -h 127.0.0.1 -p "$port" "$work/api.json" > "$work/mock.log" 2>&1) &
  pids+=($!)
}
# await_server URL
await_server() {
  for _ in $(seq 300); do
    if curl -s -o /dev/null -m 2 -H 'authorization: Bearer x' "$1"; then return; fi
    sleep 0.2
  done
  echo "$1 did not answer" >&2
  tail -5 "$work/mock.log" >&2
  exit 1
}
# judge WANTED…: every wanted request was made and accepted, and none was refused.
judge() {
  sort "$work/requests.log" | uniq -c
  local wanted
  for wanted in "$@"; do
    grep -qF "$wanted" <(grep '^accepted ' "$work/requests.log") || { echo "no accepted request $wanted" >&2; exit 1; }
  done
  if grep '^REFUSED' "$work/requests.log" >&2; then exit 1; fi
  echo "every request is as GitHub describes it"
}
