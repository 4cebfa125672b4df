"""The real XLA:CPU accepts fused modules, and they compute the same.

Usage: fused_modules_on_xla.py WRITER [--hone HONE] [--seed N] [--fusions N]
           [--random N] [--verbose] [NAME…]

WRITER (hone_write_fused_modules) writes modules of the corpus and random ones,
and fusions of them: a greedy one and random ones with random layouts. HONE
tunes those of the corpus for a TPU. XLA, its own fusion disabled, must parse,
verify and compile each of them and find the results of the original.

Modules reach XLA:CPU as MLIR, which keeps no layouts inside of fusions, and XLA
assigns none there. Its passes and emitters then die of some fusions, as they
ask for a layout. Such a module was verified before; it is compiled once more
with those fusions as calls whose instructions may need one. MLIR also folds
select(p, x, x) and the like, after which the fused computation has a parameter
too many; such a module is compiled with calls, too. Exit status 1 if XLA refuses
a module or dies of anything else, or finds another result, or if too few
fusions were compiled as such.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# XLA's own fusion; and passes that come before it and expect no fusions: they
# change the shapes of fused roots, take a fusion for an elementwise instruction
# and evaluate one whose layouts are lost.
os.environ["XLA_FLAGS"] = (
    "--xla_disable_hlo_passes=fusion,cpu-instruction-fusion,"
    "cpu-multi-output-fusion,reshape-mover,algsimp,constant_folding")

import xla_judge
import xla_runner

NAMES = ("mlp.fwd", "mlp.train", "gpt2_tiny.fwd", "rnnlm_scan.fwd", "vae.fwd",
         "dlrm.fwd", "vgg.fwd", "wavenet_18l.fwd")
# What XLA dies of where the layout of an instruction inside of a fusion is
# missing.
NO_LAYOUT = ("has_layout()", "layout.cc")
FOLDED = "must have users"
MIN_COMPILED_SHARE = 0.3

# Instructions inside of a fusion whose emitters ask for layouts.
ASKS = re.compile(r" (concatenate|dynamic-slice|dynamic-update-slice|map|pad|"
                  r"reduce-window|reshape|reverse|select|slice|transpose)\(")
ASKS_AS_ROOT = re.compile(r"ROOT \S+ = \S+ (dot)\(")
FUSION = re.compile(r" fusion\((?P<operands>[^\n]*)\), kind=kLoop"
                    r"(?P<middle>[^\n]*), calls=(?P<callee>[^\s,]+)")


def fused_computations(text):
    """The text of each computation that a fusion calls, by its name."""
    called = {match["callee"] for match in FUSION.finditer(text)}
    found = {}
    for part in text.split("\n\n"):
        name = part.split(" ", 1)[0].lstrip("%")
        if name in called:
            found[name] = part
    return found


def with_calls(text, names):
    """The text with calls in place of the fusions of these computations."""
    def replace(match):
        if match["callee"] not in names:
            return match[0]
        return (f" call({match['operands']}){match['middle']}, "
                f"to_apply={match['callee']}")
    return FUSION.sub(replace, text)


def answer(judge, request):
    text = xla_runner.fill_elided_constants(xla_judge.read(request["path"]))
    if request["calls"] is not None:
        text = with_calls(text, set(request["calls"]))
    try:
        results = judge.run(text, 1)
    except Exception as exception:
        return {"verdict": "refused", "why": xla_judge.first_line(exception)}
    if request["original"]:
        judge.expected = results
        return {"verdict": "ran"}
    problem = xla_judge.difference(judge.expected, results)
    if problem:
        return {"verdict": "different", "why": problem}
    return {"verdict": "equal"}


class Check:
    """Judges the fusions of one module after the other."""

    def __init__(self, jury, verbose):
        self.jury = jury
        self.verbose = verbose
        self.fusions = self.compiled = self.modules = self.failures = 0

    def ask(self, path, original, calls=None):
        return self.jury.ask(
            {"path": str(path), "original": original, "calls": calls})

    def fail(self, path, why):
        self.failures += 1
        print(f"{path.name}: {why}", file=sys.stderr, flush=True)

    def judge(self, path, original):
        """Compiles and runs a fused module, with as many real fusions as the
        missing layouts permit."""
        computations = fused_computations(path.read_text())
        asking = [name for name, text in computations.items()
                  if ASKS.search(text) or ASKS_AS_ROOT.search(text)]
        for calls in ([], asking, list(computations)):
            verdict = self.ask(path, False, calls)
            if verdict is not None and FOLDED not in verdict.get("why", ""):
                break
            if verdict is None:
                first_line = self.jury.last_words.split("\n", 1)[0]
                if not any(why in first_line for why in NO_LAYOUT):
                    return self.fail(path, f"XLA died: {first_line}")
                # The worker's successor knows no results.
                self.ask(original, True)
        else:
            return self.fail(path, "XLA refuses calls, too")
        if verdict["verdict"] != "equal":
            return self.fail(path, f"{verdict['verdict']}: {verdict['why']}")
        self.modules += 1
        self.fusions += len(computations)
        self.compiled += len(computations) - len(calls)
        if self.verbose:
            print(f"{path.name}: {len(computations)} fusions, "
                  f"{len(calls)} as calls", flush=True)

    def judge_all(self, folder, name, is_random):
        original = folder / f"{name}.hlo"
        verdict = self.ask(original, True)
        if verdict is None or verdict["verdict"] != "ran":
            if not is_random:
                self.fail(original, "XLA does not run the original")
            return
        for path in sorted(folder.glob(f"{name}.*.hlo")):
            self.judge(path, original)


def tune(hone, module, tuned):
    """Writes what the task `fusion` publishes for a TPU."""
    subprocess.run(
        [hone, "tune", module, "--local", "--task", "fusion", "--target",
         "tpu:v4", "--trials", "12", "-o", tuned],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not tuned.exists():
        raise FileNotFoundError(f"{tuned}: hone tune wrote no module")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("writer")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--hone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fusions", type=int, default=1)
    parser.add_argument("--random", type=int, default=10)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    jury = xla_judge.Jury(__file__)
    check = Check(jury, arguments.verbose)
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        subprocess.run(
            [arguments.writer, directory, str(arguments.seed),
             str(arguments.fusions), str(arguments.random), *names], check=True)
        for name in names:
            # Without the values of its constants nothing is verified, and so
            # nothing published.
            text = (folder / f"{name}.hlo").read_text()
            if arguments.hone and "constant({...})" not in text:
                tune(arguments.hone, folder / f"{name}.hlo",
                     folder / f"{name}.tuned.hlo")
            check.judge_all(folder, name, False)
        for i in range(arguments.random):
            check.judge_all(folder, str(i), True)
    jury.close()
    print(f"{check.modules} fused modules agree; {check.compiled} of "
          f"{check.fusions} fusions compiled as such, {check.failures} failures")
    sys.exit(1 if check.failures or
             check.compiled < MIN_COMPILED_SHARE * check.fusions else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        xla_judge.serve(answer)
    else:
        main()
