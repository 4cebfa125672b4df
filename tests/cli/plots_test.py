#!/usr/bin/env python3
"""The figures that benches draw. command_line.py has the usage."""

import math
import re
from xml.etree import ElementTree

from command_line import CORPUS, ROOT, Scratch, hone, main

SVG = "{http://www.w3.org/2000/svg}"


class Figure:
    """A plot, and what values its pixels are."""

    def __init__(self, path, x_is_logarithmic, y_is_logarithmic):
        self.root = ElementTree.parse(path).getroot()
        texts = self.root.findall(f"{SVG}text")
        self.texts = [text.text for text in texts]
        numbers = [text for text in texts
                   if re.fullmatch(r"[-+.\de]+", text.text)]
        self._axes = []
        for at, anchor, is_logarithmic in (("x", "middle", x_is_logarithmic),
                                           ("y", "end", y_is_logarithmic)):
            ticks = [(float(text.get(at)), float(text.text))
                     for text in numbers if text.get("text-anchor") == anchor]
            # Text stands 4 pixels under the middle of its line.
            shift = 4 if at == "y" else 0
            self._axes.append(([(p - shift, v) for p, v in ticks],
                               is_logarithmic))

    def _value(self, axis, pixel):
        ticks, is_logarithmic = self._axes[axis]
        to, back = (math.log, math.exp) if is_logarithmic else (float, float)
        (p0, v0), (p1, v1) = ticks[0], ticks[-1]
        v0, v1 = to(v0), to(v1)
        return back(v0 + (pixel - p0) / (p1 - p0) * (v1 - v0))

    def lines(self):
        """The points of each line."""
        return [[(self._value(0, float(x)), self._value(1, float(y)))
                 for x, y in (point.split(",")
                              for point in line.get("points").split())]
                for line in self.root.findall(f"{SVG}polyline")]

    def dots(self):
        """The dots of each series."""
        series = [re.findall(r"M([\d.]+) ([\d.]+)h0", path.get("d"))
                  for path in self.root.findall(f"{SVG}path")
                  if path.get("stroke-linecap") == "round"]
        # Each is followed by its sign in the legend.
        return [[(self._value(0, float(x)), self._value(1, float(y)))
                 for x, y in points] for points in series[::2]]


class PlotsTest(Scratch):
    def setUp(self):
        super().setUp()
        split = self.write("split.json",
                           '{"random": {"validation": [], "test": ["mlp"]}}')
        self.programs = ("--split", split, "--corpus", CORPUS, "--partitions",
                         ROOT / "bench/data/partition", "--only",
                         r"^mlp[.]fwd$", "--plots", self.folder / "a/plots")

    def test_predicted_and_true_times(self):
        result = self.json("bench", "cost-model", *self.programs, "--tiles", 4)
        path = self.folder / "a/plots/cost_model.svg"
        figure = Figure(path, True, True)
        analytical, learned = figure.dots()
        self.assertIn("analytical", figure.texts)
        self.assertIn("learned", figure.texts)
        (program,) = result["programs"]
        for dots, errors in ((analytical, program["analytical"]),
                             (learned, program["learned"][0])):
            self.assertEqual(len(dots), program["kernels"])
            mape = 100 * sum(abs(predicted / true - 1)
                             for true, predicted in dots) / len(dots)
            self.assertAlmostEqual(mape, errors["fusion MAPE"], delta=2)
        rates = result["rates"]
        self.assertEqual([batch["configs_of_each"]
                          for batch in rates["batches"]], [1, 16])
        for batch in rates["batches"]:
            self.assertEqual(batch["kernels"], program["kernels"])
            self.assertGreater(batch["per_second_with_features"], 0)
        self.assertEqual(rates["batches"][0]["predictions"],
                         program["kernels"])
        self.assertGreater(rates["one_ms"], 0)
        first = path.read_bytes()
        self.json("bench", "cost-model", *self.programs, "--tiles", 4)
        self.assertEqual(path.read_bytes(), first)

    def test_best_so_far(self):
        result = self.json(
            "bench", "xtat", *self.programs, "--seeds", 2, "--kernels", 2,
            "--search", "random,greedy", "--budgets", "2,8,40")
        figure = Figure(self.folder / "a/plots/xtat.svg", True, False)
        lines = figure.lines()
        self.assertEqual(len(lines), 2)
        for line, row in zip(lines, result["optimizers"]):
            self.assertIn(row["optimizer"], figure.texts)
            speeds = [y for _, y in line]
            for before, after in zip(speeds, speeds[1:]):
                self.assertGreaterEqual(after, before - 1e-9)
            self.assertAlmostEqual(line[0][0], 1, 1)
            for budget in row["budgets"]:
                at = min(line, key=lambda point: abs(
                    point[0] - budget["measurements"]))
                self.assertAlmostEqual(at[0], budget["measurements"], 0)
                self.assertAlmostEqual(at[1], budget["speed"], 2)

    def test_bad_folder(self):
        file = self.write("file", "")
        for bench in ("cost-model", "xtat"):
            self.one_line_error(
                hone("bench", bench, *self.programs[:-1], file), 2,
                f"{file}: ", "expected a folder for plots")


if __name__ == "__main__":
    main()
