#!/usr/bin/env python3
"""Compares modules with their rewritten forms on the real XLA:CPU.

Usage: tools/compare_on_xla.py --corpus bench/data/corpus --tuned DIR
           [--only REGEX] [--time ROUNDS] [--json OUT]

For every DIR/NAME.hlo it compiles NAME of the corpus and the rewritten module,
runs both on the same seeded inputs and compares every output. A module passes
when each output's largest error, relative to the larger of the element's
magnitude and the output's root mean square, is at most the tolerance of its
type (TOLERANCE in xla_runner.py). Exit status 1 when any module fails.

--time ROUNDS also measures run time, of equal modules only: at most ROUNDS
pairs of the original (A) and the rewritten module (B), one right after the
other, A B and B A by turns, on the same device buffers, after a warm-up. A
sample is as many calls as take SAMPLE_SECONDS, and at least one. `speedup` is
the median of the pairs' A / B, above 1 when the rewritten module is faster;
`aa` is the same with a second compilation of the original in place of B,
interleaved with the first: its distance from 1 is the noise. A module gets
MODULE_SECONDS, but at least MIN_PAIRS pairs (fewer only if ROUNDS is). A module
whose speedup is below CONFIRM_BELOW is measured once more, with twice the pairs
and twice the time; the second measurement replaces the first whatever it says,
and the first is kept in the JSON (`first`) and marked with a `*`. As only low
figures are measured again, the final lines also give the geometric mean of the
first measurements.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re
import statistics
import sys
import time

import numpy as np
import zstandard

# TOLERANCE is here for bench/kernels/time_modules.py alone.
from xla_runner import (TOLERANCE, Runner, error, make_arguments, mismatch,
                        parameter_shapes, within_tolerance)

# Of --time; see above.
SAMPLE_SECONDS = 0.02
MODULE_SECONDS = 12.0
MIN_PAIRS = 6  # even, so that both orders occur equally often
CONFIRM_BELOW = 0.97


def seconds_per_call(executable, buffers, calls):
    """Mean over calls in a row, each waited for."""
    start = time.perf_counter()
    for _ in range(calls):
        for output in executable.execute(buffers):
            output.block_until_ready()
    return (time.perf_counter() - start) / calls


def nan_fraction(outputs):
    total = sum(o.size for o in outputs)
    bad = sum(int(np.isnan(o.astype(np.float64)).sum()) for o in outputs
              if o.dtype != np.bool_)
    return bad / max(total, 1)


def fill_elided_constants(text):
    """Gives constants whose values the text leaves out the same values in both
    modules: small integers that depend on the shape alone. (XLA would make up
    other ones at every read.)"""
    def fill(match):
        dims = [int(d) for d in match[2].split(",")]
        values = np.arange(np.prod(dims)).reshape(dims) % 8
        return match[1] + str(values.tolist()).replace(
            "[", "{").replace("]", "}") + ")"
    return re.sub(r"( = s32\[([0-9,]+)\]\S* constant\(){\.\.\.}\)", fill, text)


@dataclasses.dataclass
class Prepared:
    """A module and its rewritten form, ready to run on the same inputs."""
    text: str
    original: object
    rewritten: object
    buffers: list
    expected: list  # the original's outputs


def prepare(runner, before, after, seed):
    before, after = fill_elided_constants(before), fill_elided_constants(after)
    shapes = parameter_shapes(before)
    original, rewritten = runner.compile(before), runner.compile(after)
    buffers = runner.put(make_arguments(shapes, seed, positive=False))
    expected = runner.run(original, buffers)
    if nan_fraction(expected) > 0.1:
        buffers = runner.put(make_arguments(shapes, seed, positive=True))
        expected = runner.run(original, buffers)
    return Prepared(before, original, rewritten, buffers, expected)


def compare(runner, module):
    """Whether the outputs are equal, the largest error, and where it is."""
    a = module.expected
    b = runner.run(module.rewritten, module.buffers)
    if problem := mismatch(a, b):
        return False, np.inf, problem
    worst, where, ok = 0.0, "", True
    for i, (x, y) in enumerate(zip(a, b)):
        e = error(x, y)
        if e > worst:
            worst, where = e, f"output {i}"
        ok = ok and within_tolerance(e, x.dtype)
    return ok, worst, where


def median_ratio(numerators, denominators):
    return statistics.median(
        a / b for a, b in zip(numerators, denominators))


def measure(sample, rounds, limit_seconds):
    """Paired run times; `sample` gives one of "original", "rewritten" or
    "again", the second compilation of the original."""
    seconds = {"original": [], "rewritten": [], "aa_original": [], "again": []}
    start = time.perf_counter()
    for done in range(rounds):
        late = time.perf_counter() - start >= limit_seconds
        if late and done >= MIN_PAIRS and done % 2 == 0:
            break
        for first, second in (("original", "rewritten"),
                              ("aa_original", "again")):
            for which in (first, second) if done % 2 == 0 else (second, first):
                seconds[which].append(sample(which.removeprefix("aa_")))
    return {"speedup": median_ratio(seconds["original"], seconds["rewritten"]),
            "aa": median_ratio(seconds["aa_original"], seconds["again"]),
            "original_seconds": statistics.median(seconds["original"]),
            "rewritten_seconds": statistics.median(seconds["rewritten"]),
            "pairs": len(seconds["original"])}


def time_module(runner, module, rounds):
    """Paired run times as in the module comment; None for a module that gives
    an input's buffer away, which can run only once."""
    header = module.text.split("\n", 1)[0]
    if re.search(r"input_output_alias|buffer_donor", header):
        return None
    executables = {"original": module.original, "rewritten": module.rewritten,
                   "again": runner.compile(module.text)}
    for executable in executables.values():  # warm-up; the last run counts
        for _ in range(2):
            once = seconds_per_call(executable, module.buffers, 1)
    calls = max(1, math.ceil(SAMPLE_SECONDS / once))

    def sample(which):
        return seconds_per_call(executables[which], module.buffers, calls)

    timing = measure(sample, rounds, MODULE_SECONDS)
    if timing["speedup"] < CONFIRM_BELOW:
        first = timing
        timing = measure(sample, 2 * rounds, 2 * MODULE_SECONDS)
        timing["first"] = first
    return timing | {"calls": calls}


