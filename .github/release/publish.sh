#!/usr/bin/env bash
# Publishes the archives as a prerelease with a name of this run, and prints `address=`, where anybody can download them. The commit
# of the release names this address, so it exists before the tag. It reads GH_TOKEN. usage: publish.sh VERSION FOLDER
set -euo pipefail
version=${1:?the version}
folder=${2:?the folder}
name=build-$version-$GITHUB_RUN_ID-${GITHUB_RUN_ATTEMPT:-1}
(cd "$folder" && sha256sum goldgate-*.tar.gz > SHA256SUMS)
gh release create "$name" --repo "$GITHUB_REPOSITORY" --target "$GITHUB_SHA" --prerelease --latest=false \
    --title "Archives of $version" --notes "The archives that the release $version downloads. Use the release, not this page." \
    "$folder"/goldgate-*.tar.gz "$folder/SHA256SUMS" >&2
printf 'address=%s/%s/releases/download/%s\n' "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$name"
