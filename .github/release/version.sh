#!/usr/bin/env bash
# Checks that a version can be released: Cargo.toml has it, the run is on the default branch, and no tag of this version exists.
# It reads DEFAULT_BRANCH, GITHUB_REF and TOKEN. usage: version.sh X.Y.Z
set -euo pipefail
# shellcheck source=.github/release/git.sh
. "$(dirname "${BASH_SOURCE[0]}")/git.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fail() {
    printf '::error title=release::%s\n' "$1"
    exit 1
}
wanted=${1:?the version}
[[ $wanted =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version is \"$wanted\"; write a version such as 0.2.0, without a v"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
[[ $wanted == "$version" ]] || fail "the version is $wanted, but Cargo.toml has $version; change the version in a pull request first"
[[ $GITHUB_REF == "refs/heads/$DEFAULT_BRANCH" ]] || fail "this run is on $GITHUB_REF; start it on $DEFAULT_BRANCH"
existing=$(server ls-remote --tags origin "refs/tags/v$wanted")
[[ -z $existing ]] || fail "the tag v$wanted exists already; a released version never changes, so release the next one"
