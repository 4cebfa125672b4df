#!/usr/bin/env python3
"""Compares modules with their rewritten forms on the real XLA:CPU.

Usage: tools/compare_on_xla.py --corpus bench/data/corpus --tuned DIR
           [--only REGEX] [--json OUT]

For every DIR/NAME.hlo it compiles NAME of the corpus and the rewritten module,
runs both on the same seeded inputs and compares every output. A module passes
when each output's largest error, relative to the larger of the element's
magnitude and the output's root mean square, is at most the tolerance of its
type (TOLERANCE). Exit status 1 when any module fails.
"""

import argparse
import json
import pathlib
import re
import sys
import time

import jax
import numpy as np
import zstandard
from jax._src.lib import xla_client
from jaxlib import _hlo, _jax

TOLERANCE = {"float64": 1e-9, "float32": 1e-3, "bfloat16": 3e-2,
             "float16": 2e-2}


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

    def run(self, executable, arguments):
        buffers = [jax.device_put(a, self.device) for a in arguments]
        result = executable.execute_sharded(buffers)
        arrays = result.disassemble_into_single_device_arrays()
        return [np.asarray(a[0]) for a in arrays]


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


def compare(runner, before, after, seed):
    before, after = fill_elided_constants(before), fill_elided_constants(after)
    shapes = parameter_shapes(before)
    original, rewritten = runner.compile(before), runner.compile(after)
    arguments = make_arguments(shapes, seed, positive=False)
    a = runner.run(original, arguments)
    if nan_fraction(a) > 0.1:
        arguments = make_arguments(shapes, seed, positive=True)
        a = runner.run(original, arguments)
    b = runner.run(rewritten, arguments)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--tuned", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
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
            ok, worst, where = compare(
                runner, before, path.read_text(), args.seed)
        except Exception as exception:  # XLA refused the module: a failure
            ok, worst = False, float("inf")
            where = str(exception).splitlines()[0]
        failed += not ok
        rows.append({"module": name, "equal": ok, "max_rel_error": worst,
                     "where": where, "seconds": time.time() - start})
        print(f"{name:20} {'equal' if ok else 'DIFFERENT':9} "
              f"max rel error {worst:.3g} {where}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows) - failed} equal, {failed} different")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
