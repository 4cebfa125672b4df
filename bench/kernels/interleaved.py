"""Times several functions beside each other, so that what changes with the
machine's mood changes for all of them.

A sample is the time of one call, over as many calls in a row as take
SAMPLE_SECONDS. A round samples every function once; rounds come in pairs, the
second in the reverse order of the first (A B C, C B A), the first in a random
one. A round that something else disturbed (disturbance.py) is discarded, for
all functions alike, and another one taken, up to MOST_ROUNDS times as many as
are wanted. No sample is left out by itself, nor because of its value. When
even then too few rounds are undisturbed, all that were taken stand, marked as
disturbed.

Functions are compared by the median over the rounds of their ratio within a
round, which a drift that is slower than a round does not move. Its interval is
that of the sign test, by order statistics, which assumes nothing about the
noise and has at least 95 % for independent rounds. A function that is timed
against itself in the same rounds shows what is noise: see `compare`.
"""

import dataclasses
import gc
import itertools
import math
import os
import statistics
import time

import numpy as np

import disturbance

SAMPLE_SECONDS = 1.25e-3
# Beside what comes before a sample with several threads this costs little.
SAMPLE_SECONDS_OF_POOL = 10e-3
WARM_SECONDS, WARM_LIMIT_SECONDS = 0.05, 0.5
WARM_AGREEMENT = 0.01
# Thread pools go on spinning for a while after a call; with several threads a
# sample waits until those of the one before have given up.
POOL_SECONDS = 20e-3
# After that the threads are called until the system has spread them over the
# cores again, which takes some of its clock's ticks.
SPREAD_SECONDS = 8e-3
MOST_ROUNDS = 3
CONFIDENCE = 0.95
# Fewer rounds have no interval of CONFIDENCE.
LEAST_ROUNDS = 6


@dataclasses.dataclass
class Samples:
    """Of one function, by round."""
    seconds: list = dataclasses.field(default_factory=list)
    cpu_seconds: list = dataclasses.field(default_factory=list)
    preemptions: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Sample:
    seconds: float
    cpu_seconds: float
    preemptions: int


