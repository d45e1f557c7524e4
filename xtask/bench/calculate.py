"""How long CPython's `decimal` takes for the expressions that `math.calculate` is measured with.

Usage: python calculate.py time CASES
       python calculate.py keep CASES

CASES holds one JSON object a line: a group and an expression. Each expression becomes a function that
computes and writes the result as text. The functions are compiled and their literals are made before the
clock starts, so that CPython does not pay for reading them. `time` prints one JSON line a group;
`keep` prints the cases that `decimal` can compute: it refuses a remainder whose quotient has more digits
than a number may have.
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
BUDGET_NANOS = 60_000_000
PASSES_MIN = 5


def compiled(expression: str) -> Callable[[], str]:
    """The expression as a function without arguments."""
    call = FUNCTION.fullmatch(expression)
    literals: dict[str, decimal.Decimal] = {}

    def named(found: re.Match[str]) -> str:
        name = f"literal{len(literals)}"
        literals[name] = decimal.Decimal(found[0])
        return name

    text = NUMBER.sub(named, call[2] if call else expression)
    source = f"({text}).{call[1]}()" if call else text
    return eval(f"lambda: str({source})", {"str": str, **literals})


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


def can_compute(case: dict[str, str]) -> bool:
    """Whether `decimal` has a value for it."""
    try:
        compiled(case["expression"])()
    except decimal.InvalidOperation:
        return False
    return True


def main() -> None:
    context = decimal.getcontext()
    context.prec = 50
    context.rounding = decimal.ROUND_HALF_EVEN
    context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
    with open(sys.argv[2], encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    if sys.argv[1] == "keep":
        for case in filter(can_compute, cases):
            print(json.dumps(case))
        return
    groups: dict[str, list[Callable[[], str]]] = {}
    for case in cases:
        groups.setdefault(case["group"], []).append(compiled(case["expression"]))
    for group, functions in groups.items():
        print(json.dumps({"name": group, "nanos": nanos(functions)}))


main()
