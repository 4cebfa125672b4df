"""Checks and times one module as Hone's native code beside XLA:CPU; see
time_modules.py."""

import ctypes
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import jax
import numpy as np

import arguments
import exported
import index_bounds
import interleaved
import memory
import time_modules

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import xla_runner

jax.config.update("jax_cpu_enable_async_dispatch", False)

SEED = 1
ROUNDING = 4
# Units in the last place that inputs move by for ROUNDING.
MOST_UNITS = 4
# On a busy machine, where every round is disturbed, those of the largest
# modules would take most of the time that a module has.
MOST_SECONDS = 60
# The phase that may have a limit of its own.
XLA_COMPILES = time_modules.XLA_COMPILES
# A module that takes this many times as long as on XLA is called a few times
# and not timed any further, if a call takes more than the seconds.
HOPELESS, HOPELESS_SECONDS = 20, 0.5


def export(hone, module, threads, folder):
    """(shared object, seconds it took). Raises RuntimeError."""
    source = folder / f"{module.name}.hlo"
    target = (folder / f"{module.name}.so").resolve()
    source.write_text(module.text)
    start = time.perf_counter()
    result = subprocess.run(
        [hone, "run", source, "--target", "cpu", "--threads", str(threads),
         "--default", "--export", target], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    source.unlink()
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip() or
                           f"exit status {result.returncode}")
    return target, seconds


def run_on(hone, module, target, threads, folder):
    """Returns what `hone run` says of a module on random arguments. Raises
    RuntimeError."""
    source = folder / f"{module.name}.hlo"
    source.write_text(module.text)
    schedules = ["--default"] if target == "cpu" else []
    result = subprocess.run(
        [hone, "run", source, "--target", target, "--threads", str(threads),
         "--json", *schedules], capture_output=True, text=True)
    source.unlink()
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip() or
                           f"exit status {result.returncode}")
    return json.loads(result.stdout)


def compare_summaries(expected, found):
    """As `compare`, of what `hone run` says of outputs: the error is that of
    means and extrema, relative to the largest magnitude, or infinite if other
    numbers of elements are not finite."""
    def error(a, b):
        if a["shape"] != b["shape"] or a["non_finite"] != b["non_finite"]:
            return np.inf
        keys = ("mean", "min", "max")
        scale = max(abs(a[key]) for key in keys)
        return max(abs(a[key] - b[key]) for key in keys) / (scale or 1)

    def tolerance(output):
        type = xla_runner.numpy_type(output["shape"].split("[")[0])
        return xla_runner.TOLERANCE.get(str(type), 0)

    errors = [error(a, b) for a, b in zip(expected, found, strict=True)]
    worst = max(range(len(errors)), key=errors.__getitem__, default=None)
    return {"equal": all(e <= tolerance(a) for e, a in zip(errors, expected)),
            "error": errors[worst] if errors else 0.0, "output": worst,
            "rounding": []}


