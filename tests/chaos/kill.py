"""Kills writing commands at random times. The content changes between two states, so that a torn, a lost and a mixed file are seen."""

import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY, KILLS, ONLY = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
CASES, SAMPLES = 12, 3
# The real clock: two runs have other dates and times, and are compared without them.
ENVIRONMENT = {"PATH": os.environ["PATH"]}
MEASURED = re.compile(rb"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?Z)?|\"wall_ms\": \d+")
CONFIG = (
    "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n"
    "    tier: [deterministic, model]\n    agents:\n      agent-0: { deterministic: { replay: golden/runs }, "
    "fingerprint: [agent.py], model: { target: mine } }\n"
    "    labels: labels.json\n"
    "    judges: { sound: { target: bench, rubric: rubric.md, votes: 1, labels: people.json } }\n"
    "targets:\n  mine: { command: [python3, agent.py], protocol: oneshot, concurrency: 4 }\n"
    "  bench: { command: [python3, judge.py], protocol: oneshot, concurrency: 4 }\n"
)
# An agent that answers with the content of a file: the state.
AGENT = """import json, sys
asked = json.load(sys.stdin)
words = open("state.txt").read() * 200
finding = {"category": "termination", "severity": "high", "title": words, "description": "notice", "citations": []}
print(json.dumps({"schema": "goldgate.run/1", "agent": asked["agent"], "case": asked["case"], "sample": asked["sample"],
                  "status": "completed", "outputs": {"findings": [finding], "gaps": []}}))
"""

# A judge that says "pass" in one state and "fail" in the other, with a long reason.
JUDGE = """import json, sys
sys.stdin.read()
state = open("state.txt").read()
print(json.dumps({"status": "completed", "outputs": {"verdict": "pass" if state == "a" else "fail", "reason": state * 20_000}}))
"""

# The same finding from a program that is started for one query.
SAID = """import json, sys
sys.stdin.read()
finding = {"category": "termination", "severity": "high", "title": open("state.txt").read() * 200, "description": "notice", "citations": []}
print(json.dumps({"outputs": {"findings": [finding], "gaps": []}}))
"""


