#!/usr/bin/env python3
"""Tiles and fusions of modules on simulated TPUs, and data about them.
command_line.py has the usage."""

import json
import re

from command_line import CORPUS, LAYER, ROOT, Scratch, hone, main


class TileTest(Scratch):

    def tune(self, *arguments):
        module = self.write("layer.hlo", LAYER)
        return self.json("tune", module, "--local", *arguments)["tasks"][0]

    def test_tiles_are_tuned_verified_and_written(self):
        tuned = self.folder / "tuned.hlo"
        for optimizer in ("xtat", "annealing"):
            result = self.tune("--task", "tile", "--target", "tpu:v4",
                               "--optimizer", optimizer, "--trials", 12, "-o",
                               tuned)
            self.assertEqual(result["default"]["unit"], "ns")
            self.assertLessEqual(result["best"]["cost"],
                                 result["default"]["cost"])
            self.assertIn("evaluator", result["verified"]["method"])
            text = tuned.read_text()
            self.assertRegex(text, r'hone_tile="output=\d+,\d+ ')
            # It is read as it is: its fusions are the kernels.
            again = self.json("tune", tuned, "--local", "--task", "tile",
                              "--tpu", "v4", "--trials", 1)["tasks"][0]
            # What it states is where the next tuning starts, and what is
            # predicted.
            self.assertAlmostEqual(again["default"]["cost"],
                                   result["best"]["cost"], 3)
            predicted = self.json("predict", tuned, "--tpu", "v4")
            self.assertAlmostEqual(predicted["simulated_ns"],
                                   result["best"]["cost"], 3)
            for kernel in predicted["kernels"]:
                self.assertIn(f'hone_tile="{kernel["config"]}"', text)
        note = hone("tune", self.write("layer.hlo", LAYER), "--local",
                    "--task", "tile", "--trials", 2)
        self.assertIn("no TPU given, choosing tiles for v4", note.stderr)

    def test_xtat_needs_few_trials(self):
        best = self.tune("--task", "tile", "--tpu", "v3", "--optimizer",
                         "exhaustive", "--trials", 5000)
        few = self.tune("--task", "tile", "--tpu", "v3", "--trials", 6)
        self.assertLess(few["best"]["cost"], 1.05 * best["best"]["cost"])

    def test_options_of_xtat_follow_its_name(self):
        result = self.tune("--task", "tile", "--optimizer",
                           "xtat:top_k=2:refresh=0:proposer=annealing",
                           "--trials", 6)
        self.assertEqual(result["optimizer"],
                         "xtat:top_k=2:refresh=0:proposer=annealing")
        for text, expected in (("xtat:top_k=0", "'top_k=0', expected a whole"),
                               ("annealing:top_k=2", "has no options"),
                               ("xtat:topk=2", "'topk=2', expected top_k=N")):
            self.one_line_error(
                hone("tune", self.write("layer.hlo", LAYER), "--local",
                     "--task", "tile", "--optimizer", text), 2, expected)

    def test_help_has_the_options_of_xtat_and_their_defaults(self):
        text = " ".join(hone("tune", "--help").stdout.split())
        self.assertIn("xtat:top_k=5:refresh=1:predictions=2048", text)
        self.assertIn("proposer=OPTIMIZER", text)

    def test_fusion_for_a_tpu(self):
        tuned = self.folder / "fused.hlo"
        result = self.tune("--task", "fusion", "--target", "tpu:v4", "--trials",
                           20, "-o", tuned)
        self.assertLessEqual(result["best"]["cost"], result["default"]["cost"])
        self.assertIn("fusion(", tuned.read_text())
        self.assertIn("evaluator", result["verified"]["method"])
        # The default on TPUs, as by a daemon.
        module = self.write("layer.hlo", LAYER)
        told = self.ok(hone("tune", module, "--local", "--force", "--task",
                            "fusion", "--target", "tpu:v4", "--trials", 4))
        self.assertIn("trials of xtat", told.stdout + told.stderr)

    def test_predictions_stand_beside_simulated_times(self):
        module = self.write("layer.hlo", LAYER.replace(
            "ROOT n = f32[64,256] negate(t)",
            "ROOT n = f32[64,256] not-an-opcode(t)"))
        result = self.json("predict", module, "--tpu", "v4")
        kernels = result["kernels"]
        self.assertAlmostEqual(
            result["simulated_ns"],
            sum(k["executions"] * k["simulated_ns"] for k in kernels), 3)
        unknown = [k for k in kernels if k["unknown_opcodes"]]
        self.assertEqual([k["unknown_opcodes"] for k in unknown],
                         [["not-an-opcode"]])
        for kernel in kernels:
            self.assertGreater(kernel["predicted_ns"], 0)
            self.assertGreater(kernel["deviation"], 0)
        printed = self.ok(hone("predict", module)).stdout
        self.assertIn("unknown: not-an-opcode", printed)
        known = self.json("predict", self.write("known.hlo", LAYER), "--tpu",
                          "v4")
        for kernel in known["kernels"]:
            self.assertLess(abs(kernel["predicted_ns"] /
                                kernel["simulated_ns"] - 1), 0.4)
        empty = self.write("empty.hlo", "HloModule empty\n\nENTRY e {\n"
                           "  ROOT a = f32[4] parameter(0)\n}\n")
        self.assertRegex(self.ok(hone("predict", empty)).stdout,
                         r"\nall +0\.00 +0\.00 +-\n")
        self.assertRegex(printed, r"\nall  +\d")
        self.one_line_error(hone("predict", self.folder / "none.hlo"), 2,
                            "none.hlo")
        self.one_line_error(
            hone("predict", module, "--weights", module), 2, "layer.hlo")

    def test_bad_input(self):
        module = self.write("layer.hlo", LAYER)
        for arguments, expected in (
                (["--task", "tile", "--tpu", "v9"],
                 "unknown TPU 'v9', expected a TOML file or one of v3, v4, "
                 "v5e"),
                (["--task", "tile", "--tpu", "v4", "--target", "cpu"],
                 "target 'cpu', expected 'tpu'"),
                (["--task", "tile", "--tpu", "v4", "--target", "tpu:v3"],
                 "--target tpu:v3 and --tpu v4, expected one of them"),
                (["--task", "fusion", "--tpu", "v4", "--cluster", "v100x4"],
                 "a cluster with target 'tpu', expected one of them")):
            self.one_line_error(
                hone("tune", module, "--local", *arguments, "--trials", 2), 2,
                expected)

    def test_data_of_kernels(self):
        data = self.folder / "tpu.jsonl"
        programs = ["--corpus", CORPUS, "--partitions",
                    ROOT / "bench/data/partition", "--only", "^mlp[.]fwd$"]
        command = ["dataset", "tpu", "-o", data, *programs, "--kernels", 5,
                   "--configs", 9]
        collected = self.json(*command)
        lines = data.read_text().splitlines()
        self.assertEqual(collected["programs"], 1)
        self.assertEqual(collected["kernels"], len(lines))
        self.assertGreater(len(lines), 2)
        configs = 0
        for line in map(json.loads, lines):
            self.assertEqual((line["program"], line["family"], line["device"]),
                             ("mlp.fwd", "mlp", "v4"))
            self.assertIn("ENTRY", line["kernel"])
            texts = [sample["config"] for sample in line["samples"]]
            self.assertEqual(len(set(texts)), len(texts))
            configs += len(texts)
            for text in texts:
                self.assertTrue(re.search(r"buffers=[123] unroll=[1248]$",
                                          text), text)
        self.assertEqual(collected["configs"], configs)
        # The same again adds nothing, and another file is the same.
        again = self.json(*command)
        self.assertEqual((again["kernels"], again["present"]), (0, 1))
        self.assertIn("1 programs were there and stay as they are",
                      self.ok(hone(*command, "--seed", 3)).stdout)
        self.assertEqual(data.read_text().splitlines(), lines)
        other = self.folder / "other.jsonl"
        self.json("dataset", "tpu", "-o", other, *command[4:])
        self.assertEqual(other.read_text().splitlines(), lines)
        # Random kernels are programs of their own families.
        mixed = self.folder / "mixed.jsonl"
        self.json("dataset", "tpu", "-o", mixed, *command[4:], "--random", 4)
        families = [json.loads(line)["family"]
                    for line in mixed.read_text().splitlines()]
        self.assertEqual(families[:len(lines)], ["mlp"] * len(lines))
        self.assertEqual(len(set(families[len(lines):])), 4)
        # Models learn from it.
        weights = self.folder / "w.pt"
        split = self.write("split.json",
                           '{"random": {"validation": [], "test": []}}')
        trained = self.json(
            "train", "cost-model", "tpu", "--data", data, "--split", split,
            "-o", weights, "--epochs", 2, "--architecture",
            "width=16,hidden=16,layers=1")
        self.assertEqual([head["head"] for head in trained["heads"]],
                         ["time", "tile", "flags"])
        # What is no data file is not touched.
        other_file = self.write("other.hlo", LAYER.rstrip())
        self.one_line_error(
            hone("dataset", "tpu", "-o", other_file, *programs), 2,
            "other.hlo:1", "expected configurations of a TPU's kernel")
        self.assertEqual(other_file.read_text(), LAYER.rstrip())
        self.one_line_error(
            hone(*command, "--tpu", "v3"), 2,
            "has kernels of TPU v4, expected v3")
        self.one_line_error(
            hone("train", "cost-model", "tpu", "--data", data, "--split",
                 f"{split}:other", "-o", weights), 2,
            "no split 'other', expected one of: random")
        # What was trained is tried on programs that are held out.
        held_out = self.write("held_out.json",
                              '{"random": {"validation": [], "test": ["mlp"]}}')
        result = self.json("bench", "cost-model", "--weights", weights,
                           "--split", held_out, *programs, "--tiles", 8)
        (program,) = result["programs"]
        self.assertEqual(program["program"], "mlp.fwd")
        self.assertGreaterEqual(program["learned"][0]["tile APE"], 0)
        self.assertGreaterEqual(program["analytical"]["fusion MAPE"], 0)
        # What it learned from is left out, and what it may learn first counts.
        other = self.folder / "other.jsonl"
        other.unlink()
        self.json("dataset", "tpu", "-o", other, *programs[:-1],
                  "^dlrm[.]fwd$", "--kernels", 20, "--configs", 9)
        bench = ["bench", "cost-model", "--weights", weights, "--split",
                 held_out, *programs, "--tiles", 8]
        refined = self.json(*bench, "--refine", other, "--refine-samples", 100)
        self.assertNotEqual(refined["programs"][0]["learned"],
                            result["programs"][0]["learned"])
        self.assertEqual(refined["programs"][0]["analytical"],
                         result["programs"][0]["analytical"])
        self.one_line_error(
            hone(*bench, "--refine", data), 2,
            "no kernels of families that are not held out")
        every = self.folder / "every.jsonl"
        self.json("dataset", "tpu", "-o", every, *programs, "--kernels", 400,
                  "--configs", 1)
        self.assertEqual(self.json(*bench, "--leave-out", every)["programs"],
                         result["programs"])
        renamed = self.write("renamed.jsonl", every.read_text().replace(
            '"family":"mlp"', '"family":"other"'))
        self.one_line_error(
            hone(*bench, "--leave-out", renamed), 2,
            "holds out, expected some")
        self.one_line_error(
            hone(*bench, "--refine-samples", 100), 2, "--refine")
        result = self.json("bench", "xtat", "--split", held_out, *programs,
                           "--seeds", 2, "--kernels", 2, "--search",
                           "random,xtat:refresh=0,xtat", "--budgets", "2,8")
        self.assertEqual([row["optimizer"] for row in result["optimizers"]],
                         ["random", "xtat:refresh=0", "xtat"])
        for row in result["optimizers"]:
            speeds = [budget["speed"] for budget in row["budgets"]]
            self.assertEqual(speeds, sorted(speeds))
            self.assertLessEqual(speeds[-1], 1)
        self.one_line_error(
            hone("bench", "xtat", "--split", held_out, *programs, "--search",
                 "beam:top_k=2"), 2, "'beam' has no options")
        result = self.json("bench", "xtat-fusion", "--split", held_out,
                           *programs, "--seeds", 2, "--search",
                           "greedy,genetic,xtat", "--budgets", "3,8",
                           "--tile-budget", 4)
        for row in result["searches"]:
            left = [budget["left"] for budget in row["budgets"]]
            self.assertEqual(left, sorted(left, reverse=True))
            # The seeds come first, so the default does.
            self.assertLessEqual(left[0], 1)
        self.assertGreaterEqual(result["programs"][0]["greedy_fusion"],
                                result["programs"][0]["xtat"])
        for fusion in ("default", "xtat"):
            left = [line["left"] for line in result["tiles"]
                    if line["fusion"] == fusion]
            self.assertEqual(left, sorted(left, reverse=True))
        self.one_line_error(
            hone("train", "cost-model", "tpu", "--data", data, "--split",
                 held_out, "-o", weights), 2,
            "no kernels of families that are not held out")


if __name__ == "__main__":
    main()
