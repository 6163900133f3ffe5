#!/usr/bin/env bash
# Releases two versions on this machine with the scripts of the release workflow, against a real git server that refuses what GitHub
# refuses. Every ref that a user can pin has to name a published image and working archives, also after the next release.
# If podman, docker-registry and the image debian:bookworm-slim are there, the image is a real one that is pushed, pulled by digest
# without a login, and started. Speaks to this machine alone. usage: tests/release/run.sh     GOLDGATE_BINARY is a program to release
# instead of a new build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
port=${GOLDGATE_RELEASE_PORT:-14050}
work=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2> "$work/none" || true; done
    rm -rf "$work"
}
trap cleanup EXIT

export SIMULATION=$work/github PATH=$root/tests/release/bin:$PATH
export GITHUB_SERVER_URL=http://127.0.0.1:$port GITHUB_REPOSITORY=acme/goldgate GITHUB_REF=refs/heads/main DEFAULT_BRANCH=main
export TOKEN=job-token GH_TOKEN=job-token GITHUB_RUN_ID=41
origin=$GITHUB_SERVER_URL/acme/goldgate.git
bare=$SIMULATION/git/acme/goldgate.git
mkdir -p "$SIMULATION/git/acme" "$SIMULATION/files/acme/goldgate/releases/download"
printf 'job-token github-actions\nmaintainer-token maintainer\n' > "$SIMULATION/tokens"
touch "$SIMULATION/attested"
git init --quiet --bare --initial-branch main "$bare"
git -C "$bare" config http.receivepack true
cp "$root/tests/release/refuse-workflows.py" "$bare/hooks/pre-receive"
chmod +x "$bare/hooks/pre-receive"
python3 "$root/tests/release/server.py" "$port" "$SIMULATION" &
pids+=($!)
for _ in $(seq 50); do
    if git ls-remote "$origin" > "$work/none" 2>&1; then break; fi
    sleep 0.2
done

steps=0
# holds WHAT COMMAND…: counts a statement that is true, or shows the log and ends.
holds() {
    local what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        steps=$((steps + 1))
        printf 'release: %s\n' "$what"
    else
        printf 'release: NOT TRUE: %s\n' "$what" >&2
        cat "$work/log" >&2
        exit 1
    fi
}
# refuses WORDS COMMAND…: true if the command fails and prints the words.
refuses() {
    local words=$1 code=0
    shift
    "$@" > "$work/refused" 2>&1 || code=$?
    cat "$work/refused"
    ((code != 0)) && grep -qF -- "$words" "$work/refused"
}
# as TOKEN COMMAND…
as() {
    local token=$1
    shift
    TOKEN=$token "$@"
}
at() { git -C "$bare" rev-parse --quiet --verify "$1^{commit}"; }
script() {
    local name=$1
    shift
    (cd "$source" && bash ".github/release/$name.sh" "$@")
}

# The default branch: this repository's files.
source=$work/source
git clone --quiet "$origin" "$source" 2> "$work/none"
(cd "$root" && git ls-files -z --cached --others --exclude-standard -- action.yml setup .github Cargo.toml goldgate.yaml fixtures examples baselines |
    xargs -0 cp --parents --target-directory "$source")
# change MESSAGE: a commit on the default branch, by a maintainer.
change() {
    git -C "$source" add --all
    git -C "$source" -c user.name=Acme -c user.email=acme@example.com commit --quiet --message "$1"
    (cd "$source" && . "$root/.github/release/git.sh" && TOKEN=maintainer-token server push --quiet origin main)
    GITHUB_SHA=$(git -C "$source" rev-parse HEAD)
    export GITHUB_SHA
}
change "The first version"
version=$("$binary" --version | cut -d' ' -f2)

holds "another version than Cargo.toml's is refused" refuses "but Cargo.toml has $version" script version 9.9.9
holds "a version with a v is refused" refuses 'without a v' script version "v$version"
GITHUB_REF=refs/heads/other holds "another branch than the default one is refused" refuses 'start it on main' script version "$version"
holds "the version of Cargo.toml can be released" script version "$version"

