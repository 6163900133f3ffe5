"""Counts the instructions of `goldgate repair` on one text of each hostile shape, and on one four times as long."""

import concurrent.futures
import os
import re
import subprocess
import sys

UNITS = {
    "open braces": "{",
    "open lists": "[",
    "open objects": '{"a":',
    "open lists behind keys": '"findings": [',
    "quotes": '"',
    "both quotes": "\"'",
    "texts that never close": '{"a": "b',
    "fences": "```\n{\n```json\n[\n",
    "fences that never close": '```\n{"a": [',
    "backslashes": "\\",
    "anchors": '{"category": "a"} ',
    "anchors in broken objects": '{"category": "a" x ',
    "keys without values": '{a:',
    "numbers in broken lists": "[1 ",
    "comments that never close": "[/*",
    "comments to the end of the line": "{//",
    "prose in braces": "{ some prose ",
    "closers": "}]",
    "blanks": "{    ",
    "words": "no object here. ",
    "records by lines": '{"category": "a", "severity": "high"}\n',
}
# The short text, and how many times as long the long one is.
BYTES, TIMES = 8_000, 4
# Linear is 4; a logarithm, or a table that doubles at a bad moment, adds a little; quadratic is 16.
MOST = 5.0
# Starts of one program differ by some 60,000 instructions: the tables of each process have a seed of their own. A shape that costs
# less a byte than this is counted again on texts that are so much longer that this does not matter.
LIGHT, LONGER = 100, 64


def shapes(size):
    """Texts of about this many bytes: the units, and what cannot be said by repeating one."""
    texts = {name: unit * (size // len(unit)) for name, unit in UNITS.items()}
    half = size // 2
    texts["deep and closed"] = "[" * half + "]" * half
    texts["deep and closed wrongly"] = '[{"a":' * (half // 6) + "]" * half
    texts["one long text"] = '{"a": "' + "\\n" * half
    texts["anchors behind one break"] = '{"x" y ' + '"findings": [{"category": "a"}], ' * (size // 33)
    texts["false starts before quotes"] = "{ prose " * (half // 8) + '"' * half
    return texts


def instructions(binary, text):
    """The instructions that the program executes from its start to its end."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", binary, "repair"]
    ran = subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = ran.stderr.decode(errors="replace")
    found = re.search(r"I +refs: +([0-9,]+)", said)
    if (ran.returncode != 0 and "[nothing-recovered]" not in said) or not found:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}:\n{said}")
    return int(found.group(1).replace(",", ""))


def main():
    binary = sys.argv[1]
    # The smallest text that is read: an empty one is refused, and to say so takes instructions that no other text here takes.
    empty = instructions(binary, "{}")
    slow = []

    def count(texts):
        # Counts do not depend on what else the machine does.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            counted = threads.map(lambda text: instructions(binary, text) - empty, texts.values())
            return dict(zip(texts, counted))

    def judge(few, many, size):
        for name in few:
            # Less than one for each byte would say that the text was not read.
            if few[name] < size or many[name] > MOST * few[name]:
                slow.append(name)
            each, times = few[name] / size, many[name] / few[name]
            print(f"{name:30} {each:7.1f} instructions a byte, {times:5.2f} times as many for {TIMES} times the text")

    few, many = count(shapes(BYTES)), count(shapes(BYTES * TIMES))
    light = [name for name in few if few[name] < LIGHT * BYTES]
    judge({name: few[name] for name in few if name not in light}, many, BYTES)
    size = BYTES * LONGER
    again = [{name: shapes(size * times)[name] for name in light} for times in (1, TIMES)]
    judge(*map(count, again), size)
    if slow:
        sys.exit(f"not linear, or not read: {', '.join(slow)}")
    print(f"repair is linear: {len(few)} shapes")


main()
