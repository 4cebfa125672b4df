#!/usr/bin/env python3
"""hone predict for kernels on this CPU. command_line.py has the usage."""

import subprocess

from command_line import BIN, ROWS, Scratch, hone, main


class PredictTest(Scratch):
    def setUp(self):
        super().setUp()
        self.kernel = self.write("rows.hlo", ROWS)
        self.weights = self.folder / "weights.pt"
        subprocess.run([BIN / "hone_write_kernel_cost_model", self.weights],
                       check=True)

    def predict(self, file, *arguments):
        return ("predict", file, "--target", "cpu", "--weights", self.weights,
                *arguments)

    def test_measured_beside_predicted(self):
        script = self.write("s.script", "split 0.1 8\n")
        result = self.json(*self.predict(self.kernel, "--script", script))
        self.assertTrue(result["target"].startswith("cpu:"))
        default, scripted = result["schedules"]
        self.assertEqual((default["schedule"], scripted["schedule"]),
                         ("default", "script"))
        for row in result["schedules"]:
            self.assertEqual(row["outcome"], "ok")
            self.assertGreater(row["measured_ns"], 0)
            self.assertGreater(row["predicted_ns"], 0)
            self.assertGreaterEqual(row["deviation"], 0)
        printed = self.ok(hone(*self.predict(self.kernel))).stdout
        self.assertRegex(printed, r"(?m)^default +\d+\.\d\d +x\d.* [-+]\d+\.\d%")

    def test_predicts_without_measuring(self):
        rows = [self.json(*self.predict(file, "--no-measure"))["schedules"]
                for file in (self.kernel, self.loops())]
        ((own,), (same,)) = rows
        self.assertNotIn("measured_ns", own)
        # The program that the kernel lowers to is the same kernel.
        self.assertEqual(own, same)
        printed = self.ok(hone(*self.predict(self.kernel, "--no-measure")))
        self.assertRegex(printed.stdout, r"(?m)^default .* - +-")

    def test_measures_loop_programs(self):
        (row,) = self.json(*self.predict(self.loops()))["schedules"]
        self.assertGreater(row["measured_ns"], 0)

    def loops(self):
        program = self.json("kernel", self.kernel, "--moves")["program"]
        return self.write("rows.loops", program)

    def test_bad_input(self):
        unknown = self.write("unknown.hlo", """HloModule unknown

ENTRY main {
  x = f32[4] parameter(0)
  ROOT s = f32[4] not-an-opcode(x)
}
""")
        huge = self.write("huge.hlo", """HloModule huge

ENTRY main {
  p = f32[1048576,1048576] parameter(0)
  ROOT n = f32[1048576,1048576] negate(p)
}
""")
        garbage = self.write("garbage.loops", "garbage")
        script = self.write("wrong.script", "split 7.7 8\n")
        old = self.folder / "old.pt"
        subprocess.run([BIN / "hone_write_kernel_cost_model", old, "loops-0"],
                       check=True)
        for arguments, status, expected in (
                (self.predict(huge), 3,
                 ["huge.hlo: ", "expected less"]),
                (self.predict(unknown), 2,
                 ["unknown.hlo: ", "not-an-opcode"]),
                (self.predict(garbage), 2,
                 ["garbage.loops:1:1: found 'garbage', expected 'kernel'"]),
                (self.predict(self.kernel, "--script", script), 2,
                 ["wrong.script: "]),
                (("predict", self.kernel, "--target", "cpu", "--weights", old), 2,
                 ["old.pt: weights are for version 'loops-0' of the features, "
                  "expected version 'loops-"]),
                (self.predict(self.kernel, "--tpu", "v4"), 2,
                 ["--tpu v4 with --target cpu, expected one of them"]),
                (("predict", self.kernel, "--target", "gpu"), 2,
                 ["--target 'gpu', expected cpu, tpu or tpu:NAME"]),
                (("predict", self.kernel, "--target", "tpu:v3", "--tpu", "v4"),
                 2, ["--target tpu:v3 and --tpu v4, expected one of them"]),
                (("predict", self.kernel, "--no-measure"), 2,
                 ["--no-measure is of CPU kernels, expected --target cpu"])):
            self.one_line_error(hone(*arguments), status, *expected)


if __name__ == "__main__":
    main()
