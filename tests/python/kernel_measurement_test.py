"""How bench/kernels measures: rooflines, the discarding of disturbed rounds,
intervals, and the table of them, on synthetic figures.

Usage: kernel_measurement_test.py SOURCE_DIR Calibrating|Rounds|Table
           [unittest arguments]
"""

import ctypes
import math
import os
import pathlib
import sys
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "bench" / "kernels"))

import numpy as np

import calibration
import disturbance
import interleaved
import kernel_rows
import peers
import suite


class SyntheticCalibration(calibration.Calibration):
    """`rates`: by loop, of one thread; a list gives one after the other."""

    def __init__(self, threads, rates, scaling=None):
        self.rates = {loop: list(np.atleast_1d(rate))
                      for loop, rate in rates.items()}
        self.scaling = scaling or threads
        core = min(os.sched_getaffinity(0))
        super().__init__(threads, [core + i for i in range(threads)])

    def _rate(self, threads, units, loop, read, written):
        rates = self.rates[loop]
        rate = rates.pop(0) if len(rates) > 1 else rates[0]
        return rate * (1 if threads == 1 else self.scaling)


RATES = {"multiply_add": 100e9, "exponential": 1e9, "read_memory": 20e9,
         "write_memory": 8e9, "write_by_library": 10e9, "copy_memory": 9e9,
         "copy_by_library": 10e9, "mixed_memory": 5e9}


