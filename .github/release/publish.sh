#!/usr/bin/env bash
# Drafts the release of the tag with the files of a folder, and moves the major tag to a new commit whose action.yml names the image
# by its digest, so that users of the major tag or that commit need no build. usage: publish.sh FOLDER IMAGE@DIGEST
set -euo pipefail
folder=${1:?the folder}
image=${2:?the image}
[[ $image =~ ^ghcr\.io/[a-z0-9._/-]+@sha256:[0-9a-f]{64}$ ]] || { echo "not an image with a digest: $image" >&2; exit 1; }
repository=repos/$GITHUB_REPOSITORY
major=${GITHUB_REF_NAME%%.*}

pinned=$(sed "s|^  image: Dockerfile\$|  image: docker://$image|" action.yml)
grep -q "^  image: docker://$image\$" <<< "$pinned" || { echo "action.yml has no Dockerfile to replace" >&2; exit 1; }
base=$(gh api "$repository/git/commits/$GITHUB_SHA" --jq .tree.sha)
tree=$(jq -n --arg base "$base" --arg text "$pinned" \
    '{base_tree: $base, tree: [{path: "action.yml", mode: "100644", type: "blob", content: ($text + "\n")}]}' |
    gh api "$repository/git/trees" --input - --jq .sha)
commit=$(jq -n --arg tree "$tree" --arg parent "$GITHUB_SHA" --arg message "Name the image of $GITHUB_REF_NAME by its digest" \
    '{message: $message, tree: $tree, parents: [$parent]}' | gh api "$repository/git/commits" --input - --jq .sha)

gh api --method PATCH "$repository/git/refs/tags/$major" -f sha="$commit" -F force=true > /dev/null 2>&1 ||
    gh api --method POST "$repository/git/refs" -f ref="refs/tags/$major" -f sha="$commit" > /dev/null

cat > "$folder/notes.md" <<NOTES
Pin the action by the commit that names the built image:

    - uses: $GITHUB_REPOSITORY@$commit # $GITHUB_REF_NAME

The image is $image.
NOTES
gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --verify-tag --draft --generate-notes --notes-file "$folder/notes.md" \
    "$folder"/*.tar.gz "$folder/SHA256SUMS"