# An image: a real one if this machine can make it.
image=127.0.0.1:$((port + 1))/acme/goldgate
engine=no
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
if command -v podman > "$work/none" && command -v docker-registry > "$work/none" && podman image exists debian:bookworm-slim; then
    engine=yes
    printf '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n' \
        > "$work/containers.conf"
    export CONTAINERS_CONF=$work/containers.conf
    printf 'version: 0.1\nstorage: { filesystem: { rootdirectory: %s/registry } }\nhttp: { addr: 127.0.0.1:%d }\n' "$work" $((port + 1)) > "$work/registry.yml"
    docker-registry serve "$work/registry.yml" > "$work/registry.log" 2>&1 &
    pids+=($!)
    mkdir "$work/image" "$work/docker"
    strip -o "$work/image/goldgate" "$binary"
    printf 'FROM debian:bookworm-slim\nCOPY goldgate /goldgate\nENTRYPOINT ["/goldgate", "action"]\n' > "$work/image/Dockerfile"
    # The release asks for docker; podman answers, and knows that this registry has no certificate.
    cat > "$work/docker/docker" <<'DOCKER'
#!/bin/sh
verb=$1
shift
[ "$verb" = pull ] && set -- --tls-verify=false "$@"
[ "$verb" = run ] && set -- --pull never --ulimit nofile=1024:4096 --ulimit nproc=4096:4096 "$@"
exec podman "$verb" "$@"
DOCKER
    chmod +x "$work/docker/docker"
    PATH=$work/docker:$PATH
