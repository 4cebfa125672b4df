"""The child process of compare_on_xla.py: a module and its rewritten forms on
the real XLA:CPU.

Reads a JSON object on stdin: `original`, the path of the module (HLO text, also
compressed by zstd), `tuned`, {name: path}, `seed`, and `rounds`, of timing.
Writes the row to stdout: the metrics of each module (xla_metrics.py), `equal`,
`max_rel_error` and `where` of each rewritten one, and the samples of timing.
A process of its own returns all memory to the system, and may crash.
"""

import dataclasses
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "kernels"))

import numpy as np
import zstandard

import paired_timing
import xla_metrics
from xla_runner import (Runner, error, fill_elided_constants, make_arguments,
                        mismatch, nan_fraction, parameter_shapes,
                        within_tolerance)

MESSAGE_LENGTH = 200


def read_module(path):
    data = pathlib.Path(path).read_bytes()
    if path.endswith(".zst"):
        data = zstandard.decompress(data)
    return fill_elided_constants(data.decode())


def run_original(runner, executable, text, seed):
    """Returns (buffers, outputs) of inputs for which few outputs are NaN."""
    shapes = parameter_shapes(text)
    for positive in (False, True):
        buffers = runner.put(make_arguments(shapes, seed, positive))
        outputs = runner.run(executable, buffers)
        if nan_fraction(outputs) <= 0.1:
            break
    return buffers, outputs


def compare(expected, actual):
    """Returns `equal`, the largest relative error and its output."""
    if problem := mismatch(expected, actual):
        return {"equal": False, "max_rel_error": np.inf, "where": problem}
    errors = [error(x, y) for x, y in zip(expected, actual)]
    worst = max(range(len(errors)), key=errors.__getitem__, default=None)
    return {"equal": all(within_tolerance(e, x.dtype)
                         for e, x in zip(errors, expected)),
            "max_rel_error": errors[worst] if errors else 0.0,
            "where": f"output {worst}" if errors and errors[worst] else ""}


def donates_inputs(text):
    """Returns true if a run gives an input's buffer away; such a module can run
    only once on the same buffers."""
    return re.search(r"input_output_alias|buffer_donor",
                     text.split("\n", 1)[0]) is not None


def time_executables(executables, buffers, rounds):
    """Times the executables beside each other (paired_timing.py)."""
    def caller(executable):
        def call():
            for output in executable.execute(buffers):
                output.block_until_ready()
        return call

    samples, calls = paired_timing.measure(
        {name: caller(e) for name, e in executables.items()}, rounds)
    return {"rounds": rounds, "calls": calls, "samples": {
        name: dataclasses.asdict(s) for name, s in samples.items()}}


def shorten(exception):
    """Returns the beginning of XLA's message, in one line."""
    return " ".join(str(exception).split())[:MESSAGE_LENGTH]


def examine(runner, before, tuned, seed, rounds):
    """Returns the row of the module `before` and its rewritten forms, {name:
    text}. Only forms that are all equal to the original are timed."""
    original, metrics = xla_metrics.compile_and_describe(runner, before)
    buffers, expected = run_original(runner, original, before, seed)
    row = {"original": metrics, "tuned": {}}
    executables = {"original": original}
    for name, text in tuned.items():
        try:
            executables[name], metrics = xla_metrics.compile_and_describe(
                runner, text)
            found = compare(expected, runner.run(executables[name], buffers))
        except Exception as exception:  # XLA refused the module
            row["tuned"][name] = {"equal": False, "max_rel_error": np.inf,
                                  "where": shorten(exception)}
        else:
            row["tuned"][name] = found | {"metrics": metrics}
    equal = all(form["equal"] for form in row["tuned"].values())
    if rounds and equal and not donates_inputs(before):
        del expected
        executables["again"] = runner.compile(before)
        row["timing"] = time_executables(executables, buffers, rounds)
    return row


def main():
    request = json.load(sys.stdin)
    runner = Runner()
    row = examine(runner, read_module(request["original"]),
                  {name: read_module(path)
                   for name, path in request["tuned"].items()},
                  request["seed"], request["rounds"])
    json.dump(row, sys.stdout)


if __name__ == "__main__":
    main()
