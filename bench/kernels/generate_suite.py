"""Writes the kernel suite: HLO text as JAX lowers it, before any XLA pass.

Usage: bench/kernels/generate_suite.py [-o bench/data/kernels]
       bench/kernels/generate_suite.py --small [-o tests/testdata/kernels]

OUT/NAME.hlo for every kernel of suite.py, and OUT/suite.json: per kernel
`name`, `class`, the shapes of `arguments` and `results` (all float32, dense,
row-major), `flops` and `transcendentals` as suite.py counts them, `bytes_in`
and `bytes_out` (every argument read once, every result written once), `torch`
(the key of peers.EXPRESSIONS) and `reference`. Files that no kernel has any
more are removed. The text depends on the version of JAX, which suite.json
records. With --small the same of SMALL_KERNELS, without an index.
"""

import argparse
import json
import pathlib

import jax

import suite

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "bench" / "data" / "kernels"
SMALL_DATA = ROOT / "tests" / "testdata" / "kernels"


def module_text(kernel):
    text = kernel.lower().compiler_ir("hlo").as_hlo_text()
    return text.rstrip("\n") + "\n"


def describe(kernel):
    return {"name": kernel.name, "class": kernel.kind,
            "arguments": [list(a.shape) for a in kernel.arguments],
            "results": [list(shape) for shape in kernel.result_shapes()],
            "flops": kernel.flops, "transcendentals": kernel.transcendentals,
            "bytes_in": kernel.bytes_in(), "bytes_out": kernel.bytes_out(),
            "torch": kernel.torch, "reference": kernel.reference}


def index_text():
    lines = ",\n".join("  " + json.dumps(describe(kernel))
                       for kernel in suite.KERNELS)
    return f'{{"jax": "{jax.__version__}", "kernels": [\n{lines}\n]}}\n'


def write_modules(folder, kernels):
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{kernel.name}.hlo": module_text(kernel) for kernel in kernels}
    for path in folder.glob("*.hlo"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)


def generate(folder):
    write_modules(folder, suite.KERNELS)
    (folder / "suite.json").write_text(index_text())


def generate_small(folder):
    write_modules(folder, suite.SMALL_KERNELS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.small:
        generate_small(args.out or SMALL_DATA)
    else:
        generate(args.out or DATA)


if __name__ == "__main__":
    main()
