"""bench/kernels/time_modules.py on small modules.

Usage: time_modules_test.py SOURCE_DIR HONE [unittest arguments]
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
TOOL = ROOT / "bench" / "kernels" / "time_modules.py"
CORPUS = ROOT / "bench" / "data" / "corpus"
sys.path.insert(0, str(TOOL.parent))

import index_bounds
import module_runner
import numpy as np
import time_modules
import xla_runner

# The gradient of a shift in front of a normalization: zero but for rounding.
ROUNDING = """HloModule rounding, \
entry_computation_layout={(f32[8,1000]{1,0})->f32[8]{0}}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[8,1000] parameter(0)
  zero = f32[] constant(0)
  sums = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
  count = f32[] constant(1000)
  counts = f32[8] broadcast(count), dimensions={}
  means = f32[8] divide(sums, counts)
  spread = f32[8,1000] broadcast(means), dimensions={0}
  centered = f32[8,1000] subtract(x, spread)
  ROOT nothing = f32[8] reduce(centered, zero), dimensions={1}, to_apply=add
}
"""

# What is not what it seems: gives out the object of another module.
IMPOSTOR = """#!/bin/sh
for last; do :; done
exec "{hone}" run "{other}" --target cpu --export "$last"
"""


# Rows by a column of indices, in a call, and a class that labels are equal to.
INDICES = """HloModule indices, \
entry_computation_layout={(f32[500,4]{1,0}, s32[8]{0}, s32[8]{0}, s32[3]{0})\
->(f32[8,4]{1,0}, pred[8,30]{1,0}, s32[3]{0})}

take {
  table = f32[500,4] parameter(0)
  rows = s32[8] parameter(1)
  zero = s32[] constant(0)
  zeros = s32[8] broadcast(zero), dimensions={}
  negative = pred[8] compare(rows, zeros), direction=LT
  count = s32[] constant(500)
  counts = s32[8] broadcast(count), dimensions={}
  moved = s32[8] add(rows, counts)
  chosen = s32[8] select(negative, moved, rows)
  column = s32[8,1] reshape(chosen)
  ROOT taken = f32[8,4] gather(table, column), offset_dims={1}, \
collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
slice_sizes={1,4}
}

ENTRY main {
  table.1 = f32[500,4] parameter(0)
  rows.1 = s32[8] parameter(1)
  taken.1 = f32[8,4] call(table.1, rows.1), to_apply=take
  labels = s32[8] parameter(2)
  spread = s32[8,30] broadcast(labels), dimensions={0}
  classes = s32[8,30] iota(), iota_dimension=1
  equal = pred[8,30] compare(spread, classes), direction=EQ
  others = s32[3] parameter(3)
  ROOT all = (f32[8,4], pred[8,30], s32[3]) tuple(taken.1, equal, others)
}
"""


class Arguments(unittest.TestCase):
    def test_integers_have_the_range_of_their_use(self):
        self.assertEqual(index_bounds.index_bounds(INDICES), {1: 500, 2: 30})
        module = time_modules.Module("indices", INDICES)
        _, rows, labels, others = module_runner.make_arguments(module, False)
        self.assertGreater(rows.max(), 100)
        self.assertLess(rows.max(), 500)
        self.assertGreater(labels.max(), 8)
        self.assertLess(labels.max(), 30)
        self.assertLess(others.max(), 8)

    def test_bfloat16_takes_the_place_of_float32(self):
        module = time_modules.in_bfloat16(
            time_modules.Module("rounding", ROUNDING))
        self.assertEqual(module.name, "rounding.bf16")
        self.assertEqual(module.text.count("bf16["), ROUNDING.count("f32["))


class Errors(unittest.TestCase):
    def test_pieces_have_the_scale_of_the_whole(self):
        a = np.ones(2 * xla_runner.PIECE + 1, np.float32)
        a[-1] = 0
        b = a.copy()
        b[-1] = 0.5
        rms = np.sqrt((a.size - 1) / a.size)
        self.assertAlmostEqual(xla_runner.error(a, b), 0.5 / rms, 12)
        b[0] = np.nan
        self.assertEqual(xla_runner.error(a, b), np.inf)
        self.assertEqual(xla_runner.error(np.array(1.0), np.array(2.0)), 0.5)
        self.assertEqual(xla_runner.error(np.array(1), np.array(2)), np.inf)

    def test_summaries(self):
        def output(shape="f32[8]{0}", mean=0.5, non_finite=0):
            return {"shape": shape, "mean": mean, "min": -1.0, "max": 2.0,
                    "non_finite": non_finite}

        compare = module_runner.compare_summaries
        same = compare([output(), output()], [output(), output(mean=0.5004)])
        self.assertTrue(same["equal"])
        self.assertAlmostEqual(same["error"], 2e-4)
        self.assertEqual(same["output"], 1)
        for expected, found in ((output(), output(mean=0.51)),
                                (output(), output(non_finite=1)),
                                (output("s32[8]"), output("s32[8]", 0.5004))):
            self.assertFalse(compare([expected], [found])["equal"])


class TimeModules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, hone=HONE):
        result = subprocess.run(
            [sys.executable, TOOL, *arguments, "--hone", hone, "--rounds", "2",
             "-o", self.folder / "out.json"], capture_output=True, text=True)
        document = json.loads((self.folder / "out.json").read_text())
        return result, document["rows"]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_equal_modules_are_timed(self):
        objects = self.folder / "objects"
        result, rows = self.run_tool(
            CORPUS / "mlp.train.hlo.zst", CORPUS / "gpt2_tiny.fwd.hlo.zst",
            "--objects", objects)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["module"] for row in rows],
                         ["mlp.train", "gpt2_tiny.fwd"])
        for row in rows:
            self.assertTrue(row["equal"])
            self.assertLess(row["error"], 1e-3)
            rounds = len(row["samples"]["hone"]["seconds"])
            self.assertEqual(
                rounds, row["rounds_taken"] if row["disturbed"] else 2)
            median, lower, upper = row["xla/hone"]
            self.assertTrue(0 < lower <= median <= upper)
            for side in ("hone", "xla"):
                self.assertGreater(row["ms"][side], 0)
                self.assertGreater(row["compile_seconds"][side], 0)
            self.assertTrue((objects / f"{row['module']}.so").exists())
            self.assertIn("hone_entry",
                          (objects / f"{row['module']}.h").read_text())
        table = result.stdout.splitlines()
        self.assertIn("xla/hone", table[0])
        self.assertRegex(table[2], r"^\| mlp\.train( !)? \| \d+ \| .* to \d")
        self.assertRegex(table[-2], r"^xla/hone: .* undisturbed of 2$")
        self.assertEqual(table[-1], "2 of 2 modules equal")

    def test_tuned_objects_are_timed_beside(self):
        objects = self.folder / "objects"
        path = self.write("rounding.hlo", ROUNDING)
        self.run_tool(path, "--objects", objects)
        result, (row,) = self.run_tool(path, "--tuned", objects)
        self.assertEqual(result.returncode, 0, result.stderr)
        for key in ("xla/hone", "xla/tuned"):
            median, lower, upper = row[key]
            self.assertTrue(0 < lower <= median <= upper)
        self.assertIn("xla/tuned", result.stdout.splitlines()[0])

    def test_what_crashes_is_a_row(self):
        path = self.write("rounding.hlo", ROUNDING)
        script = self.write("hone", """#!/bin/sh
