"""Times random kernels by Hone's default schedules, or tuned, beside PyTorch,
XLA:CPU and NumPy.

Usage: bench/kernels/kernel_sweep.py [--count 300] [--seed 0] [--only REGEX]
           [--threads 1|2] [--trials 0] [--rounds 6] [--compile] [--limit 60]
           [--hone build/release/bin/hone] [-o JSON [--resume]]

The kernels are those of sweep/: the case with a number depends on the seed and
the number alone, and a name says all of a case, so `--only '^NAME$'` repeats
one. `hone run CASE --target cpu --export` makes its object, or with --trials
`hone tune CASE --task module`, in a store of its own.

The peers are PyTorch's eager expressions, the best of them, with `out=` where
there is one; jax.jit; NumPy's products, which are OpenBLAS's; with --compile,
torch.compile too (it needs a C++ compiler, and some seconds for each case). A
ratio is the time of the fastest peer over Hone's: of those that allocate their
results beside a Hone that gets new results at each call, tensors of PyTorch or,
beside NumPy, arrays of NumPy, and of those that write to memory that is there
beside a Hone that does. The smallest one counts.
A peer that took more than SLOW_PEER times the fastest in single calls is not
timed any further.

Hone's results are compared with XLA's (tools/xla_runner.py has the tolerances;
in bfloat16 a result may differ more if it is nearer to that in float32, within
the tolerance) before
anything is timed, after it, and once more from small pages at random
offsets. Arguments are read-only (memory.py). A case that does not lower, whose
result is wrong, that crashes or takes more than --limit seconds is a failure,
as is one that takes more than HOPELESS times as long as the fastest peer: it is
called twice and not timed. Failures count as slower than any bound. --limit is
longer with --trials.

Times are taken as time_peers.py does (interleaved.py); `!` marks cases of which
too few rounds were undisturbed. JSON has all samples. --resume reads the JSON
of a run that ended early and goes on from there; -o is written after each case.
Exit status 1 if there was a failure but for slowness.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys

import isolation
import option_types
import sweep_table
import time_peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What a trial may take on the average.
TRIAL_SECONDS = 2
# What a resumed run must have in common with the one before.
SAME = ("seed", "threads", "trials", "rounds", "compile", "hone")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=option_types.expression,
                        default=re.compile(""))
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--hone", type=pathlib.Path,
                        default=ROOT / "build/release/bin/hone")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    if args.count < 1 or args.seed < 0 or args.trials < 0 or args.limit <= 0:
        parser.error("--count must be at least 1, --seed and --trials at least "
                     "0, --limit above 0")
    if args.rounds < 6 or args.rounds % 2:
        parser.error("--rounds must be even and at least 6: fewer samples "
                     "have no 95 % interval")
    if args.resume and not args.out:
        parser.error("--resume continues the file of -o")
    return args


def refuse(message):
    print(f"kernel_sweep: {message}", file=sys.stderr)
    sys.exit(2)


def read_resumed(path, document):
    """Returns the rows of an earlier document, which must be of the same
    sweep."""
    try:
        earlier = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        refuse(f"{path} is no result of a sweep: {error}")
    if not isinstance(earlier, dict) or "rows" not in earlier:
        refuse(f"{path} is no result of a sweep: it has no rows")
    for key in SAME:
        if earlier.get(key) != document[key]:
            refuse(f"{path} has {key} {earlier.get(key)}, expected "
                   f"{document[key]}")
    return earlier["rows"]


def make_worker(options):
    """For isolation.Worker: returns the function that makes the row of a
    case."""
    import sweep_runner
    return sweep_runner.Runner(**options).row


def write(path, document):
    if path:
        path.write_text(json.dumps(document) + "\n")


def run(args, names, document):
    options = {"seed": args.seed, "count": args.count, "hone": str(args.hone),
               "threads": args.threads, "rounds": args.rounds,
               "compiled": args.compile, "trials": args.trials,
               "trial_seconds": TRIAL_SECONDS}
    done = {row["kernel"] for row in document["rows"]}
    names = [name for name in names if name not in done]
    limit = args.limit + args.trials * TRIAL_SECONDS
    with isolation.Worker(make_worker, options, limit) as worker:
        for number, name in enumerate(names, 1):
            print(f"[{number}/{len(names)}] {name}", file=sys.stderr)
            try:
                row = worker(name)
            except isolation.Failed as error:
                row = {"kernel": name, "failure": str(error)}
            document["rows"].append(row)
            print(sweep_table.format_row(row), flush=True)
            write(args.out, document)


def main():
    args = parse_arguments()
    variables = time_peers.environment(args.threads)
    os.environ.update(variables)
    cores = time_peers.pin(args.threads)

    # Only now, with the environment that the libraries read.
    import provenance
    import sweep
    names = [name for name in sweep.make_cases(args.seed, args.count)
             if args.only.search(name)]
    if not names:
        refuse("no kernel has a name that --only matches")
    document = {"bench": "kernel-sweep", "seed": args.seed,
                "count": args.count, "threads": args.threads,
                "trials": args.trials, "rounds": args.rounds,
                "compile": args.compile,
                "hone": hashlib.sha256(args.hone.read_bytes()).hexdigest(),
                "date": datetime.date.today().isoformat(),
                "machine": provenance.describe_machine(cores),
                "environment": variables,
                "libraries": provenance.describe_libraries(), "rows": []}
    if args.resume and args.out.exists():
        document["rows"] = read_resumed(args.out, document)
    try:
        write(args.out, document)
    except OSError as error:
        refuse(f"cannot write {args.out}: {error.strerror}")
    sweep_table.print_header(document)
    run(args, names, document)
    write(args.out, document | {"complete": True})
    sweep_table.print_summary(document["rows"], args.seed, args.count,
                              args.threads)
    return 1 if any("failure" in row for row in document["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
