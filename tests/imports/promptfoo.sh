#!/bin/sh
# Runs promptfoo on its configs and keeps what it writes: promptfoo.sh FILES, with promptfoo on the path.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
files=$1/promptfoo
mkdir -p "$files"
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_REMOTE_GENERATION=1 PROMPTFOO_SELF_HOSTED=1
PROMPTFOO_CONFIG_DIR=$(mktemp -d)
export PROMPTFOO_CONFIG_DIR
cp "$here"/promptfoo/*.yaml "$files"
# Paths in the output are relative to the folder.
cd "$files"
for config in *.yaml; do
  name=${config%.yaml}
  # 100: an assertion fails, as it should.
  promptfoo eval --no-cache --no-progress-bar --no-table -c "$config" -o "$name-output.json" || [ $? = 100 ]
  rm "$config"
done
# A config whose tests, prompts and variables are in files beside it.
beside=$(mktemp -d)
cp -r "$here"/promptfoo-files/. "$beside"
cd "$beside"
promptfoo eval --no-cache --no-progress-bar --no-table -c promptfooconfig.yaml -o "$files/files-output.json" || [ $? = 100 ]
sed -i 's#file:///[^"]*/prompts/#file://prompts/#' "$files/files-output.json"
