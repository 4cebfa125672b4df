"""Runs whole modules as Hone's native code and on XLA:CPU, in one process:
equality of the results, and paired times.

Usage: bench/kernels/time_modules.py [FILE...] [--only REGEX] [--threads 1|2]
           [--rounds 10] [--hone build/release/bin/hone] [--objects DIR]
           [-o JSON]

FILE is HLO as text, also compressed by zstd; without one it is every forward
module of bench/data/corpus of at most MOST_INSTRUCTIONS instructions and the
training steps of TRAINING. `hone run FILE --target cpu --export` makes a shared
object of each, with default schedules; it is loaded with ctypes, and both sides
get the same seeded inputs. Where a text leaves out the values of a constant,
small numbers take their place. --objects keeps the shared objects.

Results are equal when each output's largest error, relative to the larger of
the element's magnitude and the output's root mean square, is at most the
tolerance of its type (tools/xla_runner.py), or at most ROUNDING times what
XLA's own result changes by when the inputs move by some units in the last
place: such outputs are nothing but rounding (the gradient of a bias in front of
a normalization). `error` is the largest; `r` marks modules with an
output that only the second rule accepts. Only equal modules are timed. Exit
status 1 when any module is not equal.

Times are measured as time_peers.py does (interleaved.py); `!` marks modules of
which too few rounds were undisturbed, which are in no mean. XLA gets its whole
pipeline and compiles for as many threads; it allocates its results, and Hone
writes to memory that is there. `xla/hone` above 1 means that Hone is faster.
Compile times are seconds, of one run each; Hone's is that of the
process, from reading the text to the linked file.
"""