def repository(folder):
    subprocess.run([sys.executable, ROOT / "benches/cases.py", str(CASES), folder], check=True)
    (folder / "goldgate.yaml").write_text(CONFIG)
    (folder / "agent.py").write_text(AGENT)
    (folder / "judge.py").write_text(JUDGE)
    (folder / "said.py").write_text(SAID)
    (folder / "rubric.md").write_text("Is the finding sound?\n")
    (folder / "people.json").write_text("[]\n")
    (folder / "labels.json").write_text("[]\n")
    for state in "ab":
        shutil.copytree(folder / "golden/runs", folder / state)
        for file in (folder / state).rglob("*.json"):
            run = json.loads(file.read_text())
            run["outputs"]["findings"] = run["outputs"]["findings"][: 4 if state == "a" else 2]
            file.write_text(json.dumps(run))
        messages = [{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": state * 20_000}]}]
        (folder / f"{state}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in messages * SAMPLES))


def enter(folder, state, prepare=None):
    """Makes the repository's content the one of a state."""
    shutil.rmtree(folder / "golden/runs")
    shutil.copytree(folder / state, folder / "golden/runs")
    (folder / "state.txt").write_text(state)
    if prepare:
        prepare(folder, state)


def drafts(folder, state):
    """Every case is a draft."""
    for file in (folder / "golden/expected").rglob("*.json"):
        case = json.loads(file.read_text())
        file.write_text(json.dumps(case | {"draft": True, "notes": state * 20_000}))


def parts(folder, state):
    """The two shards of a run in each state, made once."""
    for part in "12":
        if not (folder / f"{state}-{part}").exists():
            done = start(folder, ["run", "--quiet", "--shard", f"{part}/2", "--out", f"{state}-{part}"]).wait()
            if done not in (0, 1):
                sys.exit(f"shard {part} of state {state} ends with {done}")


def files(folder, *below):
    found = {}
    for part in below:
        whole = folder / part
        for file in [whole] if whole.is_file() else sorted(whole.rglob("*")):
            if file.is_file():
                found[file.relative_to(folder).as_posix()] = content(file.read_bytes())
    return found


def content(text):
    """The bytes of a file, for a recording without the times that were measured, and without the digest of a content that has them."""
    try:
        value = json.loads(text)
    except ValueError:
        return MEASURED.sub(b"", text)
    if isinstance(value, dict) and value.get("schema") == "goldgate.run/1":
        value.pop("metrics", None)
        value.get("provenance", {}).pop("content_sha256", None)
    return MEASURED.sub(b"", json.dumps(value).encode())


def start(folder, arguments):
    return subprocess.Popen(
        [BINARY, *arguments], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )


class Command(typing.NamedTuple):
    """A command that writes, and what it writes."""

    arguments: list
    below: list
    # Whether the files of a folder belong together: a pair's samples are of one state.
    together: bool = False
    # What the repository needs besides its recordings, before each start.
    prepare: typing.Callable = None


SAMPLED = ["--samples", str(SAMPLES)]
COMMANDS = {
    "run --update-baseline": Command(["run", "--quiet", "--update-baseline"], ["baselines"]),
    "run --out": Command(["run", "--quiet", "--out", "out"], ["out"]),
    "run --record": Command(["run", "--quiet", "--tier", "model", *SAMPLED, "--record", "recorded"], ["recorded"], True),
    "record": Command(["record", *SAMPLED, "--concurrency", "4", "--out", "told", "--", "python3", "said.py"], ["told"], True),
    "import": Command(["import", "openai", "STATE.jsonl", "--out", "imported", "--agent", "agent-0", "--case", "c", "--force"], ["imported"], True),
    "judge": Command(["judge", "--quiet", "--again"], ["golden/runs"]),
    "merge": Command(["merge", "STATE-1", "STATE-2", "--out", "joined"], ["joined"], prepare=parts),
    "review": Command(["review", "--accept", "*"], ["golden/expected"], prepare=drafts),
}


def own(arguments, state):
    return [argument.replace("STATE", state) for argument in arguments]


def kill_often(name, folder, kills):
    """Returns a sentence for everything that is wrong, and how many kills hit a running command."""
    arguments, below, together, prepare = COMMANDS[name]
    whole = {}
    longest = 0.0
    # The second round is measured: the first one creates folders.
    for state in "abab":
        enter(folder, state, prepare)
        begun = time.monotonic()
        if start(folder, own(arguments, state)).wait() not in (0, 1):
            sys.exit(f"{name} does not end well without a kill")
        longest = time.monotonic() - begun
        whole[state] = files(folder, *below)
    if whole["a"] == whole["b"] or whole["a"].keys() != whole["b"].keys():
        sys.exit(f"{name}: the two states are not what this test needs")
    wrong, hit = [], 0
    for number in range(kills):
        state = "ab"[number % 2]
        enter(folder, state, prepare)
        before = files(folder, *below)
        child = start(folder, own(arguments, state))
        time.sleep(random.uniform(0, 1.1 * longest))
        hit += child.poll() is None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        found = files(folder, *below)
        for file in sorted(whole["a"].keys() | found.keys()):
            if file not in found:
                wrong.append(f"kill {number}: {file} is lost")
            elif file not in whole["a"]:
                wrong.append(f"kill {number}: {file} is left over")
            elif found[file] not in (before.get(file), whole["a"][file], whole["b"][file]):
                wrong.append(f"kill {number}: {file} is torn")
        sets = {}
        for file, text in found.items():
            if together and file in whole["a"] and whole["a"][file] != whole["b"][file]:
                sets.setdefault(file.rpartition("/")[0], set()).add(text == whole["a"][file])
        wrong += [f"kill {number}: {pair} is mixed" for pair, states in sets.items() if len(states) > 1]
    enter(folder, "a", prepare)
    if start(folder, own(arguments, "a")).wait() not in (0, 1) or files(folder, *below) != whole["a"]:
        wrong.append("the command does not end well after the kills")
    return wrong, hit


def kill_while_labelling(folder, kills):
    """Every label that was given stays, whenever the next ones are cut off. Returns what is wrong, and how many kills hit."""
    labels = folder / "labels.json"
    answers = folder / "answers.txt"
    answers.write_text("p\nso\n" * CASES)
    command = [BINARY, "label", "--by", "Subject A", "--seed", "1", "--count", str(CASES)]

    def begin():
        return subprocess.Popen(
            command, cwd=folder, env=ENVIRONMENT, stdin=answers.open(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    begun = time.monotonic()
    if begin().wait() != 0 or len(json.loads(labels.read_text())) != CASES:
        sys.exit("label does not end well without a kill")
    longest = time.monotonic() - begun
    wrong, hit = [], 0
    labels.write_text("[]\n")
    for number in range(kills):
        before = json.loads(labels.read_text())
        if len(before) == CASES:
            labels.write_text("[]\n")
            before = []
        child = begin()
        time.sleep(random.uniform(0, 1.1 * longest))
        hit += child.poll() is None
        child.kill()
        child.wait()
        try:
            found = json.loads(labels.read_text())
        except (OSError, ValueError) as error:
            wrong.append(f"kill {number}: {error}")
            labels.write_text("[]\n")
            continue
        lost = [label for label in before if label not in found]
        if lost or len({label["case"] for label in found}) != len(found):
            wrong.append(f"kill {number}: {len(lost)} labels are lost, {len(found)} are there")
    return wrong, hit


def kill_while_setting_up(folder, kills):
    """A config is there only with its cases, and no file is torn. Returns what is wrong, and how many kills hit."""
    chats = [{"messages": [{"role": "user", "content": f"{n}"}, {"role": "assistant", "content": f"{n}" * 20_000}]} for n in range(CASES)]
    written = ["goldgate.yaml", "golden", ".goldgate/schemas", ".github"]

    def begin():
        shutil.rmtree(folder)
        (folder / ".git").mkdir(parents=True)
        (folder / "chats.jsonl").write_text("".join(json.dumps(chat) + "\n" for chat in chats))
        return start(folder, ["init", "--from", "chats.jsonl"])

    begun = time.monotonic()
    if begin().wait() != 0:
        sys.exit("init does not end well without a kill")
    longest = time.monotonic() - begun
    whole = files(folder, *written)
    if len(whole) < CASES + 4:
        sys.exit(f"init wrote {sorted(whole)}")
    wrong, hit = [], 0
    for number in range(kills):
        child = begin()
        time.sleep(random.uniform(0, 1.1 * longest))
        hit += child.poll() is None
        child.kill()
        child.wait()
        found = files(folder, *written)
        wrong += [f"kill {number}: {file} is torn" for file, text in found.items() if text != whole.get(file)]
        if "goldgate.yaml" in found and "golden/cases.json" not in found:
            wrong.append(f"kill {number}: the config is there without its cases")
    return wrong, hit


def two_at_once(folder, kills):
    """Two processes with the same process id, as in two containers, that write the same files."""
    arguments = ["run", "--quiet", "--out", "out", "--update-baseline"]
    if subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
        return [], "not run, because unshare is not allowed here"
    enter(folder, "a")
    # The second run has a baseline to compare with.
    for _ in "12":
        start(folder, arguments).wait()
    whole = files(folder, "out", "baselines")
    wrong = []
    for number in range(pairs := kills // 5):
        command = ["unshare", "--pid", "--fork", BINARY, *arguments]
        both = [subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in "12"]
        codes = [child.wait() for child in both]
        if any(code not in (0, 1) for code in codes):
            wrong.append(f"pair {number}: exit codes {codes}")
        if files(folder, "out", "baselines") != whole:
            wrong.append(f"pair {number}: a file is torn or lost")
    return wrong, f"{pairs} pairs of processes with one process id"


def missed(hit):
    """Kills that come too late show nothing."""
    return [] if hit else ["no kill hit a running command"]


def kill_command(name, folder, kills):
    wrong, hit = kill_often(name, folder, kills)
    wrong += missed(hit)
    left = folder / ".goldgate/drafts"
    drafts = len(list(left.glob("*.tmp"))) if left.exists() else 0
    return wrong, f"{kills} kills, {hit} of a running command, {drafts} drafts left in .goldgate"


def kill_other(kill):
    def killed(folder, kills):
        wrong, hit = kill(folder, kills)
        return wrong + missed(hit), f"{kills} kills, {hit} of a running command"

    return killed


def main():
    random.seed(1)
    trials = {name: functools.partial(kill_command, name) for name in COMMANDS}
    trials |= {"label": kill_other(kill_while_labelling), "init": kill_other(kill_while_setting_up), "pairs": two_at_once}
    if unknown := set(ONLY) - set(trials):
        sys.exit(f"unknown: {unknown}; known: {list(trials)}")
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for name in ONLY or trials:
            folder = pathlib.Path(work) / name.replace(" ", "")
            folder.mkdir()
            repository(folder)
            wrong, counts = trials[name](folder, KILLS)
            print(f"{name}: {counts}, {len(wrong)} faults", flush=True)
            print("".join(f"  {line}\n" for line in wrong[:10]), end="", flush=True)
            failed |= bool(wrong)
    sys.exit(1 if failed else 0)


main()