for last; do :; done
echo 'int rounding(void* c, const void* const* a, void* const* r) {
  *(float*)a[0] = 1; return 0; }' | cc -shared -fPIC -xc - -o "$last"
""")
        script.chmod(0o755)
        result, (row,) = self.run_tool(path, hone=script)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            row["message"],
            r"^the process ended by SIGSEGV: Hone runs \(\d+ s\), after Hone "
            r"compiles \(\d+ s\), XLA compiles \(\d+ s\), ")

    def test_an_error_is_a_row(self):
        path = self.write("rounding.hlo", ROUNDING)
        script = self.write("hone", """#!/bin/sh
for last; do :; done
echo 'int rounding(void* c, const void* const* a, void* const* r) {
  return 4; }
const char* rounding_error_message(void) { return "out of luck"; }
' | cc -shared -fPIC -xc - -o "$last"
""")
        script.chmod(0o755)
        result, (row,) = self.run_tool(path, hone=script)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(row["message"], "error 4: out of luck")

    def test_a_row_without_xla_is_checked_by_the_evaluator(self):
        result, (row,) = self.run_tool(CORPUS / "mlp.train.hlo.zst",
                                       "--xla-limit", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(row["equal"])
        self.assertLess(row["error"], 1e-3)
        self.assertGreater(row["ms"]["hone"], 0)
        self.assertGreater(row["compile_seconds"]["hone"], 0)
        self.assertRegex(row["xla"], "^no result within 0 s: XLA compiles")
        self.assertIn("| XLA did not compile it: no result within 0 s |",
                      result.stdout)
        self.assertIn("1 of 1 modules equal, 1 of them beside the evaluator",
                      result.stdout)

    def test_a_limit_names_the_phase(self):
        path = self.write("rounding.hlo", ROUNDING)
        script = self.write("hone", "#!/bin/sh\nexec sleep 100\n")
        script.chmod(0o755)
        result, (row,) = self.run_tool(path, "--limit", "0.5", hone=script)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(row["message"],
                         r"^no result within 0\.5 s: Hone compiles \(")
        self.assertEqual(list(row["phase_seconds"]), ["Hone compiles"])

    def test_rounding_is_no_difference(self):
        result, (row,) = self.run_tool(
            self.write("rounding.hlo", ROUNDING), "--only", "round")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(row["rounding"], [0])

    def test_what_computes_something_else_is_not_timed(self):
        text = ROUNDING.replace("reduce(centered", "reduce(x")
        right = self.write("right.hlo", text)
        wrong = self.write("wrong.hlo", text.replace(
            "constant(0)", "constant(1)"))
        script = self.write("hone", IMPOSTOR.format(hone=HONE, other=wrong))
        script.chmod(0o755)
        result, (row,) = self.run_tool(right, hone=script)
        self.assertEqual(result.returncode, 1)
        self.assertFalse(row["equal"])
        self.assertNotIn("ms", row)
        self.assertIn("DIFFERENT at output 0", result.stdout)

    def test_what_does_not_compile_is_named(self):
        path = self.write("alien.hlo", """HloModule alien

ENTRY main {
  x = f32[4] parameter(0)
  ROOT strange = f32[4] custom-call(x), custom_call_target="unheard-of"
}
""")
        result, (row,) = self.run_tool(path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("strange", row["message"])
        self.assertIn("0 of 1 modules equal", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
