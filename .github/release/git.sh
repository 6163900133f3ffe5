#!/usr/bin/env bash
# Sourced by the scripts that talk to the git server: `server push …` is `git push …` with TOKEN, which appears in no argument of a
# process and in no output.
set -euo pipefail
server() {
    local header
    header="AUTHORIZATION: basic $(printf 'x-access-token:%s' "${TOKEN:?the token}" | base64 | tr -d '\n')"
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraheader GIT_CONFIG_VALUE_0=$header git "$@"
}