class Rounds:
    """Collects rounds until `wanted` are undisturbed, or MOST_ROUNDS times as
    many were taken."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._taken = []  # ({name: Sample}, why it is disturbed or None)
        self._evidence = []

    def add(self, samples, reason, evidence=None):
        self._taken.append((samples, reason))
        self._evidence.append(evidence)

    @property
    def undisturbed(self):
        return sum(reason is None for _, reason in self._taken)

    @property
    def taken(self):
        return len(self._taken)

    @property
    def done(self):
        return (self.undisturbed >= self._wanted or
                len(self._taken) >= MOST_ROUNDS * self._wanted)

    def result(self):
        reasons = [reason for _, reason in self._taken if reason is not None]
        disturbed = self.undisturbed < self._wanted
        kept = [samples for samples, reason in self._taken
                if disturbed or reason is None]
        return Measurement(
            {name: Samples(*([getattr(round[name], field.name)
                              for round in kept]
                             for field in dataclasses.fields(Samples)))
             for name in kept[0]},
            len(self._taken),
            {reason: reasons.count(reason) for reason in sorted(set(reasons))},
            disturbed, self._evidence)


@dataclasses.dataclass(frozen=True)
class Measurement:
    samples: dict  # name -> Samples, of the same rounds
    rounds_taken: int
    rounds_disturbed: dict  # why -> how many
    # Too few rounds were not; `samples` has all of them then.
    disturbed: bool
    evidence: list  # disturbance.Evidence of each round that was taken


def seconds_per_call(call, calls):
    iterations = itertools.repeat(None, calls)
    start = time.perf_counter()
    for _ in iterations:
        call()
    return (time.perf_counter() - start) / calls


def warm_up(call, sample_seconds=SAMPLE_SECONDS):
    """Calls until WARM_SECONDS have gone by and two medians in a row agree.
    Returns seconds per call, the least of those of the last median."""
    start = time.perf_counter()
    before = None
    while True:
        single = min(seconds_per_call(call, 1) for _ in range(3))
        calls = max(1, round(sample_seconds / 2 / single))
        samples = [seconds_per_call(call, calls) for _ in range(5)]
        median = statistics.median(samples)
        elapsed = time.perf_counter() - start
        settled = before and abs(median / before - 1) < WARM_AGREEMENT
        if elapsed > WARM_LIMIT_SECONDS or settled and elapsed > WARM_SECONDS:
            return min(samples)
        before = median


def _sample(call, calls):
    preemptions, cpu = disturbance.preemptions(), time.process_time()
    seconds = seconds_per_call(call, calls)
    return Sample(seconds, (time.process_time() - cpu) / calls,
                  disturbance.preemptions() - preemptions)


def _take_round(calls, counts, order, threads, sample_seconds):
    """Samples every function once, in `order`. Returns {name: Sample} in the
    order of `calls`."""
    samples = {}
    for name in order:
        # Brings the caches and the pool into the state of a loop.
        warming = 1 + counts[name] // 10
        if threads > 1:
            time.sleep(POOL_SECONDS)
            warming = round(
                1 + counts[name] * SPREAD_SECONDS / sample_seconds)
        seconds_per_call(calls[name], warming)
        samples[name] = _sample(calls[name], counts[name])
    return {name: samples[name] for name in calls}


def measure(calls, rounds, threads, seed, witness=None,
            judge=disturbance.judge, most_seconds=math.inf):
    """Times {name: function} in `rounds` undisturbed rounds, if that many can
    be had; `rounds` is even. `witness`: Calibration.witness. Beyond
    `most_seconds` disturbed rounds are not taken again."""
    sample_seconds = SAMPLE_SECONDS if threads == 1 else SAMPLE_SECONDS_OF_POOL
    counts = {name: max(1, round(sample_seconds / warm_up(call)))
              for name, call in calls.items()}
    cores = os.sched_getaffinity(0)
    rng = np.random.default_rng(seed)
    collected = Rounds(rounds)
    orders = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        while not collected.done and not (
                collected.taken >= rounds and
                time.perf_counter() - start > most_seconds):
            if not orders:
                order = [list(calls)[i] for i in rng.permutation(len(calls))]
                orders = [order, order[::-1]]
            before = disturbance.read(cores)
            samples = _take_round(calls, counts, orders.pop(0), threads,
                                  sample_seconds)
            after = disturbance.read(cores)
            evidence = disturbance.Evidence(
                max(disturbance.lost_share(s.seconds, s.cpu_seconds)
                    for s in samples.values()),
                disturbance.share_of_others(before, after, len(cores)),
                witness and witness())
            collected.add(samples, judge(evidence, threads), evidence)
    finally:
        if collecting:
            gc.enable()
    return collected.result()


def _rank(count):
    """Returns the largest k for which the k-th smallest and k-th largest of
    `count` numbers have their median between them with CONFIDENCE; 0 if there
    is none."""
    tail, k = 0.0, 0
    while k < count / 2:
        tail += math.comb(count, k) / 2**count
        if 2 * tail > 1 - CONFIDENCE:
            break
        k += 1
    return k


def ratio(numerators, denominators):
    """Returns (median, lower, upper) of the paired ratios. The interval has at
    least CONFIDENCE; of fewer than LEAST_ROUNDS it is the range, which has
    less."""
    ratios = sorted(np.array(numerators) / np.array(denominators))
    rank = max(_rank(len(ratios)), 1)
    return (float(statistics.median(ratios)), float(ratios[rank - 1]),
            float(ratios[-rank]))


def compare(ratio_of_two, ratio_of_same):
    """Returns 1 if the first ratio is significantly above 1, -1 if below, else
    0. Significant: its whole interval is beyond 1, and beyond the interval that
    a function has with itself in the same rounds."""
    _, lower, upper = ratio_of_two
    _, same_lower, same_upper = ratio_of_same
    if lower > max(1.0, same_upper):
        return 1
    if upper < min(1.0, same_lower):
        return -1
    return 0
