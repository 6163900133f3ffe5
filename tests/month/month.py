#!/usr/bin/env python3
"""One month of an honest team, with the real program: which pull requests does `goldgate run --base main` stop, and why?

    python3 month.py --binary target/release/goldgate --variant R1a
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True

import changes
import repositories
from changes import BASELINE, NO_OP, NOTHING, PERSON, RECORD, RECORD_ALL, RECORD_NEW, SLIP

# Why the first push was not green, beyond the reasons in `changes`.
NOISE = "a gate's noise"
CONFLICT = "git conflict"
FALSE_BLOCK = "false block"
GROUPS = [PERSON, SLIP, NO_OP, NOISE, CONFLICT, FALSE_BLOCK]

# Commits of others on main between two pull requests, and how often main's baseline is written.
FOREIGN_COMMITS = 3
BASELINE_EVERY = 6
MOST_COMMANDS = 12


class Program:
    """The goldgate under test, and the names that differ between its versions."""

    def __init__(self, path, seed):
        self.path = str(Path(path).resolve())
        self.seed = seed
        # What writes digests into the recordings of a team's own recorder; before `stamp`, nothing did.
        self.stamp = "stamp" if re.search(r"^  stamp ", self.help(), re.MULTILINE) else None
        schema = subprocess.run([self.path, "schema", "config"], capture_output=True, text=True).stdout
        self.says_was = '"was"' in schema

    def help(self):
        return subprocess.run([self.path, "--help"], capture_output=True, text=True).stdout


@dataclass
class Verdict:
    """What one run of the gate said."""

    exit_code: int
    text: str
    failed_gates: bool = False
    # Something could not be judged.
    is_open: bool = False
    conflict: bool = False

    def is_green(self):
        return self.exit_code == 0 and not self.conflict

    def needs_only_an_approval(self):
        return self.exit_code == 1 and not self.failed_gates and not self.is_open and not self.conflict

    def first_line(self):
        """The line that says why."""
        if self.conflict:
            return "git: merge conflict with main"
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        starts = ["Merge blocked:"] if self.failed_gates else ["no verdict:", "[needs approval]", "Merge blocked:"]
        for start in starts:
            for line in lines:
                if line.startswith(start):
                    return line
        return next((line for line in lines if ": " in line), "") if self.exit_code == 2 else lines[-1]


@dataclass
class Outcome:
    """What became of one pull request."""

    pull_request: changes.PullRequest
    verdict: Verdict
    place: str = "branch"
    commands: int = 0
    is_solved: bool = True
    typed: list = field(default_factory=list)

    def group(self):
        """Why the first push was not green."""
        if self.verdict.is_green():
            return ""
        if self.pull_request.reason in (PERSON, SLIP):
            return self.pull_request.reason
        if self.verdict.failed_gates:
            return NOISE
        if self.verdict.conflict:
            return CONFLICT
        return self.pull_request.reason or FALSE_BLOCK


class Month:
    """One variant's month."""

    def __init__(self, repository, only, keep):
        self.repository = repository
        self.only = only
        self.keep = keep
        self.merged = 0
        self.outcomes = []

    def run(self):
        self.repository.create()
        for pull_request in changes.month():
            if self.only and pull_request.kind not in self.only and pull_request.name not in self.only:
                continue
            self.outcomes.append(self.one(pull_request))
            self.others_work()

    # A pull request, from its branch to its merge.

    def one(self, pull_request):
        repository = self.repository
        self.write_branch(pull_request)
        if pull_request.onto == "main":
            outcome = self.first_push(pull_request)
        else:
            outcome = Outcome(pull_request, self.judge(pull_request.onto))
        self.note(pull_request.name, 0, outcome.verdict)
        if pull_request.kind == "regression":
            repository.git("switch", "-q", "main")
            return outcome
        self.work_until_green(pull_request, outcome)
        self.merge(pull_request)
        return outcome

    def write_branch(self, pull_request):
        """The author's work up to the push."""
        repository = self.repository
        if pull_request.begin:
            pull_request.begin(repository, pull_request.name)
        else:
            repository.git("switch", "-q", "-c", pull_request.name, "main")
        self.changed = pull_request.change(repository)
        if pull_request.by_bot:
            repository.commit(f"{pull_request.kind}: {pull_request.name}")
        self.do_habit(pull_request)
        repository.commit(f"{pull_request.kind}: {pull_request.name}", author="Acme Bot" if pull_request.by_bot else "Subject A")
        if pull_request.meanwhile:
            repository.git("switch", "-q", "main")
            pull_request.meanwhile(repository)
            repository.commit("A colleague's pull request")
            repository.git("switch", "-q", pull_request.name)
        if pull_request.merges_first:
            self.merge_main()
            self.do_habit(pull_request)
            repository.commit("Merge main, and record again")

    def do_habit(self, pull_request):
        habit = pull_request.habit_before_push()
        if habit == RECORD:
            for suite in self.changed:
                repositories.record(self.repository, suite)
        elif habit == RECORD_NEW:
            for suite in self.changed:
                repositories.record(self.repository, suite, only_new=True)
        elif habit == RECORD_ALL:
            for suite in self.repository.suites:
                repositories.record(self.repository, suite)
        elif habit == BASELINE:
            changes.write_baseline(self.repository)
        else:
            assert habit == NOTHING, habit
        if pull_request.after_recording:
            pull_request.after_recording(self.repository)

    def first_push(self, pull_request):
        """The gate on the branch, and where it is green, on its merge with main, as a required check sees it."""
        on_branch = self.judge("main")
        if not on_branch.is_green() or not pull_request.meanwhile:
            return Outcome(pull_request, on_branch)
        return Outcome(pull_request, self.judge_merge(pull_request.name), place="merge")

    def merges_cleanly(self, pull_request):
        result = self.repository.git("merge-tree", "--write-tree", pull_request.onto, pull_request.name, allow_failure=True)
        return result.returncode == 0

    def judge_merge(self, branch):
        repository = self.repository
        repository.git("switch", "-q", "--detach", branch)
        is_clean = repository.git("merge", "-q", "--no-edit", "main", allow_failure=True).returncode == 0
        verdict = self.judge("main") if is_clean else Verdict(1, "", conflict=True)
        if not is_clean:
            repository.git("merge", "--abort")
        repository.git("switch", "-q", branch)
        return verdict

    def judge(self, base):
        """One run of the gate."""
        with tempfile.TemporaryDirectory() as out:
            result = self.repository.goldgate("run", "--base", base, "--out", out)
            path = Path(out, "summary.json")
            summary = json.loads(path.read_text()) if path.exists() else {"suites": [], "not_gateable": []}
        failed = any(verdict == "fail" for suite in summary["suites"] for verdict in suite["agents"].values())
        return Verdict(result.returncode, result.stdout + result.stderr, failed_gates=failed, is_open=bool(summary["not_gateable"]))

    # After the first push the developer does what the message says.

    def work_until_green(self, pull_request, outcome):
        verdict = outcome.verdict
        while not verdict.is_green():
            if verdict.needs_only_an_approval():
                if self.merges_cleanly(pull_request):
                    return
                # An approval does not help against a conflict.
                verdict = Verdict(1, "", conflict=True)
            if outcome.commands >= MOST_COMMANDS:
                outcome.is_solved = False
                return
            outcome.commands += self.next_step(pull_request, verdict, outcome.typed)
            self.repository.commit("Do what the gate says")
            verdict = self.judge(pull_request.onto)
            if verdict.is_green() and pull_request.meanwhile:
                verdict = self.judge_merge(pull_request.name)
            self.note(pull_request.name, len(outcome.typed), verdict)

    def next_step(self, pull_request, verdict, typed):
        """One thing that the developer tries. Returns the number of commands; commits, merges and pushes do not count."""
        repository = self.repository
        if verdict.conflict:
            typed.append("merge main, record again")
            self.merge_main()
            self.changed = self.changed or repository.suites
            return self.record_changed(pull_request)
        if verdict.failed_gates:
            typed.append("record again, for luck")
            return self.record_changed(pull_request, everything=True)
        command = self.next_named_command(pull_request, verdict, typed)
        if command:
            typed.append(command)
            self.type(command)
            return 1
        foreign = re.findall(r"(\S+): this recording does not belong", verdict.text)
        if foreign:
            typed.append("remove what is named")
            for path in foreign:
                shutil.rmtree(repository.path(path), ignore_errors=True)
                repository.path(path).with_suffix(".json").unlink(missing_ok=True)
            return 1
        if pull_request.meanwhile and "merge main" not in typed:
            typed.append("merge main")
            self.merge_main()
            return 0
        typed.append("the team's recorder")
        return self.record_changed(pull_request)

    def next_named_command(self, pull_request, verdict, typed):
        """The first command of the message that can be pasted and was not tried yet. Only where no answer can have changed, or the agent just ran
        again and gave the same answers, does the developer write digests; else he records."""
        named = re.findall(r"`((?:goldgate|git) [^`]+)`", verdict.text)
        usable = [command for command in named if command not in typed and not re.search(r"[A-Z]{4,}|…", command)]
        stamps = [command for command in usable if re.match(r"goldgate (stamp|digests)", command)]
        records = [command for command in usable if re.match(r"goldgate (run --tier model|import|record) |git (merge|rm) ", command)]
        nothing_to_record = pull_request.reason == NO_OP or not self.changed or "the team's recorder" in typed
        chosen = stamps + records if nothing_to_record else records
        return chosen[0] if chosen else None

    def type(self, command):
        repository = self.repository
        repository.sessions += 1
        words = re.findall(r"'[^']*'|\"[^\"]*\"|\S+", command)
        words = [word.strip("'\"") for word in words]
        if words[0] == "goldgate":
            repository.goldgate(*words[1:])
        else:
            repository.git(*[word.replace("origin/main", "main") for word in words[1:]], allow_failure=True)

    def record_changed(self, pull_request, everything=False):
        suites = self.changed or self.repository.suites
        only_new = pull_request.kind == "new case" and not everything
        count = 0
        for suite in suites:
            count += repositories.record(self.repository, suite, only_new=only_new)
        if pull_request.after_recording and pull_request.reason == PERSON:
            pull_request.after_recording(self.repository)
        return count

    def merge_main(self):
        """Merges main. In a conflict main's recordings and baseline are taken: they are made again anyway."""
        repository = self.repository
        if repository.git("merge", "-q", "--no-edit", "main", allow_failure=True).returncode == 0:
            return
        conflicts = repository.git("diff", "--name-only", "--diff-filter=U").stdout.split()
        for path in conflicts:
            assert path.startswith((repository.place("runs"), "baselines/")), f"unexpected conflict in {path}"
        repository.git("checkout", "--theirs", "--", *conflicts)
        repository.commit("Merge main")

    # The rest of the team.

    def merge(self, pull_request):
        """Merges and squashes, one after the other."""
        repository = self.repository
        self.merged += 1
        repository.git("switch", "-q", pull_request.onto)
        if self.merged % 2:
            repository.git("merge", "-q", "--no-ff", "-m", f"Merge {pull_request.name}", pull_request.name)
        else:
            repository.git("merge", "-q", "--squash", pull_request.name)
            repository.commit(f"{pull_request.name} (squashed)")
        if pull_request.onto == "main":
            repository.last_merged = repository.git("rev-parse", "HEAD").stdout.strip()
        repository.git("switch", "-q", "main")

    def others_work(self):
        """Commits of others, and from time to time main's baseline. Nobody measures these."""
        repository = self.repository
        for number in range(FOREIGN_COMMITS):
            repository.write("web/app.js", repository.read("web/app.js") + f"// Page {len(self.outcomes)}.{number}\n")
            repository.commit("Work on the page", author="Subject C")
        if len(self.outcomes) % BASELINE_EVERY == 0:
            changes.write_baseline(repository)
            repository.commit("Write the baseline", author="Subject C")

    def note(self, name, attempt, verdict):
        if self.keep:
            folder = repositories.made(Path(f"{self.repository.folder}-said"))
            (folder / f"{len(self.outcomes):02}-{name}-{attempt}.txt").write_text(f"exit {verdict.exit_code}\n{verdict.text}")


