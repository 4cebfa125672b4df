"""bench/kernels/kernel_sweep.py and what it consists of.

Usage: kernel_sweep_test.py SOURCE_DIR HONE Cases|Isolation|Memory|Table|Tool
           [unittest arguments]
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT, HONE = map(pathlib.Path, sys.argv[1:3])
SOURCE = ROOT / "bench" / "kernels"
sys.path.insert(0, str(SOURCE))

import ml_dtypes
import numpy as np
import torch

import isolation
import memory
import peers
import sweep
import sweep_runner
import sweep_table

COUNT = 2 * len(sweep.CLASSES)


class Cases(unittest.TestCase):
    def test_depend_on_seed_and_number_alone(self):
        few, many = sweep.make_cases(7, 10), sweep.make_cases(7, 40)
        self.assertEqual(list(few), list(many)[:len(few)])
        self.assertNotEqual(list(few), list(sweep.make_cases(8, 10)))
        # Nearly all of them are different kernels, in names and in sizes.
        self.assertGreater(len(sweep.make_cases(0, 300)), 290)

    def test_stay_within_what_a_sweep_can_afford(self):
        for case in sweep.make_cases(3, 300).values():
            for item in [*case.specs(), *case.results()]:
                self.assertLess(np.prod(item.shape, dtype=np.int64) *
                                item.dtype.itemsize, 200e6, case.name)

    def test_indices_are_in_range_and_spread(self):
        rng = np.random.default_rng(0)
        found = 0
        for case in sweep.make_cases(0, 60).values():
            for argument in case.arguments:
                if argument.fill == "index":
                    found += 1
                    values = argument.make(rng)
                    self.assertGreaterEqual(values.min(), 0)
                    self.assertLess(values.max(), argument.bound)
                    self.assertGreater(values.max(), argument.bound // 2)
        self.assertGreater(found, 2)

    def test_peers_compute_the_same(self):
        runner = sweep_runner.Runner(11, COUNT, HONE, 1, 6, False)
        for name, case in sweep.make_cases(11, COUNT).items():
            rng = np.random.default_rng(0)
            inputs = [memory.place(a.make(rng), i)
                      for i, a in enumerate(case.arguments)]
            expected = sweep_runner.xla_peer(case.function, inputs).results()
            right, wrong = runner._right_peers(case, inputs, expected)
            self.assertEqual(wrong, {}, name)
            self.assertTrue(right, name)


    def test_only_bfloat16_that_is_nearer_may_differ(self):
        def double(x):
            return x + x

        x = np.array([1.0, 3.0], ml_dtypes.bfloat16)
        right, wrong = (np.array(a, ml_dtypes.bfloat16)
                        for a in ([2, 6], [2, 6.5]))
        self.assertTrue(sweep_runner.is_nearer(double, [x], [wrong], [right]))
        self.assertFalse(sweep_runner.is_nearer(double, [x], [right], [wrong]))
        # Nearer, and wrong all the same.
        far = np.array([2, 7], ml_dtypes.bfloat16)
        self.assertFalse(sweep_runner.is_nearer(double, [x], [far], [wrong]))
        x = x.astype(np.float32)
        self.assertFalse(sweep_runner.is_nearer(
            double, [x], [wrong.astype(np.float32)],
            [right.astype(np.float32)]))


class Memory(unittest.TestCase):
    def test_arrays_are_where_they_should_be(self):
        for huge in (True, False):
            for shape, dtype in (((3, 5), np.float32), ((), np.int32),
                                 ((70000,), ml_dtypes.bfloat16)):
                array = memory.empty(shape, dtype, 7, huge)
                self.assertEqual((array.shape, array.dtype), (shape, dtype))
                self.assertEqual(array.ctypes.data % memory.HUGE_PAGE, 7 * 64)
                memory.poison(array)
        values = np.arange(12.0).reshape(3, 4)
        np.testing.assert_array_equal(memory.place(values, 2), values)

    def test_what_was_placed_cannot_be_written(self):
        child = os.fork()
        if child == 0:
            array = memory.place(np.zeros(4), 0)
            ctypes.memset(array.ctypes.data, 1, 1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.assertTrue(os.WIFSIGNALED(status))
        self.assertEqual(os.WTERMSIG(status), signal.SIGSEGV)

    def test_poison_is_no_result(self):
        for dtype in (np.float32, ml_dtypes.bfloat16, np.complex64):
            array = memory.poison(np.zeros(3, dtype))
            self.assertTrue(np.isnan(array.astype(np.complex64)).all())
        self.assertEqual(memory.poison(np.zeros(1, np.int8))[0], 127)
        self.assertNotEqual(
            memory.poison(np.zeros(1, bool)).view(np.uint8)[0], 1)


def make_worker(options):
    """Of the isolated process: does what an item says."""
    def work(item, begin):
        begin("work")
        if item == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if item == "hang":
            begin("rest")
            signal.pause()
        return options, item, os.getpid()
    return work


class Calls(unittest.TestCase):
    def test_results_are_new_at_each_call(self):
        @ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
        def entry(context, arguments, results):
            x = ctypes.c_void_p.from_address(arguments).value
            pointers = (ctypes.c_void_p * count).from_address(results)
            for i in range(count):
                ctypes.memmove(pointers[i], x, 12)
            return code

        x = np.array([1, 2, 3], np.float32)
        for count in (1, 2):
            for bind, dtype in ((peers.bind_allocating_entry, torch.float32),
                                (peers.bind_numpy_allocating_entry,
                                 np.float32)):
                call = bind(entry, [x], [((3,), dtype)] * count)
                code = 0
                results = call() + call()
                self.assertEqual(len({id(r) for r in results}), 2 * count)
                for r in results:
                    self.assertEqual(r.dtype, dtype)
                    np.testing.assert_array_equal(np.asarray(r), x)
                code = 3
                self.assertRaises(RuntimeError, call)

    def test_peers_are_compared_with_results_allocated_alike(self):
        x = np.zeros((1, 1), np.float32)
        hone = sweep_runner.Hone.__new__(sweep_runner.Hone)
        hone.call = hone.allocating_call = hone.numpy_allocating_call = (
            lambda: lambda: None)
        runner = sweep_runner.Runner(0, 1, "", 1, 6, False)
        screened = {
            sweep_runner.Peer(family, family, lambda: x @ x, None): 1e-6
            for family in ("torch", "torch=", "numpy", "numpy=")}
        row = runner._measure(hone, screened)
        self.assertEqual(
            {own: ratio["peer"] for own, ratio in row["ratios"].items()
             if own != "hone"}, {"hone+": "torch", "hone numpy": "numpy"})
        del screened[next(p for p in screened if p.family == "numpy")]
        self.assertNotIn("hone numpy", runner._measure(hone, screened)["us"])


class Isolation(unittest.TestCase):
    def test_failures_cost_their_own_item_only(self):
        with isolation.Worker(make_worker, "options", 5) as worker:
            options, item, first = worker("one")
            self.assertEqual((options, item), ("options", "one"))
            self.assertEqual(worker("two")[2], first)
            with self.assertRaisesRegex(isolation.Failed, "SIGSEGV: work"):
                worker("crash")
            second = worker("three")[2]
            self.assertNotEqual(second, first)
        with isolation.Worker(make_worker, None, 0.5) as worker:
            with self.assertRaisesRegex(
                    isolation.Failed, r"within 0.5 s: rest \(\d s\), after work"):
                worker("hang")
            self.assertEqual(worker("four")[1], "four")

    def test_a_phase_may_have_a_limit_of_its_own(self):
        with isolation.Worker(make_worker, None, 60, {"rest": 0.1}) as worker:
            with self.assertRaisesRegex(isolation.Failed,
                                        "within 0.1 s") as caught:
                worker("hang")
            self.assertEqual(caught.exception.phase, "rest")
            self.assertEqual(list(worker.seconds), ["work", "rest"])

    def test_long_phases_are_told(self):
        now, told = 0.0, []
        phases = isolation.Phases(lambda: now)
        self.assertEqual(phases.left(60, {"b": 5}), (60, 60))
        phases.begin("a")
        now = isolation.TOLD_SECONDS
        self.assertEqual(phases.until_told(), 0)
        phases.tell(lambda *what: told.append(what))
        self.assertEqual(phases.until_told(), isolation.TOLD_SECONDS)
        phases.begin("b")
        self.assertEqual(phases.until_told(), isolation.TOLD_SECONDS)
        self.assertEqual(phases.left(60, {"b": 5}), (5, 5))
        now += 4
        self.assertEqual(phases.seconds, {"a": 15, "b": 4})
        self.assertEqual(phases.describe(), ": b (4 s), after a (15 s)")
        self.assertEqual(told, [("a", 15)])


def timed(name, ratio, disturbed=False, kind="matmul"):
    return {"kernel": name, "kind": kind, "disturbed": disturbed,
            "us": {"hone": 10.0, "torch=": 10 * ratio},
            "best": {"peer": "torch=", "hone": "hone",
                     "ratio": [ratio, ratio / 2, ratio * 2]}}


class Table(unittest.TestCase):
    ROWS = [timed("good", 2.0), timed("bad", 0.5, kind="sort"),
            timed("noisy", 8.0, True),
            {"kernel": "slow", "kind": "sort", "slow": 0.01,
             "us": {"torch": 5.0, "xla": 3.0, "hone": 300.0}},
            {"kernel": "broken", "failure": "a |\nb"}]

    def test_rows(self):
        self.assertEqual(
            [sweep_table.format_row(row) for row in self.ROWS],
            ["| good | torch= | 20.0 | 10.0 | 2.00 (1.00 to 4.00) |",
             "| bad | torch= | 5.0 | 10.0 | 0.50 (0.25 to 1.00) |",
             "| noisy ! | torch= | 80.0 | 10.0 | 8.00 (4.00 to 16.00) |",
             "| slow | xla | 3.0 | 300.0 | 0.010 SLOW |",
             "| broken | FAILED: a / b | | | |"])

    def test_disturbed_rows_of_two_threads_have_no_figures(self):
        self.assertEqual(sweep_table.format_row(
            timed("noisy", 8.0, True) | {"threads": 2}),
            "| noisy ! | not measured | | | |")

    def test_failures_count_as_slow_and_are_in_no_mean(self):
        lines = sweep_table.summarize(self.ROWS)
        self.assertEqual(sweep_table.format_summary(lines)[2:], [
            "| all | 5 | 1 | 40 % | 0.53 | 0.00 (broken) |",
            "| matmul | 2 | 0 | 100 % | 4.00 | 2.00 (good) |",
            "| sort | 2 | 0 | 0 % | 0.07 | 0.01 (slow) |"])


class Tool(unittest.TestCase):
    ONLY = "^(matmul|argsort)"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.json"

    def run_tool(self, *arguments, hone=HONE):
        return subprocess.run(
            [sys.executable, SOURCE / "kernel_sweep.py", "--count", "16",
             "--only", self.ONLY, "--hone", hone, "-o", self.out, *arguments],
            capture_output=True, text=True)

    def test_times_what_matches_and_resumes(self):
        result = self.run_tool("--resume")
        document = json.loads(self.out.read_text())
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(document["complete"])
        names = [name for name in sweep.make_cases(0, 16)
                 if re.search(self.ONLY, name)]
        self.assertGreater(len(names), 2)
        self.assertEqual([row["kernel"] for row in document["rows"]], names)
        for row in document["rows"]:
            self.assertEqual(row["wrong_peers"], {})
            if "slow" not in row:
                median, lower, upper = row["best"]["ratio"]
                self.assertTrue(0 < lower <= median <= upper)
                self.assertIn("hone", row["samples"])
            self.assertIn(f"| {row['kernel']}", result.stdout)
        # A run that ended early leaves some out.
        rest = document["rows"].pop()["kernel"]
        del document["complete"]
        self.out.write_text(json.dumps(document))
        result = self.run_tool("--resume")
        again = json.loads(self.out.read_text())
        self.assertEqual(result.stderr.strip(), f"[1/1] {rest}")
        self.assertEqual(again["rows"][:-1], document["rows"])
        result = self.run_tool("--resume", "--seed", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("has seed 0, expected 1", result.stderr)

    def test_tunes_with_trials(self):
        self.ONLY = "^softmax"
        result = self.run_tool("--trials", "2")
        document = json.loads(self.out.read_text())
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("2 trials each", result.stdout)
        self.assertEqual(document["trials"], 2)
        self.assertTrue(document["rows"])
        # `hone run` is not asked.
        script = self.folder / "hone"
        script.write_text(f'#!/bin/sh\ntest $1 = tune && exec {HONE} "$@"\n')
        script.chmod(0o755)
        self.assertEqual(self.run_tool("--trials", "2", hone=script).returncode,
                         0)
        self.assertEqual(self.run_tool(hone=script).returncode, 1)

    def test_failures_are_rows(self):
        script = self.folder / "hone"
        script.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
        script.chmod(0o755)
        result = self.run_tool(hone=script)
        self.assertEqual(result.returncode, 1)
        rows = json.loads(self.out.read_text())["rows"]
        self.assertEqual({row["failure"] for row in rows}, {"no such thing"})
        self.assertIn("FAILED: no such thing", result.stdout)

    def test_wrong_results_are_failures(self):
        script = self.folder / "hone"
        # An entry that computes nothing.
        script.write_text(
            '#!/bin/sh\nfor last; do :; done\necho "int kernel(void* c, const'
            ' void* const* a, void* const* r) { return 0; }" | cc -shared -fPIC -xc - -o $last')
        script.chmod(0o755)
        self.run_tool(hone=script)
        for row in json.loads(self.out.read_text())["rows"]:
            self.assertIn("WRONG: result 0", row["failure"])

    def test_arguments(self):
        for arguments in (["--rounds", "7"], ["--count", "0"],
                          ["--trials", "-1"],
                          ["--only", "no such kernel"]):
            self.assertEqual(self.run_tool(*arguments).returncode, 2)

        result = self.run_tool("--only", "[")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'[' is not a regular expression", result.stderr)

    def test_only_results_of_sweeps_are_resumed(self):
        for text in ("root:x:0:0", "[]"):
            self.out.write_text(text)
            result = self.run_tool("--resume")
            self.assertEqual(result.returncode, 2)
            self.assertIn("is no result of a sweep", result.stderr)
            self.assertEqual(self.out.read_text(), text)

    def test_results_that_cannot_be_written_are_not_measured(self):
        self.out = self.folder / "missing" / "out.json"
        result = self.run_tool()
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
