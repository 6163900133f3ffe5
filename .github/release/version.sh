#!/usr/bin/env bash
# Checks that the tag of a release is the version in Cargo.toml. usage: version.sh vX.Y.Z
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tag=${1:?the tag}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
if [[ $tag != "v$version" ]]; then
    echo "the tag is $tag, but Cargo.toml has $version: use the tag v$version, or change the version first" >&2
    exit 1
fi
