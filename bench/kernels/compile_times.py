"""Times the compilation of training steps of growing size by Hone and by
XLA:CPU.

Usage: bench/kernels/compile_times.py [--layers 2,8,16,64] [--threads 1|2]
           [--limit 600] [--hone build/release/bin/hone] [--figure SVG]
           [-o JSON]

A step is a forward pass, its gradient and Adam's update of a language model of
WIDTH 64 (adam_steps.py), unrolled, so that its number of instructions grows
with the layers. Hone's time is that of `hone run --target cpu --export`, from
the text to the linked file; XLA's that of parsing the text and compiling it, in
a process of its own. Either counts as not compiled after --limit seconds.
Memory is the largest of the process; XLA's process has Python and JAX in it.
The growth is the exponent of the time in the number of instructions from the
row before. --figure draws the times. Exit status 1 when Hone does not compile a
step.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import compile_plot
import isolation
import time_peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?\S+ = ", re.MULTILINE)


def parse_arguments():
    def layers(text):
        values = sorted({int(n) for n in text.split(",")})
        if values[0] < 1:
            raise ValueError
        return values

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", type=layers, default=[2, 8, 16, 64])
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--hone", default=ROOT / "build/release/bin/hone")
    parser.add_argument("--figure", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    return parser.parse_args()


def compile_with_hone(hone, text, threads, limit):
    """Returns seconds and megabytes, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = (pathlib.Path(folder, f"step.{kind}")
                          for kind in ("hlo", "so"))
        errors = pathlib.Path(folder, "errors")
        source.write_text(text)
        start = time.perf_counter()
        with errors.open("w") as stderr:
            process = subprocess.Popen(
                [hone, "run", source, "--target", "cpu", "--threads",
                 str(threads), "--default", "--export", target],
                stdout=subprocess.DEVNULL, stderr=stderr)
            try:
                # The process is waited for by wait4, for its memory.
                while True:
                    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                    seconds = time.perf_counter() - start
                    if pid:
                        break
                    if seconds > limit:
                        return {"failure": f"no result within {limit:g} s"}
                    time.sleep(0.01)
                process.returncode = os.waitstatus_to_exitcode(status)
            finally:
                if process.returncode is None:
                    process.kill()
                    process.wait()
        if process.returncode != 0:
            return {"failure": errors.read_text().strip() or
                    f"exit status {process.returncode}"}
    return {"seconds": seconds, "megabytes": usage.ru_maxrss / 1024}


def make_worker(_):
    """For isolation.Worker: returns a function that compiles a text by XLA."""
    import xla_runner
    runner = xla_runner.Runner()

    def compile(text, begin):
        begin("XLA compiles")
        start = time.perf_counter()
        runner.compile(text)
        seconds = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {"seconds": seconds, "megabytes": usage.ru_maxrss / 1024}

    return compile


def compile_with_xla(text, limit):
    # A process for each, so that its memory is this text's.
    with isolation.Worker(make_worker, None, limit) as worker:
        try:
            return worker(text)
        except isolation.Failed as error:
            return {"failure": str(error)}


def growth(rows, side):
    """Returns the exponent of the last row's time beside that of the row
    before; None where either has none."""
    if len(rows) < 2 or any("seconds" not in row[side] for row in rows[-2:]):
        return None
    before, last = rows[-2:]
    return (math.log(last[side]["seconds"] / before[side]["seconds"]) /
            math.log(last["instructions"] / before["instructions"]))


HEADER = ("| layers | instructions | Hone | growth | memory | XLA | growth | "
          "memory | xla/hone |\n|---|---|---|---|---|---|---|---|---|")


def format_row(row):
    def cells(side):
        found = row[side]
        if "failure" in found:
            message = " ".join(found["failure"].split()).replace("|", "/")
            return f"{message[:80]} | - | -"
        exponent = row["growth"][side]
        return (f"{found['seconds']:.2f} s | "
                f"{'-' if exponent is None else f'{exponent:.2f}'} | "
                f"{found['megabytes']:.0f} MB")

    both = all("seconds" in row[side] for side in ("hone", "xla"))
    ratio = (f"{row['xla']['seconds'] / row['hone']['seconds']:.2f}"
             if both else "-")
    return (f"| {row['layers']} | {row['instructions']} | {cells('hone')} | "
            f"{cells('xla')} | {ratio} |")


def write(path, document):
    if path:
        path.write_text(json.dumps(document, indent=1) + "\n")


def run(args, document):
    import adam_steps
    rows = document["rows"]
    for layers in args.layers:
        print(f"{layers} layers", file=sys.stderr)
        text = adam_steps.step_text(layers)
        rows.append({
            "layers": layers, "instructions": len(INSTRUCTION.findall(text)),
            "hone": compile_with_hone(args.hone, text, args.threads,
                                      args.limit),
            "xla": compile_with_xla(text, args.limit)})
        rows[-1]["growth"] = {side: growth(rows, side)
                              for side in ("hone", "xla")}
        print(format_row(rows[-1]), flush=True)
        write(args.out, document)
    write(args.out, document | {"complete": True})


def main():
    args = parse_arguments()
    variables = time_peers.environment(args.threads)
    os.environ.update(variables)
    cores = time_peers.pin(args.threads)
    # For this process and for those that it starts.
    sys.path.insert(0, str(ROOT / "tools"))
    import jax
    document = {"bench": "compile", "threads": args.threads, "cores": cores,
                "date": datetime.date.today().isoformat(),
                "environment": variables, "jax": jax.__version__, "rows": []}
    print(HEADER, flush=True)
    run(args, document)
    if args.figure:
        args.figure.write_text(compile_plot.draw(document["rows"]))
    return 1 if any("failure" in row["hone"] for row in document["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
