"""Runs a program on a terminal of 120 columns, answers its prompts in order, and prints what it showed.

usage: terminal.py COLUMNS ANSWERS PROGRAM [ARGUMENT...]; the answers are separated by commas.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, answers, command = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvpe(command[0], command, os.environ)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
shown = b""
asked = 0
while True:
    ready, _, _ = select.select([terminal], [], [], 20)
    if not ready:
        break
    try:
        read = os.read(terminal, 65536)
    except OSError:
        break
    if not read:
        break
    shown += read
    while shown.count(b" > ") > asked and answers:
        asked += 1
        os.write(terminal, answers.pop(0).encode() + b"\n")
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(status))
