#!/usr/bin/env bash
# Joins the images of both architectures under the release's tag, and prints `name=` and `digest=` of the joined image. It needs
# TOKEN for the registry.
set -euo pipefail
name=ghcr.io/${GITHUB_REPOSITORY,,}
docker login ghcr.io --username "$GITHUB_ACTOR" --password-stdin <<< "$TOKEN" >&2
docker buildx imagetools create --tag "$name:$GITHUB_REF_NAME" "$name:$GITHUB_REF_NAME-x86_64" "$name:$GITHUB_REF_NAME-aarch64" >&2
digest=$(docker buildx imagetools inspect "$name:$GITHUB_REF_NAME" --format '{{.Manifest.Digest}}')
[[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "the image has no digest: $digest" >&2; exit 1; }
printf 'name=%s\ndigest=%s\n' "$name" "$digest"
