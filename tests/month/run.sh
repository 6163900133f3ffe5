#!/usr/bin/env bash
# Simulates a month of an honest team in seven variants, and measures a big repository: see README.md. It takes half an hour, and no test
# depends on it. usage: tests/month/run.sh [BINARY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binary=${1:-target/release/goldgate}
python3 tests/month/month.py --binary "$binary"
tests/month/big_repository.sh "$binary"
