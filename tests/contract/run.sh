#!/usr/bin/env bash
# Every request that `goldgate action` makes is shown to a validating mock of GitHub's official OpenAPI description.
# GOLDGATE_BINARY is a program to check instead of a new build.
set -euo pipefail
# shellcheck source=tests/contract/mock.sh
. "$(dirname "$0")/mock.sh"
mock=${GOLDGATE_MOCK_PORT:-14010}
front=$((mock + 1))
start_mock "$mock" pulls 'pulls/{pull_number}' 'issues/{issue_number}/comments' 'issues/comments/{comment_id}' 'contents/{path}' \
  'issues/{issue_number}/labels/{name}' 'collaborators/{username}/permission' 'commits/{commit_sha}/pulls' 'rules/branches/{branch}' commits \
  actions/runs 'actions/workflows/{workflow_id}/runs' 'actions/runs/{run_id}/attempts/{attempt_number}/jobs' \
  git/commits 'git/commits/{commit_sha}' git/trees 'git/trees/{tree_sha}' \
  'git/blobs/{file_sha}' 'tarball/{ref}' git/refs 'git/refs/{ref}' 'git/ref/{ref}' 'compare/{basehead}' 'issues/{issue_number}/timeline' activity rulesets \
  'git/matching-refs/{ref}' 'commits/{ref}/check-runs' check-runs 'branches/{branch}' 'environments/{environment_name}' branches labels 'labels/{name}' 'actions/runs/{run_id}/rerun-failed-jobs'
(cd "$tools" && exec node "$here/front.mjs" "$front" "$mock" "$work/requests.log" "$root/goldgate.yaml" "$work") &
pids+=($!)
await_server "http://127.0.0.1:$mock/user"
# The ruleset that docs/branch-protection.md offers.
code=$(curl -s -o "$work/ruleset.json" -w '%{http_code}' -H 'authorization: Bearer x' -H 'content-type: application/json' --data "@$root/docs/ruleset.json" \
  "http://127.0.0.1:$mock/repos/acme/agents/rulesets")
[[ $code == 201 ]] || { echo "docs/ruleset.json is not as GitHub describes a ruleset: $code" >&2; cat "$work/ruleset.json" >&2; exit 1; }

binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
  binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
