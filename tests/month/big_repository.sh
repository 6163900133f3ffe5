#!/usr/bin/env bash
# How long `goldgate run --base` takes, and how much memory it needs, in a repository of 16,000 files of 20 KB with a small suite:
# unchanged, with one prompt renamed, and with every file touched. It needs GNU time, 700 MB of disk and a few minutes.
# usage: tests/month/big_repository.sh BINARY [FILES]
set -euo pipefail

binary=$(realpath "${1:?usage: tests/month/big_repository.sh BINARY [FILES]}")
files=${2:-16000}
unset CI "${!GITHUB_@}" "${!GOLDGATE_@}"
repository=$(mktemp --directory)
trap 'rm -rf "$repository"' EXIT
cd "$repository"

git init --quiet --initial-branch main .
git config user.name "Subject A"
git config user.email a@acme.example
git config gc.auto 0

# The suite: 6 cases, one agent of one prompt.
mkdir -p prompts golden runs/agent baselines
cat > goldgate.yaml <<'END'
version: 1
baseline: baselines/latest.json
suites:
  - id: parcels
    kind: custom
    path: golden
    agents:
      agent:
        deterministic: { replay: runs }
        fingerprint: ["prompts/**"]
END
echo "You answer questions about Acme's parcels, and never promise a refund above twenty euros." > prompts/agent.md
for case in 1 2 3 4 5 6; do
    echo "{ \"input\": \"Question $case\", \"answer\": { \"any_of\": [\"parcel $case\"] } }" > "golden/case-$case.json"
    answer="The parcel $case is on its way to you and will arrive on Monday."
    echo "{ \"status\": \"completed\", \"outputs\": { \"text\": \"$answer\" }, \"metrics\": { \"total_latency_ms\": 123$case } }" \
        > "runs/agent/case-$case.json"
done
if "$binary" --help | grep --quiet '^  stamp '; then
    "$binary" stamp > /dev/null
fi
"$binary" run --update-baseline --quiet > /dev/null

# Everything else: files in folders of a hundred, each with words of its own.
python3 - "$files" <<'END'
import pathlib, random, sys
words = [f"word{number}" for number in range(5000)]
for number in range(int(sys.argv[1])):
    path = pathlib.Path(f"packages/part-{number // 100:03}/file-{number % 100:02}.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    dice = random.Random(number)
    lines = (" ".join(dice.choices(words, k=10)) for _ in range(210))
    path.write_text("\n".join(lines) + "\n")
END
git add --all
git commit --quiet --message "Begin"
git branch base

measure() {
    local log seconds kilobytes status=0
    log=$(mktemp)
    /usr/bin/time --format '%e %M' --output "$log" "$binary" run --base base --quiet > "$log.said" 2>&1 || status=$?
    read -r seconds kilobytes < <(tail --lines 1 "$log")
    printf '%-22s %7.2f s %6d MB   exit %d   %s\n' \
        "$1" "$seconds" $((kilobytes / 1024)) "$status" "$(head --lines 1 "$log.said" | cut --characters -120)"
    rm -f "$log" "$log.said"
}

measure "unchanged"
git mv prompts/agent.md prompts/helper.md
git commit --quiet --message "Rename the prompt"
measure "one prompt renamed"
find packages -name '*.txt' -exec sed --in-place '$a One more line.' {} +
git commit --quiet --all --message "Touch every file"
measure "every file touched"
