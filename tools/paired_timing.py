"""Times several functions beside each other, each equally often.

A round samples every function once; a sample is the mean of as many calls in a
row as take SAMPLE_SECONDS, at least one. The orders of the rounds are a
Williams design: each function is equally often at each place of a round, and
equally often right behind each other function, so neither the place nor what
ran before favors one. Beside wall time stands the CPU time of all threads of
the process, which other processes disturb less. No sample is left out.
"""

import dataclasses
import gc
import math
import time

from interleaved import seconds_per_call

SAMPLE_SECONDS = 0.1
WARM_UP_CALLS = 2


@dataclasses.dataclass
class Samples:
    """Samples of one function, by round."""
    seconds: list = dataclasses.field(default_factory=list)
    cpu_seconds: list = dataclasses.field(default_factory=list)


def orders(count):
    """Returns the rows of a Williams design of `count` functions: `count` rows
    if it is even, twice as many if it is odd. Source: Williams, Experimental
    designs balanced for the estimation of residual effects of treatments,
    1949."""
    first, low, high = [0], 1, count - 1
    while low <= high:
        first.append(low)
        if low < high:
            first.append(high)
        low, high = low + 1, high - 1
    rows = [[(i + shift) % count for i in first] for shift in range(count)]
    return rows + [row[::-1] for row in rows] if count % 2 else rows


def whole_rounds(rounds, count):
    """Rounds up to whole repetitions of orders(count)."""
    return math.ceil(rounds / len(orders(count))) * len(orders(count))


def measure(functions, rounds):
    """Returns ({name: Samples}, calls per sample). `functions` is {name:
    function}; the first one decides how many calls make a sample. `rounds` is
    a result of whole_rounds()."""
    names, rows = list(functions), orders(len(functions))
    if rounds % len(rows):
        raise ValueError(f"{rounds} rounds, expected a multiple of {len(rows)}")
    once = {name: min(seconds_per_call(functions[name], 1)
                      for _ in range(WARM_UP_CALLS)) for name in names}
    calls = max(1, math.ceil(SAMPLE_SECONDS / once[names[0]]))
    samples = {name: Samples() for name in names}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for done in range(rounds):
            for name in (names[i] for i in rows[done % len(rows)]):
                cpu = time.process_time()
                samples[name].seconds.append(
                    seconds_per_call(functions[name], calls))
                samples[name].cpu_seconds.append(
                    (time.process_time() - cpu) / calls)
    finally:
        if collecting:
            gc.enable()
    return samples, calls
