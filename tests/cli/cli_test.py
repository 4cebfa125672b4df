#!/usr/bin/env python3
"""Runs `hone` and `honed` as a user does.

Usage: cli_test.py BIN_DIR CORPUS_DIR [unittest arguments]
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request

BIN = pathlib.Path(sys.argv[1])
CORPUS = pathlib.Path(sys.argv[2])
MODULE = CORPUS / "mlp.train.hlo.zst"
ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = """HloModule tiny

ENTRY main {
  x = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4]{0} broadcast(zero), dimensions={}
  dead = f32[4]{0} multiply(x, x)
  ROOT sum = f32[4]{0} add(x, zeros)
}
"""


def hone(*arguments, server=None, stdin=None):
    environment = dict(os.environ)
    environment["HONE_SERVER"] = server or "127.0.0.1:1"
    return subprocess.run([BIN / "hone", *map(str, arguments)],
                          capture_output=True, text=True, env=environment,
                          input=stdin, timeout=240)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def ok(self, result, status=0):
        self.assertEqual(result.returncode, status,
                         result.stdout + result.stderr)
        return result

    def json(self, *arguments, server=None, status=0):
        result = self.ok(hone(*arguments, "--json", server=server), status)
        return json.loads(result.stdout)

    def one_line_error(self, result, status, *parts):
        self.ok(result, status)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("hone: "), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)


ROWS = """HloModule rows

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[5,37]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[5]{0} reduce(x, zero), dimensions={1}, to_apply=add
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

    def test_a_tuned_kernel_is_called_as_the_documentation_says(self):
        """What docs/KERNELS.md has a user do, from its own text."""
        text = (ROOT / "docs/KERNELS.md").read_text()
        blocks = {language: code for language, code in re.findall(
            r"```(\w*)\n(.*?)```", text, re.DOTALL)}
        self.assertIn("main(void)", blocks["c"])
        module = self.write("rows.hlo", blocks[""])
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
        self.write("call.c", blocks["c"])
        subprocess.run(["cc", "call.c", "./rows.so", "-Wl,-rpath,.", "-o", "call"],
                       cwd=self.folder, check=True)
        self.write("call.py", blocks["python"])
        for command in (["./call"], [sys.executable, "call.py"]):
            called = subprocess.run(command, cwd=self.folder, check=True,
                                    capture_output=True, text=True)
            self.assertEqual(called.stdout, expected)

    def test_whole_modules_are_exported_when_they_are_tuned(self):
        library = self.folder / "rows.so"
        document = self.json("tune", self.module, "--target", "cpu", "--local",
                             "--trials", "5", "--export", library)
        self.assertEqual(document["target"], "hlo")
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
            "expected a Python with jax and torch")

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
            hone("kernel", self.module, "--replay", script), 2, "unheard_of")


class LocalCommands(Scratch):
    def test_stats_counts(self):
        stats = self.json("stats", self.write("tiny.hlo", TINY))
        self.assertEqual(stats["instructions"], 5)
        self.assertEqual(stats["ops"], 5)
        self.assertEqual(stats["flops"], 8)
        self.assertGreater(stats["bytes"], 0)
        self.assertEqual(stats["opcodes"]["add"], 1)

    def test_opt_applies_passes_in_order(self):
        out = self.folder / "out.hlo"
        report = self.json("opt", self.write("tiny.hlo", TINY),
                           "--passes=algsimp,dce", "-o", out)
        self.assertEqual([p["pass"] for p in report["passes"]],
                         ["algsimp", "dce"])
        self.assertEqual(report["ops_before"], 5)
        self.assertEqual(report["ops_after"], 1)
        self.assertIn("parameter(0)", out.read_text())

    def test_opt_runs_a_pipeline_and_writes_protos(self):
        out = self.folder / "out.pb"
        self.ok(hone("opt", MODULE, "--pipeline=xla-cpu", "-o", out))
        before = self.json("stats", MODULE)["ops"]
        self.assertLess(self.json("stats", out)["ops"], before)
        self.assertTrue(self.json("diff", MODULE, out)["equal"])

    def test_opt_prints_to_stdout(self):
        result = self.ok(hone("opt", self.write("tiny.hlo", TINY)))
        self.assertTrue(result.stdout.startswith("HloModule tiny"))

    def test_run_evaluates(self):
        document = self.json("run", self.write("tiny.hlo", TINY))
        self.assertEqual(document["outputs"][0]["shape"], "f32[4]")
        again = self.json("run", self.folder / "tiny.hlo")
        self.assertEqual(document["outputs"], again["outputs"])
        other = self.json("run", self.folder / "tiny.hlo", "--seed", 1)
        self.assertNotEqual(document["outputs"], other["outputs"])

    def test_diff_says_no_with_status_1(self):
        a = self.write("a.hlo", TINY)
        b = self.write("b.hlo", TINY.replace("add(x, zeros)",
                                             "subtract(zeros, x)"))
        document = self.json("diff", a, b, status=1)
        self.assertFalse(document["equal"])
        self.assertIn("[", document["explanation"])

    def test_lists(self):
        self.assertIn({"id": "dce", "origin": "upstream",
                       "numeric_class": "exact"},
                      self.json("list", "passes")["passes"])
        self.assertIn("beam", self.json("list", "optimizers")["optimizers"])
        self.assertEqual(self.json("list", "tasks")["tasks"],
                         ["kernel", "pass_order"])
        self.assertIn("xla-cpu", self.json("list", "pipelines")["pipelines"])
        self.assertIn("split", self.json("list", "transforms")["transforms"])

    def test_tune_local_verifies_and_resumes(self):
        out = self.folder / "tuned.hlo"
        arguments = ("tune", MODULE, "--local", "--trials", 60, "--state",
                     self.folder / "state")
        first = self.json(*arguments, "-o", out)
        task = first["tasks"][0]
        self.assertEqual(task["cache"], "miss")
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertEqual(task["default"]["unit"], "ops")
        self.assertIn("evaluator", task["verified"]["method"])
        self.assertEqual(self.json("stats", out)["ops"], task["best"]["cost"])
        again = self.json(*arguments)["tasks"][0]
        self.assertEqual(again["cache"], "hit")
        self.assertEqual(again["best"], task["best"])


