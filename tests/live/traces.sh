#!/usr/bin/env bash
# A finished sample is sent to a real OTLP receiver (PyPI oteltap), which has to see its spans.
# Installs the receiver into a cache folder; speaks to this machine alone. usage: tests/live/traces.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/live
port=${GOLDGATE_TRACES_PORT:-14318}
work=$(mktemp -d)
receiver=
cleanup() {
    if [[ -n $receiver ]]; then kill "$receiver" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap cleanup EXIT

if [[ ! -x $tools/bin/oteltap ]]; then
    if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check oteltap==1.0.0; } 2> "$work/install.log"; then
        echo "skipped: the receiver oteltap cannot be installed here: $(tail -n 1 "$work/install.log")"
        exit 0
    fi
fi

# Built before the receiver listens, so that it does not wait for a compiler.
cargo test --quiet --locked --manifest-path "$root/Cargo.toml" --test it --no-run
"$tools/bin/oteltap" --port "$port" --await-span '^execute_tool find_order$' > "$work/seen.log" 2>&1 &
receiver=$!
for _ in $(seq 100); do
    if curl --silent --output /dev/null --max-time 1 "http://127.0.0.1:$port/"; then break; fi
    sleep 0.1
done
GOLDGATE_TRACES_TO=http://127.0.0.1:$port cargo test --quiet --locked --manifest-path "$root/Cargo.toml" --test it -- \
    --exact "a real receiver takes a finished sample"
for _ in $(seq 100); do
    if ! kill -0 "$receiver" 2>/dev/null; then break; fi
    sleep 0.1
done
if kill -0 "$receiver" 2>/dev/null; then
    echo "the receiver did not see the span within 10 s" >&2
    cat "$work/seen.log" >&2
    exit 1
fi
wait "$receiver"
receiver=
for word in 'invoke_agent helper' 'chat model-a' 'gen_ai.usage.input_tokens' 'goldgate.case' 'order-status'; do
    if ! grep --quiet --fixed-strings "$word" "$work/seen.log"; then
        echo "the receiver did not see \"$word\"" >&2
        cat "$work/seen.log" >&2
        exit 1
    fi
done
if grep --quiet --fixed-strings 'Where is my order' "$work/seen.log"; then
    echo "a text was sent that nobody asked for" >&2
    exit 1
fi
echo "1 passed, 0 failed"
