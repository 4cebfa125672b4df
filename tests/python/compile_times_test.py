"""bench/kernels/compile_times.py: rows, the figure, and a small run.

Usage: compile_times_test.py SOURCE_DIR HONE [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT, HONE = map(pathlib.Path, sys.argv[1:3])
SOURCE = ROOT / "bench" / "kernels"
sys.path.insert(0, str(SOURCE))

import adam_steps
import compile_plot
import compile_times


def row(layers, hone, xla):
    sides = {name: {"failure": value} if isinstance(value, str) else
             {"seconds": value, "megabytes": 100.4}
             for name, value in (("hone", hone), ("xla", xla))}
    return {"layers": layers, "instructions": 1000 * layers, **sides}


class Table(unittest.TestCase):
    def rows(self):
        rows = []
        for each in (row(1, 1.0, 3.0), row(4, 4.0, 48.0),
                     row(8, 8.0, "no result | within 9 s")):
            rows.append(each)
            each["growth"] = {side: compile_times.growth(rows, side)
                              for side in ("hone", "xla")}
        return rows

    def test_growth_is_the_exponent_in_instructions(self):
        _, second, third = self.rows()
        self.assertAlmostEqual(second["growth"]["hone"], 1)
        self.assertAlmostEqual(second["growth"]["xla"], 2)
        self.assertIsNone(third["growth"]["xla"])

    def test_lines(self):
        self.assertEqual(
            [compile_times.format_row(r) for r in self.rows()],
            ["| 1 | 1000 | 1.00 s | - | 100 MB | 3.00 s | - | 100 MB | 3.00 |",
             "| 4 | 4000 | 4.00 s | 1.00 | 100 MB | 48.00 s | 2.00 | 100 MB | "
             "12.00 |",
             "| 8 | 8000 | 8.00 s | 1.00 | 100 MB | no result / within 9 s | - "
             "| - | - |"])

    def test_figure_has_a_point_for_each_time(self):
        figure = ElementTree.fromstring(compile_plot.draw(self.rows()))
        space = "{http://www.w3.org/2000/svg}"
        lines = figure.findall(f"{space}polyline")
        self.assertEqual([len(line.get("points").split()) for line in lines],
                         [3, 2])
        # Equal factors of instructions and of time are equal distances.
        (x0, y0), (x1, y1), (x2, y2) = (
            map(float, point.split(","))
            for point in lines[0].get("points").split())
        self.assertAlmostEqual((x1 - x0) / (x2 - x1), 2, 1)
        self.assertAlmostEqual((y1 - y0) / (y2 - y1), 2, 1)
        words = [text.text for text in figure.findall(f"{space}text")]
        self.assertIn("8,000", words)
        self.assertIn("XLA:CPU, 48.0 s", words)
        with self.assertRaises(ValueError):
            compile_plot.draw([row(1, "no", "no")])


class Steps(unittest.TestCase):
    def test_instructions_grow_with_layers(self):
        counts = [len(compile_times.INSTRUCTION.findall(
            adam_steps.step_text(layers))) for layers in (1, 2, 3)]
        self.assertGreater(counts[1] - counts[0], 200)
        self.assertLess(abs((counts[2] - counts[1]) - (counts[1] - counts[0])),
                        20)


class Tool(unittest.TestCase):
    def run_tool(self, folder, *arguments, hone=HONE):
        return subprocess.run(
            [sys.executable, SOURCE / "compile_times.py", "--layers", "2,1",
             "--hone", hone, "-o", folder / "out.json", *arguments],
            capture_output=True, text=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_both_sides_are_timed(self):
        result = self.run_tool(self.folder, "--figure",
                               self.folder / "figure.svg")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        document = json.loads((self.folder / "out.json").read_text())
        self.assertTrue(document["complete"])
        self.assertEqual([r["layers"] for r in document["rows"]], [1, 2])
        for r in document["rows"]:
            for side in ("hone", "xla"):
                self.assertGreater(r[side]["seconds"], 0)
                self.assertGreater(r[side]["megabytes"], 1)
        ElementTree.parse(self.folder / "figure.svg")

    def test_failures_are_rows(self):
        script = self.folder / "hone"
        for body, limit, message in (
                ("echo no such thing >&2; exit 1", 60, "no such thing"),
                ("exec sleep 1000", 0.2, "no result within 0.2 s")):
            script.write_text(f"#!/bin/sh\n{body}\n")
            script.chmod(0o755)
            found = compile_times.compile_with_hone(script, "text", 1, limit)
            self.assertEqual(found, {"failure": message})

    def test_arguments(self):
        for layers in ("0", "x", "1,-2"):
            result = self.run_tool(self.folder, f"--layers={layers}")
            self.assertEqual(result.returncode, 2, layers)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
