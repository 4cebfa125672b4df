#!/usr/bin/env python3
"""Measures what pass orders make of modules on the real XLA:CPU.

Usage: bench/measure_score_variants.py -o DIR [--orders N] [--cpu N] MODULE...

The data that fit_xla_cpu_model.py fits the cost model `xla-cpu` to. For every
MODULE (HLO text, or .zst of it) it writes DIR/NAME/:

  VARIANT.hlo        the module after a pass order: `original`, `default` (the
                     pipeline xla-cpu), `tuned` (the fewest operations that a
                     search finds) and --orders random ones
  FINAL.final.hlo    what XLA:CPU made of it, one for all variants of which it
                     makes the same program
  times.json         {"variants": {VARIANT: {"passes", "final"}},
                      "finals": {FINAL: {"seconds": [...], "kernels":
                       {INSTRUCTION: [calls per run, shortest ns, median ns]}}},
                      "again": [...]}

`seconds` are CPU seconds of the process per run, one of each round; rounds go
through all programs in random order, so that a change of the machine's speed
meets all alike. `again` is a second compilation of the original's program, which
gives the noise. The process keeps to one CPU (--cpu), so XLA uses one thread.
`kernels` come from a profile of other runs.
"""

import argparse
import glob
import hashlib
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HONE = ROOT / "build/release/bin/hone"
ROUNDS = 15
SAMPLE_SECONDS = 0.02  # of one program in one round, at least one run
PROFILED_RUNS = 12
PROFILED_EVENTS = 60_000


def hone(*arguments):
    result = subprocess.run([HONE, *map(str, arguments)], capture_output=True,
                            text=True)
    if result.returncode != 0:
        raise RuntimeError(f"hone {arguments}: {result.stderr.strip()}")
    return result.stdout


def pass_names():
    return [line.split()[0] for line in hone("list", "passes").splitlines()]


def write_variants(module, folder, orders, seed):
    """Writes the variants; returns {name: passes}."""
    rng = random.Random(f"{seed} {module.name}")
    passes = pass_names()
    made = {"default": ["--pipeline=xla-cpu"], "tuned": None}
    for i in range(orders):
        made[f"random{i}"] = rng.sample(passes, rng.choice((6, 12, 24)))
    for name, order in list(made.items()):
        path = folder / f"{name}.hlo"
        try:
            if order is None:
                hone("tune", module, "--local", "--optimizer", "guided",
                     "--trials", 3000, "--time", "3s", "-o", path)
            elif name == "default":
                hone("opt", module, *order, "-o", path)
            else:
                hone("opt", module, "--passes=" + ",".join(order), "-o", path)
        except RuntimeError as problem:
            print(f"  {name}: {problem}", flush=True)
            del made[name]
    return {"original": []} | made


def normalized(text):
    """Final HLO without names and metadata."""
    text = re.sub(r", metadata={(?:[^{}]|{[^{}]*})*}", "", text)
    text = re.sub(r"^HloModule [\w.\-]+", "HloModule m", text)
    names = {}
    return re.sub(r"%[\w.\-]+",
                  lambda m: names.setdefault(m[0], f"%{len(names)}"), text)


class Program:
    """An executable and the buffers to run it on."""

    def __init__(self, executable, buffers):
        self.executable, self.buffers = executable, buffers

    def run(self):
        for output in self.executable.execute(self.buffers):
            output.block_until_ready()

    def seconds(self, calls):
        start = time.process_time()
        for _ in range(calls):
            self.run()
        return (time.process_time() - start) / calls


def profile(program, text, runs):
    """{instruction: [calls per run, shortest ns, median ns]}."""
    import jax
    known = set(re.findall(r"%([\w.\-]+) = ", text))
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level = 3, 0
    with tempfile.TemporaryDirectory() as folder:
        jax.profiler.start_trace(folder, profiler_options=options)
        for _ in range(runs):
            program.run()
        jax.profiler.stop_trace()
        path, = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
        data = jax.profiler.ProfileData.from_file(path)
    found = {}
    for plane in data.planes:
        for line in plane.lines:
            for event in line.events:
                if event.name in known:
                    found.setdefault(event.name, []).append(event.duration_ns)
    return {name: [len(ns) / runs, min(ns), statistics.median(ns)]
            for name, ns in found.items()}


def measure(module, folder, orders, seed):
    sys.path.insert(0, str(ROOT / "tools"))
    import zstandard
    from compare_on_xla import fill_elided_constants
    from xla_runner import Runner, make_arguments, parameter_shapes
    folder.mkdir(parents=True, exist_ok=True)
    variants = write_variants(module, folder, orders, seed)
    data = module.read_bytes()
    if module.suffix == ".zst":
        data = zstandard.decompress(data)
    original = fill_elided_constants(data.decode())
    runner = Runner()
    (folder / "original.hlo").write_text(original)
    buffers = runner.put(make_arguments(parameter_shapes(original), seed))
    programs, texts, result = {}, {}, {"variants": {}, "finals": {}}
    for name, passes in variants.items():
        text = fill_elided_constants((folder / f"{name}.hlo").read_text())
        try:
            executable = runner.compile(text)
        except Exception as problem:
            print(f"  {name}: {str(problem)[:200]}", flush=True)
            continue
        final = executable.hlo_modules()[0].to_string()
        key = hashlib.sha256(normalized(final).encode()).hexdigest()[:12]
        result["variants"][name] = {"passes": passes, "final": key}
        if key not in programs:
            programs[key] = Program(executable, buffers)
            texts[key] = final
            (folder / f"{key}.final.hlo").write_text(final)
    programs["again"] = Program(runner.compile(original), buffers)
    seconds = {key: [] for key in programs}
    for program in programs.values():
        program.run()
        once = program.seconds(1)
    calls = max(1, round(SAMPLE_SECONDS / once))
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        for key in rng.sample(sorted(programs), len(programs)):
            seconds[key].append(programs[key].seconds(calls))
    result["again"] = seconds.pop("again")
    for key, values in seconds.items():
        events = profile(programs[key], texts[key], 1)
        count = sum(calls for calls, _, _ in events.values())
        runs = int(min(PROFILED_RUNS, max(2, PROFILED_EVENTS // (count + 1))))
        result["finals"][key] = {
            "seconds": values,
            "kernels": profile(programs[key], texts[key], runs)}
    (folder / "times.json").write_text(json.dumps(result))
    first = result["variants"]["original"]["final"]
    ratio = {key: statistics.median(values) /
             statistics.median(seconds[first])
             for key, values in seconds.items()}
    aa = statistics.median(result["again"]) / statistics.median(seconds[first])
    print(f"{folder.name:28} {statistics.median(seconds[first]) * 1e3:9.2f} ms"
          f"  aa {aa:.3f}  " + " ".join(
              f"{name}={ratio[v['final']]:.3f}"
              for name, v in result["variants"].items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="+", type=pathlib.Path,
                        metavar="MODULE")
    parser.add_argument("-o", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--orders", type=int, default=6)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    # Before XLA counts the CPUs.
    os.sched_setaffinity(0, {args.cpu})
    os.environ.setdefault("XLA_FLAGS",
                          "--xla_cpu_multi_thread_eigen=false")
    for module in args.modules:
        name = re.sub(r"\.hlo(\.zst)?$", "", module.name)
        if (args.o / name / "times.json").exists():
            continue
        try:
            measure(module, args.o / name, args.orders, args.seed)
        except Exception as problem:
            print(f"{name}: {problem}", flush=True)


if __name__ == "__main__":
    main()