class Calibrating(unittest.TestCase):
    def kernel(self, name):
        return next(k for k in suite.KERNELS if k.name == name)

    def test_threads_have_the_rate_of_one_to_all_of_them(self):
        for many in (97, 100, 150, 200, 220):
            self.assertIsNone(calibration.check_scaling(100, many, 2), many)
        self.assertIn("0.80 times", calibration.check_scaling(100, 80, 2))
        self.assertIn("more than 2", calibration.check_scaling(100, 230, 2))

    def test_a_rate_that_fails_its_check_is_measured_again(self):
        low = iter([50, 180])
        self.assertEqual(calibration.checked_rate(
            lambda threads: 100 if threads == 1 else next(low), 2),
            (180, None))
        # What was too low was the rate of one thread.
        one = iter([60, 100])
        self.assertEqual(calibration.checked_rate(
            lambda threads: next(one) if threads == 1 else 190, 2),
            (190, None))
        rate, problem = calibration.checked_rate(
            lambda threads: 100 if threads == 1 else 60, 2)
        self.assertIsNone(rate)
        self.assertIn("0.60 times", problem)
        # One thread has nothing to be compared with.
        self.assertEqual(calibration.checked_rate(lambda threads: 7, 1),
                         (7, None))
        self.assertEqual(calibration.checked_rate(lambda threads: 7, 1, 9),
                         (9, None))

    def test_samples_end_when_they_get_no_better(self):
        values = [1, 2, 3, *[2.5] * 100]
        given = iter(values)
        self.assertEqual(calibration.best_of_samples(lambda: next(given)), 3)
        self.assertEqual(len(list(given)),
                         len(values) - 3 - calibration.SAMPLES)
        grows = iter(range(1, 1000))
        self.assertEqual(calibration.best_of_samples(lambda: next(grows)),
                         calibration.MOST_SAMPLES)

    def test_roofline_is_the_largest_bound(self):
        rates = SyntheticCalibration(1, RATES)
        # 1001 x 777 are read and 1001 written: the latter and as much of what
        # is read by copying.
        row_sum = self.kernel("row_sum_1001x777")
        seconds, bound = rates.roofline(row_sum)
        self.assertEqual(bound, "memory")
        self.assertAlmostEqual(
            seconds, 8 * 1001 / 10e9 + 4 * (1001 * 777 - 1001) / 20e9)
        seconds, bound = rates.roofline(self.kernel("matmul_256x256x256"))
        self.assertEqual((seconds, bound), (2 * 256**3 / 100e9, "flops"))
        # Where the loop of just these bytes is the fastest, it counts.
        mixed = SyntheticCalibration(1, RATES | {"mixed_memory": 40e9})
        self.assertAlmostEqual(mixed.roofline(row_sum)[0],
                               4 * (1001 * 777 + 1001) / 40e9)

    def test_two_threads_have_the_rates_of_both(self):
        kernel = self.kernel("row_sum_1001x777")
        one = SyntheticCalibration(1, RATES).roofline(kernel)[0]
        two = SyntheticCalibration(2, RATES).roofline(kernel)[0]
        self.assertAlmostEqual(one / two, 2)

    def test_no_roofline_from_rates_that_cannot_be(self):
        kernel = self.kernel("row_sum_1001x777")
        for scaling in (0.7, 2.5):
            rates = SyntheticCalibration(2, RATES, scaling)
            self.assertIsNone(rates.roofline(kernel))
            self.assertIsNone(rates.witness())
            self.assertIn("multiply_add 0 0: 2 threads",
                          "\n".join(rates.report()["problems"]))

    def test_a_kernel_above_its_roofline_has_it_measured_again(self):
        kernel = self.kernel("matmul_256x256x256")
        rates = SyntheticCalibration(
            1, RATES | {"multiply_add": [50e9, 60e9, 100e9, 10e9]})
        took = 2 * 256**3 / 90e9
        self.assertEqual(rates.roofline(kernel)[0], 2 * 256**3 / 50e9)
        self.assertEqual(rates.roofline(kernel, took)[0], 2 * 256**3 / 100e9)
        # The best counts from then on.
        self.assertEqual(rates.peak_flops, 100e9)
        # Not for ever: something may be wrong with the kernel.
        self.assertEqual(rates.roofline(kernel, took / 2)[0],
                         2 * 256**3 / 100e9)

    def run_loop(self, name, source, target, repeats=1, cores=None):
        library = calibration._build()
        cores = cores or [min(os.sched_getaffinity(0))]
        count = len(cores)
        pinned = ctypes.c_int32()
        seconds = library.time_loop(
            getattr(library, name), ctypes.c_int32(count),
            (ctypes.c_int32 * count)(*cores),
            (ctypes.c_void_p * count)(*[source.ctypes.data] * count),
            (ctypes.c_void_p * count)(*[target.ctypes.data] * count),
            ctypes.c_int64(source.nbytes), ctypes.c_int64(target.nbytes),
            ctypes.c_int64(repeats), ctypes.c_int32(3), ctypes.byref(pinned))
        return seconds, pinned.value

    def test_loops_do_what_they_are_timed_for(self):
        source = peers.aligned_empty((4096 * 3,), 0)
        source[:] = np.linspace(-5, 5, source.size)
        target = peers.aligned_empty(source.shape, 1)
        for name in ("copy_memory", "copy_by_library"):
            target[:] = np.nan
            self.run_loop(name, source, target)
            np.testing.assert_array_equal(target, source)
        self.run_loop("exponential", source, target)
        np.testing.assert_allclose(target, np.exp(source), rtol=1e-4)
        for written in (16, 4096, 4096 * 3):
            part = target[:written]
            for name in ("write_memory", "write_by_library", "mixed_memory"):
                target[:] = np.nan
                self.run_loop(name, source, part)
                self.assertFalse(np.isnan(part).any(), name)
                self.assertTrue(np.isnan(target[written:]).all(), name)

    def test_threads_start_together_even_on_one_core(self):
        core = min(os.sched_getaffinity(0))
        source = peers.aligned_empty((16,), 0)
        seconds, pinned = self.run_loop("multiply_add", source, source, 1000,
                                        [core] * 3)
        self.assertGreater(seconds, 0)
        self.assertEqual(pinned, 3)
        # A core that is not there: the threads run, and it is said.
        seconds, pinned = self.run_loop("multiply_add", source, source, 1000,
                                        [core, 1023])
        self.assertGreater(seconds, 0)
        self.assertEqual(pinned, 1)
        self.assertLess(self.run_loop("multiply_add", source, source, 1,
                                      [core] * 1000)[0], 0)


