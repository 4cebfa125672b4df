#!/usr/bin/env python3
"""Compares modules with their rewritten forms on the real XLA:CPU.

Usage: tools/compare_on_xla.py --corpus bench/data/corpus
           --tuned [NAME=]DIR [--tuned NAME=DIR]... [--only REGEX]
           [--time ROUNDS] [--json OUT [--resume]] [--fail-on-peak]

For every DIR/MODULE.hlo it compiles MODULE of the corpus and the rewritten
module, runs both on the same seeded inputs and compares every output. Several
--tuned stand side by side: each then needs a NAME, and the same modules in its
DIR. Two forms are equal when each output's largest error, relative to the
larger of the element's magnitude and the output's root mean square, is at most
the tolerance of its type (TOLERANCE in xla_runner.py).

The tables, in Markdown, have for the original and each rewritten form, with
tuned / original in parentheses (xla_metrics.py):
  XLA's ops           `ops` of what XLA leaves just before layout assignment
  final instructions  of the entry computation that XLA generates code from
  final fusions       of that computation
  MB accessed, Mflop  XLA's cost analysis
  peak MB             arguments, outputs and temporaries; `!` marks one more
                      than 2 % above the original's

--time ROUNDS also measures run time where all forms are equal: ROUNDS rounds,
rounded up to whole repetitions of a balanced order (paired_timing.py), of the
original (A), each form (B) and a second compilation of the original. The number
of rounds is the same for every module, and nothing is measured again. A figure
is the median over the rounds of A / B within a round, above 1 where B is
faster, with an interval of order statistics over the rounds (95 %); `A/A`
is the same for the second compilation. `+` and `-` mark forms that are faster
or slower beyond the noise: their interval lies outside 1 and outside that of
A/A. Geometric means have a bootstrap's interval over modules and rounds
(paired_ratios.py). CPU time is that of all threads of the process.

A module has a process of its own, which is ended after --limit seconds.
--resume keeps the rows of OUT that come from the same modules and settings,
those that --only leaves out too, and repeats those that failed without a
result. Exit status 1 when a form differs, a
module fails or none is found, and with --fail-on-peak also when a peak is
marked.
"""

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "kernels"))

import comparison_table
import paired_timing

CHILD = ROOT / "tools" / "examine_on_xla.py"
# The names of the original's samples.
RESERVED = ("original", "again")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--tuned", action="append", required=True,
                        metavar="[NAME=]DIR")
    parser.add_argument("--only", type=re.compile, metavar="REGEX",
                        default=re.compile(""), help="modules to measure")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    parser.add_argument("--time", type=int, default=0, metavar="ROUNDS",
                        help="rounds of timing [0: none]")
    parser.add_argument("--limit", type=float, default=1800.0,
                        metavar="SECONDS", help="for a module [1800]")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--resume", action="store_true",
                        help="keep the rows of OUT that are there already")
    parser.add_argument("--fail-on-peak", action="store_true",
                        help="exit status 1 also when a peak is marked")
    args = parser.parse_args()
    if args.resume and not args.json:
        parser.error("--resume needs --json")
    try:
        args.forms = parse_forms(args.tuned)
        args.modules = list_modules(args.forms)
    except ValueError as error:
        parser.error(str(error))
    if args.time:
        args.time = paired_timing.whole_rounds(
            args.time, len(args.forms) + len(RESERVED))
    return args


def parse_forms(values):
    """Returns {name: folder} of the values of --tuned. Raises ValueError."""
    forms = {}
    for value in values:
        name, equals, folder = value.rpartition("=")
        if not equals:
            name = "tuned"
        if not name or name in forms or name in RESERVED:
            raise ValueError(
                f"--tuned {value}: expected NAME=DIR with a name of its own, "
                f"not {' or '.join(RESERVED)}")
        forms[name] = pathlib.Path(folder)
    return forms


