#!/usr/bin/env python3
"""Checks file sizes: source files warn at 500 lines and fail at 800; names that
say nothing are refused; files over 2 MiB fail.

Usage: tools/check_file_sizes.py [ROOT]
"""

import pathlib
import subprocess
import sys

WARN_LINES, FAIL_LINES = 500, 800
MAX_BYTES = 2 << 20
BANNED = {"utils", "util", "helpers", "helper", "misc", "common"}


def tracked(root: pathlib.Path):
    """Files in git, and new ones that it does not ignore."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True).stdout
    return [root / name.decode() for name in sorted(set(out.split(b"\0")))
            if name]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    failed = False
    for path in tracked(root):
        if not path.is_file():
            continue
        name = path.relative_to(root)
        if path.stat().st_size > MAX_BYTES:
            print(f"{name}: {path.stat().st_size} bytes, over {MAX_BYTES}")
            failed = True
        if path.suffix not in (".h", ".cc", ".py"):
            continue
        if path.stem in BANNED:
            print(f"{name}: '{path.stem}' says nothing, name the concept")
            failed = True
        lines = len(path.read_text().splitlines())
        if lines > FAIL_LINES:
            print(f"{name}: {lines} lines, over {FAIL_LINES}")
            failed = True
        elif lines > WARN_LINES:
            print(f"{name}: warning: {lines} lines, over {WARN_LINES}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
