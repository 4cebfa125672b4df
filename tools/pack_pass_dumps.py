#!/usr/bin/env python3
"""Packs XLA's per-pass dumps into bench/data/passes.

Usage: tools/pack_pass_dumps.py DUMPS OUTPUT

DUMPS holds a folder MODULE per module with the files that XLA's --xla_dump_hlo_pass_re=.*
--xla_dump_to=MODULE leaves, renamed to SSSS.PIPELINE.after_PASS.before_NEXT.hlo (SSSS: their order).
Each becomes OUTPUT/MODULE.passes.zst; bench/data/README.md describes the format. Needs the zstd command.
"""

import pathlib
import subprocess
import sys


def pack(folder, output):
    parts = []
    for file in sorted(folder.glob("*.hlo")):
        text = file.read_text().rstrip("\n")
        if any(line.startswith("=== ") for line in text.splitlines()):
            sys.exit(f"{file}: a line begins with '=== ', which marks a state")
        parts.append(f"=== {file.stem}\n{text}\n")
    # The long window reaches back over several states, which are nearly equal.
    packed = subprocess.run(
        ["zstd", "-19", "--long=27", "--quiet"],
        input="".join(parts).encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    (output / f"{folder.name}.passes.zst").write_bytes(packed)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        if folder.is_dir():
            pack(folder, output)


if __name__ == "__main__":
    main()
