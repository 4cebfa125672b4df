"""Times several functions beside each other, so that what changes with the
machine's mood changes for all of them.

A sample is the time of one call, over as many calls in a row as take
SAMPLE_SECONDS. A round samples every function once; rounds come in pairs, the
second in the reverse order of the first (A B C, C B A), the first in a random
one. Functions are compared by the median over the rounds of their ratio within
a round, which a drift that is slower than a round does not move; its interval
is a bootstrap's over the rounds. No sample is left out. How often the system
gave the core to another process is counted, and the time of all threads on a
core is taken besides: on a busy machine it says what one thread needs.
"""

import dataclasses
import gc
import itertools
import resource
import statistics
import time

import numpy as np

SAMPLE_SECONDS = 1.25e-3
WARM_SECONDS, WARM_LIMIT_SECONDS = 0.05, 0.5
WARM_AGREEMENT = 0.01
# Thread pools go on spinning for a while after a call; with several threads a
# sample waits until those of the one before have given up.
POOL_SECONDS = 20e-3
# After that the threads are called until the system has spread them over the
# cores again, which takes some of its clock's ticks.
SPREAD_SECONDS = 8e-3
RESAMPLES = 2000


@dataclasses.dataclass
class Samples:
    """Of one function, by round."""
    seconds: list = dataclasses.field(default_factory=list)
    cpu_seconds: list = dataclasses.field(default_factory=list)
    preemptions: list = dataclasses.field(default_factory=list)


def seconds_per_call(call, calls):
    iterations = itertools.repeat(None, calls)
    start = time.perf_counter()
    for _ in iterations:
        call()
    return (time.perf_counter() - start) / calls


def warm_up(call):
    """Calls until WARM_SECONDS have gone by and two medians in a row agree.
    Returns seconds per call, the least of those of the last median."""
    start = time.perf_counter()
    before = None
    while True:
        single = min(seconds_per_call(call, 1) for _ in range(3))
        calls = max(1, round(SAMPLE_SECONDS / 2 / single))
        samples = [seconds_per_call(call, calls) for _ in range(5)]
        median = statistics.median(samples)
        elapsed = time.perf_counter() - start
        settled = before and abs(median / before - 1) < WARM_AGREEMENT
        if elapsed > WARM_LIMIT_SECONDS or settled and elapsed > WARM_SECONDS:
            return min(samples)
        before = median


def _preemptions():
    """Of all threads of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _sample(call, calls, samples):
    preemptions, cpu = _preemptions(), time.process_time()
    samples.seconds.append(seconds_per_call(call, calls))
    samples.cpu_seconds.append((time.process_time() - cpu) / calls)
    samples.preemptions.append(_preemptions() - preemptions)


def measure(calls, rounds, threads, seed):
    """{name: Samples} of {name: function}. `rounds` is even."""
    counts = {name: max(1, round(SAMPLE_SECONDS / warm_up(call)))
              for name, call in calls.items()}
    samples = {name: Samples() for name in calls}
    rng = np.random.default_rng(seed)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds // 2):
            order = [list(calls)[i] for i in rng.permutation(len(calls))]
            for name in order + order[::-1]:
                # Brings the caches and the pool into the state of a loop.
                warming = 1 + counts[name] // 10
                if threads > 1:
                    time.sleep(POOL_SECONDS)
                    warming = round(
                        1 + counts[name] * SPREAD_SECONDS / SAMPLE_SECONDS)
                seconds_per_call(calls[name], warming)
                _sample(calls[name], counts[name], samples[name])
    finally:
        if collecting:
            gc.enable()
    return samples


def ratio(numerators, denominators, seed):
    """(median, lower, upper) of the paired ratios; the interval has 95 %."""
    ratios = np.array(numerators) / np.array(denominators)
    rng = np.random.default_rng(seed)
    medians = np.median(
        rng.choice(ratios, (RESAMPLES, len(ratios))), axis=1)
    lower, upper = np.quantile(medians, (0.025, 0.975))
    return float(np.median(ratios)), float(lower), float(upper)
