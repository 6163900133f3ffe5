#!/usr/bin/env bash
# Tags the commit of a release as vX.Y.Z, publishes the release, and moves the tag vX to it if no later version exists. Every step can
# run again. It reads TOKEN for git, GH_TOKEN for the release. usage: tag.sh VERSION COMMIT FOLDER IMAGE@DIGEST
set -euo pipefail
# shellcheck source=.github/release/git.sh
. "$(dirname "${BASH_SOURCE[0]}")/git.sh"
version=${1:?the version}
commit=${2:?the commit}
folder=${3:?the folder}
image=${4:?the image}
tag=v$version
major=${tag%%.*}

# The commit behind a tag of the server, or nothing.
tagged() { server ls-remote origin "refs/tags/$1" "refs/tags/$1^{}" | tail -1 | cut -f1; }

existing=$(tagged "$tag")
if [[ -z $existing ]]; then
    server push origin "$commit:refs/tags/$tag"
elif [[ $existing != "$commit" ]]; then
    echo "the tag $tag exists and is the commit $existing, not $commit; a released version never changes" >&2
    exit 1
fi

notes=$(mktemp)
cat > "$notes" <<NOTES
Pin the action by its commit:

    - uses: $GITHUB_REPOSITORY@$commit # $tag

The image is $image.
NOTES
released=$(gh release list --repo "$GITHUB_REPOSITORY" --limit 1000 --json tagName --jq '.[].tagName')
if ! grep -qxF "$tag" <<< "$released"; then
    (cd "$folder" && sha256sum goldgate-*.tar.gz > SHA256SUMS)
    gh release create "$tag" --repo "$GITHUB_REPOSITORY" --verify-tag --title "$version" --generate-notes --notes-file "$notes" \
        "$folder"/goldgate-*.tar.gz "$folder/SHA256SUMS"
fi

latest=$(server ls-remote --tags origin "refs/tags/$major.*" | sed -n "s|.*refs/tags/\($major\.[0-9]*\.[0-9]*\)\$|\1|p" | sort -V | tail -1)
if [[ $latest != "$tag" ]]; then
    echo "$major stays where it is, because $latest is later than $tag"
    exit 0
fi
# GitHub refuses to move a tag with the workflow's own token if workflow files differ between the two commits, and no permission of
# a workflow changes that (github/docs#41140). The release is complete without this step.
if ! server push --force origin "$commit:refs/tags/$major"; then
    printf '::error title=release::%s\n' "$tag is released, but $major still is the release before. Somebody who may change workflow files runs: \
git fetch origin $tag && git push --force origin $commit:refs/tags/$major"
    exit 1
fi
# The tag holds the commit now.
branch=$(server ls-remote origin "refs/heads/release/$version")
[[ -z $branch ]] || server push origin ":refs/heads/release/$version"
