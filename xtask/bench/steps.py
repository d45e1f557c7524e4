"""What the scripts that measure agents have in common."""

import json
import statistics
import time
from collections.abc import Callable

RUNS = 15
WARM_UP_RUNS = 3


def measure(name: str, steps: int, run: Callable[[], None]) -> None:
    """Prints the median time of a run, divided by its tool steps."""
    for _ in range(WARM_UP_RUNS):
        run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    print(json.dumps({"name": name, "nanos": statistics.median(times) / steps}))
