#!/usr/bin/env python3
"""Checks the registration lists: ids sorted and distinct, and each factory
defined in a file named after its id.

Usage: tools/check_lists.py [ROOT]
"""

import pathlib
import re
import sys

ENTRY = re.compile(r'^HONE_\w+\(\s*"([^"]+)"\s*,\s*(\w+)')


def check(path: pathlib.Path):
    entries = [m for m in map(ENTRY.match, path.read_text().splitlines()) if m]
    ids = [m[1] for m in entries]
    if ids != sorted(ids):
        yield f"{path}: ids are not sorted"
    if len(set(ids)) != len(ids):
        yield f"{path}: an id stands twice"
    sources = {}
    for source in path.parent.rglob("*.cc"):
        for factory in re.findall(r"> ((?:Create|Make)\w+)\(", source.read_text()):
            sources.setdefault(factory, source)
    for match in entries:
        source = sources.get(match[2])
        if source is None:
            yield f"{path}: no file defines {match[2]}"
        elif source.stem != match[1].replace("-", "_"):
            yield f"{path}: {match[1]} should be in a file of that name"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = []
    for path in sorted(root.rglob("*.def")):
        if "build" in path.parts or path.name in (
                "opcodes.def", "element_types.def"):
            continue
        found += check(path)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
