"""bench/cost_model: metrics of predictions, and reading tables of features.

Usage: rank_metrics_test.py SOURCE_DIR [unittest arguments]
"""

import itertools
import math
import pathlib
import sys
import tempfile
import unittest

import numpy as np

SOURCE = pathlib.Path(sys.argv.pop(1)) / "bench" / "cost_model"
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
        result = train_xgboost.evaluate(table, range(3),
                                        lambda rows: table.log_times[rows],
                                        False)
        self.assertEqual(sorted(result), ["all", "f", "g"])
        self.assertEqual(result["f"]["ape"], 0)

    def test_the_fastest_is_the_most_relevant(self):
        labels = train_xgboost.relevance(np.log([200.0, 100.0, 101.0, 1e4]))
        self.assertEqual(labels[1], 31)
        self.assertGreater(labels[2], labels[0])
        self.assertEqual(labels[3], 0)


if __name__ == "__main__":
    unittest.main()