class Native:
    """A shared object on its inputs. Results go to memory that is allocated
    once, as the C interface has it, and hold poison before the first call."""

    def __init__(self, path, inputs, like, lines=None):
        """`lines`: as in memory.place, for the results."""
        self._inputs = inputs
        self.results = [memory.poison(memory.empty(
            a.shape, a.dtype, (len(inputs) + i) * memory.LINES_APART
            if lines is None else lines[i], huge=lines is None))
            for i, a in enumerate(like)]
        given, taken = (
            (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
            for arrays in (self._inputs, self.results))
        self.call = exported.bind(exported.load_entry(path), given, taken)


class OnXla:
    """A module that XLA compiled, and inputs on which it makes numbers."""

    def __init__(self, runner, module, begin):
        begin(XLA_COMPILES)
        start = time.perf_counter()
        self._executable = runner.compile(module.text)
        self.compile_seconds = time.perf_counter() - start
        self._runner = runner
        for positive in (False, True):
            begin("arguments are made")
            self.arguments = [memory.place(a, i) for i, a in
                              enumerate(make_arguments(module, positive))]
            begin("XLA runs")
            self._buffers = runner.put(self.arguments)
            self.expected = runner.run(self._executable, self._buffers)
            if xla_runner.nan_fraction(self.expected) <= 0.1:
                break
        self.expected = [memory.place(a, i)
                         for i, a in enumerate(self.expected)]

    def call(self):
        for output in self._executable.execute(self._buffers):
            output.block_until_ready()

    def rounding(self):
        """The largest error that some units in the last place of the inputs
        make, by output."""
        rng = np.random.default_rng(SEED)

        def move(a):
            if a.dtype == np.bool_ or np.issubdtype(a.dtype, np.integer):
                return a
            units = rng.integers(-MOST_UNITS, MOST_UNITS + 1, a.shape)
            epsilon = float(jax.numpy.finfo(a.dtype).eps)
            return (a * (1 + units * epsilon)).astype(a.dtype)

        moved = self._runner.run(self._executable, self._runner.put(
            [move(a) for a in self.arguments]))
        return [xla_runner.error(a, b)
                for a, b in zip(self.expected, moved)]


def make_arguments(module, positive):
    """Returns seeded arrays: as the module's own arguments say, where it has
    them; otherwise as types have it, but integers over the range that the text
    tells (index_bounds.py), and the keys of random numbers over all."""
    rng = np.random.default_rng(SEED)
    if module.arguments is not None:
        return [arguments.from_dict(a).make(rng) for a in module.arguments]
    shapes = xla_runner.parameter_shapes(module.text)
    made = xla_runner.make_arguments(shapes, SEED, positive)
    for number, bound in index_bounds.index_bounds(module.text).items():
        like = made[number]
        if like.dtype.kind in "iu":
            made[number] = rng.integers(0, bound, like.shape).astype(like.dtype)
    for number, (type, shape) in enumerate(shapes):
        if (type, shape) == ("u32", (2,)):
            made[number] = arguments.Argument(shape, type, "bytes").make(rng)
    return made


def compare(xla, results):
    """`equal`, the largest `error` and its `output`, and the outputs that only
    rounding explains."""
    errors = [xla_runner.error(a, b)
              for a, b in zip(xla.expected, results)]
    large = [i for i, a in enumerate(xla.expected)
             if not errors[i] <= xla_runner.TOLERANCE.get(str(a.dtype), 0)]
    changes = xla.rounding() if large else []
    worst = max(range(len(errors)), key=errors.__getitem__, default=None)
    return {"equal": all(errors[i] <= ROUNDING * changes[i] for i in large),
            "error": errors[worst] if errors else 0.0, "output": worst,
            "rounding": large}


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Runner:
    """`objects`: the folder for shared objects; None: a temporary one. `tuned`:
    a folder of tuned objects, NAME.so; None: there are none."""

    def __init__(self, hone, threads, rounds, objects, tuned):
        self._xla = xla_runner.Runner()
        self._hone, self._threads, self._rounds = hone, threads, rounds
        self._temporary = tempfile.TemporaryDirectory()
        self._objects = pathlib.Path(objects or self._temporary.name)
        self._tuned = tuned and pathlib.Path(tuned)

    def row(self, work, begin):
        """Returns the row of a Work; time_modules.py says what is in it.
        `begin`: of isolation.Worker."""
        module = work.module
        row = {"module": module.name, "instructions": module.instructions,
               "threads": self._threads}
        begin("Hone compiles")
        try:
            path, seconds = export(self._hone, module, self._threads,
                                   self._objects)
            if not work.with_xla:
                return row | self._beside_evaluator(module, begin) | {
                    "compile_seconds": {"hone": seconds}}
        except RuntimeError as error:
            return row | {"equal": False, "message": str(error)}
        xla = OnXla(self._xla, module, begin)
        row["compile_seconds"] = {"hone": seconds, "xla": xla.compile_seconds}
        paths = {"hone": path}
        if self._tuned and (self._tuned / f"{module.name}.so").exists():
            paths["tuned"] = (self._tuned / f"{module.name}.so").resolve()
        natives = {name: Native(path, xla.arguments, xla.expected)
                   for name, path in paths.items()}
        begin("Hone runs")
        try:
            first = {name: seconds_of(native.call)
                     for name, native in natives.items()}
        except RuntimeError as error:
            return row | {"equal": False, "message": str(error)}
        begin("results are compared")
        for native in natives.values():
            row |= compare(xla, native.results)
            if not row["equal"]:
                return row
        begin("times are taken")
        least = min(seconds_of(xla.call) for _ in range(2))
        if first["hone"] > max(HOPELESS * least, HOPELESS_SECONDS):
            again = min(first["hone"], seconds_of(natives["hone"].call))
            return row | {"slow": least / again, "ms": {
                "hone": again * 1e3, "xla": least * 1e3}}
        row |= self._time(xla, natives)
        begin("results are confirmed")
        return row | self._confirm(xla, natives, paths)

    def _beside_evaluator(self, module, begin):
        """What is left of a row without XLA: a time of Hone's, and what the
        evaluator makes of the same random arguments."""
        summaries = {}
        for target in ("cpu", "evaluator"):
            begin(f"{'Hone' if target == 'cpu' else 'the evaluator'} runs")
            summaries[target] = run_on(self._hone, module, target,
                                       self._threads, self._objects)
        found = compare_summaries(summaries["evaluator"]["outputs"],
                                  summaries["cpu"]["outputs"])
        return found | {"ms": {"hone": summaries["cpu"]["seconds"] * 1e3}}

    def _time(self, xla, natives):
        calls = {name: native.call for name, native in natives.items()}
        measured = interleaved.measure(calls | {"xla": xla.call}, self._rounds,
                                       self._threads, SEED,
                                       most_seconds=MOST_SECONDS)
        samples = measured.samples
        ratios = {f"xla/{name}": interleaved.ratio(
            samples["xla"].seconds, samples[name].seconds) for name in natives}
        return ratios | {
            "ms": {name: statistics.median(s.seconds) * 1e3
                   for name, s in samples.items()},
            "disturbed": measured.disturbed,
            "rounds_taken": measured.rounds_taken,
            "rounds_disturbed": measured.rounds_disturbed,
            "evidence": [dataclasses.asdict(e) for e in measured.evidence],
            "samples": {name: dataclasses.asdict(s)
                        for name, s in samples.items()}}

    def _confirm(self, xla, natives, paths):
        """Compares the results again after timing, and those of a call on small
        pages at random offsets. Returns `equal` and what comes with it, if one
        of these differs."""
        rng = np.random.default_rng(SEED)
        lines = rng.integers(0, memory.HUGE_PAGE // memory.CACHE_LINE // 2,
                             len(xla.arguments) + len(xla.expected)).tolist()
        inputs = [memory.place(a, i, huge=False, lines=lines[i])
                  for i, a in enumerate(xla.arguments)]
        for name, native in natives.items():
            other = Native(paths[name], inputs, xla.expected,
                           lines[len(inputs):])
            other.call()
            for results in (native.results, other.results):
                found = compare(xla, results)
                if not found["equal"]:
                    return found
        return {}