def examine(runner, before, after, seed, rounds):
    """The row of a module: equality, and run times when there are rounds."""
    module = prepare(runner, before, after, seed)
    ok, worst, where = compare(runner, module)
    row = {"equal": ok, "max_rel_error": worst, "where": where}
    if ok and rounds > 0:
        row["timing"] = time_module(runner, module, rounds)
    return row


def timing_columns(row):
    if "timing" not in row:
        return ""
    timing = row["timing"]
    if timing is None:
        return "not timed: it donates an input"
    mark = "*" if "first" in timing else " "
    return (f"speedup {timing['speedup']:.3f}{mark} aa {timing['aa']:.3f}  "
            f"{timing['pairs']} pairs of {timing['calls']} calls")


def print_speedups(rows):
    """The geometric mean and the minimum of the timed modules."""
    timed = [(row["timing"], row["module"]) for row in rows
             if row.get("timing")]
    if not timed:
        return
    mean = statistics.geometric_mean
    final = mean(timing["speedup"] for timing, _ in timed)
    first = mean(timing.get("first", timing)["speedup"] for timing, _ in timed)
    noise = mean(timing["aa"] for timing, _ in timed)
    lowest, name = min((timing["speedup"], name) for timing, name in timed)
    again = sum("first" in timing for timing, _ in timed)
    print(f"speedup: geometric mean {final:.3f} of {len(timed)} modules "
          f"(aa {noise:.3f}), minimum {lowest:.3f} {name}")
    print(f"{again} measured again; geometric mean of the first measurements "
          f"{first:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--tuned", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time", type=int, default=0, metavar="ROUNDS",
                        help="pairs of runs to time [0: none]")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    runner = Runner()
    rows, failed = [], 0
    for path in sorted(args.tuned.glob("*.hlo")):
        name = path.stem
        if not re.search(args.only, name):
            continue
        compressed = (args.corpus / f"{name}.hlo.zst").read_bytes()
        before = zstandard.decompress(compressed).decode()
        start = time.time()
        try:
            row = examine(
                runner, before, path.read_text(), args.seed, args.time)
        except Exception as exception:  # XLA refused the module: a failure
            row = {"equal": False, "max_rel_error": float("inf"),
                   "where": str(exception).splitlines()[0]}
        failed += not row["equal"]
        rows.append({"module": name, **row, "seconds": time.time() - start})
        print(f"{name:20} {'equal' if row['equal'] else 'DIFFERENT':9} "
              f"max rel error {row['max_rel_error']:.3g} {row['where']:10} "
              f"{timing_columns(row)}".rstrip(), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print_speedups(rows)
    print(f"{len(rows) - failed} equal, {failed} different")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