import argparse
import ctypes
import dataclasses
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import time_peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "bench" / "data" / "corpus"
MOST_INSTRUCTIONS = 3000
TRAINING = ("mlp.train", "gpt2_tiny.train", "vae.train", "gpt2_2l.train")
SEED = 1
ROUNDING = 4
# Units in the last place that inputs move by for ROUNDING.
MOST_UNITS = 4

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?\S+ = ", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hone", default=ROOT / "build/release/bin/hone")
    parser.add_argument("--objects", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.rounds < 2 or args.rounds % 2:
        parser.error("--rounds must be even")
    return args


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    text: str

    @property
    def instructions(self):
        return len(INSTRUCTION.findall(self.text))


def read_module(path):
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.decompress(data)
    name = path.name.removesuffix(".zst").removesuffix(".hlo")
    return Module(name, xla_runner.fill_elided_constants(data.decode()))


def read_corpus():
    modules = [read_module(path) for path in sorted(CORPUS.glob("*.hlo.zst"))]
    return [m for m in modules
            if m.name in TRAINING or m.name.endswith(".fwd") and
            m.instructions <= MOST_INSTRUCTIONS]


def export(hone, module, threads, folder):
    """(shared object, seconds it took). Raises RuntimeError."""
    source = folder / f"{module.name}.hlo"
    target = (folder / f"{module.name}.so").resolve()
    source.write_text(module.text)
    start = time.perf_counter()
    result = subprocess.run(
        [hone, "run", source, "--target", "cpu", "--threads", str(threads),
         "--export", target], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    source.unlink()
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip() or
                           f"exit status {result.returncode}")
    return target, seconds


class Native:
    """A shared object on its inputs. Results go to memory that is allocated
    once, as the C interface has it."""

    def __init__(self, path, arguments, like):
        self._arrays = [np.ascontiguousarray(a) for a in arguments]
        self.results = [np.empty(a.shape, a.dtype) for a in like]
        entry = ctypes.CDLL(str(path)).hone_entry
        entry.restype = None
        given, taken = map(self._pointers, (self._arrays, self.results))
        self.call = lambda: entry(given, taken)

    @staticmethod
    def _pointers(arrays):
        return (ctypes.c_void_p * len(arrays))(
            *[a.ctypes.data for a in arrays])


class OnXla:
    """A module that XLA compiled, and inputs on which it makes numbers."""

    def __init__(self, runner, text):
        start = time.perf_counter()
        self._executable = runner.compile(text)
        self.compile_seconds = time.perf_counter() - start
        self._runner = runner
        shapes = xla_runner.parameter_shapes(text)
        for positive in (False, True):
            self.arguments = xla_runner.make_arguments(
                shapes, SEED, positive)
            self._buffers = runner.put(self.arguments)
            self.expected = runner.run(self._executable, self._buffers)
            if xla_runner.nan_fraction(self.expected) <= 0.1:
                break

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


def time_module(xla, native, rounds, threads):
    calls = {"hone": native.call, "xla": xla.call}
    measured = interleaved.measure(calls, rounds, threads, SEED)
    samples = measured.samples
    row = {"ms": {name: statistics.median(s.seconds) * 1e3
                  for name, s in samples.items()},
           "xla/hone": interleaved.ratio(samples["xla"].seconds,
                                         samples["hone"].seconds),
           "disturbed": measured.disturbed,
           "rounds_taken": measured.rounds_taken,
           "rounds_disturbed": measured.rounds_disturbed,
           "evidence": [dataclasses.asdict(e) for e in measured.evidence],
           "samples": {name: dataclasses.asdict(s)
                       for name, s in samples.items()}}
    return row


def examine(runner, module, args, folder):
    """The module's row."""
    row = {"module": module.name, "instructions": module.instructions}
    try:
        path, seconds = export(args.hone, module, args.threads, folder)
    except RuntimeError as error:
        return row | {"equal": False, "message": str(error)}
    xla = OnXla(runner, module.text)
    native = Native(path, xla.arguments, xla.expected)
    row["compile_seconds"] = {"hone": seconds, "xla": xla.compile_seconds}
    native.call()
    row |= compare(xla, native.results)
    if row["equal"]:
        row |= time_module(xla, native, args.rounds, args.threads)
    return row


HEADER = ("| module | instructions | error | Hone | XLA | xla/hone | compile: "
          "Hone | XLA |\n|---|---|---|---|---|---|---|---|")


def format_row(row):
    """A line of the table, in Markdown."""
    head = f"| {row['module']} | {row['instructions']} |"
    if "message" in row:
        return f"{head} {row['message']} |"
    if not row["equal"]:
        return (f"{head} {row['error']:.1e} DIFFERENT at output "
                f"{row['output']} |")
    mark = " r" if row["rounding"] else ""
    if row["disturbed"]:
        head = head.replace(row["module"], row["module"] + " !", 1)
    median, lower, upper = row["xla/hone"]
    return (f"{head} {row['error']:.1e}{mark} | {row['ms']['hone']:.3f} ms | "
            f"{row['ms']['xla']:.3f} ms | {median:.2f} ({lower:.2f} to "
            f"{upper:.2f}) | {row['compile_seconds']['hone']:.2f} s | "
            f"{row['compile_seconds']['xla']:.2f} s |")


def print_summary(rows):
    timed = [row for row in rows if "xla/hone" in row]
    ratios = [row["xla/hone"][0] for row in timed if not row["disturbed"]]
    if timed:
        means = (f"geometric mean {statistics.geometric_mean(ratios):.3f}, "
                 f"median {statistics.median(ratios):.3f}, least "
                 f"{min(ratios):.3f}, most {max(ratios):.3f} of "
                 if ratios else "")
        print(f"xla/hone: {means}{len(ratios)} undisturbed of {len(timed)}")
    equal = sum(row["equal"] for row in rows)
    print(f"{equal} of {len(rows)} modules equal")


def run(args, modules, folder, document):
    runner = xla_runner.Runner()
    for number, module in enumerate(modules, 1):
        print(f"[{number}/{len(modules)}] {module.name}", file=sys.stderr)
        row = examine(runner, module, args, folder)
        document["rows"].append(row)
        print(format_row(row), flush=True)
        if args.out:
            args.out.write_text(json.dumps(document, indent=1) + "\n")


def main():
    args = parse_arguments()
    variables = time_peers.environment(args.threads)
    os.environ.update(variables)
    cores = time_peers.pin(args.threads)

    # Only now, with the environment that the libraries read.
    global interleaved, jax, np, xla_runner, zstandard
    sys.path.insert(0, str(ROOT / "tools"))
    import jax
    import numpy as np
    import zstandard
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    import interleaved
    import xla_runner

    modules = ([read_module(path) for path in args.files] if args.files
               else read_corpus())
    modules = [m for m in modules if args.only.search(m.name)]
    if not modules:
        sys.exit("time_modules: no module has a name that --only matches")
    document = {"bench": "modules", "threads": args.threads, "cores": cores,
                "date": datetime.date.today().isoformat(),
                "environment": variables, "jax": jax.__version__, "rows": []}
    print(HEADER, flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.objects or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run(args, modules, folder, document)
    print_summary(document["rows"])
    return 0 if all(row["equal"] for row in document["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
