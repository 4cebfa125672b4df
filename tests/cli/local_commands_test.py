#!/usr/bin/env python3
"""Commands that need no daemon.

command_line.py has the usage.
"""

import subprocess

from command_line import BIN, MODULE, ROOT, TINY, Scratch, hone, main


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

    def test_opt_compresses_what_ends_in_zst(self):
        for name in ("out.hlo.zst", "out.pb.zst"):
            out = self.folder / name
            self.ok(hone("opt", MODULE, "--passes=dce", "-o", out))
            # Zstandard's magic number.
            self.assertEqual(out.read_bytes()[:4], b"\x28\xb5\x2f\xfd")
            self.assertTrue(self.json("diff", MODULE, out)["equal"])

    def test_opt_prints_to_stdout(self):
        result = self.ok(hone("opt", self.write("tiny.hlo", TINY)))
        self.assertTrue(result.stdout.startswith("HloModule tiny"))

    def test_tune_prints_its_report_beside_a_module_on_stdout(self):
        path = self.write("tiny.hlo", TINY)
        result = self.ok(hone("tune", path, "--local", "--trials", 5, "-o",
                              "-"))
        self.assertIn("module tiny\npass_order: ", result.stderr)
        self.write("out.hlo", result.stdout)
        self.assertTrue(
            self.json("diff", path, self.folder / "out.hlo")["equal"])

    def test_output_that_cannot_be_written_is_an_error(self):
        path = self.write("tiny.hlo", TINY)
        for command in (["list", "passes"], ["--help"], ["opt", path],
                        ["stats", path, "--json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([BIN / "hone", *map(str, command)],
                                        stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=60)
            self.assertEqual(result.returncode, 3, command)
            self.assertIn("hone: stdout: cannot be written, expected",
                          result.stderr)

    def test_files_that_do_not_fit_are_no_bad_input(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("opt", path, "-o", "/dev/full"), 3,
                            "/dev/full: cannot be written: No space left")

    def test_stats_names_the_modeled_time(self):
        stats = self.json("stats", self.write("tiny.hlo", TINY))
        self.assertGreater(stats["modeled_ns"], 0)

    def test_seeds_have_64_bits(self):
        path = self.write("tiny.hlo", TINY)
        document = self.json("run", path, "--seed", 2**64 - 1)
        self.assertEqual(document["seed"], 2**64 - 1)

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

    def test_diff_compares_interfaces(self):
        a = self.write("a.hlo", TINY)
        b = self.write("b.hlo", TINY.replace("HloModule tiny",
                                             "HloModule tiny, replica_count=4"))
        result = hone("diff", a, b)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout,
                         "different: replica_count of the module: 1 in the "
                         "original, 4 in the rewrite\n")
        document = self.json("diff", a, b, status=1)
        self.assertFalse(document["equal"])
        self.assertEqual(document["reason"], "different")
        self.assertIn("replica_count", document["explanation"])

    def test_diff_takes_what_is_left_out_for_the_default(self):
        layout = "entry_computation_layout={(f32[4]{0})->f32[4]{0}}"
        a = self.write("a.hlo", TINY.replace("HloModule tiny",
                                             "HloModule tiny, " + layout))
        b = self.write("b.hlo", TINY.replace("{0} ", " "))
        document = self.json("diff", a, b)
        self.assertTrue(document["equal"])
        self.assertEqual(document["reason"], "")

    def test_diff_sees_side_effects_and_what_they_take(self):
        effect = ("  note = () custom-call(VALUE), "
                  "custom_call_target=\"note\", "
                  "custom_call_has_side_effect=true\n  ROOT")
        a = self.write("a.hlo",
                       TINY.replace("  ROOT", effect.replace("VALUE", "x")))
        same = self.write(
            "same.hlo", TINY.replace("  ROOT", effect.replace("VALUE", "old"))
            .replace("  note", "  old = f32[4]{0} add(zeros, x)\n  note"))
        self.assertTrue(self.json("diff", a, same)["equal"])
        other = self.write(
            "other.hlo", TINY.replace("  ROOT",
                                      effect.replace("VALUE", "dead")))
        self.assertFalse(self.json("diff", a, other, status=1)["equal"])
        dropped = self.json("diff", a, self.write("tiny.hlo", TINY), status=1)
        self.assertIn("side effect custom-call note", dropped["explanation"])

    def test_diff_says_when_nothing_can_be_verified(self):
        # The logarithms of negative numbers are NaN on every input.
        nan = """HloModule nan

ENTRY main {
  x = f32[4]{0} parameter(0)
  size = f32[4]{0} abs(x)
  one = f32[] constant(1)
  ones = f32[4]{0} broadcast(one), dimensions={}
  BODY
  ROOT r = f32[4]{0} log(negative)
}
"""
        a = self.write("a.hlo", nan.replace(
            "BODY", "sum = f32[4]{0} add(size, ones)\n"
            "  negative = f32[4]{0} negate(sum)"))
        b = self.write("b.hlo", nan.replace(
            "BODY", "less = f32[4]{0} negate(size)\n"
            "  negative = f32[4]{0} subtract(less, ones)"))
        result = hone("diff", a, b)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stdout.startswith(
            "not verified: 100 % of an output "), result.stdout)
        document = self.json("diff", a, b, status=1)
        self.assertFalse(document["equal"])
        self.assertEqual(document["reason"], "not verified")
        # Identical instructions need no judgment.
        self.assertTrue(self.json("diff", a, a)["equal"])

    def test_diff_gives_up_on_a_rewrite_that_does_not_end(self):
        endless = """HloModule tiny

condition {
  x = f32[4]{0} parameter(0)
  ROOT always = pred[] constant(true)
}

body {
  ROOT x = f32[4]{0} parameter(0)
}

ENTRY main {
  x = f32[4]{0} parameter(0)
  ROOT loop = f32[4]{0} while(x), condition=condition, body=body
}
"""
        a = self.write("a.hlo", TINY)
        b = self.write("b.hlo", endless)
        result = hone("diff", a, b, "--time-limit", 0.2)
        self.assertNotIn(result.returncode, (0, 1))
        self.assertIn("exceeded its time limit", result.stderr)

    def test_lists(self):
        self.assertIn({"id": "dce", "origin": "upstream",
                       "numeric_class": "exact"},
                      self.json("list", "passes")["passes"])
        self.assertIn("beam", self.json("list", "optimizers")["optimizers"])
        self.assertEqual(self.json("list", "tasks")["tasks"],
                         ["fusion", "joint", "kernel", "module", "partition",
                          "pass_order", "placement", "schedule", "tile"])
        self.assertEqual(self.json("list", "tpus")["tpus"],
                         ["v3", "v4", "v5e"])
        self.assertIn("xla-cpu", self.json("list", "pipelines")["pipelines"])
        self.assertIn("split", self.json("list", "transforms")["transforms"])
        backends = self.json("list", "backends")["backends"]
        self.assertEqual([backend["target"] for backend in backends],
                         ["cluster", "cpu", "mcm", "tpu"])
        printed = self.ok(hone("list", "backends")).stdout.splitlines()
        for backend, line in zip(backends, printed, strict=True):
            self.assertTrue((ROOT / "backends" / backend["id"]).is_dir())
            self.assertTrue(line.startswith(backend["id"]), line)

    def test_help_has_the_defaults_of_the_tasks(self):
        listed = " ".join(hone("tune", "--help").stdout.split())
        self.assertIn("Candidates to try; default: 500; 200 for fusion, "
                      "joint, schedule; 64 for kernel; 256 for module; 100 for "
                      "partition, placement; 32 for tile",
                      listed)
        self.assertIn("default: policy for fusion, joint, schedule; beam for "
                      "kernel; parts for module; annealing for partition, placement; guided for "
                      "pass_order; xtat for tile",
                      listed)

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


if __name__ == "__main__":
    main()
