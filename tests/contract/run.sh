#!/usr/bin/env bash
# Every request that `goldgate action` makes is shown to a validating mock of GitHub's official OpenAPI description.
# Installs its own packages (npm) into a cache folder; speaks to this machine alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/contract
mock=${GOLDGATE_MOCK_PORT:-14010}
front=$((mock + 1))
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

mkdir -p "$tools"
cd "$tools"
if [ ! -d node_modules/@stoplight/prism-cli ] || [ ! -d node_modules/@octokit/openapi ] || [ ! -d node_modules/@octokit/graphql-schema ] || [ ! -d node_modules/graphql ]; then
  npm install --no-save --no-audit --no-fund --loglevel=error @stoplight/prism-cli@5 @octokit/openapi @octokit/graphql-schema graphql@16
fi
node "$here/trim.mjs" node_modules/@octokit/openapi/generated/api.github.com.json api.json
node node_modules/@stoplight/prism-cli/dist/index.js mock -h 127.0.0.1 -p "$mock" api.json > "$work/mock.log" 2>&1 &
pids+=($!)
node "$here/front.mjs" "$front" "$mock" "$work/requests.log" "$root/goldgate.yaml" "$work" &
pids+=($!)
ready=no
for _ in $(seq 300); do
  if curl -s -o /dev/null -m 2 -H 'authorization: Bearer x' "http://127.0.0.1:$mock/user"; then ready=yes; break; fi
  sleep 0.2
done
[ "$ready" = yes ] || { echo "the mock did not start" >&2; tail -5 "$work/mock.log" >&2; exit 1; }

cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
binary=$root/target/debug/goldgate
mkdir -p "$work/repo/.git"
cp -r "$root/fixtures" "$root/goldgate.yaml" "$work/repo/"
# action RUN EVENT NAME MODE [VARIABLE=VALUE]…
action() {
  local run=$1 event=$2 name=$3 mode=$4
  shift 4
  env -i GITHUB_EVENT_NAME="$name" GITHUB_EVENT_PATH="$root/tests/events/$event.json" GITHUB_WORKSPACE="$work/repo" \
    GITHUB_REPOSITORY=acme/agents GITHUB_API_URL="http://127.0.0.1:$front" GITHUB_GRAPHQL_URL="http://127.0.0.1:$front/graphql" \
    GITHUB_SERVER_URL=http://127.0.0.1 GITHUB_RUN_ID="$run" GITHUB_RUN_ATTEMPT=1 INPUT_TOKEN=no-real-token INPUT_OUT="$work/out" \
    INPUT_MODE="$mode" INPUT_APPROVAL-LABEL=bug "$@" "$binary" action > "$work/action.log" || { tail -20 "$work/action.log" >&2; exit 1; }
}
gate() { action "$1" pull_request.opened pull_request run; }
gate 1                                               # makes the comment
gate 2                                               # updates it
curl -s -o /dev/null "http://127.0.0.1:$front/twin"  # two writers have met
gate 3                                               # merges and removes the second
(cd "$work/out" && python3 -m zipfile -c "$work/artifact.zip" report.json proposed-baseline.json)
action 4 pull_request.synchronize pull_request_target approve # removes the label
curl -s -o /dev/null "http://127.0.0.1:$front/label"          # somebody adds it again
action 5 pull_request.labeled pull_request_target approve     # keeps the approval
action 6 pull_request.labeled pull_request_target bump        # commits the baseline, starts the gate
main=(GITHUB_SHA=5555555555555555555555555555555555555555 GITHUB_REF=refs/heads/master)
action 7 push push run "${main[@]}"
action 8 push push baseline-pr "${main[@]}" # opens the pull request
action 9 push push baseline-pr "${main[@]}" # updates it

sort "$work/requests.log" | uniq -c
for wanted in 'GET /user' 'GET /repos/acme/agents/pulls/2' 'GET /repos/acme/agents/contents/' 'GET /repos/acme/agents/issues/2/comments' \
  'POST /repos/acme/agents/issues/2/comments' 'GET /repos/acme/agents/issues/comments/1' 'PATCH /repos/acme/agents/issues/comments/1' \
  'DELETE /repos/acme/agents/issues/comments/2' 'DELETE /repos/acme/agents/issues/2/labels/bug' \
  'GET /repos/acme/agents/collaborators/Codertocat/permission' 'GET /repos/acme/agents/commits/' 'POST /repos/acme/agents/statuses/' \
  'GET /repos/acme/agents/actions/runs?' 'GET /repos/acme/agents/actions/runs/7/artifacts' 'GET /repos/acme/agents/actions/artifacts/5/zip' \
  'POST /graphql createCommitOnBranch' 'POST /repos/acme/agents/actions/workflows/goldgate.yml/dispatches' \
  'GET /repos/acme/agents/git/ref/' 'GET /repos/acme/agents/git/commits/' 'POST /repos/acme/agents/git/trees' \
  'POST /repos/acme/agents/git/commits' 'POST /repos/acme/agents/git/refs' 'PATCH /repos/acme/agents/git/refs/' \
  'GET /repos/acme/agents/pulls?' 'POST /repos/acme/agents/pulls' 'PATCH /repos/acme/agents/pulls/3'; do
  grep -q "^accepted [0-9]* $wanted" "$work/requests.log" || { echo "no accepted request $wanted" >&2; exit 1; }
done
if grep '^REFUSED' "$work/requests.log" >&2; then exit 1; fi
echo "every request is as GitHub describes it"
