"""tools/compare_on_xla.py on small modules, and its parts.

Usage: compare_on_xla_test.py SOURCE_DIR Metrics|Statistics|Tables|Tool
           [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(sys.argv[1])
CORPUS = ROOT / "bench" / "data" / "corpus"
TOOL = ROOT / "tools" / "compare_on_xla.py"
sys.path += [str(ROOT / "tools"), str(ROOT / "bench" / "kernels")]

import numpy as np
import zstandard

import comparison_table
import interleaved
import paired_ratios
import paired_timing
import xla_metrics
from xla_runner import Runner

ORIGINAL = """HloModule tripled, \
entry_computation_layout={(f32[256,256]{1,0})->f32[256,256]{1,0}}

ENTRY main {
  x = f32[256,256] parameter(0)
  two = f32[] constant(2)
  twos = f32[256,256] broadcast(two), dimensions={}
  doubled = f32[256,256] multiply(x, twos)
  ROOT tripled = f32[256,256] add(doubled, x)
}
"""
# Equal, but for products of matrices that XLA must not drop: 0 * x is not 0 for
# every x.
WASTEFUL = """HloModule tripled, \
entry_computation_layout={(f32[256,256]{1,0})->f32[256,256]{1,0}}

ENTRY main {
  x = f32[256,256] parameter(0)
  three = f32[] constant(3)
  threes = f32[256,256] broadcast(three), dimensions={}
  tripled = f32[256,256] multiply(x, threes)
  square = f32[256,256] dot(x, x), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}
  cube = f32[256,256] dot(square, x), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}
  zero = f32[] constant(0)
  zeros = f32[256,256] broadcast(zero), dimensions={}
  nothing = f32[256,256] multiply(cube, zeros)
  ROOT sum = f32[256,256] add(tripled, nothing)
}
"""
WRONG = ORIGINAL.replace("constant(2)", "constant(2.5)")
# XLA has no such operation.
REFUSED = ORIGINAL.replace("add(doubled, x)", "frobnicate(doubled, x)")
# A call that XLA splits over threads, and regions that do not count.
CALLS = """HloModule calls, entry_computation_layout={(f32[8]{0})->f32[]}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

fused {
  p = f32[8] parameter(0)
  ROOT negated = f32[8] negate(p)
}

split {
  p.1 = f32[8] parameter(0)
  ROOT fusion = f32[8] fusion(p.1), kind=kLoop, calls=fused
}

