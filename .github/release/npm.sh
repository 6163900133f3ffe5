#!/usr/bin/env bash
# Publishes the packages of a folder to npm with their provenance: first those of the systems, then the one that needs them. What is
# there already stays, so it can run again. npm trusts the workflow; there is no token. usage: npm.sh VERSION FOLDER
set -euo pipefail
version=${1:?the version}
folder=${2:?the folder of the packages}
log=$(mktemp)
for file in "$folder"/goldgate-*-*-"$version.tgz" "$folder/goldgate-$version.tgz"; do
    name=$(tar -xzOf "$file" package/package.json | node -p 'JSON.parse(require("fs").readFileSync(0, "utf8")).name')
    if published=$(npm view "$name@$version" version 2> "$log") && [[ $published == "$version" ]]; then
        echo "$name $version is on npm already"
    elif npm publish "$file" --access public --provenance; then
        echo "published $name $version"
    else
        printf '::error title=release::%s\n' "$name $version cannot be published to npm. Its package needs this repository and release.yml as \
a trusted publisher; the first version of a new package is published by hand. Then run the failed jobs again."
        cat "$log" >&2
        exit 1
    fi
done