class BadInput(Scratch):
    def test_malformed_text_names_the_place(self):
        path = self.write("bad.hlo", TINY.replace("add(x, zeros)",
                                                  "add(x, nothing)"))
        self.one_line_error(hone("stats", path), 2, "bad.hlo:8:", "nothing")

    def test_wrong_shape(self):
        path = self.write("bad.hlo", TINY.replace("ROOT sum = f32[4]",
                                                  "ROOT sum = f32[5]"))
        self.one_line_error(hone("stats", path), 2, "bad.hlo", "sum")

    def test_missing_file(self):
        self.one_line_error(hone("stats", "no.hlo"), 2, "no.hlo")

    def test_unknown_names_list_the_known(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("opt", path, "--passes=nope"), 2, "nope",
                            "algsimp", "dce")
        self.one_line_error(hone("opt", path, "--pipeline=nope"), 2, "nope",
                            "xla-cpu")
        self.one_line_error(
            hone("tune", path, "--local", "--optimizer", "nope"), 2, "nope",
            "beam", "greedy")
        self.one_line_error(hone("tune", path, "--local", "--task", "nope"), 2,
                            "nope", "pass_order")
        for command in (["opt"], ["tune", "--local"], ["lookup"],
                        ["compile", "-o", "out.hlo"]):
            self.one_line_error(hone(*command, path, "--numerics=nope"), 2,
                                "'nope'", "exact, reassociate or fast")

    def test_usage(self):
        self.one_line_error(hone("tune"), 2)
        self.one_line_error(hone("frobnicate"), 2)
        self.one_line_error(hone("tune", "x", "--trials", "-3"), 2)
        self.one_line_error(
            hone("tune", self.write("t.hlo", TINY), "--time", "soon"), 2,
            "soon")

    def test_no_daemon(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("tune", path), 3, "127.0.0.1:1", "--local")
        self.one_line_error(hone("lookup", path), 3, "127.0.0.1:1")

    def test_no_daemon_on_the_default_address(self):
        with socket.socket() as s:
            self.assertNotEqual(s.connect_ex(("127.0.0.1", 7420)), 0,
                                "something listens on 127.0.0.1:7420")
        path = self.write("tiny.hlo", TINY)
        result = hone("tune", path, "--trials", 5, "--json",
                      server="127.0.0.1:7420")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no daemon on 127.0.0.1:7420", result.stderr)
        self.assertEqual(json.loads(result.stdout)["tasks"][0]["cache"],
                         "miss")

    def test_unwritable_output_leaves_nothing(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(
            hone("opt", path, "-o", self.folder / "no" / "out.hlo"), 2, "out")


class WithDaemon(Scratch):
    def setUp(self):
        super().setUp()
        self.server = f"127.0.0.1:{free_port()}"
        self.http = f"127.0.0.1:{free_port()}"
        self.daemon = None
        self.start()

    def start(self):
        self.daemon = subprocess.Popen(
            [BIN / "honed", "--listen", self.server, "--http", self.http,
             "--state", self.folder / "state"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        # The daemon says on stderr when it serves.
        for line in self.daemon.stderr:
            if "serves" in line:
                return
        self.fail("honed ended at once")

    def stop(self):
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(timeout=30)
        self.daemon.stderr.close()

    def metric(self, name):
        with urllib.request.urlopen(f"http://{self.http}/metrics") as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[-1])
        return None

    def test_the_main_job(self):
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])
        out = self.folder / "tuned.hlo"
        first = self.json("tune", MODULE, "--trials", 40, "-o", out,
                          server=self.server)
        self.assertEqual(first["module"], "jit_step")
        task = first["tasks"][0]
        self.assertEqual(task["cache"], "miss")
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertEqual(self.json("stats", out)["ops"], task["best"]["cost"])

        second = self.json("tune", MODULE, "--trials", 40, server=self.server)
        self.assertEqual(second["tasks"][0]["cache"], "hit")
        self.assertEqual(second["tasks"][0]["best"], task["best"])

        found = self.json("lookup", MODULE, "--explain", server=self.server)
        self.assertTrue(found["hit"])
        self.assertTrue(
            all(c["matches"] for c in found["explanation"]["components"]))
        missed = self.json("lookup", MODULE, "--explain", "--score", "time",
                           server=self.server, status=1)
        self.assertEqual(
            [c["name"] for c in missed["explanation"]["components"]
             if not c["matches"]], ["options"])
        missed = self.json("lookup", MODULE, "--numerics", "exact",
                           server=self.server, status=1)
        self.assertFalse(missed["hit"])
        records = self.json("cache", "list", server=self.server)["records"]
        self.assertEqual(len(records), 1)
        tunings = self.json("list", "tunings", server=self.server)["tunings"]
        self.assertEqual([t["state"] for t in tunings], ["succeeded"])
        self.assertEqual(self.metric("hone_cache_entries"), 1)

        compiled = self.folder / "compiled.pb"
        document = self.json("compile", MODULE, "-o", compiled,
                             server=self.server)
        self.assertEqual(document["decisions"][0]["source"], "cache")
        self.assertEqual(self.json("stats", compiled)["ops"],
                         task["best"]["cost"])

        self.assertEqual(
            self.json("cache", "invalidate", "--all",
                      server=self.server)["removed"], 1)
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])

    def test_results_survive_a_restart(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        self.stop()
        self.assertEqual(self.daemon.returncode, 0)
        self.start()
        self.assertTrue(
            self.json("lookup", MODULE, server=self.server)["hit"])

    def test_compile_answers_at_once_and_tunes_behind(self):
        document = self.json("compile", MODULE, "-o", self.folder / "a.hlo",
                             server=self.server)
        self.assertEqual(document["decisions"][0]["source"], "default")
        document = self.json("compile", MODULE, "-o", self.folder / "b.hlo",
                             "--patience", "120s", server=self.server)
        self.assertIn(document["decisions"][0]["source"], ("tuned", "cache"))
        self.assertTrue(self.json("diff", MODULE, self.folder / "b.hlo")
                        ["equal"])

    def test_kernels_are_measured_by_the_local_worker(self):
        module = self.write("rows.hlo", ROWS)
        # At once: the worker may still be on its way.
        tuned = self.json("tune", module, "--task", "kernel", "--trials", 4,
                          server=self.server)
        worker, = self.json("list", "workers", server=self.server)["workers"]
        self.assertEqual(tuned["target"], worker["fingerprint"])
        self.assertEqual(tuned["tasks"][0]["trials"], 4)
        self.assertTrue(self.json("lookup", module, "--task", "kernel",
                                  server=self.server)["hit"])
        # What another device would need is not there.
        self.assertFalse(self.json(
            "lookup", module, "--task", "kernel", "--target", "cpu:0",
            server=self.server, status=1)["hit"])

    def test_a_killed_kernel_tuning_is_resumed(self):
        module = self.write("rows.hlo", ROWS)
        tune = subprocess.Popen(
            [BIN / "hone", "tune", str(module), "--task", "kernel", "--trials",
             "64", "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HONE_SERVER": self.server})
        for line in tune.stderr:
            if re.search(r"trial [1-9]", line):
                break
        self.daemon.kill()
        self.daemon.wait()
        self.start()
        # The client has waited for the daemon to come back, or asks again.
        tune.communicate(timeout=120)
        document = self.json("tune", module, "--task", "kernel", "--trials",
                             "64", server=self.server)
        self.assertEqual(document["tasks"][0]["trials"], 64)
        states = [t["state"] for t in
                  self.json("list", "tunings", server=self.server)["tunings"]]
        self.assertEqual(states, ["succeeded"])

    def test_a_second_daemon_on_the_store_is_refused(self):
        result = subprocess.run(
            [BIN / "honed", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--state", self.folder / "state"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("honed: ", result.stderr)
        self.assertIn("state", result.stderr)

    def test_bad_requests(self):
        self.one_line_error(
            hone("tune", MODULE, "--optimizer", "nope", server=self.server), 2,
            "nope", "beam")
        self.one_line_error(hone("cache", "invalidate", server=self.server), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
