"""How long processes live, and how much memory they hold at most.

Usage: python -I -S starts.py STARTS COMMANDS

COMMANDS is a JSON object: a name, and the words of a command. All are started in turns; what they print
is thrown away, and one that fails is an error. Prints one JSON line a command: the median time from start
to end in nanoseconds, and the greatest memory in bytes. The system reports no memory below that of this
process itself, which is therefore kept small and told too.
"""

import json
import os
import resource
import sys
import time


def lived(words: list[str]) -> tuple[int, int]:
    """Starts one process and waits for its end."""
    null = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter_ns()
    process = os.posix_spawn(words[0], words, os.environ, file_actions=null)
    _, status, usage = os.wait4(process, 0)
    nanos = time.perf_counter_ns() - start
    if status != 0:
        sys.exit(f"{words[0]} ended with status {os.waitstatus_to_exitcode(status)}")
    return nanos, usage.ru_maxrss * 1024


def main() -> None:
    commands = json.loads(sys.argv[2])
    seen: dict[str, list[tuple[int, int]]] = {name: [] for name in commands}
    for start in range(int(sys.argv[1]) + 1):
        for name, words in commands.items():
            life = lived(words)
            # The first start fills the caches of the system.
            if start > 0:
                seen[name].append(life)
    for name, lives in seen.items():
        nanos = sorted(nanos for nanos, _ in lives)[len(lives) // 2]
        print(json.dumps({"name": name, "nanos": nanos, "bytes": max(held for _, held in lives)}))
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"name": "floor", "bytes": own}))


main()
