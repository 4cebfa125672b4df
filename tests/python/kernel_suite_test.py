"""The kernel suite of bench/kernels, and what it is timed against.

Usage: kernel_suite_test.py SOURCE_DIR Files|Peers|Timing [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(sys.argv[1])
DATA = ROOT / "bench" / "data" / "kernels"
SMALL_DATA = ROOT / "tests" / "testdata" / "kernels"
sys.path.insert(0, str(ROOT / "bench" / "kernels"))

import jax
import numpy as np

import generate_suite
import kernel_rows
import peers
import suite

# What `hone` exports, of add_mul right and of row_sum wrong.
RIGHT = """
int add_mul_1000003(void* context, const void* const* arguments,
                    void* const* results) {
  const float *x = arguments[0], *y = arguments[1], *z = arguments[2];
  float* result = results[0];
  for (int i = 0; i < 1000003; ++i) result[i] = (x[i] + y[i]) * z[i];
  return 0;
}
int threads;
void hone_kernel_set_threads(int number) { threads = number; }
"""
WRONG = """
int row_sum_1001x777(void* context, const void* const* arguments,
                     void* const* results) {
  const float* x = arguments[0];
  float* result = results[0];
  for (int i = 0; i < 1001; ++i) {
    result[i] = 0;
    for (int j = 0; j < 776; ++j) result[i] += x[777 * i + j];
  }
  return 0;
}
"""


class Files(unittest.TestCase):
    def check(self, make, data):
        index = json.loads((DATA / "suite.json").read_text())
        self.assertEqual(jax.__version__, index["jax"])
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "of_before.hlo").touch()
            make(folder)
            made = {path.name: path.read_text() for path in folder.iterdir()}
        committed = {path.name: path.read_text() for path in data.iterdir()}
        self.assertEqual(sorted(made), sorted(committed))
        for name, text in made.items():
            self.assertEqual(text, committed[name], name)

    def test_are_what_jax_makes(self):
        self.check(generate_suite.generate, DATA)

    def test_small_ones_are_what_jax_makes(self):
        self.check(generate_suite.generate_small, SMALL_DATA)

    def test_every_family_has_a_small_one(self):
        self.assertEqual({kernel.family for kernel in suite.SMALL_KERNELS},
                         {kernel.family for kernel in suite.KERNELS})

    def test_names_are_unique(self):
        for kernels in (suite.KERNELS, suite.SMALL_KERNELS):
            names = [kernel.name for kernel in kernels]
            self.assertEqual(len(set(names)), len(names))

    def test_work_is_counted(self):
        kernels = {kernel.name: kernel for kernel in suite.KERNELS}
        conv = kernels["conv7x7s2_1x113x97x3_48"]
        self.assertEqual(conv.result_shapes(), [(1, 57, 49, 48)])
        self.assertEqual(conv.flops, 2 * 57 * 49 * 48 * 7 * 7 * 3)
        nchw = kernels["conv3x3_nchw_8x64x56x56_64"]
        self.assertEqual(nchw.flops, kernels["conv3x3_8x56x56x64_64"].flops)
        depthwise = kernels["depthwise3x3_3x29x31x45_45"]
        self.assertEqual(depthwise.flops, 2 * 3 * 29 * 31 * 45 * 9)
        adam = kernels["adam_333x1001"]
        self.assertEqual(adam.bytes_in(), 4 * (4 * 333 * 1001 + 1))
        self.assertEqual(adam.bytes_out(), 4 * 3 * 333 * 1001)


class Peers(unittest.TestCase):
    def test_agree(self):
        smallest = {}
        for kernel in sorted(suite.KERNELS, key=suite.Kernel.bytes_in):
            smallest.setdefault(kernel.torch, kernel)
        for kernel in smallest.values():
            inputs = peers.make_inputs(kernel, 3)
            expected = peers.expected_results(kernel, inputs)
            for peer in [*peers.torch_peers(kernel, inputs),
                         *peers.numpy_peers(kernel, inputs),
                         peers.xla_peer(kernel, inputs)]:
                with self.subTest(kernel=kernel.name, peer=peer.name):
                    self.assertLess(peers.error(peer.results(), expected),
                                    peers.TOLERANCE)

    def test_what_torch_compiles_agrees(self):
        kernel, = (k for k in suite.SMALL_KERNELS if k.torch == "add_mul")
        inputs = peers.make_inputs(kernel, 3)
        peer, = peers.compiled_peers(kernel, inputs)
        self.assertLess(peers.error(peer.results(), peers.expected_results(
            kernel, inputs)), peers.TOLERANCE)

    def test_what_writes_to_memory_that_is_there(self):
        kernels = {kernel.torch: kernel for kernel in suite.SMALL_KERNELS}
        without = {name for name, expressions in peers.EXPRESSIONS.items()
                   if not any(e.into for e in expressions)}
        self.assertEqual(without, {"attention", "layer_norm", "conv3x3",
                                   "conv1x1", "conv7x7s2", "depthwise3x3",
                                   "conv3x3_nchw"})
        for name in peers.EXPRESSIONS.keys() - without:
            kernel = kernels[name]
            inputs = peers.make_inputs(kernel, 3)
            for peer in peers.torch_peers(kernel, inputs):
                with self.subTest(kernel=kernel.name, peer=peer.name):
                    results = [peer.call() for _ in range(2)]
                    results = [r if isinstance(r, tuple) else (r,)
                               for r in results]
                    if peer.family == "torch=":
                        self.assertEqual([r.data_ptr() for r in results[0]],
                                         [r.data_ptr() for r in results[1]])

    def test_updates_in_place_are_compared_with_updates_in_place(self):
        kernels = {kernel.torch: kernel for kernel in suite.SMALL_KERNELS}
        for name, in_place in (("adam", True), ("add_mul", False)):
            kernel = kernels[name]
            inputs = peers.make_inputs(kernel, 3)
            families = {p.family for p in peers.torch_peers(kernel, inputs)}
            self.assertEqual(families,
                             {"torch="} if in_place else {"torch", "torch="})
            seen = []

            def entry(_, arguments, results):
                seen.append((list(arguments), list(results)))
                # Each result is what it is updated from.
                if in_place:
                    for result, old in zip(peer_results, inputs):
                        np.testing.assert_array_equal(result, old)
                        result += 1
                return 0

            peer = peers.hone_peer("hone", kernel, inputs, entry)
            _, peer_results = peer.call.keep_alive
            for _ in range(2):
                peer.results()
            for arguments, results in seen:
                count = len(results) if in_place else 0
                self.assertEqual(arguments[:count], results[:count])
                self.assertEqual(arguments[count:],
                                 [x.ctypes.data for x in inputs[count:]])

    def test_every_expression_has_a_kernel(self):
        self.assertEqual({kernel.torch for kernel in suite.KERNELS},
                         set(peers.EXPRESSIONS))

    def test_error_is_relative_to_the_size_of_results(self):
        expected = [np.array([3.0, 0.0, -4.0, 0.0])]
        self.assertEqual(peers.error(expected, expected), 0)
        off = [np.array([3.0, 0.25, -4.0, 0.0])]
        self.assertEqual(peers.error(off, expected), 0.1)
        for bad in ([np.array([3.0, np.nan, -4.0, 0.0])], [np.zeros(3)], []):
            self.assertEqual(peers.error(bad, expected), np.inf)

    def test_memory_is_at_its_place(self):
        for index in range(3):
            array = peers.aligned_empty((3, 5), index)
            self.assertEqual(array.ctypes.data % (2 << 20), index * 17 * 64)
        self.assertEqual(peers.aligned_empty((), 0).shape, ())


class Timing(unittest.TestCase):
    def test_right_objects_are_timed_and_wrong_ones_are_not(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        names = {"add_mul_1000003": RIGHT, "row_sum_1001x777": WRONG}
        for kind, level in (("default", "-O1"), ("tuned", "-O3")):
            (folder / kind).mkdir()
            for name, source in names.items():
                subprocess.run(["cc", level, "-shared", "-fPIC", "-xc", "-",
                                "-o", folder / kind / f"{name}.so"],
                               input=source, text=True, check=True)

        def run(tuned):
            result = subprocess.run(
                [sys.executable, ROOT / "bench/kernels/time_peers.py",
                 "--objects", folder / "default", "--tuned", folder / tuned,
                 "--only", "^(add_mul_1000003|row_sum_1001x777)$", "--rounds",
                 "6", "-o", folder / "out.json"],
                capture_output=True, text=True)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("row_sum_1001x777: hone exported: error",
                          result.stderr)
            row, = json.loads((folder / "out.json").read_text())["rows"]
            self.assertEqual(row["kernel"], "add_mul_1000003")
            self.assertIn("undisturbed; the others are in no mean",
                          result.stdout)
            self.assertRegex(result.stdout, r"\| add_mul_1000003( !)? \|")
            return row

        families = {"torch", "torch=", "xla", "hone", "hone+", "hone again"}
        row = run("tuned")
        self.assertFalse(row["default_kept"])
        self.assertEqual(set(row["samples"]), families | {"tuned", "tuned+"})
        rounds = len(row["samples"]["hone"]["seconds"])
        self.assertEqual(
            rounds, row["rounds_taken"] if row["disturbed"] else 6)
        self.assertEqual(row["bound"], "memory")
        for name in (*kernel_rows.RATIOS, kernel_rows.SAME):
            median, lower, upper = row[name]
            self.assertTrue(0 < lower <= median <= upper, name)
        row = run("default")
        self.assertTrue(row["default_kept"])
        self.assertEqual(set(row["samples"]), families)
        self.assertEqual(row["tuned/default"], [1, 1, 1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
