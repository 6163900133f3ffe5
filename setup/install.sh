#!/usr/bin/env bash
# Downloads the static binary of a release, verifies it, and puts it on the PATH of the job's later steps.
# It reads SETUP_VERSION, SETUP_ATTESTATION and SETUP_REPOSITORY, and the runner's own variables.
set -euo pipefail
fail() {
    printf '::error title=goldgate setup::%s\n' "$1"
    exit 1
}

version=${SETUP_VERSION#v}
if [[ -z $version ]]; then
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$GITHUB_ACTION_PATH/../Cargo.toml" | head -1)
fi
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version is \"$version\"; use a version such as 0.1.0"
[[ $SETUP_REPOSITORY =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || fail "the action's repository is \"$SETUP_REPOSITORY\""
case $SETUP_ATTESTATION in
    true | false) ;;
    *) fail "attestation is \"$SETUP_ATTESTATION\"; use true or false" ;;
esac
case $(uname -s)-$(uname -m) in
    Linux-x86_64) arch=x86_64 ;;
    Linux-aarch64) arch=aarch64 ;;
    *) fail "binaries exist for Linux on x86_64 and aarch64, but this is $(uname -s) on $(uname -m)" ;;
esac

archive=goldgate-$arch-linux.tar.gz
from=${GITHUB_SERVER_URL:-https://github.com}/$SETUP_REPOSITORY/releases/download/v$version
folder=$(mktemp -d "${RUNNER_TEMP:?}/goldgate.XXXXXX")
for file in "$archive" SHA256SUMS; do
    curl --silent --show-error --fail --location --retry 5 --output "$folder/$file" "$from/$file" ||
        fail "$from/$file cannot be downloaded"
done
# Only this archive's line is checked, and it must exist.
(cd "$folder" && grep -E "^[0-9a-f]{64}  $archive\$" SHA256SUMS > own && sha256sum --check --status own) ||
    fail "$archive does not match SHA256SUMS of the release"
if [[ $SETUP_ATTESTATION == true ]]; then
    gh attestation verify "$folder/$archive" --repo "$SETUP_REPOSITORY" --signer-workflow "$SETUP_REPOSITORY/.github/workflows/release.yml" ||
        fail "$archive was not attested by the release workflow of $SETUP_REPOSITORY"
fi
mkdir "$folder/bin"
tar --extract --gzip --file "$folder/$archive" --directory "$folder/bin" goldgate
found=$("$folder/bin/goldgate" --version)
[[ $found == "goldgate $version" ]] || fail "the archive of $version contains $found"
printf '%s\n' "$folder/bin" >> "$GITHUB_PATH"
printf 'version=%s\n' "$version" >> "$GITHUB_OUTPUT"
printf '%s is on the PATH\n' "$found"
