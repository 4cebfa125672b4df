#!/usr/bin/env python3
"""Compares modules with their rewritten forms on the real XLA:CPU.

Usage: tools/compare_on_xla.py --corpus bench/data/corpus --tuned DIR
           [--only REGEX] [--time ROUNDS] [--json OUT]

For every DIR/NAME.hlo it compiles NAME of the corpus and the rewritten module,
runs both on the same seeded inputs and compares every output. A module passes
when each output's largest error, relative to the larger of the element's
magnitude and the output's root mean square, is at most the tolerance of its
type (TOLERANCE). Exit status 1 when any module fails.

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

import jax
import numpy as np
import zstandard
from jax._src.lib import xla_client
from jaxlib import _hlo, _jax

TOLERANCE = {"float64": 1e-9, "float32": 1e-3, "bfloat16": 3e-2,
             "float16": 2e-2}

# Of --time; see above.
SAMPLE_SECONDS = 0.02
MODULE_SECONDS = 12.0
MIN_PAIRS = 6  # even, so that both orders occur equally often
CONFIRM_BELOW = 0.97


class Runner:
    """Compiles and runs HLO text on the CPU backend."""

    def __init__(self):
        self.device = jax.devices("cpu")[0]
        self.client = self.device.client

    def compile(self, text):
        proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        stablehlo = _jax.mlir.hlo_to_stablehlo(proto)
        return self.client.compile_and_load(
            stablehlo, _jax.DeviceList((self.device,)),
            xla_client.CompileOptions())

    def put(self, arguments):
        """Device buffers for run() and seconds_per_call()."""
        return [jax.device_put(a, self.device) for a in arguments]

    def run(self, executable, buffers):
        return [np.asarray(a) for a in executable.execute(buffers)]

    def seconds_per_call(self, executable, buffers, calls):
        """Mean over calls in a row, each waited for."""
        start = time.perf_counter()
        for _ in range(calls):
            for output in executable.execute(buffers):
                output.block_until_ready()
        return (time.perf_counter() - start) / calls


def parameter_shapes(text):
    """Shapes of the entry parameters, from entry_computation_layout."""
    layout = text.split("entry_computation_layout={(", 1)[1].split(")->", 1)[0]
    found = re.findall(r"([a-z]+[0-9]*[a-z0-9]*)\[([0-9,]*)\]", layout)
    return [(t, tuple(int(d) for d in dims.split(",") if d))
            for t, dims in found]


DTYPES = {"pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32,
          "s64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
          "u64": np.uint64, "f16": np.float16, "f32": np.float32,
          "f64": np.float64, "bf16": jax.numpy.bfloat16}


def make_arguments(shapes, seed, positive):
    """Small normals for floats, small non-negative integers."""
    rng = np.random.default_rng(seed)
    arguments = []
    for name, shape in shapes:
        dtype = DTYPES[name]
        if dtype == np.bool_:
            value = rng.integers(0, 2, shape).astype(np.bool_)
        elif np.issubdtype(dtype, np.integer):
            value = rng.integers(0, 8, shape).astype(dtype)
        else:
            value = rng.normal(0, 0.1, shape)
            value = (np.abs(value) if positive else value).astype(dtype)
        arguments.append(value)
    return arguments


def error(a, b):
    """Largest relative error as in the module comment; inf for a NaN or an
    infinity on one side only."""
    if a.dtype == np.bool_ or np.issubdtype(a.dtype, np.integer):
        return 0.0 if np.array_equal(a, b) else np.inf
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if same.all():
        return 0.0
    if not (np.isfinite(x) | same).all() or not (np.isfinite(y) | same).all():
        return np.inf
    finite = x[np.isfinite(x)]
    rms = np.sqrt(np.mean(finite * finite)) if finite.size else 0.0
    scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), rms)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.nanmax(np.where(same, 0.0, np.abs(x - y) / scale)))


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
    if len(a) != len(b):
        return False, np.inf, f"{len(a)} outputs became {len(b)}"
    worst, where, ok = 0.0, "", True
    for i, (x, y) in enumerate(zip(a, b)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return False, np.inf, f"output {i} changed its shape or type"
        e = error(x, y)
        if e > worst:
            worst, where = e, f"output {i}"
        ok = ok and e <= TOLERANCE.get(str(x.dtype), 0.0)
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
            once = runner.seconds_per_call(executable, module.buffers, 1)
    calls = max(1, math.ceil(SAMPLE_SECONDS / once))

    def sample(which):
        return runner.seconds_per_call(
            executables[which], module.buffers, calls)

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
