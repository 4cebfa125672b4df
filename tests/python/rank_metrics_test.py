"""bench/cost_model: metrics of predictions, reading tables of features, and
the table beside that of `hone bench cost-model`.

Usage: rank_metrics_test.py SOURCE_DIR HONE [unittest arguments]
"""

import io
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SOURCE = pathlib.Path(sys.argv.pop(1)) / "bench" / "cost_model"
HONE = sys.argv.pop(1)
sys.path.insert(0, str(SOURCE))

import rank_metrics
import train_xgboost


class Metrics(unittest.TestCase):
    def test_tau_counts_pairs(self):
        self.assertEqual(rank_metrics.kendall_tau([1, 2, 3], [5, 6, 7]), 1)
        self.assertEqual(rank_metrics.kendall_tau([1, 2, 3], [7, 6, 5]), -1)
        # 5 pairs right, one wrong.
        self.assertAlmostEqual(
            rank_metrics.kendall_tau([1, 2, 3, 4], [1, 3, 2, 4]), 4 / 6)
        self.assertTrue(math.isnan(rank_metrics.kendall_tau([1, 2], [3, 3])))

    def test_tau_is_that_of_scipy(self):
        from scipy.stats import kendalltau
        rng = np.random.default_rng(1)
        for _ in range(20):
            a, b = rng.integers(0, 6, (2, 12))
            self.assertAlmostEqual(rank_metrics.kendall_tau(a, b),
                                   kendalltau(a, b).statistic)

    def test_slowdown_is_that_of_the_best_of_k(self):
        times = [30.0, 10.0, 20.0]
        for order in itertools.permutations(range(3)):
            best = [times[i] for i in np.argsort(order)]
            for k in (1, 2, 3, 5):
                self.assertAlmostEqual(
                    rank_metrics.top_k_slowdown(times, order, k),
                    min(best[:k]) / 10 - 1)

    def test_summary_weighs_by_time(self):
        kernels = [(np.array([10.0, 20.0]), np.array([2.0, 1.0])),
                   (np.array([100.0, 300.0]), np.array([1.0, 2.0]))]
        summary = rank_metrics.summarize(kernels, absolute=True)
        self.assertEqual((summary["kernels"], summary["schedules"]), (2, 4))
        self.assertAlmostEqual(summary["ape"], 100 * (120 / 110 - 1))
        self.assertAlmostEqual(summary["top1"], 50)
        self.assertEqual(summary["top5"], 0)
        self.assertEqual(summary["tau"], 0)
        self.assertAlmostEqual(summary["mape"],
                               np.mean([80, 95, 99, 100 * 298 / 300]))
        self.assertNotIn("mape", rank_metrics.summarize(kernels, False))

    def test_a_single_schedule_is_no_choice(self):
        pair = (np.array([10.0, 20.0]), np.array([2.0, 1.0]))
        lonely = (np.array([50.0]), np.array([100.0]))
        alone = rank_metrics.summarize([pair], True)
        both = rank_metrics.summarize([pair, lonely], True)
        self.assertEqual((both["kernels"], both["schedules"]), (2, 3))
        for name in ("ape", "top1", "top5", "tau"):
            self.assertEqual(both[name], alone[name])
        self.assertAlmostEqual(both["mape"], np.mean([80, 95, 100]))
        self.assertTrue(math.isnan(
            rank_metrics.summarize([lonely], True)["ape"]))
        self.assertTrue(math.isnan(rank_metrics.summarize([], True)["mape"]))


