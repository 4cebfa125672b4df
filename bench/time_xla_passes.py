"""Times XLA's own passes up to layout assignment beside Hone's pipeline.

Usage: bench/time_xla_passes.py [NAME...] [--rounds 5] [--json OUT]
           [--hone build/release/bin/hone] [--corpus bench/data/corpus]

NAME is a module of the corpus; without one, that of the most operations. The
Python that runs this needs jaxlib (tests/python/requirements.txt).

One child process compiles the module on the real XLA:CPU once without being
counted, and then once a round; the compilation is given up before scheduling
and code generation. XLA logs the microseconds of every pass. Counted is what
comes before layout assignment, each pass without the invariant checkers and the
passes that run inside it. A pipeline that runs as a pass, and so contains
others, does not count itself, nor does what XLA does between passes.

After each compilation `hone opt --pipeline=xla-cpu` runs once, in a new process
without a warm-up; its figure is the sum over the pipeline's passes, without
reading, verifying and printing the module and without what happens between
passes.

The table has medians over the rounds, `ratio` that of each round's Hone / XLA.
`shared` counts only those of XLA's passes whose name Hone's pipeline also has:
XLA runs others too, such as twelve float normalizations that change nothing in
a module of f32.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PIPELINE = "xla-cpu"
LAST_PASS = "layout-assignment"
# The line that the child prints to stderr after each compilation.
COMPILED = "time_xla_passes: compiled"

# Log lines of hlo_pass_pipeline.cc; the time of day is that of the log line.
PASS_BEGIN = re.compile(r"\]   HLO pass (.+)$")
PASS_END = re.compile(r"\] HLO pass: (.+) time: .* \((\d+) us\) \(cumulative")
CHECK_BEGIN = re.compile(r"\]     Invariant checker (?!done )")
CHECK_END = re.compile(r"\]     Invariant checker done ")
TIME_OF_DAY = re.compile(r"^I\d{4} (\d\d):(\d\d):(\d\d)\.(\d{6}) ")


class PassLog:
    """Sums up the log lines of one compilation."""

    def __init__(self):
        self.passes = []  # (name, microseconds of its own), in order
        self.checks_us = 0  # invariant checkers
        self.complete = False  # layout assignment has begun
        self._open = []  # running passes: [name, microseconds inside, leaf]
        self._check_began = 0

    def add(self, line):
        if self.complete:
            return
        if match := PASS_BEGIN.search(line):
            self._begin_pass(match[1])
        elif match := PASS_END.search(line):
            self._end_pass(match[1], int(match[2]))
        elif CHECK_BEGIN.search(line):
            self._check_began = microseconds_of_day(line)
        elif CHECK_END.search(line):
            took = microseconds_of_day(line) - self._check_began
            took %= 86_400_000_000  # the day may end in between
            self.checks_us += took
            if self._open:
                self._open[-1][1] += took

    def _begin_pass(self, name):
        if name == LAST_PASS:
            self.complete = True
            return
        if self._open:
            self._open[-1][2] = False
        self._open.append([name, 0, True])

    def _end_pass(self, name, total_us):
        if not self._open or self._open[-1][0] != name:
            raise ValueError(f"the log ends pass '{name}', which is not open")
        _, inside_us, leaf = self._open.pop()
        if leaf:
            self.passes.append((name, max(0, total_us - inside_us)))
        if self._open:
            self._open[-1][1] += total_us


def microseconds_of_day(line):
    hours, minutes, seconds, fraction = TIME_OF_DAY.match(line).groups()
    whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1_000_000 + int(fraction)


class Xla:
    """A child process that compiles one module whenever it is asked to."""

    def __init__(self, module):
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "0",
                                    "TF_CPP_VMODULE": "hlo_pass_pipeline=1",
                                    "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--compile", str(module)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env=environment, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stderr.close()
        self._process.wait()

    def compile(self):
        self._process.stdin.write("\n")
        log, other = PassLog(), []
        for line in self._process.stderr:
            line = line.rstrip("\n")
            if line == COMPILED:
                break
            if "hlo_pass_pipeline.cc" in line:
                log.add(line)
            else:
                other.append(line)
        if not log.complete:
            raise RuntimeError("XLA logged no " + LAST_PASS + ":\n" +
                               "\n".join(other[-20:]))
        return log


def compile_on_request(module):
    """The child: compiles the module for every line on stdin."""
    sys.path.insert(0, str(ROOT / "tools"))
    import zstandard
    from jax.extend import xla
    from xla_runner import Runner, fill_elided_constants

    reached = []

    def stop(_):
        reached.append(True)
        raise InterruptedError("what follows is not measured")

    xla.register_hlo_module_transformation(
        stop, name="stop", stage=xla.PipelineStage.PRE_SCHEDULER,
        platforms="cpu")
    text = fill_elided_constants(
        zstandard.decompress(module.read_bytes()).decode())
    runner = Runner()
    for _ in sys.stdin:
        try:
            runner.compile(text)
        except Exception:
            if not reached:
                raise
        print(COMPILED, file=sys.stderr, flush=True)


def run_hone(hone, module):
    """The passes that Hone ran: `pass`, `seconds`, `instructions_before`."""
    result = subprocess.run(
        [hone, "opt", str(module), f"--pipeline={PIPELINE}", "--json",
         "-o", os.devnull], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"hone opt {module}: {result.stderr.strip()}")
    return json.loads(result.stdout)["passes"]


def by_pass(runs):
    """Milliseconds by pass, the slowest first, of (name, milliseconds)."""
    total = {}
    for name, ms in runs:
        total[name] = total.get(name, 0) + ms
    return dict(sorted(total.items(), key=lambda item: -item[1]))


def median_ratio(numerators, denominators):
    return statistics.median(
        a / b for a, b in zip(numerators, denominators))


def measure(hone, module, rounds):
    """The row of a module."""
    samples = {"xla_ms": [], "xla_shared_ms": [], "xla_checks_ms": [],
               "hone_ms": []}
    with Xla(module) as xla:
        xla.compile()
        for _ in range(rounds):
            log = xla.compile()
            theirs = [(name, us / 1e3) for name, us in log.passes]
            report = run_hone(hone, module)
            ours = [(run["pass"], run["seconds"] * 1e3) for run in report]
            names = {name for name, _ in ours}
            samples["xla_ms"].append(sum(ms for _, ms in theirs))
            samples["xla_shared_ms"].append(
                sum(ms for name, ms in theirs if name in names))
            samples["xla_checks_ms"].append(log.checks_us / 1e3)
            samples["hone_ms"].append(sum(ms for _, ms in ours))
    return {"module": module.name.removesuffix(".hlo.zst"),
            "instructions": report[0]["instructions_before"],
            **{name: statistics.median(s) for name, s in samples.items()},
            "ratio": median_ratio(samples["hone_ms"], samples["xla_ms"]),
            "shared_ratio": median_ratio(
                samples["hone_ms"], samples["xla_shared_ms"]),
            "xla_pass_runs": len(theirs), "hone_pass_runs": len(ours),
            "samples": samples,
            "last_xla_passes_ms": by_pass(theirs),
            "last_hone_passes_ms": by_pass(ours)}


def largest(corpus):
    entries = json.loads((corpus / "manifest.json").read_text())
    return max(entries, key=lambda entry: entry["ops"])["name"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hone", default="build/release/bin/hone")
    parser.add_argument("--corpus", type=pathlib.Path,
                        default=pathlib.Path("bench/data/corpus"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--compile", type=pathlib.Path,
                        help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.compile:
        compile_on_request(args.compile)
        return
    print(f"{'module':20} {'instructions':>12} {'XLA ms':>9} "
          f"{'shared ms':>9} {'Hone ms':>9} {'ratio':>7} {'of shared':>9}")
    rows = []
    for name in args.names or [largest(args.corpus)]:
        row = measure(args.hone, args.corpus / f"{name}.hlo.zst", args.rounds)
        rows.append(row)
        print(f"{name:20} {row['instructions']:12} {row['xla_ms']:9.2f} "
              f"{row['xla_shared_ms']:9.2f} {row['hone_ms']:9.2f} "
              f"{row['ratio']:7.3f} {row['shared_ratio']:9.3f}", flush=True)
    if args.json:
        document = {"bench": "passes", "pipeline": PIPELINE,
                    "date": datetime.date.today().isoformat(), "rows": rows}
        args.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
