#!/usr/bin/env python3
"""Training cost models. command_line.py has the usage."""

from command_line import ROOT, Scratch, hone, main


class CostModelTest(Scratch):

    def test_training(self):
        weights = self.folder / "model.pt"
        trained = self.json(
            "train", "cost-model", "synthetic", "-o", weights, "--kernels", 30,
            "--epochs", 3, "--seed", 5, "--architecture",
            "width=16,hidden=16,layers=1")
        self.assertEqual(trained["weights"], str(weights))
        self.assertEqual(trained["epochs"], 3)
        time, tile = trained["heads"]
        self.assertEqual((time["head"], tile["head"]), ("time", "tile"))
        self.assertGreater(time["mape"], 0)
        self.assertIsNone(time["ape"])
        self.assertIsNone(tile["mape"])
        self.assertLessEqual(tile["kendall"], 1)
        self.assertAlmostEqual(trained["error"], time["mape"] + tile["ape"], 4)
        self.assertFalse((self.folder / "model.pt.state").exists())
        further = self.ok(hone(
            "train", "cost-model", "synthetic", "-o", weights, "--from",
            weights, "--kernels", 30, "--epochs", 1, "--loss", "logistic"))
        self.assertRegex(
            further.stdout, r"model.pt: time: MAPE \d+\.\d\d %; tile: APE "
            r"\d+\.\d\d %, Kendall \d\.\d+, top 5 \d+\.\d\d % after 1 epochs")
        # It is no policy.
        self.one_line_error(
            hone("train", "placement", "-o", self.folder / "p.pt", "--graphs",
                 3, "--from", weights), 2,
            "weights of a cost model, expected one for assignments")

    def test_bad_members(self):
        out = self.folder / "both.pt"
        members = [self.folder / "a.pt", self.folder / "b.pt"]
        for member, architecture in zip(members, ["layers=1", "layers=0"]):
            self.ok(hone(
                "train", "cost-model", "synthetic", "-o", member, "--kernels",
                10, "--epochs", 1, "--architecture",
                f"width=16,hidden=16,{architecture}"))
        # Of different architectures is fine.
        self.ok(hone("train", "cost-ensemble", *members, "-o", out))
        self.one_line_error(
            hone("train", "cost-model", "synthetic", "-o", self.folder / "c.pt",
                 "--kernels", 10, "--from", out), 2,
            f"{out}: not the weights of a cost model")
        kept = out.read_bytes()
        for bad, message in (
                (ROOT / "models/cpu_kernel.pt", "expected models of one kind"),
                (members[0], "the same weights twice"),
                (self.write("text.pt", "text"), "not the weights"),
                (self.folder, "is no regular file, expected weights"),
                (self.folder / "none.pt",
                 "none.pt: no such file, expected weights")):
            refused = hone("train", "cost-ensemble", members[0], bad, "-o", out)
            self.assertIn(str(bad), refused.stderr)
            self.one_line_error(refused, 2, message)
        self.one_line_error(
            hone("train", "cost-ensemble", *members, "-o", members[0]), 2,
            "MEMBER")
        self.assertEqual(out.read_bytes(), kept)

    def test_kernels_on_cpus(self):
        """Data, weights and the bench of schedules, of two kernels."""
        data = self.folder / "kernels.jsonl"
        self.json("dataset", "kernels", "-o", data, "--suite",
                  ROOT / "bench/data/kernels", "--only",
                  "gelu_erf_127|logsumexp_333", "--kernels", 12, "--schedules",
                  3)
        split = self.write("split.json", """
            {"random": {"test": 1.0}, "manual": {"test": ["logsumexp"]}}""")
        weights = self.folder / "kernel.pt"
        trained = self.json(
            "train", "cost-model", "kernel", "--data", data, "--split",
            f"{split}:manual", "-o", weights, "--epochs", 2, "--loss",
            "logistic", "--input-noise", 0.3, "--architecture",
            "width=16,hidden=16,layers=0")
        self.assertEqual([head["head"] for head in trained["heads"]],
                         ["time", "schedule"])
        bench = self.json("bench", "cost-model", "--kernels", data, "--split",
                          f"{split}:manual", "--weights",
                          f"{weights},{weights}")
        both = self.folder / "both.pt"
        joined = self.json("train", "cost-ensemble", weights, "-o", both)
        self.assertEqual(joined["members"], 1)
        self.assertEqual(joined["bytes"], both.stat().st_size)
        of_both = self.json("bench", "cost-model", "--kernels", data, "--split",
                            f"{split}:manual", "--weights", both)
        self.assertEqual(of_both["families"][0]["learned"][0],
                         bench["families"][0]["learned"][0])
        family, = bench["families"]
        self.assertEqual((family["family"], family["kernels"]),
                         ("logsumexp", 1))
        self.assertEqual(family["schedules"], 4)
        self.assertEqual(len(family["learned"]), 2)
        for errors in family["learned"] + [family["roofline"]]:
            self.assertGreater(errors["MAPE"], 0)
            self.assertGreaterEqual(errors["APE"], 0)
            # There are fewer than five.
            self.assertEqual(errors["top 5"], 0)
        self.assertEqual(bench["summary"]["mean"]["roofline"],
                         family["roofline"])
        printed = self.ok(hone(
            "bench", "cost-model", "--kernels", data, "--split",
            f"{split}:manual", "--weights", weights)).stdout
        self.assertRegex(printed, r"\| logsumexp \| 1 \| 4 \|( \S+ \|){15}\n")
        self.one_line_error(
            hone("train", "cost-model", "kernel", "--data", data, "--split",
                 split, "-o", weights), 2,
            "no measured kernels that are trained on by")
        self.one_line_error(
            hone("bench", "cost-model", "--kernels", data, "--split",
                 self.write("other.json", '{"random": {}}'), "--weights",
                 weights), 2, "no measured kernels that are held out by")
        self.one_line_error(
            hone("bench", "cost-model", "--kernels", data, "--tiles", 3), 2,
            "--kernels excludes --tiles")
        self.one_line_error(
            hone("bench", "cost-model", "--kernels", data, "--plots",
                 self.folder), 2, "--kernels excludes --plots")
        measured = data.read_bytes()
        self.one_line_error(
            hone("dataset", "kernel-features", data, "-o", data, "--split",
                 f"{split}:manual"), 2, "are the same file")
        self.assertEqual(data.read_bytes(), measured)

    def test_bad_input(self):
        train = ["train", "cost-model"]
        weights = self.folder / "w.pt"
        for arguments, expected in (
                (["nope"], "unknown data set of a cost model 'nope', expected "
                 "one of: kernel, synthetic, tpu"),
                (["synthetic", "--data", "d"],
                 "--data: data set synthetic does not use it, expected: "
                 "kernels"),
                (["synthetic", "--loss", "mse"],
                 "loss is 'mse', expected hinge, logistic or squared"),
                (["synthetic", "--architecture", "width=5"],
                 "width is '5', expected a multiple of 16"),
                (["synthetic", "--time=soon"],
                 "--time 'soon': expected a duration above 0"),
                (["synthetic", "--learning-rate", "nan"], "--learning-rate"),
                (["synthetic", "--epochs", "0"],
                 "'0', expected a whole number from 1"),
                (["synthetic", "--from", self.folder / "none"],
                 "none: cannot be read"),
                (["synthetic", "--state", weights], "are the same file")):
            self.one_line_error(hone(*train, *arguments, "-o", weights), 2,
                                expected)
        self.one_line_error(hone("train"), 2, "NAME is required, expected one "
                            "of: go, partition, pass-order, placement, "
                            "cost-model or cost-ensemble")
        text = self.write("text", "no weights")
        self.one_line_error(
            hone(*train, "synthetic", "-o", weights, "--from", text), 2,
            "text: not the weights of a cost model")


if __name__ == "__main__":
    main()
