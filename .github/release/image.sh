#!/usr/bin/env bash
# Joins the images of this run's architectures into one, and prints its `name=` and `digest=`. It reads VERSION, and TOKEN for the
# registry.
set -euo pipefail
name=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<< "$GITHUB_REPOSITORY")
docker login ghcr.io --username "$GITHUB_ACTOR" --password-stdin <<< "$TOKEN" >&2
docker buildx imagetools create --tag "$name:$VERSION" \
    --annotation "index:org.opencontainers.image.source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
    "$name:build-$GITHUB_RUN_ID-x86_64-linux" "$name:build-$GITHUB_RUN_ID-aarch64-linux" >&2
digest=$(docker buildx imagetools inspect "$name:$VERSION" --format '{{.Manifest.Digest}}')
[[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "the image has no digest: $digest" >&2; exit 1; }
printf 'name=%s\ndigest=%s\n' "$name" "$digest"