# Tables.


def show(variant, outcomes, seconds):
    honest = [outcome for outcome in outcomes if outcome.pull_request.kind != "regression"]
    regressions = [outcome for outcome in outcomes if outcome.pull_request.kind == "regression"]
    stopped = [outcome for outcome in honest if not outcome.verdict.is_green()]
    groups = Counter(outcome.group() for outcome in stopped)
    commands = sum(outcome.commands for outcome in honest)
    red = [outcome for outcome in regressions if outcome.verdict.failed_gates]
    print(f"\n{variant}: {len(stopped)} of {len(honest)} honest pull requests not green at the first push")
    for group in GROUPS:
        print(f"  {groups[group]:3} {group}")
    print(f"  {commands:3} commands of the authors after the push")
    print(f"  {len(red)} of {len(regressions)} regressions red by a gate")
    print(f"  {sum(not outcome.is_solved for outcome in honest)} never became green; {seconds:.0f} seconds\n")
    for outcome in stopped:
        state = "" if outcome.is_solved else ", never green"
        words = f"exit {outcome.verdict.exit_code} on the {outcome.place}, {counted(outcome.commands)}{state}"
        print(f"  {outcome.pull_request.name:7} {outcome.pull_request.kind:20} {outcome.group():22} {words}")
        print(f"          {shortened(outcome.verdict.first_line())}")
        if outcome.typed:
            print(f"          then: {shortened('; '.join(outcome.typed))}")
    for outcome in regressions:
        state = "red" if outcome.verdict.failed_gates else "NOT red"
        print(f"  {outcome.pull_request.name:7} {state}, exit {outcome.verdict.exit_code}")
        print(f"          {shortened(outcome.verdict.first_line())}")


