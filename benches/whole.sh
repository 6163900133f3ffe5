#!/usr/bin/env bash
# Whole runs of 1, 1,000 and 10,000 recorded cases: time and peak memory of the process. Needs hyperfine, GNU time and Python.
# usage: benches/whole.sh [BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-target/release/goldgate}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for count in 1 1000 10000; do
  python3 benches/cases.py "$count" "$work/$count"
  hyperfine -N --warmup 3 --runs 15 "$binary run --config $work/$count/goldgate.yaml" --export-json "$work/$count.json" > "$work/log" 2>&1
  memory=$(cd "$work/$count" && /usr/bin/time -f %M "$binary" run 2>&1 >"$work/log" | tail -1)
  python3 -c "import json,sys; r=json.load(open(sys.argv[1]))['results'][0]; print(f'{sys.argv[2]:>6} cases: median {r[\"median\"]*1e3:7.1f} ms, least {r[\"min\"]*1e3:7.1f} ms, {int(sys.argv[3])/1024:5.1f} MiB')" "$work/$count.json" "$count" "$memory"
done
