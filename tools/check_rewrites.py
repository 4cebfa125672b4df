#!/usr/bin/env python3
"""Checks that passes change modules through hlo/rewrite alone.

Outside hlo/ir and hlo/rewrite no loop goes over the slots of a computation or
module by index: dead slots must stay unreachable (Computation::instructions,
Module::computations). In hlo/passes nothing but the runner of passes asks for a
mutable computation, nothing uses a construct of ENDS_PROCESS, and no file has
more than 250 lines.

Usage: tools/check_rewrites.py [ROOT]
Prints one line per violation; exit status 1 if there is any.
"""

import pathlib
import re
import sys

SLOT_LOOP = re.compile(
    r"\b(?:for|while)\s*\([^{;]*;[^;{]*\b(?:slot_count|computation_slots)\(\)")
# A bound that was stored first: `const InstructionId slots = c.slot_count();`
# and a loop up to it.
STORED_BOUND = re.compile(
    r"\b(\w+)\s*=\s*[\w.()>\[\]-]*\b(?:slot_count|computation_slots)\(\)")
FORBIDDEN_IN_PASSES = {
    "mutable_computation(": "Rewriter changes computations",
    "mutable_instruction(": "Rewriter changes instructions",
    "is_live(": "Computation::instructions and Contains know",
    "slot_count(": "IdMap grows by itself",
    "computation_slots(": "IdMap grows by itself",
    "has_computation(": "Module::computations knows",
}
# Constructs that end the process, or throw: nothing catches what a pass throws.
# `.value()` does so for a std::optional without a value, too: `*` after a test
# says the same. `.at()` is allowed, as IdMap has a default for every id.
ENDS_PROCESS = re.compile(
    r"\b\w*CHECK(?:_\w+)?\s*\(|\b\w*LOG\s*\(\s*[DQ]?FATAL\s*\)"
    r"|\b(?:abort|_?exit|_Exit|quick_exit|terminate|assert|__builtin_trap)\s*\("
    r"|(?:\.|->)value\s*\(\s*\)|\bthrow\b")
MAX_PASS_LINES = 250
# The runner of passes compacts what they leave.
RUNS_PASSES = {"hlo/passes/pipeline.cc"}


def violations(root: pathlib.Path):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        top = name.split("/")[0]
        if path.suffix not in (".h", ".cc") or top in ("build", ".venv"):
            continue
        text = path.read_text()
        if not name.startswith(("hlo/ir/", "hlo/rewrite/")):
            bounds = "|".join(set(STORED_BOUND.findall(text)))
            loops = [SLOT_LOOP]
            if bounds:
                loops.append(re.compile(
                    rf"\bfor\s*\([^{{;]*;[^;{{]*<\s*(?:{bounds})\s*;"))
            for loop in loops:
                for match in loop.finditer(text):
                    line = text.count("\n", 0, match.start()) + 1
                    yield (f"{name}:{line}: loop over slots by index, expected "
                           "instructions() or computations()")
        if not name.startswith("hlo/passes/"):
            continue
        lines = text.splitlines()
        if len(lines) > MAX_PASS_LINES:
            yield f"{name}: {len(lines)} lines, expected at most {MAX_PASS_LINES}"
        for number, line in enumerate(lines, 1):
            code = line.split("//")[0]
            for match in ENDS_PROCESS.finditer(code):
                yield (f"{name}:{number}: '{match[0]}' in a pass: a pass fails "
                       "with a Status")
            if name in RUNS_PASSES:
                continue
            for token, instead in FORBIDDEN_IN_PASSES.items():
                if token in code:
                    yield f"{name}:{number}: '{token}' in a pass: {instead}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(violations(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
