#!/usr/bin/env python3
"""Checks that includes follow the layers and that fenced libraries stay fenced.

Usage: tools/check_layers.py [ROOT]
Prints one line per violation; exit status 1 if there is any.
"""

import pathlib
import re
import sys

# folder -> what it may include besides itself. A folder that is missing here
# is an error, so that a new one gets its place.
ALLOWED = {
    "base": set(),
    "hlo": {"base"},
    "graphs": {"hlo", "base"},
    "loops": {"hlo", "base"},
    "space": {"base"},
    "learning": {"space", "base"},
    "optimizers": {"learning", "space", "base"},
    "backends": {"loops", "graphs", "hlo", "space", "base", "proto"},
    "costmodels": {"loops", "hlo", "space", "base"},
    "storage": {"space", "base"},
    "tuning": {
        "learning", "backends", "optimizers", "costmodels", "storage", "loops", "hlo",
        "graphs", "space", "base"},
    "proto": set(),
    "work": {
        "tuning", "backends", "storage", "hlo", "space", "base", "proto"},
    "daemon": {"work", "tuning", "backends", "storage", "optimizers", "costmodels", "hlo",
               "graphs", "space", "base", "proto"},
    "cli": {"work", "tuning", "storage", "optimizers", "costmodels", "backends",
            "loops", "hlo", "graphs", "space", "base", "proto", "bench"},
}
# The same inside a folder: part -> parts of that folder that it may include
# besides itself; "" is the files of the folder itself. A folder without an
# entry has no order inside, and a part that is missing in an entry is an error.
PARTS = {
    "hlo": {
        "ir": set(),
        "inference": {"ir"},
        "text": {"inference", "ir"},
        "proto": {"text", "inference", "ir"},
        "analysis": {"ir"},
        "tiles": {"ir"},
        "": {"proto", "text", "analysis", "inference", "ir"},
        "evaluator": {"ir"},
        "equivalence": {"evaluator", "analysis", "ir"},
        "rewrite": {"inference", "ir"},
        "fusion": {"rewrite", "analysis", "ir"},
        "passes": {"rewrite", "evaluator", "analysis", "inference", "ir"},
    },
    "graphs": {
        "": set(),
        "mcm": {""},
        "step": {""},
    },
    "hlo/rewrite": {
        "": set(),
        "regions": {""},
        "tuples": {""},
    },
    "learning": {
        "games": set(),
        "assignments": set(),
        "cost": set(),
        "networks": {"games", "assignments", "cost"},
        "models": {"networks", "games", "assignments", "cost"},
        "": {"models", "networks", "games", "assignments", "cost"},
    },
    "backends/cpu": {
        "library": set(),
        "": {"library"},
        "export": {""},
        "measure": {""},
    },
    "loops": {
        "ir": set(),
        "analysis": {"ir"},
        "text": {"analysis", "ir"},
        "interpreter": {"analysis", "ir"},
        "lowering": {"text", "analysis", "ir"},
        "transforms": {"text", "analysis", "ir"},
        "schedules": {"transforms", "text", "analysis", "ir"},
    },
    "loops/lowering": {
        "graph": set(),
        "kernel": {"graph"},
        "plan": {"kernel", "graph"},
        "library": {"graph"},
        "complex": {"graph"},
        "rewrites": {"kernel", "graph"},
        "": {"rewrites", "complex", "library", "plan", "kernel", "graph"},
    },
    "loops/transforms": {
        "": set(),
        "analysis": {""},
        "nest": {"analysis", ""},
        "compute": {"analysis", ""},
        "memory": {"analysis", ""},
        "reduction": {"analysis", ""},
    },
}
# These may include anything of ours; nothing may include `tests`.
UNRESTRICTED = {"tests", "bench"}

# Third-party header prefix -> folders whose files (.h and .cc) may include it.
FENCES = {
    "sqlite3.h": {"storage/sqlite", "tests/storage"},
    "grpcpp/": {"proto", "daemon", "cli", "bench", "tests/daemon",
                "tests/compat"},
    "grpc/": {"daemon", "cli", "bench", "tests/daemon"},
    "prometheus/": {"daemon"},
    "httplib.h": {"bench", "tests/daemon"},
    "toml++/": {"daemon", "graphs"},
    "torch/": {"learning", "tests/learning"},
    "c10/": {"learning", "tests/learning"},
    "ATen/": {"learning", "tests/learning"},
    "cblas.h": {"hlo/evaluator", "learning"},
    "llvm/": {"backends/llvm", "backends/cpu"},
    "gecode/": {"tests/tuning"},
    "metis.h": {"graphs"},
    "lld/": {"backends/cpu"},
    "seccomp.h": {"backends/cpu/measure"},
    "zlib.h": {"learning", "tests/support"},
    "zstd.h": {"hlo", "storage"},
    "openssl/": {"base", "daemon/access"},
    "xxhash.h": {"base"},
    "google/protobuf/": {
        "proto", "hlo", "backends/process", "work", "daemon", "cli", "bench", "tests"},
    "hone/v1/": {"backends/process", "work", "daemon", "cli", "bench", "tests"},
    "hone/internal/": {"work", "daemon", "tests"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def part_of(path: str, folder: str):
    """The part of `folder` that the file at `path` belongs to, or None."""
    if not path.startswith(folder + "/"):
        return None
    first, slash, _ = path[len(folder) + 1:].partition("/")
    return first if slash else ""


def part_violation(path: str, header: str):
    """What is wrong with including `header`, by PARTS; None if nothing is."""
    for folder, allowed in PARTS.items():
        part, target = part_of(path, folder), part_of(header, folder)
        if part is None or target is None:
            continue
        for name in (part, target):
            if name not in allowed:
                return f"part '{name}' of '{folder}' has no layer in {__file__}"
        if target != part and target not in allowed[part]:
            return (f"part '{part or '.'}' of '{folder}' must not include "
                    f"part '{target or '.'}'")
    return None


def violations(root: pathlib.Path):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        top = relative.parts[0]
        if path.suffix not in (".h", ".cc") or top in ("build", ".venv"):
            continue
        if top not in ALLOWED and top not in UNRESTRICTED:
            yield f"{relative}:1: folder '{top}' has no layer in {__file__}"
            continue
        folder = relative.parent.as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match[2]
            for prefix, folders in FENCES.items():
                if header.startswith(prefix) and not any(
                        folder == f or folder.startswith(f + "/")
                        for f in folders):
                    yield (f"{relative}:{number}: '{header}' is fenced to "
                           f"{', '.join(sorted(folders))}")
            target = header.split("/")[0]
            known = target in ALLOWED or target in UNRESTRICTED
            if not known or "/" not in header:
                continue
            if match[1] == "<":
                yield (f"{relative}:{number}: '{header}' is in angle brackets, "
                       "expected quotes")
            if target == top:
                problem = part_violation(relative.as_posix(), header)
                if problem:
                    yield f"{relative}:{number}: {problem}"
                continue
            if target == "tests" or (
                    top in ALLOWED and target not in ALLOWED[top]):
                yield (f"{relative}:{number}: '{top}' must not include "
                       f"'{target}'")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(violations(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
