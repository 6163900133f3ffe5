#!/usr/bin/env bash
# Measures the time and peak memory of whole runs with 1, 1,000 and 10,000 recorded cases, and compares the time with a minimal
# program that only reads, parses and matches the same files (benches/bare.rs). The ratio of the two hardly depends on the machine.
# Needs hyperfine, GNU time and Python.
# usage: benches/whole.sh [BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-target/release/goldgate}")
cargo build --locked --release --example bare
bare=$(realpath target/release/examples/bare)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for count in 1 1000 10000; do
  python3 benches/cases.py "$count" "$work/$count"
  hyperfine -N --warmup 3 --runs 15 "$binary run --config $work/$count/goldgate.yaml" "$bare $work/$count" \
    --export-json "$work/$count.json" > "$work/log" 2>&1
  memory=$(cd "$work/$count" && /usr/bin/time -f %M "$binary" run 2>&1 >"$work/log" | tail -1)
  python3 - "$work/$count.json" "$count" "$memory" <<'PYTHON'
import json, sys

whole, bare = json.load(open(sys.argv[1]))["results"]
cost = lambda one: one["user"] + one["system"]
print(
    f"{sys.argv[2]:>6} cases: median {whole['median'] * 1e3:6.1f} ms, least {whole['min'] * 1e3:6.1f} ms, "
    f"{int(sys.argv[3]) / 1024:4.1f} MiB; bare program: median {bare['median'] * 1e3:6.1f} ms, least {bare['min'] * 1e3:6.1f} ms; "
    f"{whole['median'] / bare['median']:.1f} times its time, {cost(whole) / cost(bare):.1f} times its work"
)
PYTHON
done
