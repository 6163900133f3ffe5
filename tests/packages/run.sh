#!/usr/bin/env bash
# Builds the packages for PyPI and npm as the release does, twice, and compares the bytes. Then it installs them from a local index and a
# local registry, and uses them. Speaks to this machine alone. Needs Python 3.11 and npm. usage: tests/packages/run.sh
#     GOLDGATE_BINARY is a program to pack instead of a new build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=${GOLDGATE_BINARY:-}
if [[ -z $binary ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/debug/goldgate
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)
export GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=acme/goldgate

# The archives as the build jobs leave them. That of another system has no program, so nothing here can start it.
mkdir "$work/pack" "$work/dist"
strip -o "$work/pack/goldgate" "$binary"
bash "$root/.github/release/pack.sh" "$work/pack" "$work/dist/goldgate-$(uname -m)-linux.tar.gz"
printf 'the program for another system\n' > "$work/pack/goldgate.other"
mkdir "$work/other"
tar -xzf "$work/dist/goldgate-$(uname -m)-linux.tar.gz" -C "$work/other"
mv "$work/pack/goldgate.other" "$work/other/goldgate"
tar -czf "$work/dist/goldgate-aarch64-macos.tar.gz" -C "$work/other" goldgate completions man

python3 "$root/setup/packages/build.py" "$work/dist" "$work/first"
find "$work/dist" -type f -exec touch --date 2001-02-03 {} +
(cd / && umask 077 && TZ=Asia/Tokyo PYTHONHASHSEED=7 python3 "$root/setup/packages/build.py" "$work/dist" "$work/second" > "$work/log")
diff --recursive "$work/first" "$work/second"
echo "packages: the same archives give the same bytes"
unzip -p "$work/first/pypi/"*_"$(uname -m)".*.whl '*.data/scripts/goldgate' | cmp - "$work/pack/goldgate"
tar -xzOf "$work/first/npm/goldgate-linux-"*.tgz package/goldgate | cmp - "$work/pack/goldgate"
echo "packages: both have the very binary of the archive"
if python3 "$root/setup/packages/build.py" "$work/none" "$work/third" 2> "$work/log"; then
    echo "packages: NOT TRUE: without archives there are no packages" >&2
    exit 1
fi
bash "$root/tests/packages/try.sh" "$work/first" "$version"