class Rounds(unittest.TestCase):
    def round(self, value):
        return {name: interleaved.Sample(value * times, value, 0)
                for name, times in (("a", 1), ("b", 2))}

    def test_disturbed_rounds_are_not_taken_again_for_long(self):
        for most_seconds, taken in ((0, 2), (1e9, 6)):
            measured = interleaved.measure(
                {"a": lambda: None, "b": lambda: None}, 2, 1, 1,
                judge=lambda *_: "preempted", most_seconds=most_seconds)
            self.assertEqual(measured.rounds_taken, taken)
            self.assertTrue(measured.disturbed)

    def test_a_disturbed_round_is_discarded_for_all_alike(self):
        rounds = interleaved.Rounds(2)
        for value, reason in ((1, None), (50, "preempted"), (3, None)):
            self.assertFalse(rounds.done)
            rounds.add(self.round(value), reason)
        self.assertTrue(rounds.done)
        result = rounds.result()
        self.assertFalse(result.disturbed)
        self.assertEqual(result.samples["a"].seconds, [1, 3])
        self.assertEqual(result.samples["b"].seconds, [2, 6])
        self.assertEqual((result.rounds_taken, result.rounds_disturbed),
                         (3, {"preempted": 1}))

    def test_rounds_are_bounded_and_then_all_stand(self):
        rounds = interleaved.Rounds(2)
        reasons = ["others", "slow", None, "others", "others", "others"]
        self.assertEqual(len(reasons), 2 * interleaved.MOST_ROUNDS)
        for value, reason in enumerate(reasons):
            self.assertFalse(rounds.done)
            rounds.add(self.round(value), reason)
        self.assertTrue(rounds.done)
        result = rounds.result()
        self.assertTrue(result.disturbed)
        self.assertEqual(result.samples["a"].seconds, list(range(6)))
        self.assertEqual(result.rounds_disturbed, {"others": 4, "slow": 1})

    def measure(self, verdicts, threads=1, witness=None):
        verdicts = iter(verdicts)
        seen = []

        def judge(evidence, threads):
            seen.append((evidence, threads))
            return next(verdicts)

        calls = {"a": lambda: None, "b": lambda: sum(range(10))}
        return interleaved.measure(calls, 4, threads, 1, witness, judge), seen

    def test_every_function_is_in_every_round(self):
        result, seen = self.measure([None] * 4, witness=lambda: 0.99)
        self.assertEqual(list(result.samples), ["a", "b"])
        for s in result.samples.values():
            self.assertEqual((len(s.seconds), len(s.preemptions)), (4, 4))
        self.assertEqual(result.evidence, [evidence for evidence, _ in seen])
        for evidence, threads in seen:
            self.assertEqual((evidence.witness, threads), (0.99, 1))
            self.assertTrue(0 <= evidence.others <= 1)
            self.assertTrue(0 <= evidence.most_lost <= 1)

    def test_disturbed_rounds_are_taken_again(self):
        result, _ = self.measure(["slow", None, "slow", None, None, None])
        self.assertEqual((result.rounds_taken, result.disturbed), (6, False))
        self.assertEqual(len(result.samples["b"].seconds), 4)
        result, _ = self.measure(["preempted"] * 12)
        self.assertEqual((result.rounds_taken, result.disturbed), (12, True))
        self.assertEqual(len(result.samples["b"].seconds), 12)

    def test_what_disturbs(self):
        def judge(lost, others, witness, threads):
            return disturbance.judge(
                disturbance.Evidence(lost, others, witness), threads)

        self.assertIsNone(judge(0.01, 0.0, 0.99, 1))
        self.assertEqual(judge(0.03, 0.0, 0.99, 1), "preempted")
        self.assertEqual(judge(0, 0.0, 0.8, 1), "slow")
        # Threads of one function wait for each other, so time off the cores
        # says nothing; that of others does.
        self.assertIsNone(judge(0.5, 0.04, 0.99, 2))
        self.assertEqual(judge(0.5, 0.06, 0.99, 2), "others")
        self.assertEqual(judge(0.5, 0.0, 0.5, 2), "slow")
        self.assertIsNone(judge(0, 0, None, 1))

    def test_what_others_had_of_the_cores(self):
        tick = disturbance.TICK_SECONDS
        before = disturbance.Reading(10, 5, 100)

        def share(process, idle):
            return disturbance.share_of_others(
                before, disturbance.Reading(11, 5 + process, 100 + idle), 2)

        self.assertEqual(share(2, 0), 0)  # this process had both
        self.assertEqual(share(0.5, 1.5), 0)  # slept most of the time
        self.assertAlmostEqual(share(1, 0), (1 - 2 * tick) / 2)
        # As much as ticks leave open is nobody's; nor is less than nothing.
        self.assertEqual(share(1, 1 - 2 * tick), 0)
        self.assertEqual(share(2, 2 * tick), 0)
        self.assertEqual(disturbance.lost_share(1, 0.75), 0.25)
        self.assertEqual(disturbance.lost_share(1, 1.01), 0)

    def test_idle_time_is_that_of_the_cores(self):
        stat = ("cpu  9 9 9 900 90 9 9 9 0 0\n"
                "cpu0 1 2 3 400 10 5 6 7 0 0\n"
                "cpu1 1 2 3 200 20 5 6 7 0 0\n"
                "cpu10 1 2 3 800 80 5 6 7 0 0\nintr 5\n")
        self.assertAlmostEqual(disturbance.idle_seconds(stat, {0, 1}),
                               630 * disturbance.TICK_SECONDS)
        self.assertEqual(disturbance.idle_seconds("", {0}), 0)

    def test_ratio_is_paired(self):
        # The machine became ten times slower in between.
        fast, slow = [1, 1, 1, 10, 10, 10], [2, 2, 2, 20, 20, 20]
        self.assertEqual(interleaved.ratio(slow, fast), (2, 2, 2))
        self.assertEqual(interleaved.ratio([4, 1, 3, 2, 7, 5, 6], [1] * 7),
                         (4, 1, 7))
        self.assertEqual(interleaved.ratio(range(1, 23), [1] * 22),
                         (11.5, 6, 17))
        # Too few for an interval: their range.
        self.assertEqual(interleaved.ratio([1, 4], [1, 2]), (1.5, 1, 2))

    def test_interval_covers_the_median(self):
        rng = np.random.default_rng(1)
        draws = 2000
        # Skewed and with outliers, as times are; the medians are known.
        noises = {"lognormal": lambda n: np.exp(rng.normal(0, 0.3, n)),
                  "preempted": lambda n: np.exp(rng.normal(0, 0.02, n)) *
                  np.where(rng.random(n) < 0.2,
                           np.where(rng.random(n) < 0.5, 9, 1 / 9), 1)}
        for name, noise in noises.items():
            for count in (interleaved.LEAST_ROUNDS, 10, 22):
                covered = 0
                for _ in range(draws):
                    _, lower, upper = interleaved.ratio(noise(count),
                                                        [1] * count)
                    covered += lower <= 1 <= upper
                # Four standard deviations of the draws.
                least = interleaved.CONFIDENCE - 4 * math.sqrt(
                    interleaved.CONFIDENCE * 0.05 / draws)
                self.assertGreaterEqual(covered / draws, least, (name, count))

    def test_significant_is_beyond_what_the_same_code_shows(self):
        same = (1.0, 0.97, 1.04)
        for ratio, verdict in (((1.2, 1.05, 1.3), 1), ((1.1, 1.03, 1.2), 0),
                               ((1.0, 0.9, 1.1), 0), ((0.9, 0.8, 0.96), -1),
                               ((0.95, 0.9, 0.98), 0)):
            self.assertEqual(interleaved.compare(ratio, same), verdict, ratio)
        # An interval of the same code that is off 1 itself takes nothing away.
        self.assertEqual(
            interleaved.compare((1.05, 1.02, 1.1), (0.9, 0.8, 0.95)), 1)
        self.assertEqual(
            interleaved.compare((1.05, 0.98, 1.1), (0.9, 0.8, 0.95)), 0)

    def test_the_same_code_is_seldom_significant(self):
        rng = np.random.default_rng(2)

        def ratio():
            return interleaved.ratio(np.exp(rng.normal(0, 0.05, 22)),
                                     np.exp(rng.normal(0, 0.05, 22)))

        found = sum(interleaved.compare(ratio(), ratio()) != 0
                    for _ in range(1000))
        self.assertLess(found, 10)


