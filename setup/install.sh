#!/usr/bin/env bash
# Downloads the static binary of this commit's release, verifies it against the checksum in this commit, and puts it on the PATH of
# the job's later steps. It reads SETUP_ADDRESS, SETUP_ATTESTATION and SETUP_REPOSITORY, and the runner's own variables.
# It runs with the bash 3.2 of macOS and the one of Git for Windows.
set -euo pipefail
fail() {
    printf '::error title=goldgate setup::%s\n' "$1"
    exit 1
}

case $SETUP_ATTESTATION in
    true | false | auto) ;;
    *) fail "attestation is \"$SETUP_ATTESTATION\"; use true, false or auto" ;;
esac
release=$GITHUB_ACTION_PATH/release.txt
version=$(sed -n 's/^version //p' "$release")
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "this commit of the action is no release; use the commit of a release, such as the one of the newest tag vX.Y.Z"
case $(uname -s)-$(uname -m) in
    Linux-x86_64) name=x86_64-linux ;;
    Linux-aarch64 | Linux-arm64) name=aarch64-linux ;;
    Darwin-x86_64) name=x86_64-macos ;;
    Darwin-arm64) name=aarch64-macos ;;
    MINGW*-x86_64 | MSYS*-x86_64) name=x86_64-windows ;;
    *) name=$(uname -m)-$(uname -s) ;;
esac
archive=goldgate-$name.tar.gz
sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$release")
[[ -n $sum ]] || fail "goldgate $version has no binary for $(uname -s) on $(uname -m); it has $(sed -n 's/^[0-9a-f]\{64\}  goldgate-\(.*\)\.tar\.gz$/\1/p' "$release" | tr '\n' ' ')"
address=${SETUP_ADDRESS:-$(sed -n 's/^from //p' "$release")}

folder=$(mktemp -d "${RUNNER_TEMP:?}/goldgate.XXXXXX")
curl --silent --show-error --fail --location --retry 5 --output "$folder/$archive" "${address%/}/$archive" ||
    fail "$address/$archive cannot be downloaded"
# macOS has shasum, the other systems have sha256sum.
if command -v sha256sum > "$folder/which"; then hash=(sha256sum); else hash=(shasum -a 256); fi
found=$("${hash[@]}" < "$folder/$archive" | cut -d' ' -f1)
[[ $found == "$sum" ]] || fail "$archive has the SHA-256 $found, but this commit of the action names $sum"

if [[ $SETUP_ATTESTATION == auto ]]; then
    SETUP_ATTESTATION=false
    if [[ ${GITHUB_SERVER_URL:-} == https://github.com ]]; then
        # gh has this command since 2.49, and Ubuntu 24.04 has an older one.
        if gh attestation verify --help | grep -e --signer-workflow > "$folder/which"; then
            SETUP_ATTESTATION=true
        else
            printf '::notice title=goldgate setup::the SHA-256 is right; the attestation is not verified, because the runner has no gh 2.49 or newer\n'
        fi
    fi
fi
if [[ $SETUP_ATTESTATION == true ]]; then
    command -v gh > "$folder/which" || fail "attestation is true, but the runner has no gh; install it, or use attestation: auto"
    gh attestation verify "$folder/$archive" --repo "$SETUP_REPOSITORY" --signer-workflow "$SETUP_REPOSITORY/.github/workflows/release.yml" ||
        fail "$archive was not attested by the release workflow of $SETUP_REPOSITORY, or the attestation cannot be read"
fi

mkdir "$folder/bin"
tar -xzf "$folder/$archive" -C "$folder/bin"
path=$folder/bin
if command -v cygpath > "$folder/which"; then path=$(cygpath -w "$path"); fi
found=$("$folder/bin/goldgate" --version)
[[ $found == "goldgate $version" ]] || fail "the archive of goldgate $version contains $found"
printf '%s\n' "$path" >> "$GITHUB_PATH"
printf 'version=%s\npath=%s/goldgate\n' "$version" "$path" >> "$GITHUB_OUTPUT"
printf '%s is on the PATH\n' "$found"
