"""Writes the programs of user_programs.py: HLO text as JAX lowers it.

Usage: bench/kernels/generate_user_programs.py [-o bench/data/user_programs]

OUT/NAME.hlo for every program, and OUT/programs.json: for each its description,
the kind of report that it stands for, and how its arguments are made
(arguments.py). Files that no program has any more are removed. The text depends
on the version of JAX, which programs.json records.
"""

import argparse
import json
import pathlib

import jax

import user_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "bench" / "data" / "user_programs"


def generate(folder):
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{program.name}.hlo": program.hlo().rstrip("\n") + "\n"
             for program in user_programs.PROGRAMS}
    for path in folder.glob("*.hlo"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)
    lines = ",\n".join("  " + json.dumps(entry)
                       for entry in user_programs.index())
    (folder / "programs.json").write_text(
        f'{{"jax": "{jax.__version__}", "programs": [\n{lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--out", type=pathlib.Path, default=DATA)
    generate(parser.parse_args().out)


if __name__ == "__main__":
    main()