def counted(commands):
    return "1 command" if commands == 1 else f"{commands} commands"


def shortened(line, length=200):
    return line if len(line) <= length else line[: length - 1] + "…"


def show_by_variant(months):
    print("\n| variant | not green | person | slip | no-op | noise | git | false block | commands | regressions red |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for variant, outcomes in months.items():
        honest = [outcome for outcome in outcomes if outcome.pull_request.kind != "regression"]
        stopped = [outcome for outcome in honest if not outcome.verdict.is_green()]
        groups = Counter(outcome.group() for outcome in stopped)
        red = sum(outcome.verdict.failed_gates for outcome in outcomes if outcome.pull_request.kind == "regression")
        counts = " | ".join(str(groups[group]) for group in GROUPS)
        print(f"| {variant} | {len(stopped)} of {len(honest)} | {counts} | {sum(outcome.commands for outcome in honest)} | {red} |")


def show_by_kind(months):
    """Not green of all, and `c`: the commands of the authors."""
    kinds = list(dict.fromkeys(outcome.pull_request.kind for outcomes in months.values() for outcome in outcomes))
    print("\n| kind | " + " | ".join(months) + " |\n|---|" + "---|" * len(months))
    for kind in kinds:
        cells = []
        for outcomes in months.values():
            of_kind = [outcome for outcome in outcomes if outcome.pull_request.kind == kind]
            stopped = sum(not outcome.verdict.is_green() for outcome in of_kind)
            commands = sum(outcome.commands for outcome in of_kind)
            cells.append(f"{stopped}/{len(of_kind)}" + (f" c{commands}" if commands else ""))
        print(f"| {kind} | " + " | ".join(cells) + " |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", required=True, help="the goldgate to measure")
    arguments.add_argument("--variant", action="append", choices=list(repositories.VARIANTS), help="only this variant; may be repeated")
    arguments.add_argument("--only", metavar="KIND", action="append", help="only pull requests of this kind or name; may be repeated")
    arguments.add_argument("--seed", type=int, default=1, help="the seed of the agents' dice; default 1")
    arguments.add_argument("--keep", metavar="FOLDER", help="keep the repositories and all messages here")
    options = arguments.parse_args()
    program = Program(options.binary, options.seed)
    months = {}
    with tempfile.TemporaryDirectory(prefix="month-") as scratch:
        for variant in options.variant or repositories.VARIANTS:
            started = time.monotonic()
            repository = repositories.Repository(Path(options.keep or scratch) / variant, variant, program)
            month = Month(repository, options.only, options.keep)
            month.run()
            months[variant] = month.outcomes
            show(variant, month.outcomes, time.monotonic() - started)
            sys.stdout.flush()
    show_by_variant(months)
    show_by_kind(months)


if __name__ == "__main__":
    main()
