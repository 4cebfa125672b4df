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
    "loops": {"hlo", "base"},
    "space": {"base"},
    "optimizers": {"space", "base"},
    "backends": {"loops", "hlo", "space", "base", "proto"},
    "costmodels": {"hlo", "space", "base"},
    "storage": {"space", "base"},
    "tuning": {
        "backends", "optimizers", "costmodels", "storage", "loops", "hlo",
        "space", "base"},
    "proto": set(),
    "daemon": {"tuning", "backends", "storage", "optimizers", "costmodels", "hlo",
               "space", "base", "proto"},
    "cli": {"tuning", "storage", "optimizers", "costmodels", "backends",
            "loops", "hlo", "space", "base", "proto", "bench"},
}
# These may include anything of ours; nothing may include `tests`.
UNRESTRICTED = {"tests", "bench"}

# Third-party header prefix -> folders whose sources may include it. A fenced
# header may appear in a .h only where listed as internal to the fence.
FENCES = {
    "sqlite3.h": {"storage/sqlite", "tests/storage"},
    "grpcpp/": {"proto", "daemon", "cli", "bench", "tests/daemon"},
    "grpc/": {"daemon", "cli", "bench", "tests/daemon"},
    "prometheus/": {"daemon"},
    "httplib.h": {"daemon", "tests/daemon"},
    "toml++/": {"daemon"},
    "torch/": {"optimizers/policies"},
    "cblas.h": {"hlo/evaluator", "optimizers/policies"},
    "Eigen/": {"hlo/evaluator"},
    "llvm/": {"backends/llvm", "backends/cpu"},
    "llvm-c/": {"backends/llvm", "backends/cpu"},
    "lld/": {"backends/cpu"},
    "zstd.h": {"hlo", "storage"},
    "openssl/": {"base"},
    "xxhash.h": {"base"},
    "google/protobuf/": {
        "hlo", "backends/process", "daemon", "cli", "bench", "tests"},
    "hone/v1/": {"backends/process", "daemon", "cli", "bench", "tests"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


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
            if match[1] != '"' or not known or "/" not in header:
                continue
            if target == top or top in UNRESTRICTED:
                continue
            if target not in ALLOWED[top]:
                yield (f"{relative}:{number}: '{top}' must not include "
                       f"'{target}'")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(violations(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
