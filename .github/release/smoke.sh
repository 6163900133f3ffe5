#!/usr/bin/env bash
# Checks on a new machine that anybody can pull the image of a release's commit, without a login, and grade with it. It prints the time.
# usage: smoke.sh, in a checkout of that commit
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
image=$(sed -n 's|^  image: docker://||p' action.yml)
[[ $image == *@sha256:* ]] || { echo "action.yml names no image by digest: $image" >&2; exit 1; }
DOCKER_CONFIG=$(mktemp -d)
export DOCKER_CONFIG
printf '{}' > "$DOCKER_CONFIG/config.json"
if ! docker pull "$image"; then
    printf '::error title=release::%s\n' "$image cannot be pulled without a login: the package on ghcr.io has to be public. Change its visibility in the \
package settings, then run the failed jobs again."
    exit 1
fi
docker run --rm --network none --volume "$PWD:/github/workspace:ro" --workdir /github/workspace --entrypoint /goldgate "$image" run
printf 'the pull and the first graded run took %d s\n' "$SECONDS"
