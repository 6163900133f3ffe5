"""Prints the time and memory table of docs/limits.md: the program's processor time and peak memory on large repositories.

usage: soak.py BINARY [CASES...]     10,000 and 100,000 cases without CASES"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = os.path.abspath(sys.argv[1])
SIZES = [int(size) for size in sys.argv[2:]] or [10_000, 100_000]
CASES = pathlib.Path(__file__).with_name("cases.py")
LARGE = 30 * 1024 * 1024


def repository(folder, cases, agents=1):
    folder.mkdir()
    subprocess.run([sys.executable, CASES, str(cases), folder, str(agents)], check=True)
    (folder / ".git").rmdir()
    config = folder / "goldgate.yaml"
    config.write_text(config.read_text().replace("version: 1\n", "version: 1\nbaseline: baselines/latest.json\n", 1))
    for command in (["init", "--quiet"], ["config", "gc.auto", "0"], ["add", "--all"], ["commit", "--quiet", "--no-verify", "--message", "base"]):
        subprocess.run(["git", "-c", "user.name=Subject", "-c", "user.email=a@example.org", *command], cwd=folder, check=True)


def measured(folder, *arguments):
    """The processor seconds and the peak memory in MB of one command. A failed gate is no failure of the command."""
    with open(os.devnull, "w") as null:
        child = subprocess.Popen([BINARY, *arguments], cwd=folder, stdout=null, stderr=subprocess.PIPE)
        told = child.stderr.read().decode()
        _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{arguments}: {told}")
    return f"{used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss / 1000:,.0f} MB"


def worse(folder):
    """Every recording has wrong findings: every metric of every agent moves."""
    for file in (folder / "golden/runs").rglob("*.json"):
        run = json.loads(file.read_text())
        wrong = run["outputs"]["findings"][1] | {"severity": "low", "citations": [{"file": "nowhere.md", "quote": "z"}]}
        run["outputs"]["findings"] = [wrong] * 3
        file.write_text(json.dumps(run))


def longer(folder):
    """Every recording is almost as large as a file may be."""
    for file in (folder / "golden/runs").rglob("*.json"):
        run = json.loads(file.read_text())
        words = "notice of thirty days. "
        run["outputs"]["findings"][0]["description"] = words * (LARGE // len(words))
        file.write_text(json.dumps(run))


def of_size(folder):
    """Each command of the table, in the order in which one needs what another wrote."""
    return {
        "run --update-baseline": measured(folder, "run", "--quiet", "--update-baseline"),
        "run with a baseline": measured(folder, "run", "--quiet"),
        "run --out": measured(folder, "run", "--quiet", "--out", "out"),
        "report": measured(folder, "report", "out"),
        "run --base": measured(folder, "run", "--quiet", "--base", "HEAD", "--dirty"),
        "run --shard 1/2": measured(folder, "run", "--quiet", "--shard", "1/2", "--out", "1"),
        "run --shard 2/2": measured(folder, "run", "--quiet", "--shard", "2/2", "--out", "2"),
        "merge": measured(folder, "merge", "1", "2", "--out", "whole"),
    }


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        work = pathlib.Path(work)
        columns = {}
        for size in SIZES:
            repository(work / str(size), size)
            columns[size] = of_size(work / str(size))
        print("| command | " + " | ".join(f"{size:,} cases" for size in SIZES) + " |")
        for command in columns[SIZES[0]]:
            print(f"| `{command}` | " + " | ".join(columns[size][command] for size in SIZES) + " |")
        for size in SIZES:
            wrote = [work / str(size) / file for file in ("out/report.json", "1/shard.json", "baselines/latest.json")]
            print(f"{size:,} cases: " + ", ".join(f"{file.name} {file.stat().st_size / 1e6:,.0f} MB" for file in wrote))

        many = work / "many"
        repository(many, 10_000, 1_000)
        measured(many, "run", "--quiet", "--update-baseline")
        print(f"| `run` of 1,000 agents with 10 cases each | {measured(many, 'run', '--quiet')} |")
        worse(many)
        print(f"| `run --out`, 10,000 moved metrics | {measured(many, 'run', '--quiet', '--out', 'out')} |")
        for count in (1, 4, 16):
            large = work / f"large-{count}"
            repository(large, count)
            longer(large)
            print(f"| `run` of {count} recordings of 30 MB | {measured(large, 'run', '--quiet', '--out', 'out')} |")


main()