class Tables(unittest.TestCase):
    def test_schedules_of_a_kernel_belong_together(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "features.csv"
            path.write_text(
                "part,family,kernel,log_time,roofline_ns,a,b\n"
                "training,f,k,1,10,0.5,0\ntest,g,m,2,20,0,1\n"
                "training,f,k,3,30,0.25,0\n")
            table = train_xgboost.Table(path)
        self.assertEqual(table.names, ["a", "b"])
        self.assertEqual(table.of_part("test").tolist(), [1])
        self.assertEqual([k.tolist() for k in table.by_kernel(range(3))],
                         [[0, 2], [1]])
        self.assertEqual(table.features.tolist(),
                         [[0.5, 0], [0, 1], [0.25, 0]])
        result = train_xgboost.evaluate(table, range(3), table.log_times, False)
        self.assertEqual(list(result),
                         ["f", "g", "mean", "median", "all kernels"])
        self.assertEqual(result["f"]["ape"], 0)
        # A family in which nothing can be chosen has no part in the mean.
        self.assertEqual(result["mean"]["ape"], 0)
        self.assertNotIn("mape", result["mean"])

    def test_the_fastest_is_the_most_relevant(self):
        labels = train_xgboost.relevance(np.log([200.0, 100.0, 101.0, 1e4]))
        self.assertEqual(labels[1], 31)
        self.assertGreater(labels[2], labels[0])
        self.assertEqual(labels[3], 0)

    def test_a_model_of_several_seeds_has_the_mean_of_their_metrics(self):
        seeds = [{"f": {"ape": 1, "tau": math.nan}, "mean": {"ape": 1}},
                 {"f": {"ape": 4, "tau": 0.5}, "mean": {"ape": 3}}]
        self.assertEqual(train_xgboost.mean_of(seeds),
                         {"f": {"ape": 2.5, "tau": 0.5}, "mean": {"ape": 2}})


# Schedules of an elementwise kernel of a multiple of 64 elements.
SCRIPTS = ["", *[f"split 0 {lanes}\nvectorize 0.0\n" for lanes in (4, 8, 16, 32)],
           "split 0 64\nsplit 0.0 16\nunroll 0.0\nvectorize 0.0.0\n",
           "split 0 32\n", "split 0 8\nunroll 0.0\n"]
# Those of each kernel; one alone is no choice.
KERNELS = {"exponential": [(512, 8), (4096, 7), (65536, 1)],
           "tanh": [(128, 8), (1024, 6)], "negate": [(256, 8), (8192, 8)]}
DEVICE = {"kind": "cpu", "model": "made up", "isa": "", "fingerprint": "cpu:0",
          "machine": {"l1_bytes": 32768, "l2_bytes": 1 << 20,
                      "l3_bytes": 1 << 25, "cache_line_bytes": 64,
                      "vector_bytes": 64, "vector_registers": 32,
                      "has_bf16_dot": False, "has_integer_dot": False}}
CALIBRATION = {"threads": 1, "peak_gflops": 100, "f64_gflops": 50,
               "bf16_dot_gflops": 0, "s16_dot_gflops": 0, "s8_dot_gflops": 0,
               "levels": [{"bytes": size, "read_gbps": 50, "copy_gbps": 50}
                          for size in (16384, 524288, 16777216, 268435456)]}


def kernel_line(rng, operation, size, schedules):
    """A line of a data file: SCRIPTS with times that are made up."""
    module = (f"HloModule m\n\nENTRY main {{\n  x = f32[{size}] parameter(0)\n"
              f"  ROOT y = f32[{size}] {operation}(x)\n}}\n")
    samples = []
    for script in SCRIPTS[:schedules]:
        ratio = float(rng.uniform(0.5, 2)) if script else 1.0
        samples.append({"script": script, "ratio": ratio,
                        "ratio_low": ratio * 0.99, "ratio_high": ratio * 1.01,
                        "ns": 1000 * ratio, "least_ns": 990 * ratio})
    return json.dumps({
        "family": operation, "name": f"{operation}_{size}", "kernel": module,
        "device": DEVICE, "calibration": CALIBRATION, "threads": 1,
        "default_ns": size, "samples": samples})


class Bench(unittest.TestCase):
    """The metrics of the roofline ranker are those of kernel_evaluation.h."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "kernels.jsonl"
        rng = np.random.default_rng(3)
        self.data.write_text("".join(
            kernel_line(rng, operation, *kernel) + "\n"
            for operation, kernels in KERNELS.items() for kernel in kernels))
        self.split = self.folder / "split.json"
        self.split.write_text('{"s": {"test": ["exponential", "tanh"]}}')

    def hone(self, *arguments):
        return subprocess.run([HONE, *map(str, arguments)], check=True,
                              capture_output=True, text=True).stdout

    def test_both_tables_count_alike(self):
        weights = self.folder / "weights.pt"
        self.hone("train", "cost-model", "kernel", "--data", self.data,
                  "--split", f"{self.split}:s", "-o", weights, "--epochs", 1,
                  "--architecture", "width=16,hidden=16,layers=0")
        features = self.folder / "features.csv"
        self.hone("dataset", "kernel-features", self.data, "-o", features,
                  "--split", f"{self.split}:s")
        bench = ["bench", "cost-model", "--kernels", self.data, "--split",
                 f"{self.split}:s", "--weights", weights]
        expected = json.loads(self.hone(*bench, "--json"))
        table = train_xgboost.Table(features)
        result = train_xgboost.evaluate(table, table.of_part("test"),
                                        table.roofline, True)
        rows = {family["family"]: family for family in expected["families"]}
        rows.update(expected["summary"])
        self.assertEqual(list(result), list(rows))
        for name, row in rows.items():
            for measure, title in train_xgboost.MEASURES.items():
                # A table of features has six digits of each number.
                self.assertAlmostEqual(result[name][measure],
                                       row["roofline"][title], delta=0.01,
                                       msg=f"{name} {measure}")
            if "kernels" in row:
                self.assertEqual(
                    (result[name]["kernels"], result[name]["schedules"]),
                    (row["kernels"], row["schedules"]))
        # They can tell definitions apart.
        self.assertGreater(result["exponential"]["ape"], 0)
        self.assertNotAlmostEqual(result["mean"]["ape"],
                                  result["all kernels"]["ape"], 1)
        self.assertNotAlmostEqual(result["mean"]["mape"],
                                  result["all kernels"]["mape"], 1)
        self.check_rows(self.hone(*bench), result)

    def check_rows(self, expected, result):
        """Compares the first cells of rows, and those of the roofline ranker."""
        out = io.StringIO()
        train_xgboost.print_table(
            {"models": {"roofline": result}, "sweep": {}, "seeds": {}}, out)

        def rows_of(text):
            return [line.split(" | ") for line in text.splitlines()
                    if line.startswith("| ")][1:]

        ours = rows_of(out.getvalue())
        theirs = rows_of(expected)
        self.assertEqual([row[0] for row in ours], [row[0] for row in theirs])
        for our, their in zip(ours, theirs):
            self.assertEqual([cell.strip() for cell in our[1:3]],
                             [cell.strip() for cell in their[1:3]])
            for cell, roofline in zip(our[3:], their[4::3]):
                self.assertAlmostEqual(float(cell.strip(" |")),
                                       float(roofline.strip(" |")), delta=0.02)


if __name__ == "__main__":
    unittest.main()
