"""Compares the estimated rates of false alarms with the truth, for each bundled suite with recordings.

An agent of known behaviour answers each case with one of its recorded samples, or with a spoiled one in a share of the samples that differs
from case to case. The truth: it is recorded again and again, and the real program judges each recording against the one before. The
estimates: `goldgate calibrate` and `goldgate check` on repositories of their own, with few samples a case.

usage: run.py BINARY [SUITE…]; prints a table in Markdown, and a summary. Takes about an hour."""

import copy
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Samples a case of a run.
SAMPLES = 3
# Re-recordings for the truth of a suite: with 400, its own error is at most 5 points (95 %).
TRUTH = int(os.environ.get("GOLDGATE_TRUTH", "400"))
# Repositories for the estimates of a suite, for each of the two numbers of recorded samples.
REPOSITORIES = int(os.environ.get("GOLDGATE_REPOSITORIES", "110"))
# By suite: its kind, and where its recordings are.
SUITES = {
    "contracts": ("findings", "contracts"),
    "cross": ("cross_agent", "contracts"),
    "assistant": ("tool_use", "tool_use"),
    "interview": ("interview", "interview"),
    "variability": ("stochastic", "stochastic"),
    "reconciliation": ("reconciliation", "reconciliation"),
    "stability": ("property", "property"),
    "evidence": ("evidence", "evidence"),
    "revision": ("revision", "revision"),
}
# Shares of spoiled samples: a case has one of them.
SPOILED = (0.0, 0.0, 0.01, 0.05, 0.1)


def spoiled(run):
    """The same run with the last element of its longest list lost, or with half of its text."""
    run = copy.deepcopy(run)
    outputs = run["outputs"]
    lists = [value for value in outputs.values() if isinstance(value, list) and value]
    if lists:
        max(lists, key=len).pop()
    else:
        key = max((key for key in outputs if isinstance(outputs[key], str)), key=lambda key: len(outputs[key]))
        outputs[key] = outputs[key][: len(outputs[key]) // 2]
    return run


def agents(folder):
    """For each case of each agent: the folder of its samples, what it may answer, and the share of spoiled answers."""
    runs = {}
    for file in sorted((ROOT / "fixtures" / folder / "runs").glob("**/*.json")):
        run = json.loads(file.read_text())
        if run.get("status", "completed") == "completed" and run.get("outputs"):
            case = file.parent if file.stem.isdigit() else file.with_suffix("")
            runs.setdefault(case.relative_to(ROOT), []).append(run)
    found = []
    for number, (case, samples) in enumerate(sorted(runs.items())):
        found.append((case, samples, spoiled(samples[0]), SPOILED[number % len(SPOILED)]))
    return found


def record(repository, cases, samples, rng):
    for case, answers, bad, share in cases:
        folder = repository / case
        for number in range(samples):
            run = bad if rng.random() < share else rng.choice(answers)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.json").write_text(json.dumps({**run, "sample": number}))


def prepared(repository, folder):
    """The bundled repository without the recordings of a suite and without a baseline."""
    for part in ("goldgate.yaml", "fixtures", "examples", "baselines"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, repository / part)
    shutil.rmtree(repository / "fixtures" / folder / "runs")
    for baseline in (repository / "baselines").glob("*.json"):
        baseline.unlink()
    (repository / ".git").mkdir()


def goldgate(repository, *arguments, codes=(0, 1, 3)):
    wide = {**os.environ, "COLUMNS": "200"}
    ran = subprocess.run(
        [BINARY, *arguments], cwd=repository, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=wide
    )
    if ran.returncode not in codes:
        sys.exit(f"{' '.join(arguments)} ended with {ran.returncode}:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return ran


def truth(suite, folder, cases, rng):
    """How often an unchanged agent is blocked, from 0 to 1."""
    with tempfile.TemporaryDirectory() as place:
        repository = pathlib.Path(place)
        prepared(repository, folder)
        blocked = 0
        for number in range(TRUTH + 1):
            record(repository, cases, SAMPLES, rng)
            if number > 0:
                blocked += goldgate(repository, "run", "--quiet", "--suite", suite).returncode == 1
            goldgate(repository, "run", "--quiet", "--suite", suite, "--update-baseline")
    return blocked / TRUTH


def estimates(suite, folder, cases, recorded, rng):
    """The estimates that the program prints for runs of three samples, from 0 to 1; nothing where it gives none."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        repository = pathlib.Path(place)
        prepared(repository, folder)
        for _ in range(REPOSITORIES):
            record(repository, cases, recorded, rng)
            ran = goldgate(repository, "calibrate", "--suite", suite)
            header = re.search(r"^ gate +(.*)$", ran.stdout, re.M)
            row = re.search(rf"^ {suite} \(all gates\) +(.*)$", ran.stdout, re.M)
            if not header or not row:
                continue
            column = re.split(r"\s{2,}", header[1].strip()).index(f"{SAMPLES} samples")
            cell = re.split(r"\s{2,}", row[1].strip())[column]
            rate = re.match(r"~?([<>]?)(\d+)%", cell)
            if rate:
                found.append({"<": 0.005, ">": 0.995}.get(rate[1], int(rate[2]) / 100))
    return found


def shown(found):
    if not found:
        return "none: too few samples or cases"
    ordered = sorted(found)
    low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    return f"{statistics.mean(found):.1%} ({low:.0%} to {high:.0%})"


def main():
    wanted = sys.argv[2:] or list(SUITES)
    print("| kind | true rate | estimate, 6 recorded samples | estimate, 3 recorded samples (about) |")
    print("|---|---|---|---|")
    worst = 0.0
    for suite in wanted:
        kind, folder = SUITES[suite]
        cases, rng = agents(folder), random.Random(suite)
        real = truth(suite, folder, cases, rng)
        dealt, pooled = (estimates(suite, folder, cases, recorded, rng) for recorded in (2 * SAMPLES, SAMPLES))
        print(f"| `{kind}` | {real:.1%} | {shown(dealt)} | {shown(pooled)} |", flush=True)
        if dealt:
            worst = max(worst, abs(statistics.mean(dealt) - real))
    print(f"\nlargest difference with 6 samples: {100 * worst:.1f} points", file=sys.stderr)


BINARY = str(pathlib.Path(sys.argv[1]).resolve())

if __name__ == "__main__":
    main()
