#!/usr/bin/env bash
# Every request on `pull_request_target` and of the check run is shown to a validating mock of GitHub's official OpenAPI description.
# GOLDGATE_BINARY is a program to check instead of a new build.
set -euo pipefail
# shellcheck source=tests/contract/mock.sh
. "$(dirname "$0")/mock.sh"
mock=${GOLDGATE_MOCK_PORT:-14020}
front=$((mock + 1))
start_mock "$mock" pulls 'pulls/{pull_number}' 'issues/{issue_number}/comments' 'issues/comments/{comment_id}' 'contents/{path}' \
  'git/commits/{commit_sha}' 'git/ref/{ref}' 'compare/{basehead}' 'git/trees/{tree_sha}' 'git/blobs/{file_sha}' 'tarball/{ref}' 'actions/workflows/{workflow_id}/runs' \
  'commits/{commit_sha}/pulls' 'rules/branches/{branch}' 'branches/{branch}' commits 'commits/{ref}/check-runs' check-runs 'check-runs/{check_run_id}' labels 'labels/{name}'
binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
  binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
mkdir -p "$work/repo/.git" "$work/empty/.git"
# What actions/checkout leaves: GitHub's test merge, whose files the front knows.
printf '%040d\n' 0 | tr 0 5 > "$work/repo/.git/HEAD"
cp -r "$root/fixtures" "$root/examples" "$root/goldgate.yaml" "$root/baselines" "$work/repo/"
cp -r "$work/repo" "$work/base"
tar -czf "$work/base.tar.gz" -C "$work" --transform 's|^base|acme-agents-f95f852|' --exclude .git base
node "$here/forks.mjs" "$front" "$mock" "$work" "$root/tests/events" &
pids+=($!)
await_server "http://127.0.0.1:$mock/user"
await_server "http://127.0.0.1:$front/ready"

# usage: action EVENT PAYLOAD WORKSPACE RUN [NAME=VALUE …]
action() {
  local event=$1 payload=$2 workspace=$3 run=$4
  shift 4
  env -i GITHUB_EVENT_NAME="$event" GITHUB_EVENT_PATH="$payload" GITHUB_WORKSPACE="$workspace" GITHUB_REPOSITORY=acme/agents \
    GITHUB_API_URL="http://127.0.0.1:$front" GITHUB_SERVER_URL=http://127.0.0.1 GITHUB_RUN_ID="$run" GITHUB_RUN_ATTEMPT=1 \
    INPUT_TOKEN=no-real-token INPUT_OUT="$work/out" \
    GITHUB_WORKFLOW_REF=acme/agents/.github/workflows/goldgate.yml@refs/heads/master "$@" "$binary" action > "$work/action.log" 2>&1 || { echo "run $run failed" >&2; head -c 3000 "$work/action.log" >&2; exit 1; }
}
action pull_request "$work/opened.json" "$work/repo" 1 INPUT_COMMENT=false                    # measures, as a fork does
tar -czf "$work/head.tar.gz" -C "$work" --transform 's|^repo|acme-agents-0000000|' --exclude .git --exclude out repo
action pull_request_target "$work/opened.json" "$work/empty" 3 # grades both commits as data
python3 - "$work"/repo/fixtures/contracts/runs/finance/change-of-control/*.json << 'EOF' # the agent finds nothing any more
import json, sys
for name in sys.argv[1:]:
    run = json.load(open(name))
    json.dump({**run, "outputs": {**run["outputs"], "findings": []}}, open(name, "w"))
EOF
"$binary" stamp --stale --config "$work/repo/goldgate.yaml" > /dev/null
action pull_request "$work/opened.json" "$work/repo" 4 INPUT_BLOCKING=false INPUT_COMMENT=false  # a regression that does not block
action pull_request "$work/opened.json" "$work/repo" 5 INPUT_BLOCKING=false INPUT_COMMENT=false  # the same once more

judge 'POST /repos/acme/agents/issues/2/comments' 'GET /repos/acme/agents/git/commits/' \
  'GET /repos/acme/agents/git/trees/' 'GET /repos/acme/agents/tarball/' \
  'POST /repos/acme/agents/check-runs ' 'PATCH /repos/acme/agents/check-runs/900 '
