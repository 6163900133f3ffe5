"""Counts the instructions of `goldgate run` without a base commit, with one that judges alike, and with one that judges otherwise."""

import pathlib
import re
import subprocess
import sys

# A base whose files are the same costs a comparison of what was read; another judge grades every run once more.
SAME, OTHER = 1.3, 2.3


def instructions(binary, folder, arguments, codes):
    """The instructions that the program executes from its start to its end; those of git are not among them."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", binary, "run", *arguments]
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = ran.stderr.decode(errors="replace")
    found = re.search(r"Collected : (\d+)", said)
    if ran.returncode not in codes or not found:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}:\n{said}{ran.stdout.decode(errors='replace')[-2000:]}")
    return int(found.group(1))


def main():
    binary, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    base = ["--base", "HEAD"]
    alone = instructions(binary, folder, [], [0])
    same = instructions(binary, folder, base, [0])
    # A gate is other on the base, so every run is judged a second time.
    config = folder / "goldgate.yaml"
    text = config.read_text()
    config.write_text(text + "    gates: { finding_recall: { min: 0.9 } }\n")
    stricter = instructions(binary, folder, base, [0])
    # Every golden file is other, too.
    for golden in (folder / "golden/expected").rglob("*.json"):
        golden.write_text(golden.read_text().replace('"max_expected_findings": 8', '"max_expected_findings": 9'))
    edited = instructions(binary, folder, base, [1])
    missed = []
    for name, count, most in [
        ("a base with the same judge", same, SAME),
        ("a base with another gate", stricter, OTHER),
        ("a base with other golden files", edited, OTHER),
    ]:
        ratio = count / alone
        print(f"{name:32} {ratio:5.2f} times the {alone / 1e6:.0f} million instructions without a base, at most {most}")
        if ratio > most:
            missed.append(name)
    if missed:
        sys.exit(f"costs more than it may: {', '.join(missed)}")


main()