ENTRY main {
  x = f32[8] parameter(0)
  called = f32[8] call(x), to_apply=split
  fusion.1 = f32[8] fusion(called), kind=kLoop, calls=fused
  zero = f32[] constant(0)
  ROOT total = f32[] reduce(fusion.1, zero), dimensions={0}, to_apply=add
}
"""


class Metrics(unittest.TestCase):
    def test_ops_of_the_corpus(self):
        entries = json.loads((CORPUS / "manifest.json").read_text())
        for entry in entries:
            compressed = (CORPUS / f"{entry['name']}.hlo.zst").read_bytes()
            text = zstandard.decompress(compressed).decode()
            self.assertEqual(xla_metrics.count_ops(text), entry["ops"],
                             entry["name"])

    def test_calls_and_fusions(self):
        # x, p.1 and p of the call, negated, p and negated of the fusion, zero,
        # total.
        self.assertEqual(xla_metrics.count_ops(CALLS), 8)
        self.assertEqual(xla_metrics.count_entry(CALLS), (5, 2))

    def test_before_layout_assignment(self):
        runner = Runner()
        for name in ("mlp.train", "resnet18_b8.fwd", "wavenet_18l.fwd"):
            entries = json.loads((CORPUS / "manifest.json").read_text())
            entry = next(e for e in entries if e["name"] == name)
            text = zstandard.decompress(
                (CORPUS / f"{name}.hlo.zst").read_bytes()).decode()
            before_layout = xla_metrics.text_before_layout(runner, text)
            self.assertEqual(xla_metrics.count_ops(before_layout),
                             entry["xla_ops"], name)
        # Compilations that follow are complete.
        self.assertEqual(len(runner.compile(ORIGINAL).hlo_modules()), 1)
        with self.assertRaisesRegex(Exception, "frobnicate"):
            xla_metrics.text_before_layout(runner, REFUSED)

    def test_more_work_is_seen(self):
        runner = Runner()
        _, less = xla_metrics.compile_and_describe(runner, ORIGINAL)
        _, more = xla_metrics.compile_and_describe(runner, WASTEFUL)
        for key in ("xla_ops", "final_ops", "entry_instructions", "flops",
                    "bytes_accessed", "peak_bytes", "temporary_bytes"):
            self.assertGreater(more[key], less[key], key)
        array = 256 * 256 * 4
        self.assertEqual(less["peak_bytes"], 2 * array)
        self.assertGreaterEqual(more["peak_bytes"], 3 * array)
        self.assertGreater(more["flops"], 4 * 256 ** 3)


class Statistics(unittest.TestCase):
    def test_orders_are_balanced(self):
        for count in range(2, 8):
            rows = paired_timing.orders(count)
            self.assertEqual(paired_timing.whole_rounds(1, count), len(rows))
            places, neighbors = {}, {}
            for row in rows:
                self.assertEqual(sorted(row), list(range(count)))
                for place, i in enumerate(row):
                    places[place, i] = places.get((place, i), 0) + 1
                for pair in zip(row, row[1:]):
                    neighbors[pair] = neighbors.get(pair, 0) + 1
            self.assertEqual(len(places), count ** 2)
            self.assertEqual(len(set(places.values())), 1)
            self.assertEqual(len(neighbors), count * (count - 1))
            self.assertEqual(len(set(neighbors.values())), 1)

    def test_every_function_is_sampled_equally_often(self):
        log = []
        functions = {name: lambda name=name: log.append(name)
                     for name in "abc"}
        with unittest.mock.patch.object(paired_timing, "SAMPLE_SECONDS", 0):
            samples, calls = paired_timing.measure(functions, 12)
        self.assertEqual(calls, 1)
        measured = log[3 * paired_timing.WARM_UP_CALLS:]
        for name in "abc":
            self.assertEqual(measured.count(name), 12)
            self.assertEqual(len(samples[name].seconds), 12)
            self.assertEqual(len(samples[name].cpu_seconds), 12)
            for place in range(3):
                self.assertEqual(measured[place::3].count(name), 4)
        with self.assertRaisesRegex(ValueError, "multiple of 6"):
            paired_timing.measure(functions, 7)

    def test_intervals_cover_a_known_ratio(self):
        """Noise that is skewed to long times, as on a busy machine."""
        rng = np.random.default_rng(0)

        def times(mean):
            noise = rng.normal(0, 0.05, 12) + rng.exponential(0.05, 12)
            return mean * np.exp(noise)

        covered = found = 0
        for _ in range(100):
            original, tuned, again = times(1.2), times(1.0), times(1.2)
            _, lower, upper = interleaved.ratio(original, tuned)
            covered += lower <= 1.2 <= upper
            aa = interleaved.ratio(original, again)
            another = interleaved.ratio(original, times(1.2))
            found += paired_ratios.verdict(another, aa) is not None
        self.assertGreaterEqual(covered, 0.9 * 100)
        self.assertLessEqual(found, 0.05 * 100)

    def test_geometric_mean_covers_a_known_one(self):
        rng = np.random.default_rng(0)
        covered = 0
        for seed in range(50):
            rows = [np.exp(np.log(1.1) + rng.normal(0, 0.05) +
                           rng.normal(0, 0.1, 12)) for _ in range(20)]
            value, lower, upper = paired_ratios.geometric_mean(rows, seed)
            self.assertTrue(lower <= value <= upper)
            self.assertLess(upper / lower, 1.15)
            covered += lower <= 1.1 <= upper
        self.assertGreaterEqual(covered, 45)

    def test_geometric_mean_of_exact_figures(self):
        value, lower, upper = paired_ratios.geometric_mean([[2.0], [0.5]])
        self.assertAlmostEqual(value, 1.0)
        self.assertAlmostEqual(lower, 0.5)
        self.assertAlmostEqual(upper, 2.0)

    def test_verdict_needs_both(self):
        quiet, noisy = (1.0, 0.99, 1.01), (1.0, 0.8, 1.2)
        for speedup, aa, expected in (
                ((0.9, 0.88, 0.92), quiet, "slower"),
                ((0.9, 0.88, 0.92), noisy, None),
                ((0.9, 0.70, 1.02), quiet, None),
                ((1.1, 1.05, 1.15), quiet, "faster"),
                ((1.1, 1.05, 1.15), noisy, None),
                ((1.1, 0.98, 1.15), quiet, None),
                # A/A itself is off: more than 1 is needed.
                ((0.9, 0.88, 0.92), (0.85, 0.8, 0.9), None),
                ((1.1, 1.05, 1.15), (1.08, 1.02, 1.2), None)):
            self.assertEqual(paired_ratios.verdict(speedup, aa), expected)


def make_row(module, seconds, peak=100.0):
    """A row whose form `new` takes `seconds`, and the original one second."""
    rng = np.random.default_rng(len(module))
    keys = [m.key for m in comparison_table.COUNTS + comparison_table.SIZES]
    original = dict.fromkeys(keys, 100.0)

    def samples(mean):
        times = list(mean * np.exp(rng.normal(0, 0.01, 12)))
        return {"seconds": times, "cpu_seconds": times}

    return {"module": module, "original": original,
            "tuned": {"new": {"equal": True, "max_rel_error": 0.0, "where": "",
                              "metrics": original | {"peak_bytes": peak}}},
            "timing": {"rounds": 12, "calls": 1, "samples": {
                "original": samples(1.0), "new": samples(seconds),
                "again": samples(1.0)}}}


class Tables(unittest.TestCase):
    def setUp(self):
        self.rows = [make_row("slow", 2.0), make_row("fast", 0.5, peak=102.5),
                     make_row("equal", 1.0, peak=101.5)]

    def test_slower_and_faster_rows(self):
        summary = comparison_table.summarize(self.rows, ["new"])["new"]
        self.assertEqual(summary["slower"], ["slow"])
        self.assertEqual(summary["faster"], ["fast"])
        self.assertEqual((summary["timed"], summary["equal"]), (3, 3))
        self.assertAlmostEqual(summary["speedup"][0], 1.0, delta=0.05)
        report = comparison_table.format_report(self.rows, ["new"])
        self.assertRegex(report, r"\| slow \| .* \| 0\.\d+ \([^)]*\) - \|")
        self.assertRegex(report, r"\| fast \| .* \| [12]\.\d+ \([^)]*\) \+ \|")
        self.assertRegex(report, r"\| equal \| .* \| \d\.\d+ \([^)]*\) \|")

    def test_peaks_are_marked(self):
        summary = comparison_table.summarize(self.rows, ["new"])["new"]
        self.assertEqual(summary["peak_above"], ["fast"])
        report = comparison_table.format_report(self.rows, ["new"])
        self.assertEqual(report.count(" ! |"), 1)

    def test_failed_rows_stand_in_the_table(self):
        rows = [*self.rows, {"module": "lost", "error": "no result"}]
        summary = comparison_table.summarize(rows, ["new"])["new"]
        self.assertEqual(summary["different"], ["lost"])
        self.assertIn("| lost | FAILED: no result |",
                      comparison_table.format_report(rows, ["new"]))

    def test_columns_are_equally_long(self):
        report = comparison_table.format_report(self.rows, ["new"])
        for table in report.split("\n\n")[:-1]:
            self.assertEqual(
                len({line.count("|") for line in table.splitlines()}), 1)
        self.assertTrue(comparison_table.format_table(["a"], [["b|c"]])
                        .endswith("\n| b\\|c |"))


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "out.json"

    def write(self, name, module, text):
        """A rewritten form in the folder `name`; a module is in the corpus
        as ORIGINAL."""
        corpus = self.folder / "corpus"
        for folder in (corpus, self.folder / name):
            folder.mkdir(exist_ok=True)
        (corpus / f"{module}.hlo.zst").write_bytes(
            zstandard.compress(ORIGINAL.encode()))
        (self.folder / name / f"{module}.hlo").write_text(text)

    def run_tool(self, *arguments):
        result = subprocess.run(
            [sys.executable, TOOL, "--corpus", self.folder / "corpus",
             "--json", self.json, *arguments],
            capture_output=True, text=True)
        rows = (json.loads(self.json.read_text())["rows"]
                if self.json.exists() else [])
        return result, rows

    def test_forms_beside_each_other(self):
        for module in ("one", "two"):
            self.write("same", module, ORIGINAL)
            self.write("wasteful", module, WASTEFUL)
        forms = [f"--tuned={name}={self.folder / name}"
                 for name in ("same", "wasteful")]
        result, rows = self.run_tool(*forms, "--time", "3")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual([row["module"] for row in rows], ["one", "two"])
        for row in rows:
            self.assertEqual(row["tuned"]["same"]["metrics"]["xla_ops"],
                             row["original"]["xla_ops"])
            self.assertEqual(row["timing"]["rounds"], 4)
            self.assertEqual(
                {name: len(samples["seconds"]) for name, samples
                 in row["timing"]["samples"].items()},
                dict.fromkeys(("original", "same", "wasteful", "again"), 4))
        summary = json.loads(self.json.read_text())["summary"]
        self.assertEqual(summary["same"]["ratios"]["xla_ops"], [1, 1, 1])
        self.assertGreater(summary["wasteful"]["ratios"]["xla_ops"][0], 1.2)
        self.assertEqual(summary["wasteful"]["peak_above"], ["one", "two"])
        self.assertIn("| XLA's ops: original | same | wasteful |",
                      result.stdout)
        self.assertIn("| original, ms | same | wasteful | A/A |",
                      result.stdout)
        # The same again takes the rows from the file.
        result, kept = self.run_tool(*forms, "--time", "4", "--resume",
                                     "--fail-on-peak")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(kept, rows)
        # Another module is measured, and only that.
        self.write("same", "two", WASTEFUL)
        _, changed = self.run_tool(
            *forms, "--time", "4", "--resume", "--only", "two")
        self.assertEqual(changed[0], rows[0])
        self.assertNotEqual(changed[1]["tuned"]["same"]["metrics"],
                            rows[1]["tuned"]["same"]["metrics"])

    def test_a_wrong_form_fails(self):
        self.write("tuned", "right", ORIGINAL)
        self.write("tuned", "wrong", WRONG)
        result, rows = self.run_tool(
            "--tuned", self.folder / "tuned", "--time", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 equal, 1 (wrong) different", result.stdout)
        self.assertIn("DIFFERENT: output 0", result.stdout)
        self.assertIn("timing", rows[0])
        self.assertNotIn("timing", rows[1])

    def test_a_refused_form_fails(self):
        self.write("tuned", "refused", REFUSED)
        result, _ = self.run_tool("--tuned", self.folder / "tuned")
        self.assertEqual(result.returncode, 1)
        self.assertIn("frobnicate", result.stdout)
        self.assertIn("0 equal, 1 (refused) different", result.stdout)

    def test_a_row_without_result_is_repeated(self):
        self.write("tuned", "late", ORIGINAL)
        tuned = ("--tuned", self.folder / "tuned")
        result, rows = self.run_tool(*tuned, "--limit", "0.01")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(rows[0]["error"], "no result within 0.01 s")
        result, rows = self.run_tool(*tuned, "--resume")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertTrue(rows[0]["tuned"]["tuned"]["equal"])

    def test_usage(self):
        self.write("one", "common", ORIGINAL)
        self.write("two", "common", ORIGINAL)
        self.write("two", "only", ORIGINAL)
        one, two = (self.folder / name for name in ("one", "two"))
        for arguments, expected in (
                ([f"--tuned=a={one}", f"--tuned=b={two}"], "has no only.hlo"),
                ([f"--tuned={one}", f"--tuned={two}"], "name of its own"),
                ([f"--tuned=original={one}"], "not original or again"),
                ([], "--tuned")):
            result, _ = self.run_tool(*arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(expected, result.stderr)
        result, _ = self.run_tool(f"--tuned={one}", "--only", "no such")
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
