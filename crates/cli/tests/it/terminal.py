"""Runs a command in a pseudo-terminal of its own and plays a person who sits at it.

usage: terminal.py STDIN STEPS -- COMMAND…
STDIN is text that is piped in, or `-` for the terminal itself. STEPS is a JSON list of [wait, type, pause, gap]:
wait until this text was shown, and so many seconds more, then type that, with so many seconds between its keys;
without a gap it comes at once, as a paste does. In what is typed, `{code}` is the code that the card shows.
Prints one JSON object: the exit code and everything that was shown.
"""

import json
import os
import pty
import re
import select
import signal
import sys
import time

stdin, steps, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[4:]
reader, writer = os.pipe()
child, terminal = pty.fork()
if child == 0:
    if stdin != "-":
        os.dup2(reader, 0)
    os.close(reader)
    os.close(writer)
    os.environ.setdefault("COLUMNS", "80")
    os.execv(command[0], command)
os.close(reader)
if stdin != "-":
    os.write(writer, stdin.encode())
os.close(writer)

shown, seen, deadline = "", 0, time.monotonic() + 30
typed_at = None
while time.monotonic() < deadline:
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data.decode("utf-8", "replace")
    if steps and steps[0][0] in shown[seen:]:
        # A key counts only when the question was on the screen for a moment.
        if typed_at is None:
            typed_at = time.monotonic() + steps[0][2]
        if time.monotonic() >= typed_at:
            seen = len(shown)
            code = re.search(r"type ([a-z]{4}) to allow", shown)
            text = steps[0][1].replace("{code}", code.group(1) if code else "")
            gap = steps[0][3] if len(steps[0]) > 3 else 0
            for piece in text if gap else [text]:
                os.write(terminal, piece.encode())
                time.sleep(gap)
            steps.pop(0)
            typed_at = None
else:
    # It waits for a key that no step types: that is a failure of the story, and must not hang.
    os.kill(child, signal.SIGKILL)
_, status = os.waitpid(child, 0)
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "shown": shown}))
