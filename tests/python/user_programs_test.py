"""The programs of bench/kernels/user_programs.py, and that they are timed.

Usage: user_programs_test.py SOURCE_DIR HONE [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT, HONE = map(pathlib.Path, sys.argv[1:3])
DATA = ROOT / "bench" / "data" / "user_programs"
SOURCE = ROOT / "bench" / "kernels"
sys.path.insert(0, str(SOURCE))

import jax
import numpy as np

import arguments
import generate_user_programs
import user_programs


class Programs(unittest.TestCase):
    def test_files_are_what_jax_makes(self):
        index = json.loads((DATA / "programs.json").read_text())
        self.assertEqual(jax.__version__, index["jax"])
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "of_before.hlo").touch()
            generate_user_programs.generate(folder)
            made = {path.name: path.read_text() for path in folder.iterdir()}
        committed = {path.name: path.read_text() for path in DATA.iterdir()}
        self.assertEqual(sorted(made), sorted(committed))
        for name, text in made.items():
            self.assertEqual(text, committed[name], name)

    def test_there_are_enough_and_each_is_described(self):
        names = [program.name for program in user_programs.PROGRAMS]
        self.assertGreaterEqual(len(set(names)), 25)
        self.assertEqual(len(set(names)), len(names))
        for program in user_programs.PROGRAMS:
            self.assertTrue(program.description)

    def test_results_are_numbers(self):
        for program in user_programs.PROGRAMS:
            rng = np.random.default_rng(1)
            values = [a.make(rng) for a in program.arguments]
            for leaf in jax.tree.leaves(jax.jit(program.function)(*values)):
                value = np.asarray(leaf)
                if value.dtype.kind not in "iub":
                    self.assertTrue(np.isfinite(
                        value.astype(np.complex128)).all(), program.name)


class Arguments(unittest.TestCase):
    def make(self, *fields, **named):
        argument = arguments.Argument(*fields, **named)
        self.assertEqual(arguments.from_dict(
            json.loads(json.dumps(argument.as_dict()))), argument)
        value = argument.make(np.random.default_rng(0))
        self.assertEqual(value.shape, argument.shape)
        self.assertEqual(value.dtype, arguments.TYPES[argument.type])
        return value

    def test_are_in_range_and_spread(self):
        for fill in ("index", "sorted index", "zipf"):
            value = self.make((5000,), "s32", fill, bound=1000)
            self.assertEqual(value.min() >= 0, True)
            self.assertTrue(900 < value.max() < 1000, fill)
            self.assertGreater(len(set(value.tolist())), 300)
            if fill == "sorted index":
                self.assertTrue((np.diff(value) >= 0).all())
        zipf = self.make((5000,), "s32", "zipf", bound=1000)
        self.assertGreater((zipf < 30).mean(), 0.3)
        self.assertEqual(self.make((9000,), "s8", "bytes").min(), -128)
        self.assertEqual(self.make((), "s32", "value", bound=7), 7)
        self.assertAlmostEqual(
            self.make((9000,), "s32", "coin", 0.25).mean(), 0.25, 1)
        self.assertGreater(self.make((99,), fill="positive").min(), 0)
        self.assertLess(np.abs(self.make((99,), fill="near one") - 1).max(),
                        0.1)
        self.assertGreater(np.abs(self.make((99,), "c64").imag).max(), 0.1)


class Timing(unittest.TestCase):
    def test_programs_are_timed_on_their_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out.json")
            result = subprocess.run(
                [sys.executable, SOURCE / "time_modules.py", "--programs",
                 DATA, "--only", "^(gather_rows|scatter_add)$", "--rounds", "2",
                 "--hone", HONE, "-o", out], capture_output=True, text=True)
            document = json.loads(out.read_text())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(document["complete"])
        self.assertEqual(document["bench"], "user-programs")
        self.assertEqual({row["module"]: row["equal"]
                          for row in document["rows"]},
                         {"gather_rows": True, "scatter_add": True})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