mkdir -p "$work/repo/.git"
# What actions/checkout leaves: GitHub's test merge, whose files the front knows.
printf '%040d\n' 0 | tr 0 5 > "$work/repo/.git/HEAD"
cp -r "$root/fixtures" "$root/examples" "$root/goldgate.yaml" "$work/repo/"
# The same baseline as the front's base commit has.
mkdir "$work/repo/baselines"
python3 - "$root/baselines/latest.json" "$work/repo/baselines/latest.json" << 'END'
import json, sys
whole = json.load(open(sys.argv[1]))
json.dump({**whole, 'suites': {'orders': whole['suites']['orders']}}, open(sys.argv[2], 'w'))
END
# archive COMMIT: what the front gives as the commit's archive is the folder as it is now.
archive() { tar -czf "$work/$1.tar.gz" -C "$work" --transform "s|^repo|acme-agents-$1|" --exclude .git repo; }
archive bbbbbbb
# action RUN EVENT NAME MODE [VARIABLE=VALUE]…
action() {
  local run=$1 event=$2 name=$3 mode=$4
  shift 4
  env -i GITHUB_EVENT_NAME="$name" GITHUB_EVENT_PATH="$root/tests/events/$event.json" GITHUB_WORKSPACE="$work/repo" \
    GITHUB_REPOSITORY=acme/agents GITHUB_API_URL="http://127.0.0.1:$front" GITHUB_GRAPHQL_URL="http://127.0.0.1:$front/graphql" \
    GITHUB_SERVER_URL=http://127.0.0.1 GITHUB_RUN_ID="$run" GITHUB_RUN_ATTEMPT=1 INPUT_TOKEN=no-real-token INPUT_OUT="$work/out" \
    INPUT_MODE="$mode" GITHUB_WORKFLOW_REF=acme/agents/.github/workflows/goldgate.yml@refs/heads/master "$@" "$binary" action > "$work/action.log" || { tail -20 "$work/action.log" >&2; exit 1; }
}
gate() { action "$1" pull_request.opened pull_request run; }
gate 1                                               # makes the comment
gate 2                                               # updates it
curl -s -o /dev/null "http://127.0.0.1:$front/twin"  # two writers have met
# A result that fails, with a label that was set before anything was shown: it is taken away. Then somebody sets it again.
worse=fixtures/contracts/expected/finance/change-of-control.json
sed -i -E 's/"(min|max)_expected_findings": [0-9]+/"\1_expected_findings": 0/' "$work/repo/$worse"
(gate 3) > /dev/null 2>&1 || true                    # merges and removes the second comment
curl -s -o /dev/null "http://127.0.0.1:$front/label"
action 21 pull_request.labeled pull_request run      # is approved, and starts the older red run again
cp "$root/$worse" "$work/repo/$worse"
# A push and a merge group of approved pull requests with a result that is worse than the base commit's.
cp "$root/goldgate.yaml" "$work/base.yaml"
sed -i -E 's/"(min|max)_expected_findings": [0-9]+/"\1_expected_findings": 0/' "$work/repo/$worse"
# With these, more files differ than are read one by one.
for file in "$work"/repo/fixtures/contracts/expected/finance/*.json; do echo >> "$file"; done
archive 5555555
curl -s -o /dev/null "http://127.0.0.1:$front/base" # the base commit has the files that were not changed
events() { python3 - "$root/tests/events/$1.json" "$work/$1.json" "$2" << 'END'; }
import json, sys
payload = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(payload, open(sys.argv[2], 'w'))
END
events push "payload.update(ref='refs/heads/master', before='b' * 40, after='5' * 40); payload['repository']['default_branch'] = 'master'"
events merge_group "payload['merge_group'].update(base_ref='refs/heads/master', base_sha='b' * 40, head_sha='5' * 40)"
gate_of() { action "$1" "$2" "$2" run GITHUB_EVENT_PATH="$work/$2.json" GITHUB_SHA=5555555555555555555555555555555555555555 INPUT_BLOCKING=false; }
gate_of 10 push
gate_of 11 merge_group
cp "$root"/fixtures/contracts/expected/finance/*.json "$work/repo/fixtures/contracts/expected/finance/"
curl -s -o /dev/null "http://127.0.0.1:$front/nobase"
# The doctor, on the workflows of the documentation.
mkdir -p "$work/doctor/.github/workflows"
cp "$root/goldgate.yaml" "$work/doctor/"
cp "$root"/docs/workflows/*.yml "$work/doctor/.github/workflows/"
sed -i -e 's|OWNER/goldgate@0*|acme/goldgate@1111111111111111111111111111111111111111|' "$work"/doctor/.github/workflows/*.yml
code=0
(cd "$work/doctor" && env -i GITHUB_REPOSITORY=acme/agents GITHUB_TOKEN=no-real-token GITHUB_API_URL="http://127.0.0.1:$front" \
  GITHUB_GRAPHQL_URL="http://127.0.0.1:$front/graphql" "$binary" check --github) > "$work/doctor.log" 2>&1 || code=$?
[[ $code -le 2 ]] || { tail -20 "$work/doctor.log" >&2; exit 1; }
main=(GITHUB_SHA=5555555555555555555555555555555555555555 GITHUB_REF=refs/heads/master)
action 7 push push run "${main[@]}"
action 8 push push baseline-pr "${main[@]}" # opens the pull request
action 9 push push baseline-pr "${main[@]}" # updates it

judge 'POST /graphql viewer' 'POST /graphql repository' 'GET /repos/acme/agents/pulls/2' 'GET /repos/acme/agents/contents/' 'GET /repos/acme/agents/issues/2/comments' \
  'POST /repos/acme/agents/issues/2/comments' 'PATCH /repos/acme/agents/issues/comments/1' \
  'DELETE /repos/acme/agents/issues/comments/2' 'DELETE /repos/acme/agents/issues/2/labels/goldgate%3Aaccept-baseline' \
  'GET /repos/acme/agents/compare/' 'GET /repos/acme/agents/issues/2/timeline?' 'GET /repos/acme/agents/activity?ref=refs%2Fheads%2Fchanges' \
  'GET /repos/acme/agents/collaborators/Codertocat/permission' \
  'GET /repos/acme/agents/actions/workflows/goldgate.yml/runs?' 'GET /repos/acme/agents/actions/runs/7/attempts/1/jobs' \
  'POST /repos/acme/agents/actions/runs/7/rerun-failed-jobs' \
  'GET /repos/acme/agents/git/ref/' 'GET /repos/acme/agents/git/commits/' 'POST /repos/acme/agents/git/trees' \
  'POST /repos/acme/agents/git/commits' 'POST /repos/acme/agents/git/refs' 'PATCH /repos/acme/agents/git/refs/' \
  'GET /repos/acme/agents/commits/5555555555555555555555555555555555555555/pulls' 'GET /repos/acme/agents/pulls?state=closed' \
  'GET /repos/acme/agents/git/blobs/' 'GET /repos/acme/agents/tarball/' 'GET /repos/acme/agents ' \
  'GET /repos/acme/agents/rules/branches/master?' 'GET /repos/acme/agents/branches/master ' 'GET /repos/acme/agents/labels/' \
  'GET /repos/acme/agents/environments/' 'GET /repos/acme/goldgate/contents/action.yml?' \
  'GET /repos/acme/agents/pulls?' 'POST /repos/acme/agents/pulls' 'PATCH /repos/acme/agents/pulls/3'
