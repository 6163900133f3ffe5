#!/usr/bin/env bash
# Builds the binary for this machine, or for macOS on Intel, and packs it with its completions and manual pages. On Linux it is the binary of the image, so
# the download and the action run the same bytes, and the image is pushed under a name of this run. usage: build.sh NAME FOLDER (NAME such as x86_64-linux)
# It reads VERSION, and on Linux TOKEN for the registry.
set -euo pipefail
name=${1:?the name}
folder=${2:?the folder}
mkdir -p "$folder"
case $name in
    *-linux)
        image=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<< "$GITHUB_REPOSITORY"):build-$GITHUB_RUN_ID-$name
        docker build --build-arg PROFILE=image --label "org.opencontainers.image.source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
            --label "org.opencontainers.image.revision=$GITHUB_SHA" --label "org.opencontainers.image.version=$VERSION" --tag "$image" .
        container=$(docker create "$image")
        docker cp "$container:/goldgate" "$folder/goldgate"
        docker rm "$container"
        ;;
    x86_64-macos)
        # On Apple silicon, which runs the result as well.
        rustup target add x86_64-apple-darwin
        cargo build --locked --profile image --bin goldgate --target x86_64-apple-darwin
        cp target/x86_64-apple-darwin/image/goldgate "$folder/goldgate"
        ;;
    *)
        cargo build --locked --profile image --bin goldgate
        cp target/image/goldgate "$folder/goldgate"
        ;;
esac
found=$("$folder/goldgate" --version)
[[ $found == "goldgate $VERSION" ]] || { echo "the binary is $found, not goldgate $VERSION" >&2; exit 1; }
bash "$(dirname "${BASH_SOURCE[0]}")/pack.sh" "$folder" "$folder/goldgate-$name.tar.gz"
rm "$folder/goldgate"
if [[ $name == *-linux ]]; then
    docker login ghcr.io --username "$GITHUB_ACTOR" --password-stdin <<< "$TOKEN"
    docker push "$image"
fi
