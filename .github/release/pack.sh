#!/usr/bin/env bash
# Packs the binary in FOLDER with its shell completions and manual pages. usage: pack.sh FOLDER ARCHIVE
set -euo pipefail
folder=${1:?the folder with the binary}
archive=${2:?the archive}
mkdir -p "$folder/completions" "$folder/man"
"$folder/goldgate" completions bash > "$folder/completions/goldgate.bash"
"$folder/goldgate" completions zsh > "$folder/completions/_goldgate"
"$folder/goldgate" completions fish > "$folder/completions/goldgate.fish"
"$folder/goldgate" completions powershell > "$folder/completions/goldgate.ps1"
"$folder/goldgate" man --out "$folder/man"
tar -czf "$archive" -C "$folder" goldgate completions man
rm -r "$folder/completions" "$folder/man"
