#!/usr/bin/env python3
"""bench/placement/plot_growth.py draws what the benchmark prints.

Usage: plot_growth_test.py ROOT [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

ROOT = pathlib.Path(sys.argv[1]).resolve()
FIELDS = ("known_methods_seconds", "simulation_ms", "simulation_unfused_ms",
          "change_ms", "policy_seconds", "memory_bytes")


def table(*sizes):
    return {"step-scale": {
        "sizes": [{"nodes": n, **dict.fromkeys(FIELDS, n / 8)} for n in sizes],
        "growth": dict.fromkeys(FIELDS, 0.75)}}


class PlotGrowth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, document):
        (self.folder / "in.json").write_text(json.dumps(document))
        return subprocess.run(
            [sys.executable, ROOT / "bench/placement/plot_growth.py",
             self.folder / "in.json", "-o", self.folder / "out.svg"],
            capture_output=True, text=True)

    def test_one_line_for_each_quantity(self):
        done = self.run_on(table(1000, 4000, 2000))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        figure = ElementTree.parse(self.folder / "out.svg").getroot()
        space = "{http://www.w3.org/2000/svg}"
        lines = figure.findall(f"{space}polyline")
        self.assertEqual(len(lines), 1 + len(FIELDS))
        self.assertEqual([line.get("stroke-dasharray") is not None
                          for line in lines], [True] + [False] * len(FIELDS))
        # All begin at one point; the guide ends above what grows as n does.
        ends = [[tuple(map(float, point.split(",")))
                 for point in line.get("points").split()] for line in lines]
        self.assertEqual(len({points[0] for points in ends}), 1)
        for points in ends[1:]:
            self.assertEqual(len(points), 3)
            self.assertGreater(points[-1][1], ends[0][-1][1])
        labels = [text.text for text in figure.findall(f"{space}text")]
        self.assertIn("n log n", labels)
        self.assertIn("a change, 500.00 ms (0.75)", labels)

    def test_bad_input(self):
        for document, message in (({}, "expected the JSON of"),
                                  (table(1000), "expected at least 2")):
            done = self.run_on(document)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
