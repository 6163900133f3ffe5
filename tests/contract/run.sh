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
if [ ! -d node_modules/@stoplight/prism-cli ] || [ ! -d node_modules/@octokit/openapi ]; then
  npm install --no-save --no-audit --no-fund --loglevel=error @stoplight/prism-cli@5 @octokit/openapi
fi
node "$here/trim.mjs" node_modules/@octokit/openapi/generated/api.github.com.json api.json
node node_modules/@stoplight/prism-cli/dist/index.js mock -h 127.0.0.1 -p "$mock" api.json > "$work/mock.log" 2>&1 &
pids+=($!)
node "$here/front.mjs" "$front" "$mock" "$work/requests.log" &
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
action() {
  env -i GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH="$root/tests/events/pull_request.opened.json" GITHUB_WORKSPACE="$work/repo" \
    GITHUB_REPOSITORY=acme/agents GITHUB_API_URL="http://127.0.0.1:$front" GITHUB_SERVER_URL=http://127.0.0.1 GITHUB_RUN_ID="$1" \
    GITHUB_RUN_ATTEMPT=1 INPUT_TOKEN=no-real-token INPUT_OUT="$work/out" "$binary" action > "$work/action.log" || { tail -20 "$work/action.log" >&2; exit 1; }
}
action 1                                             # makes the comment
action 2                                             # updates it
curl -s -o /dev/null "http://127.0.0.1:$front/twin"  # two writers have met
action 3                                             # merges and removes the second

sort "$work/requests.log" | uniq -c
for wanted in 'GET /user' 'GET /repos/acme/agents/pulls/2' 'GET /repos/acme/agents/contents/' 'GET /repos/acme/agents/issues/2/comments' \
  'POST /repos/acme/agents/issues/2/comments' 'GET /repos/acme/agents/issues/comments/1' 'PATCH /repos/acme/agents/issues/comments/1' \
  'DELETE /repos/acme/agents/issues/comments/2'; do
  grep -q "^accepted [0-9]* $wanted" "$work/requests.log" || { echo "no accepted request $wanted" >&2; exit 1; }
done
if grep '^REFUSED' "$work/requests.log" >&2; then exit 1; fi
echo "every request is as GitHub describes it"
