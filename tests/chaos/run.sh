#!/usr/bin/env bash
# Kills the commands that write at random times, and runs two of them at once in containers of their own, and checks after each kill
# that every file is whole and old or new. Prints a summary. usage: tests/chaos/run.sh [BINARY] [KILLS] [COMMAND...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
binary="${1:-target/release/goldgate}"
kills="${2:-500}"
shift $(($# < 2 ? $# : 2))
python3 tests/chaos/kill.py "$binary" "$kills" "$@"
