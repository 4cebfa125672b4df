"""The real XLA:CPU judges what passes make of random modules.

Usage: fuzz_on_xla.py WRITER [--first N] [--count N] [--per-seed N]
           [--seconds S] [--keep DIR] [--verbose]

WRITER (hone_write_fuzz_modules) writes random modules and their rewritten
forms. XLA must accept every rewritten module whose original it accepts: parse,
verify and compile it, for two partitions where the module has two. Both then
run on one device, on the same seeded inputs, and must agree; modules with effects,
stateful random numbers, unstable sorts and the like do not run. Where XLA:CPU
has no code for an original that its verifier accepts, the rewritten module must
pass the verifier. Other originals that XLA refuses are counted and left out. Exit status 1 if any rewritten
module is refused or differs.
"""

import argparse
import collections
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import xla_judge

# A result of these depends on more than the arguments, or on the choice of an
# implementation: XLA folds a pad of the initial value into a window even where
# that is not the identity.
NOT_RUN = {"effects", "feeds", "collectives", "rng", "unstable_sorts",
           "dynamic_shapes", "inits"}

# What XLA:CPU says of modules that its verifier has accepted, and that it has
# no code for.
NO_CODE = ("NOT_FOUND: No registered implementation", "UNIMPLEMENTED: ")

# XLA's constant folding gives the result of a bitcast the layout of its operand.
# It refuses `bitcast(constant)` from f64[8,2] to f64[16] as it stands, so that
# any rewrite that makes a constant of the operand brings this about.
FOLDED_BITCAST = "layout minor_to_major field contains"


def answer(judge, request):
    """A worker's verdicts on a module and its rewritten forms, one a request:
    the original's results stay in memory until the next original."""
    text = xla_judge.read(request["path"])
    features = request["features"]
    try:
        judge.compile(text)
    except Exception as exception:
        why = xla_judge.first_line(exception)
        verdict = "verified" if why.startswith(NO_CODE) else "refused"
        if "original" not in request:
            judge.expected = None
            judge.compiles = False
        elif FOLDED_BITCAST in why and " bitcast(" in text:
            verdict = "folded bitcast"
        elif verdict == "verified" and judge.compiles:
            verdict = "refused"
        return {"verdict": verdict, "why": why}
    if "original" not in request:
        judge.compiles = True
    if NOT_RUN & set(features):
        judge.expected = None
        return {"verdict": "accepted"}
    try:
        results = judge.run(text, request["seed"])
    except Exception as exception:
        if "original" not in request:
            judge.expected = None
            return {"verdict": "accepted",
                    "why": xla_judge.first_line(exception)}
        if judge.expected is None:
            return {"verdict": "accepted"}
        return {"verdict": "refused", "why": xla_judge.first_line(exception)}
    if "original" not in request:
        judge.expected = results
        return {"verdict": "ran"}
    if judge.expected is None:
        return {"verdict": "accepted"}
    difference = xla_judge.difference(judge.expected, results)
    if difference is None:
        return {"verdict": "equal"}
    return {"verdict": "different", "why": difference}


def judge_seed(jury, folder, seed, per_seed, counts, report, verbose):
    original = folder / f"{seed}.hlo"
    features = original.read_text().split("\n", 1)[0].removeprefix("//").split()
    base = {"seed": seed, "features": features}
    verdict = jury.ask({**base, "path": str(original)})
    if verdict is None or verdict["verdict"] == "refused":
        counts["originals that XLA refuses"] += 1
        if verbose:
            why = "XLA died" if verdict is None else verdict["why"]
            print(f"{original.name} ({' '.join(features)}): {why}")
        return
    counts["originals"] += 1
    rewritten = sorted(folder.glob(f"{seed}.*.hlo"))
    if per_seed and len(rewritten) > per_seed:
        rewritten = random.Random(seed).sample(rewritten, per_seed)
    for path in rewritten:
        verdict = jury.ask({**base, "path": str(path), "original": True})
        if verdict is None:
            # The worker's successor knows no results of the original.
            verdict = {"verdict": "refused", "why": "XLA died"}
            jury.ask({**base, "path": str(original)})
        counts[verdict["verdict"]] += 1
        if verdict["verdict"] in ("refused", "different"):
            report(path, verdict["why"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("writer", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--per-seed", type=int, default=4, metavar="N",
                        help="rewritten modules of each seed [4; 0: all]")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="ends after the seed that exceeds this")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="where failures go, with their originals")
    parser.add_argument("--verbose", action="store_true",
                        help="also says why XLA refuses originals")
    args = parser.parse_args()
    counts = collections.Counter()
    failures = []

    def report(path, why):
        failures.append(path)
        print(f"{path.name}: {why}", flush=True)
        if args.keep:
            args.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, args.keep)
            seed = path.name.split(".", 1)[0]
            shutil.copy(path.with_name(f"{seed}.hlo"), args.keep)

    start = time.monotonic()
    jury = xla_judge.Jury(__file__)
    for seed in range(args.first, args.first + args.count):
        if time.monotonic() - start > args.seconds:
            break
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([args.writer, folder, str(seed), "1"], check=True)
            judge_seed(jury, pathlib.Path(folder), seed, args.per_seed, counts,
                       report, args.verbose)
    jury.close()
    judged = counts["equal"] + counts["accepted"] + counts["verified"]
    print(f"{counts['originals']} modules that XLA accepts "
          f"({counts['originals that XLA refuses']} that it refuses left out); "
          f"rewritten: {counts['equal']} equal, {counts['accepted']} compiled "
          f"only, {counts['verified']} verified only, {counts['different']} "
          f"different, {counts['refused']} refused, "
          f"{counts['folded bitcast']} left out for XLA's folding of bitcasts")
    return 1 if failures or judged == 0 else 0


if __name__ == "__main__":
    if "--worker" in sys.argv:
        xla_judge.serve(answer)
    else:
        sys.exit(main())
