"""Runs whole modules as Hone's native code and on XLA:CPU, in one process:
equality of the results, and paired times.

Usage: bench/kernels/time_modules.py [FILE... | --programs FOLDER]
           [--only REGEX] [--threads 1|2] [--rounds 10] [--limit 600]
           [--xla-limit 240] [--instructions 3000] [--hone build/release/bin/hone]
           [--objects DIR] [--tuned DIR] [-o JSON]

FILE is HLO as text, also compressed by zstd; without one it is every forward
module and training step of bench/data/corpus of at most --instructions, and the
forward modules of BF16 in bfloat16 besides.
--programs: those of generate_user_programs.py, with the arguments that their
index describes. `hone run FILE --target cpu --export` makes a shared object of
each, with default schedules; it is loaded with ctypes, and both sides get the
same seeded inputs. Where a text leaves out the values of a constant, small
numbers take their place. --objects keeps the shared objects; --tuned has others
of the same names, which are timed in the same rounds.

Results are equal when each output's largest error, relative to the larger of
the element's magnitude and the output's root mean square, is at most the
tolerance of its type (tools/xla_runner.py), or at most ROUNDING times what
XLA's own result changes by when the inputs move by some units in the last
place: such outputs are nothing but rounding (the gradient of a bias in front of
a normalization). `error` is the largest; `r` marks modules with an
output that only the second rule accepts. Only equal modules are timed. They are
compared again after that, and from small pages at random offsets; arguments are
read-only (memory.py). A module that crashes or takes more than --limit seconds
is one that is not equal, and its row says in which phase that was and what the
phases before took. If XLA crashes in compiling a module or takes more than
--xla-limit seconds for that, its row says so and has what Hone does: the time
of a call, and how far the mean and the extrema of each output are from those of
the evaluator on the same random arguments. Exit status 1 when any module is not
equal.

Times are measured as time_peers.py does (interleaved.py); `!` marks modules of
which too few rounds were undisturbed, which are in no mean, and with two
threads not measured. XLA gets its whole pipeline and compiles for as many
threads; it allocates its results, and Hone writes to memory that is there.
`xla/hone` above 1 means that Hone is faster; SLOW marks modules of which only
single calls were timed because Hone was far slower. Compile times are seconds,
of one run each; Hone's is that of the process, from reading the text to the
linked file.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import statistics
import sys

import isolation
import option_types
import time_peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The phase that --xla-limit limits.
XLA_COMPILES = "XLA compiles"
CORPUS = ROOT / "bench" / "data" / "corpus"
# Forward modules that are timed in bfloat16, too.
BF16 = ("bert_2l.fwd", "gpt2_2l.fwd", "mlp.fwd", "vit_4l.fwd")

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?\S+ = ", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--only", type=option_types.expression,
                        default=re.compile(""))
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--xla-limit", type=float, default=240)
    parser.add_argument("--instructions", type=int, default=3000)
    parser.add_argument("--hone", default=ROOT / "build/release/bin/hone")
    parser.add_argument("--objects", type=pathlib.Path)
    parser.add_argument("--tuned", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.rounds < 2 or args.rounds % 2:
        parser.error("--rounds must be even")
    if args.files and args.programs:
        parser.error("--programs takes the place of FILE")
    return args


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    text: str
    # Of arguments.py, as dictionaries; None: what its parameters' types allow.
    arguments: tuple | None = None

    @property
    def instructions(self):
        return len(INSTRUCTION.findall(self.text))


@dataclasses.dataclass(frozen=True)
class Work:
    """A row to make."""
    module: Module
    with_xla: bool = True


def read_module(path):
    import xla_runner
    data = path.read_bytes()
    if path.suffix == ".zst":
        import zstandard
        data = zstandard.decompress(data)
    name = path.name.removesuffix(".zst").removesuffix(".hlo")
    return Module(name, xla_runner.fill_elided_constants(data.decode()))


def in_bfloat16(module):
    """The same module with bfloat16 wherever it has float32."""
    return Module(module.name + ".bf16",
                  re.sub(r"\bf32\[", "bf16[", module.text))


def read_corpus(instructions):
    modules = []
    for path in sorted(CORPUS.glob("*.hlo.zst")):
        module = read_module(path)
        if module.instructions <= instructions:
            modules.append(module)
            if module.name in BF16:
                modules.append(in_bfloat16(module))
    return modules


def read_programs(folder):
    index = json.loads((folder / "programs.json").read_text())
    return [Module(p["name"], (folder / f"{p['name']}.hlo").read_text(),
                   tuple(p["arguments"])) for p in index["programs"]]


HEADER = ("| module | instructions | error | Hone | XLA | xla/hone | compile: "
          "Hone | XLA |\n|---|---|---|---|---|---|---|---|")
TUNED_HEADER = ("| module | instructions | error | Hone | XLA | xla/hone | "
                "compile: Hone | XLA | tuned | xla/tuned |"
                "\n|---|---|---|---|---|---|---|---|---|---|")


def _ratio(ratio):
    median, lower, upper = ratio
    return f"{median:.2f} ({lower:.2f} to {upper:.2f})"


def format_row(row):
    """A line of the table, in Markdown."""
    head = f"| {row['module']} | {row['instructions']} |"
    if "message" in row:
        message = " ".join(row["message"].split())[:200].replace("|", "/")
        return f"{head} {message} |"
    if not row["equal"]:
        return (f"{head} {row['error']:.1e} DIFFERENT at output "
                f"{row['output']} |")
    if "xla" in row:
        return (f"{head} {row['error']:.1e} beside the evaluator | "
                f"{row['ms']['hone']:.3f} ms | - | XLA did not compile it: "
                f"{row['xla'].split(':')[0]} | "
                f"{row['compile_seconds']['hone']:.2f} s | - |")
    mark = " r" if row["rounding"] else ""
    if row.get("disturbed") and row.get("threads", 1) > 1:
        return (f"{head.replace(row['module'], row['module'] + ' !', 1)} "
                f"{row['error']:.1e}{mark} | not measured |")
    if row.get("disturbed"):
        head = head.replace(row["module"], row["module"] + " !", 1)
    ratio = (f"{row['slow']:.3f} SLOW" if "slow" in row else
             _ratio(row["xla/hone"]))
    line = (f"{head} {row['error']:.1e}{mark} | {row['ms']['hone']:.3f} ms | "
            f"{row['ms']['xla']:.3f} ms | {ratio} | "
            f"{row['compile_seconds']['hone']:.2f} s | "
            f"{row['compile_seconds']['xla']:.2f} s |")
    if "xla/tuned" in row:
        line += (f" {row['ms']['tuned']:.3f} ms | "
                 f"{_ratio(row['xla/tuned'])} |")
    return line


def _summarize(rows, name):
    """A line about the ratios to `name`; None where there are none."""
    key = f"xla/{name}"
    timed = [row for row in rows
             if key in row or name == "hone" and "slow" in row]
    ratios = [row["slow"] if "slow" in row else row[key][0] for row in timed
              if not row.get("disturbed")]
    if not timed:
        return None
    means = (f"geometric mean {statistics.geometric_mean(ratios):.3f}, "
             f"median {statistics.median(ratios):.3f}, least "
             f"{min(ratios):.3f}, most {max(ratios):.3f} of " if ratios else "")
    return f"{key}: {means}{len(ratios)} undisturbed of {len(timed)}"


def print_summary(rows):
    for name in ("tuned", "hone"):
        if line := _summarize(rows, name):
            print(line)
    equal = sum(row["equal"] for row in rows)
    alone = sum("xla" in row for row in rows)
    print(f"{equal} of {len(rows)} modules equal" +
          (f", {alone} of them beside the evaluator, as XLA did not compile "
           "them" if alone else ""))


def make_worker(options):
    """For isolation.Worker: returns the function that makes the row of a
    module."""
    import module_runner
    return module_runner.Runner(**options).row


def write(path, document):
    if path:
        path.write_text(json.dumps(document, indent=1) + "\n")


def make_row(worker, module):
    """Returns the row of a module by an isolation.Worker, without XLA if that
    does not compile it."""
    without = {}
    try:
        try:
            row = worker(Work(module))
        except isolation.Failed as error:
            if error.phase != XLA_COMPILES:
                raise
            without = {"xla": str(error)}
            row = worker(Work(module, with_xla=False))
    except isolation.Failed as error:
        row = {"module": module.name, "equal": False,
               "instructions": module.instructions, "message": str(error)}
    return row | without | {"phase_seconds": worker.seconds}


def run(args, modules, document):
    options = {"hone": str(args.hone), "threads": args.threads,
               "rounds": args.rounds,
               "objects": args.objects and str(args.objects),
               "tuned": args.tuned and str(args.tuned)}
    with isolation.Worker(make_worker, options, args.limit,
                          {XLA_COMPILES: args.xla_limit}) as worker:
        for number, module in enumerate(modules, 1):
            print(f"[{number}/{len(modules)}] {module.name}", file=sys.stderr)
            row = make_row(worker, module)
            document["rows"].append(row)
            print(format_row(row), flush=True)
            write(args.out, document)
    write(args.out, document | {"complete": True})


def main():
    args = parse_arguments()
    variables = time_peers.environment(args.threads)
    os.environ.update(variables)
    cores = time_peers.pin(args.threads)

    # Only now, with the environment that the libraries read.
    sys.path.insert(0, str(ROOT / "tools"))
    import jax
    if args.programs:
        modules = read_programs(args.programs)
    else:
        modules = ([read_module(path) for path in args.files] if args.files
                   else read_corpus(args.instructions))
    modules = [m for m in modules if args.only.search(m.name)]
    if not modules:
        print("time_modules: no module has a name that --only matches",
              file=sys.stderr)
        return 2
    document = {"bench": "user-programs" if args.programs else "modules",
                "threads": args.threads, "cores": cores,
                "date": datetime.date.today().isoformat(),
                "environment": variables, "jax": jax.__version__, "rows": []}
    print(TUNED_HEADER if args.tuned else HEADER, flush=True)
    if args.objects:
        args.objects.mkdir(parents=True, exist_ok=True)
    run(args, modules, document)
    print_summary(document["rows"])
    return 0 if all(row["equal"] for row in document["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
