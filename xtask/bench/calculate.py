"""How long CPython's `decimal` takes for the expressions that `math.calculate` is measured with.

Usage: python calculate.py CASES

CASES holds one JSON object a line: a group and an expression. Each expression becomes a function that
makes its literals (`Decimal("17")`), computes, and writes the result as text; all functions are compiled
before the clock starts, so that CPython does not pay for parsing. Prints one JSON line a group.
"""

import decimal
import json
import re
import statistics
import sys
import time
from collections.abc import Callable

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
FUNCTION = re.compile(r"(exp|ln|log10)\((.*)\)")
BUDGET_NANOS = 300_000_000
PASSES_MIN = 15


def compiled(expression: str) -> Callable[[], str]:
    """The expression as a function without arguments."""
    call = FUNCTION.fullmatch(expression)
    text = NUMBER.sub(lambda found: f'Decimal("{found[0]}")', call[2] if call else expression)
    source = f"({text}).{call[1]}()" if call else text
    return eval(f"lambda: str({source})", {"Decimal": decimal.Decimal, "str": str})


def nanos(functions: list[Callable[[], str]]) -> float:
    """The median time of one call."""
    times = []
    end = time.perf_counter_ns() + BUDGET_NANOS
    while len(times) < PASSES_MIN or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        for function in functions:
            function()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times[1:]) / len(functions)


def main() -> None:
    context = decimal.getcontext()
    context.prec = 50
    context.rounding = decimal.ROUND_HALF_EVEN
    context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
    groups: dict[str, list[Callable[[], str]]] = {}
    with open(sys.argv[1], encoding="utf-8") as cases:
        for case in map(json.loads, cases):
            groups.setdefault(case["group"], []).append(compiled(case["expression"]))
    for group, functions in groups.items():
        print(json.dumps({"name": group, "nanos": nanos(functions)}))


main()
