#!/usr/bin/env python3
"""Training cost models. command_line.py has the usage."""

from command_line import Scratch, hone, main


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

    def test_bad_input(self):
        train = ["train", "cost-model"]
        weights = self.folder / "w.pt"
        for arguments, expected in (
                (["nope"], "unknown data set of a cost model 'nope', expected "
                 "one of: synthetic"),
                (["synthetic", "--data", "d"],
                 "--data: data set synthetic does not use it, expected: "
                 "kernels"),
                (["synthetic", "--loss", "mse"],
                 "loss is 'mse', expected hinge, logistic or squared"),
                (["synthetic", "--architecture", "width=5"],
                 "width is '5', expected a multiple of 16"),
                (["synthetic", "--time=soon"],
                 "--time 'soon': expected a duration above 0"),
                (["synthetic", "--epochs", "0"],
                 "'0', expected a whole number from 1"),
                (["synthetic", "--from", self.folder / "none"],
                 "none: cannot be read"),
                (["synthetic", "--state", weights], "are the same file")):
            self.one_line_error(hone(*train, *arguments, "-o", weights), 2,
                                expected)
        self.one_line_error(hone("train"), 2, "NAME is required, expected one "
                            "of: go, partition, pass-order, placement, or "
                            "cost-model")
        text = self.write("text", "no weights")
        self.one_line_error(
            hone(*train, "synthetic", "-o", weights, "--from", text), 2,
            "text: not the weights of a cost model")


if __name__ == "__main__":
    main()