def list_modules(forms):
    """Returns the modules of the folders. Raises ValueError where one folder
    lacks a module of another."""
    found = {folder: {path.stem for path in folder.glob("*.hlo")}
             for folder in forms.values()}
    every = set().union(*found.values())
    for folder, names in found.items():
        if missing := sorted(every - names):
            raise ValueError(f"{folder} has no {missing[0]}.hlo, which another "
                             "folder has")
    return sorted(every)


def make_request(args, module):
    return {"original": str(args.corpus / f"{module}.hlo.zst"),
            "tuned": {name: str(folder / f"{module}.hlo")
                      for name, folder in args.forms.items()},
            "seed": args.seed, "rounds": args.time}


def digest(request):
    """Returns the SHA-256 of everything that decides about a row. Raises
    OSError."""
    sha = hashlib.sha256(
        f"{request['seed']} {request['rounds']}".encode())
    for name, path in (("", request["original"]), *request["tuned"].items()):
        content = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        sha.update(f" {name} {content}".encode())
    return sha.hexdigest()


def examine(request, limit_seconds):
    """Returns the row of a module; where there is none, `error` says why."""
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ,
                   "JAX_PLATFORMS": "cpu"}
    try:
        child = subprocess.run(
            [sys.executable, CHILD], input=json.dumps(request), text=True,
            capture_output=True, env=environment, timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        return {"error": f"no result within {limit_seconds:g} s"}
    if child.returncode:
        last = child.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"error": f"exit status {child.returncode}: {last[0]}"}
    return json.loads(child.stdout)


def kept_rows(path):
    """Returns the rows of an earlier run that have a result, by (module,
    inputs)."""
    if not path.exists():
        return {}
    return {(row["module"], row["inputs"]): row
            for row in json.loads(path.read_text())["rows"]
            if "error" not in row}


def describe_machine():
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", cpuinfo)
    return {"cpu": name[1] if name else platform.processor(),
            "cores": len(os.sched_getaffinity(0))}


def write_document(args, rows):
    """Replaces the file at once: an interruption leaves a complete one."""
    document = {
        "bench": "compare_on_xla", "date": datetime.date.today().isoformat(),
        "command": sys.argv, "machine": describe_machine(),
        "jaxlib": importlib.metadata.version("jaxlib"), "rounds": args.time,
        "summary": comparison_table.summarize(rows, list(args.forms)),
        "rows": rows}
    partial = args.json.with_name(args.json.name + ".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n")
    partial.replace(args.json)


def report_progress(number, row):
    state = row.get("error") or ", ".join(
        f"{name} {'equal' if form['equal'] else 'DIFFERENT'}"
        for name, form in row["tuned"].items())
    print(f"{number} {row['module']}: {state}, {row['seconds']:.1f} s",
          file=sys.stderr, flush=True)


def in_order(rows):
    return [rows[module] for module in sorted(rows)]


def main():
    args = parse_arguments()
    kept = kept_rows(args.json) if args.resume else {}
    requests = {module: make_request(args, module) for module in args.modules}
    inputs = {module: digest(request) for module, request in requests.items()}
    rows = {module: kept[key] for module in args.modules
            if (key := (module, inputs[module])) in kept}
    missing = [module for module in args.modules
               if module not in rows and args.only.search(module)]
    for number, module in enumerate(missing, 1):
        start = time.time()
        row = {"module": module, "inputs": inputs[module],
               **examine(requests[module], args.limit)}
        rows[module] = row | {"seconds": time.time() - start}
        report_progress(f"[{number}/{len(missing)}]", rows[module])
        if args.json:
            write_document(args, in_order(rows))
    rows, names = in_order(rows), list(args.forms)
    print(comparison_table.format_report(rows, names))
    found = comparison_table.summarize(rows, names).values()
    return int(not rows or any(form["different"] for form in found) or
               args.fail_on_peak and any(form["peak_above"] for form in found))


if __name__ == "__main__":
    sys.exit(main())
