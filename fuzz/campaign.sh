#!/usr/bin/env bash
# Runs each fuzz target for so many seconds, or until so many inputs were tried, and prints one line for each: how many inputs, how fast,
# and whether one was found that breaks it. Needs no nightly toolchain: libFuzzer's instrumentation is a pass of the stable compiler.
# usage: fuzz/campaign.sh [SECONDS] [INPUTS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")"
seconds="${1:-600}"
inputs="${2:-1000000}"
shift $(($# < 2 ? $# : 2))
targets=("$@")
if ((${#targets[@]} == 0)); then
  targets=(recover matching records goldens formats expressions rtf verifier transcripts own_files wires archives reports repository)
fi
# The flags of cargo-fuzz without a sanitizer: the program has no unsafe code.
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks"
# With a target triple the flags are not used for build scripts.
triple="$(rustc -vV | sed -n 's/^host: //p')"
built="${CARGO_TARGET_DIR:-target}/$triple/release"
sh seeds.sh
failed=0
for target in "${targets[@]}"; do
  cargo build --locked --quiet --release --target "$triple" --bin "$target"
  mkdir -p "corpus/$target" artifacts
  # The first input of these two also commits or grades all seeds, and that waits for the disk: seconds on a machine of one's own, more
  # than a minute where many use it.
  patience=20
  if [[ $target == repository || $target == reports ]]; then patience=120; fi
  # Whole paths: the target `repository` changes its folder.
  log="$PWD/artifacts/$target.log"
  code=0
  "$built/$target" -max_total_time="$seconds" -runs="$inputs" -timeout="$patience" -rss_limit_mb=4096 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix="$PWD/artifacts/$target-" "$PWD/corpus/$target" >/dev/null 2>"$log" || code=$?
  tried="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  speed="$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")"
  if ((code == 0)); then
    echo "$target: $tried inputs, $speed a second, nothing found"
  else
    echo "$target: found after ${tried:-?} inputs: $(grep -m1 -E 'panicked|ERROR|assertion' "$log" || tail -1 "$log")"
    failed=1
  fi
done
exit "$failed"
