#!/usr/bin/env python3
"""Kernels, shown, transformed, tuned and exported.

command_line.py has the usage.
"""

import ctypes
import json
import re
import subprocess
import sys

from command_line import LOOP, MODULE, ROOT, ROWS, Scratch, hone, main


# The row of a cache that belongs to the caller.
CACHE = """HloModule cache, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY main {
  cache = f32[64,32]{1,0} parameter(0)
  x = f32[1,32]{1,0} parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  y = f32[1,32]{1,0} add(x, x)
  u = f32[64,32]{1,0} dynamic-update-slice(cache, y, i, z)
  ROOT r = (f32[64,32]{1,0}, f32[1,32]{1,0}) tuple(u, y)
}
"""


class Kernels(Scratch):
    def setUp(self):
        super().setUp()
        self.module = self.write("rows.hlo", ROWS)

    def test_shows_the_program_and_its_moves(self):
        document = self.json("kernel", self.module, "--moves")
        self.assertIn("+= x[i0,i1]", document["program"])
        self.assertIn("split 0.1 8", document["moves"])
        script = self.write("s.script", document["moves"][0] + "\n")
        self.assertNotEqual(
            self.json("kernel", self.module, "--replay", script)["program"],
            document["program"])

    def test_an_exported_kernel_is_called_from_python(self):
        library = self.folder / "rows.so"
        self.ok(hone("kernel", self.module, "--default", "--export", library))
        self.assertIn("hone_entry", (self.folder / "rows.h").read_text())
        entry = ctypes.CDLL(str(library)).hone_entry
        x = (ctypes.c_float * (5 * 37))(*range(5 * 37))
        y = (ctypes.c_float * 5)()
        pointers = ctypes.c_void_p * 1
        entry(pointers(ctypes.addressof(x)), pointers(ctypes.addressof(y)))
        self.assertEqual(
            list(y), [sum(range(37 * i, 37 * i + 37)) for i in range(5)])

    def test_schedules_are_collected_and_a_run_goes_on(self):
        data = self.folder / "data.jsonl"
        command = ["dataset", "kernels", "-o", data, "--suite",
                   ROOT / "bench/data/kernels", "--only",
                   "gelu_tanh_127|gelu_erf_127|bias_gelu_61", "--kernels", 8,
                   "--schedules", 3]
        document = self.json(*command)
        self.assertEqual((document["kernels"], document["schedules"]), (2, 8))
        self.assertEqual(document["failures"] + document["refused"], 0)
        lines = [json.loads(line) for line in data.read_text().splitlines()]
        # gelu_tanh_127x1001 is one that searches are compared on.
        self.assertEqual([line["name"] for line in lines],
                         ["gelu_erf_127x1001", "bias_gelu_61x1537"])
        for line in lines:
            self.assertEqual(line["family"], "elementwise")
            self.assertGreater(line["calibration"]["peak_gflops"], 0)
            for sample in line["samples"]:
                self.assertLessEqual(sample["ratio_low"], sample["ratio"])
                self.assertGreater(sample["ns"], 0)
        self.assertEqual(self.json(*command)["kernels"], 0)
        self.one_line_error(hone("dataset", "kernels", "-o", self.module), 2,
                            f"{self.module}:1", "expected the samples")

    def test_code_is_limited_to_an_instruction_set(self):
        shown = hone("kernel", self.module, "--default", "--llvm",
                     HONE_CPU_ISA="avx2")
        self.ok(shown)
        self.assertIn("<8 x float>", shown.stdout)
        self.assertNotIn("<16 x float>", shown.stdout)
        self.one_line_error(hone("list", "tasks", HONE_CPU_ISA="mmx"), 2,
                            "HONE_CPU_ISA", "mmx", "expected avx2 or native")

    def test_all_kernels_of_a_module_are_tuned_and_run(self):
        module = self.write("loop.hlo", LOOP)
        state = self.folder / "state"
        library = self.folder / "loop.so"
        document = self.json("tune", module, "--task", "module", "--target",
                             "cpu", "--trials", 12, "--local", "--state",
                             state, "--export", library)
        task = document["tasks"][0]
        self.assertEqual(task["optimizer"], "parts")
        self.assertEqual(task["trials"], 12)
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertIn("kernels tuned", task["verified"]["method"])
        self.assertTrue(ctypes.CDLL(str(library)).hone_entry)
        kernels = task["best"]["decision"]["kernels"]
        ran = self.json("run", module, "--target", "cpu", "--threads", 1,
                        "--state", state)
        self.assertEqual(ran["kernels"], len(kernels))
        self.assertEqual(ran["tuned_kernels"],
                         sum("script" in kernel for kernel in kernels))
        evaluated = self.json("run", module)
        for a, b in zip(ran["outputs"], evaluated["outputs"]):
            self.assertAlmostEqual(a["mean"], b["mean"], places=4)
        # Known by now.
        again = self.json("tune", module, "--task", "module", "--local",
                          "--state", state)
        self.assertEqual(again["tasks"][0]["cache"], "hit")
        self.one_line_error(hone("run", module, "--state", state), 2,
                            "--target cpu")

    def test_a_kernel_that_updates_an_array_in_place_is_measured(self):
        module = self.write("cache.hlo", CACHE)
        document = self.json("tune", module, "--task", "module", "--target",
                             "cpu", "--trials", 12, "--local", "--state",
                             self.folder / "state")
        kernels = document["tasks"][0]["best"]["decision"]["kernels"]
        self.assertEqual(len(kernels), 2)
        for kernel in kernels:
            self.assertGreater(kernel["default_ns"], 0, kernel["name"])

    def test_a_tuned_kernel_is_called_as_the_documentation_says(self):
        """What docs/KERNELS.md has a user do, from its own text."""
        text = (ROOT / "docs/KERNELS.md").read_text()
        files = dict(re.findall(
            r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", text, re.DOTALL))
        python = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
        module = self.write("rows.hlo", files["rows.hlo"])
        document = self.json("tune", module, "--task", "kernel", "--trials",
                             "4", "--local", "--export",
                             self.folder / "rows.so")
        task = document["tasks"][0]
        self.assertRegex(document["target"], "^cpu:[0-9a-f]{16}$")
        self.assertEqual(task["default"]["unit"], "ns")
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertIn("fresh process", task["verified"]["method"])
        self.assertIn("script", task["best"]["decision"])
        self.assertIn("for i0", (self.folder / "rows.h").read_text())
        expected = "".join(f"{37 * i}\n" for i in range(5))
        self.write("call.c", files["call.c"])
        subprocess.run(["cc", "call.c", "./rows.so", "-Wl,-rpath,.", "-o", "call"],
                       cwd=self.folder, check=True)
        self.write("call.py", python)
        for command in (["./call"], [sys.executable, "call.py"]):
            called = subprocess.run(command, cwd=self.folder, check=True,
                                    capture_output=True, text=True)
            self.assertEqual(called.stdout, expected)

    def test_whole_modules_are_exported_when_they_are_tuned(self):
        library = self.folder / "rows.so"
        document = self.json("tune", self.module, "--target", "cpu", "--local",
                             "--trials", "5", "--export", library)
        self.assertEqual(document["target"], "xla-cpu")
        x = (ctypes.c_float * (5 * 37))(*range(5 * 37))
        y = (ctypes.c_float * 5)()
        pointers = ctypes.c_void_p * 1
        ctypes.CDLL(str(library)).hone_entry(
            pointers(ctypes.addressof(x)), pointers(ctypes.addressof(y)))
        self.assertEqual(
            list(y), [sum(range(37 * i, 37 * i + 37)) for i in range(5)])

    def test_tuning_goes_on_where_it_was_and_is_found_again(self):
        store = self.folder / "store"
        arguments = ("tune", self.module, "--task", "kernel", "--trials", "5",
                     "--optimizer", "random", "--local", "--state", store)
        first = self.json(*arguments)["tasks"][0]
        self.assertEqual((first["cache"], first["trials"]), ("miss", 5))
        again = self.json(*arguments)["tasks"][0]
        self.assertEqual(again["cache"], "hit")
        self.assertEqual(again["best"], first["best"])

    def test_kernels_that_cannot_be_tuned_say_why(self):
        self.one_line_error(
            hone("tune", self.module, "--task", "kernel", "--local",
                 "--target", "tpu"), 2, "'tpu' is no device")
        self.one_line_error(
            hone("tune", self.module, "--task", "kernel", "--local",
                 "--target", "cpu:0123456789abcdef"), 3,
            "no device cpu:0123456789abcdef here")
        self.one_line_error(
            hone("tune", self.module, "--task", "kernel", "--local",
                 "--trials", "2", "--export", self.folder / "rows.dll"), 2,
            "expected *.so")
        self.assertFalse((self.folder / "rows.dll").exists())

    def test_the_bench_of_measurement_compares_kernels_with_themselves(self):
        document = self.json(
            "bench", "measurement", "--suite", ROOT / "bench/data/kernels",
            "--comparisons", "2", "--rounds", "3")
        for row in document["moves"]:
            self.assertGreater(row["moves"], 0)
        self.assertGreater(document["child_ms"], 0)
        self.assertEqual([k["comparisons"] for k in document["identical"]],
                         [2] * 5)

    def test_the_bench_exports_default_and_tuned_kernels(self):
        document = self.json(
            "bench", "kernels", "--suite", ROOT / "bench/data/kernels",
            "--only", "^row_sum_1001x777$", "--trials", "2", "--threads", "1",
            "--python", "", "--objects", self.folder / "objects")
        run, = document["runs"]
        row, = run["kernels"]
        self.assertEqual(row["tuned"]["trials"], 2)
        self.assertGreater(row["tuned"]["best_ns"], 0)
        for kind in ("default", "tuned"):
            self.assertTrue((self.folder / "objects/1" / kind /
                             "row_sum_1001x777.so").exists())

    def test_the_searches_bench_has_a_row_for_each_budget(self):
        document = self.json(
            "bench", "kernel-searches", "--suite", ROOT / "bench/data/kernels",
            "--only", "^row_sum_1001x777$", "--search", "greedy,random",
            "--trials", "2,5", "--seeds", 1)
        self.assertEqual([(row["optimizer"], row["trials"])
                          for row in document["searches"]],
                         [("greedy", 2), ("greedy", 5), ("random", 2),
                          ("random", 5), ("same code", 0)])
        for row, tuning in zip(document["searches"], document["tunings"]):
            self.assertEqual(tuning["trials"], row["trials"])
            self.assertAlmostEqual(row["ratio"], tuning["best_ns"] /
                                   tuning["default_ns"], 6)
            self.assertLessEqual(row["ratio"], 1)
        self.one_line_error(
            hone("bench", "kernel-searches", "--trials", "5,2"), 2,
            "--trials 5,2: expected budgets in ascending order")

    def test_a_bench_names_a_bad_expression(self):
        for bench in ("kernels", "kernel-searches"):
            self.one_line_error(hone("bench", bench, "--only", "("), 2,
                                "not a regular expression")

    def test_a_bench_names_what_its_suite_lacks(self):
        def refused(*parts):
            self.one_line_error(hone("bench", "kernels", "--suite",
                                     self.folder), 2, *parts)
        refused("suite.json: cannot be read", "--suite DIR")
        self.write("suite.json", "{")
        refused("suite.json: not JSON")
        self.write("suite.json", '{"kernels": [{"name": 5}]}')
        refused('entry {"name":5} lacks a name')

    def test_the_kernels_bench_asks_for_its_peers_first(self):
        self.one_line_error(
            hone("bench", "kernels", "--suite", ROOT / "bench/data/kernels",
                 "--python", self.folder / "none"), 2,
            "expected a Python with jax, torch")

    def test_shows_moves_and_time_unless_told_what_to_show(self):
        document = self.json("kernel", self.module)
        self.assertIn("split 0.1 8", document["moves"])
        self.assertGreater(document["default"]["percent_of_roofline"], 0)
        self.assertNotIn("default", self.json("kernel", self.module, "--moves"))

    def test_times_it_beside_the_roofline(self):
        timing = self.json("kernel", self.module, "--time")["default"]
        self.assertEqual(timing["outcome"], "ok")
        self.assertGreater(timing["ns"], 0)
        self.assertGreater(timing["roofline_ns"], 0)

    def test_whole_modules_run_natively(self):
        native = self.json("run", MODULE, "--target", "cpu")["outputs"]
        evaluated = self.json("run", MODULE)["outputs"]
        self.assertEqual(len(native), len(evaluated))
        for a, b in zip(native, evaluated):
            self.assertEqual(a["shape"], b["shape"])
            self.assertAlmostEqual(a["mean"], b["mean"], places=5)

    def test_bad_steps_say_which_and_why(self):
        script = self.write("s.script", "split 0.1 8\nvectorize 0\n")
        self.one_line_error(
            hone("kernel", self.module, "--replay", script), 2,
            "step 2 (vectorize 0)", "the loop has")
        script = self.write("u.script", "unheard_of 0\n")
        self.one_line_error(
            hone("kernel", self.module, "--replay", script), 2,
            "u.script: step 1 (unheard_of 0): ", "'unheard_of'")

    def test_bad_scripts_say_where(self):
        def refused(script, *parts):
            self.one_line_error(
                hone("kernel", self.module, "--replay", script), 2, *parts)
        refused(self.write("s.script", "# blocks\n\nsplit 0.1\nSplit 0 8\n"),
                "s.script:4: 'Split 0 8', expected a step such as")
        refused(self.write("p.script", "split 9 8\n"),
                "p.script: step 1 (split 9 8): no node at this path, expected")
        refused(self.folder / "no.script",
                "no.script: cannot be read, expected a script")
        refused(self.folder, "cannot be read, expected a script")
        binary = self.folder / "b.script"
        binary.write_bytes(bytes(range(1, 256)) * 100)
        result = hone("kernel", self.module, "--replay", binary)
        self.one_line_error(result, 2, "b.script:1: '\\x01\\x02")
        self.assertTrue(result.stderr.isascii() or "…" in result.stderr)
        self.assertLess(len(result.stderr), 500)

    def test_an_empty_script_changes_nothing(self):
        script = self.write("e.script", "")
        self.assertEqual(
            self.json("kernel", self.module, "--moves"),
            self.json("kernel", self.module, "--moves", "--replay", script))

    def test_exports_fail_before_any_work(self):
        missing = self.folder / "no" / "k.so"
        for command in (["kernel", self.module], ["run", self.module],
                        ["tune", self.module, "--local"]):
            result = hone(*command, "--export", missing)
            self.one_line_error(result, 2, "k.so: cannot be written")
            self.assertEqual(result.stdout, "")
            result = hone(*command, "--export", self.folder / "k")
            self.one_line_error(result, 2, "expected *.so")
            self.assertEqual(result.stdout, "")

    def test_an_export_of_a_module_says_where(self):
        library = self.folder / "rows.so"
        self.assertEqual(
            self.json("run", self.module, "--export", library),
            {"module": "rows", "exported": str(library), "kernels": 1,
             "tuned_kernels": 0})
        self.assertTrue(library.exists())

    def test_modules_need_not_be_utf8(self):
        path = self.folder / "latin1.hlo"
        path.write_bytes(ROWS.replace(
            "to_apply=add", 'to_apply=add, note="\xff"').encode("latin1"))
        document = self.json("tune", path, "--task", "kernel", "--trials", "1",
                             "--local")
        self.assertIn("script", document["tasks"][0]["best"]["decision"])

    def test_control_flow_is_no_kernel(self):
        module = self.write("loop.hlo", LOOP)
        self.one_line_error(hone("kernel", module), 2, "no kernel for while",
                            "expected a module without control flow")


if __name__ == "__main__":
    main()