def table_row(name, disturbed=False, kept=False, roofline=50.0, **ratios):
    """A row with a time of 100 us each; ratios by name, with _ for /."""
    families = [*kernel_rows.TIMES, "hone again"]
    row = {"kernel": name, "disturbed": disturbed, "default_kept": kept,
           "us": {family: 100.0 for family in families},
           "roofline_us": roofline, "bound": roofline and "memory",
           kernel_rows.SAME: (1.0, 0.98, 1.02), "best": {"hone": "torch"}}
    return row | {key.replace("_", "/"): value for key, value in ratios.items()}


class Table(unittest.TestCase):
    def setUp(self):
        self.calibration = SyntheticCalibration(1, RATES)

    def summary(self, rows, name):
        headings, *lines = kernel_rows.summarize(rows)
        line, = [line for line in lines if line[0] == name]
        return dict(zip(headings, line))

    def test_disturbed_rows_are_in_no_mean(self):
        rows = [table_row("a", torch_hone=(2.0, 1.9, 2.1)),
                table_row("b", torch_hone=(0.5, 0.4, 0.6)),
                table_row("c", True, torch_hone=(100.0, 90.0, 110.0))]
        line = self.summary(rows, "torch/hone")
        self.assertEqual(line["rows"], "2 of 3")
        self.assertEqual(line["geometric mean"], "1.000")
        self.assertEqual(line["least"], "0.500 (b)")
        self.assertEqual(line["most"], "2.000")
        self.assertEqual((line["significantly above 1"],
                          line["significantly below 1"]), ("1", "1"))
        self.assertEqual(self.summary(rows, kernel_rows.SAME)["rows"], "2 of 3")
        self.assertTrue(kernel_rows.format_row(rows[2])[0].endswith(" !"))
        self.assertEqual(kernel_rows.findings(rows, self.calibration)[0],
                         "2 of 3 rows undisturbed; the others are in no mean.")

    def test_disturbed_rows_of_two_threads_have_no_figures(self):
        row = table_row("a", True, torch_hone=(2.0, 1.9, 2.1)) | {"threads": 2}
        cells = kernel_rows.format_row(row)
        self.assertEqual(cells[:2], ["a !", "not measured"])
        self.assertEqual(set(cells[2:]), {"-"})
        self.assertEqual(len(cells), len(kernel_rows.HEADINGS))
        row["disturbed"] = False
        self.assertIn("2.00 (1.90 to 2.10) +", kernel_rows.format_row(row))

    def test_the_best_peer_is_that_of_like_allocation(self):
        def samples(**times):
            return {name.replace("_", "+").replace("0", "="):
                    interleaved.Samples([t, t, t]) for name, t in times.items()}

        taken = samples(torch=4.0, compiled=3.0, xla=5.0, torch0=2.0,
                        numpy0=2.5, hone=1.0, hone_=2.0)
        row = table_row("a")
        row["us"] |= {name: s.seconds[0] for name, s in taken.items()}
        kernel_rows.add_best(row, taken)
        # compiled / hone+ is 1.5; torch= / hone is 2.
        self.assertEqual(row["best"], {"hone": "compiled"})
        self.assertEqual(row["best/hone"], (1.5, 1.5, 1.5))
        self.assertIn("compiled 1.50 (1.50 to 1.50) +",
                      kernel_rows.format_row(row))
        self.assertEqual(self.summary([row], "best/hone")["geometric mean"],
                         "1.500")
        kernel_rows.copy_default(row)
        self.assertEqual(row["best/tuned"], row["best/hone"])

    def test_means_stand_without_outliers_too(self):
        rows = [table_row("a", xla_hone=(2.0, 1.9, 2.1)),
                table_row("depthwise3x3_b", xla_hone=(50.0, 49.0, 51.0))]
        self.assertEqual(self.summary(rows, "xla/hone")["geometric mean"],
                         "10.000")
        line = self.summary(rows, "xla/hone without depthwise")
        self.assertEqual((line["geometric mean"], line["rows"]),
                         ("2.000", "1 of 2"))

    def test_without_undisturbed_rows_there_are_no_means(self):
        rows = [table_row("a", True, torch_hone=(2.0, 1.9, 2.1))]
        self.assertEqual(len(kernel_rows.summarize(rows)), 1)

    def test_within_the_noise_nothing_is_significant(self):
        row = table_row("a", torch_hone=(1.03, 1.01, 1.05))
        self.assertEqual(kernel_rows.verdict(row, "torch/hone"), 0)
        self.assertIn("1.03 (1.01 to 1.05)", kernel_rows.format_row(row))
        row = table_row("a", torch_hone=(1.08, 1.03, 1.12))
        self.assertIn("1.08 (1.03 to 1.12) +", kernel_rows.format_row(row))
        row["disturbed"] = True
        self.assertIn("1.08 (1.03 to 1.12)", kernel_rows.format_row(row))

    def test_tuned_kernels_that_are_slower_are_named(self):
        rows = [table_row("slow", tuned_default=(1.2, 1.1, 1.3)),
                table_row("noise", tuned_default=(1.01, 0.9, 1.3)),
                table_row("fast", tuned_default=(0.8, 0.7, 0.9)),
                table_row("kept", kept=True, tuned_default=(1.0, 1.0, 1.0))]
        self.assertIn(
            "Of 4 tuned kernels the default was kept for 1, 1 are "
            "significantly faster, 1 significantly slower: slow.",
            kernel_rows.findings(rows, self.calibration))
        # Within what the same code shows in that row, but not around 1.
        rows.append(table_row("maybe", tuned_default=(1.015, 1.01, 1.03)))
        findings = "\n".join(kernel_rows.findings(rows, self.calibration))
        self.assertIn("1 significantly slower: slow.", findings)
        self.assertIn("2 are slower: slow, maybe.", findings)
        self.assertIn("=", kernel_rows.format_row(rows[3]))

    def test_a_kept_default_has_the_figures_of_the_default(self):
        row = table_row("a", torch_hone=(2.0, 1.9, 2.1),
                        xla_hone=(3.0, 2.9, 3.1))
        del row["us"]["tuned"], row["us"]["tuned+"]
        row["us"]["hone"], row["us"]["hone+"] = 7.0, 8.0
        kernel_rows.copy_default(row)
        self.assertEqual((row["us"]["tuned"], row["us"]["tuned+"]), (7.0, 8.0))
        self.assertEqual(row["torch/tuned"], (2.0, 1.9, 2.1))
        self.assertNotIn("out/tuned", row)
        self.assertEqual(row["tuned/default"], (1.0, 1.0, 1.0))

    def test_what_is_above_its_roofline_is_said(self):
        rows = [table_row("below"), table_row("above", roofline=120.0),
                table_row("without", roofline=None)]
        self.assertIn("Above the roofline, which is too low there: above.",
                      kernel_rows.findings(rows, self.calibration))
        self.assertEqual([kernel_rows.format_row(row)[-1] for row in rows],
                         ["50", "120", "-"])

    def test_every_line_has_a_cell_for_each_heading(self):
        self.assertEqual(len(kernel_rows.format_row(table_row("a"))),
                         len(kernel_rows.HEADINGS))
        rows = [table_row("a", torch_hone=(2.0, 1.9, 2.1))]
        self.assertEqual({len(line) for line in kernel_rows.summarize(rows)},
                         {8})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