fi
# make_image VERSION: pushes an image and prints it with its digest.
make_image() {
    if [[ $engine == no ]]; then
        printf '%s@sha256:%s\n' "$image" "$(printf '%s' "$1" | sha256sum | cut -d' ' -f1)"
        return
    fi
    podman build --quiet --isolation chroot --pull=never --label "version=$1" --tag "$image:$1" "$work/image" > "$work/none"
    podman push --quiet --tls-verify=false --digestfile "$work/digest" "$image:$1" 2> "$work/push.log" || { cat "$work/push.log" >&2; return 1; }
    podman rmi --force "$image:$1" > "$work/none"
    printf '%s@%s\n' "$image" "$(<"$work/digest")"
}
# pack VERSION PROGRAM: the archives as the build jobs leave them.
pack() {
    rm -rf "$work/dist"
    mkdir -p "$work/dist" "$work/pack"
    cp "$2" "$work/pack/goldgate"
    script pack "$work/pack" "$work/dist/goldgate-$(uname -m)-linux.tar.gz"
    printf 'the archive of %s for another system' "$1" | gzip > "$work/dist/goldgate-aarch64-macos.tar.gz"
    (cd "$work/dist" && sha256sum ./*.tar.gz) >> "$SIMULATION/attested"
}
# publish VERSION: what the jobs attest and publish do; sets commit and pinned.
publish() {
    local address
    pinned=$(make_image "$1")
    address=$(script publish "$1" "$work/dist" | sed -n 's/^address=//p')
    commit=$(script commit "$1" "$work/dist" "$pinned" "$address" | sed -n 's/^commit=//p')
    [[ $commit =~ ^[0-9a-f]{40}$ ]]
}
# install FOLDER: the setup action of a checkout.
install() {
    rm -rf "$work/temp"
    mkdir "$work/temp"
    : > "$work/path"
    : > "$work/output"
    (cd "$1" && env SETUP_ADDRESS="${ADDRESS:-}" SETUP_ATTESTATION="${ATTESTATION:-auto}" SETUP_REPOSITORY=acme/goldgate RUNNER_TEMP="$work/temp" \
        GITHUB_ACTION_PATH="$1/setup" GITHUB_PATH="$work/path" GITHUB_OUTPUT="$work/output" bash setup/install.sh)
}
# works REF VERSION IMAGE: an anonymous user who pins the ref gets the image and the archives of the version.
works() {
    local copy=$work/user
    rm -rf "$copy"
    git init --quiet "$copy"
    git -C "$copy" fetch --quiet --depth 1 "$origin" "$1"
    git -C "$copy" checkout --quiet FETCH_HEAD
    grep -qx "  image: docker://$3" "$copy/action.yml"
    install "$copy"
    [[ $("$(<"$work/path")/goldgate" --version) == "goldgate $2" ]]
    grep -qx "version=$2" "$work/output"
    if [[ $engine == yes ]]; then (cd "$copy" && bash .github/release/smoke.sh) && tail -1 "$work/log" >> "$work/times"; fi
}
# stays REF…: no release makes a commit unreachable.
stays() {
    local ref
    for ref in "$@"; do [[ -n $(git -C "$bare" for-each-ref --contains "$ref" refs/tags refs/heads) ]] || return 1; done
}
not() { ! "$@"; }

holds "main has no release, and setup says so" refuses 'this commit of the action is no release' install "$source"
pack "$version" "$binary"
# packed FILE TEXT: the archive has this file with this text in it.
packed() {
    tar -xzOf "$work/dist/goldgate-$(uname -m)-linux.tar.gz" "$1" > "$work/packed"
    grep -qF -- "$2" "$work/packed"
}
holds "the archive has completions for bash" packed completions/goldgate.bash 'selftest'
holds "the archive has completions for zsh" packed completions/_goldgate '#compdef goldgate'
holds "the archive has the manual page" packed man/goldgate.1 '.TH goldgate 1'
holds "the archive has the manual page of each command" packed man/goldgate-run.1 'update\-baseline'
publish "$version"
first=$commit first_image=$pinned
holds "the commit of the release is made before its tag" not at "v$version"
holds "it can be used before its tag" works "$first" "$version" "$first_image"
seconds=$SECONDS
install "$work/user" > "$work/none"
(cd "$work/user" && "$(<"$work/path")/goldgate" run --suite contracts > "$work/none")
holds "from the setup action to the first graded suite it takes less than 10 s: $((SECONDS - seconds)) s" test $((SECONDS - seconds)) -lt 10
holds "the same inputs give the same commit" test "$(script commit "$version" "$work/dist" "$pinned" "$(sed -n 's/^from //p' "$work/user/setup/release.txt")")" = "commit=$first"
holds "its parent is the commit on main, and only two files differ" test "$(git -C "$bare" diff --name-only "$first^" "$first" | tr '\n' ' ')" = 'action.yml setup/release.txt '
holds "the tag job releases it" script tag "$version" "$first" "$work/dist" "$first_image"
for ref in "$first" "v$version" "${version%%.*}"; do
    [[ $ref == [0-9] ]] && ref=v$ref
    holds "who pins ${ref/$first/the commit} gets the published image and archive" works "$ref" "$version" "$first_image"
done
holds "the tag job can run again" script tag "$version" "$first" "$work/dist" "$first_image"
holds "the branch of the release is gone" not at "refs/heads/release/$version"
holds "a released version is not released again" refuses 'exists already' script version "$version"

# The next version, after a change of a workflow.
next=${version%.*}.$((${version##*.} + 1))
sed -i "0,/^version = .*/s//version = \"$next\"/" "$source/Cargo.toml"
printf '# A change.\n' >> "$source/.github/workflows/ci.yml"
change "The next version"
printf '#!/bin/sh\necho "goldgate %s"\n' "$next" > "$work/next"
chmod +x "$work/next"
pack "$next" "$work/next"
publish "$next"
second=$commit second_image=$pinned
major=v${version%%.*}
holds "GitHub's refusal to move $major is visible, with the command" refuses "git push --force origin $second:refs/tags/$major" \
    script tag "$next" "$second" "$work/dist" "$second_image"
holds "the version is released all the same" works "v$next" "$next" "$second_image"
holds "$major still works as before" works "$major" "$version" "$first_image"
holds "a token that may change workflows moves $major" as maintainer-token script tag "$next" "$second" "$work/dist" "$second_image"
holds "$major is the newest release" works "$major" "$next" "$second_image"
holds "the older release still works by tag" works "v$version" "$version" "$first_image"
holds "and by commit" works "$first" "$version" "$first_image"
holds "every released commit stays reachable" stays "$first" "$second"
holds "a tag is never moved to another commit" refuses 'a released version never changes' script tag "$version" "$second" "$work/dist" "$second_image"
holds "an older version leaves $major where it is" script tag "$version" "$first" "$work/dist" "$first_image"
holds "$major is still the newest release" works "$major" "$next" "$second_image"

# What setup refuses, and what it accepts.
copy=$work/user
served=$SIMULATION/files/acme/goldgate/releases/download
archive=goldgate-$(uname -m)-linux.tar.gz
mkdir "$work/mirror"
cp "$served/v$next/$archive" "$work/mirror/"
ADDRESS=file://$work/mirror holds "a mirror needs no trust" install "$copy"
printf 'more' >> "$work/mirror/$archive"
ADDRESS=file://$work/mirror holds "an archive with another checksum is refused" refuses 'but this commit of the action names' install "$copy"
holds "nothing of it is on the PATH" test ! -s "$work/path"
ADDRESS=file://$work/none.d holds "a missing archive is refused" refuses 'cannot be downloaded' install "$copy"
ATTESTATION=true holds "an attested archive is accepted" install "$copy"
: > "$SIMULATION/attested"
ATTESTATION=true holds "an archive without an attestation is refused" refuses 'was not attested' install "$copy"
# automatic WORDS: setup on github.com with attestation: auto succeeds, and prints the words.
automatic() {
    local log
    log=$(GITHUB_SERVER_URL=https://github.com ATTESTATION=auto install "$copy" 2>&1) || { printf '%s\n' "$log" && return 1; }
    printf '%s\n' "$log"
    grep -q "$1" <<< "$log"
}
holds "an archive without an attestation is refused where gh can read it" refuses 'was not attested' automatic ''
touch "$SIMULATION/old-gh"
holds "an old gh is a notice, and the checksum is enough" automatic 'the attestation is not verified'
rm "$SIMULATION/old-gh"
ATTESTATION=yes holds "another value of attestation is refused" refuses 'use true, false or auto' install "$copy"
# on SYSTEM MACHINE: the setup action on a machine that calls itself so.
on() {
    mkdir -p "$work/as"
    printf '#!/bin/sh\nif [ "%s" = -s ]; then echo %s; else echo %s; fi\n' "\$1" "$1" "$2" > "$work/as/uname"
    chmod +x "$work/as/uname"
    (PATH=$work/as:$PATH && install "$copy")
}
# This archive is no program: what counts is that the right one was downloaded and verified.
holds "macOS on ARM gets its own archive" refuses 'bin/goldgate' on Darwin arm64
holds "the error for a system without a binary lists the binaries" refuses "no binary for FreeBSD on riscv64; it has aarch64-macos $(uname -m)-linux" on FreeBSD riscv64

if [[ $engine == yes ]]; then
    podman rmi --force "$second_image" > "$work/none" 2>&1 || true
    kill "${pids[1]}"
    holds "an image that nobody can pull stops the release in words" refuses 'has to be public' bash -c "cd '$copy' && bash .github/release/smoke.sh"
else
    echo "skipped: the image was not started (needs podman, docker-registry and a local image debian:bookworm-slim)"
fi
if [[ -f $work/times ]]; then printf 'release: %s\n' "$(sort --version-sort "$work/times" | head -1)"; fi
printf 'release: %d statements are true\n' "$steps"
