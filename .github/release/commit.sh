#!/usr/bin/env bash
# Makes the commit of a release and pushes it as the branch release/VERSION; prints `commit=`. Its action.yml names the image by its
# digest, and its setup/release.txt has the checksums of the archives. Everything else is the commit of this run, its parent.
# The same inputs give the same commit. It reads TOKEN. usage: commit.sh VERSION FOLDER IMAGE@DIGEST ADDRESS
set -euo pipefail
# shellcheck source=.github/release/git.sh
. "$(dirname "${BASH_SOURCE[0]}")/git.sh"
version=${1:?the version}
folder=${2:?the folder}
image=${3:?the image}
address=${4:?the address of the archives}
[[ $image =~ ^[a-z0-9.:-]+/[a-z0-9._/-]+@sha256:[0-9a-f]{64}$ ]] || { echo "not an image with a digest: $image" >&2; exit 1; }
parent=$(git rev-parse HEAD)

action=$(git show "$parent:action.yml" | sed "s|^  image: Dockerfile\$|  image: docker://$image|")
grep -q "^  image: docker://$image\$" <<< "$action" || { echo "action.yml has no Dockerfile to replace" >&2; exit 1; }
sums=$(cd "$folder" && sha256sum goldgate-*.tar.gz)
release=$(printf 'version %s\nfrom %s\n%s' "$version" "$address" "$sums")

index=$(mktemp)
export GIT_INDEX_FILE=$index
git read-tree "$parent"
git update-index --add --cacheinfo "100644,$(git hash-object -w --stdin <<< "$action"),action.yml"
git update-index --add --cacheinfo "100644,$(git hash-object -w --stdin <<< "$release"),setup/release.txt"
tree=$(git write-tree)
rm "$index"
unset GIT_INDEX_FILE

when=$(git show --no-patch --format=%cI "$parent")
export GIT_AUTHOR_NAME='github-actions[bot]' GIT_COMMITTER_NAME='github-actions[bot]' GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when
export GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
export GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
commit=$(git commit-tree "$tree" -p "$parent" -m "Release $version" -m "The action is $image.")
# A failed attempt of this version may have left the branch; the tag does not exist yet, so nobody uses it.
server push --force origin "$commit:refs/heads/release/$version" >&2
printf 'commit=%s\n' "$commit"
