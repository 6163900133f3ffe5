#!/usr/bin/env bash
# Builds the image for this machine's architecture, copies the static binary out of it, and pushes the image. The download and the
# action therefore run the same bytes. usage: build.sh ARCH FOLDER, with TOKEN for the registry.
set -euo pipefail
arch=${1:?the architecture}
folder=${2:?the folder}
image=ghcr.io/${GITHUB_REPOSITORY,,}:$GITHUB_REF_NAME-$arch

docker build --tag "$image" .
mkdir -p "$folder"
made=$(docker create "$image")
docker cp "$made:/goldgate" "$folder/goldgate"
docker rm "$made" > /dev/null
"$folder/goldgate" --version
tar --directory "$folder" --create --gzip --owner 0 --group 0 --numeric-owner --file "$folder/goldgate-$arch-linux.tar.gz" goldgate
rm "$folder/goldgate"

docker login ghcr.io --username "$GITHUB_ACTOR" --password-stdin <<< "$TOKEN"
docker push "$image"
