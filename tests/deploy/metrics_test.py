#!/usr/bin/env python3
"""What a daemon exports has names as Prometheus has them, and alerts use it.

Usage: metrics_test.py ROOT BIN_DIR [unittest arguments]

Runs `promtool check metrics` on what a real daemon exports after a lookup.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import honed

ROOT, BINARIES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
MODULE = ROOT / "tests/testdata/kernels/softmax_7x19.hlo"
# Exported by Prometheus, not by the daemon.
OF_PROMETHEUS = {"up"}
WORD = r"(?<![\w.])(?:hone|process)_[a-z_]+"


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder, honed.running(
                BINARIES, folder, "[workers]\nlocal = false\n") as http:
            # A miss.
            lookup = subprocess.run(
                [BINARIES / "hone", "lookup", MODULE], capture_output=True,
                env={**os.environ,
                     "HONE_SERVER": f"unix:{folder}/state/hone.sock"})
            assert lookup.returncode == 1, lookup.stderr
            with urllib.request.urlopen(f"http://{http}/metrics") as page:
                cls.text = page.read().decode()
        cls.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", cls.text, re.M))
        cls.series = [(name, dict(re.findall(r'(\w+)="([^"]*)"', labels or "")))
                      for name, labels in re.findall(
                          r"^([a-z]\w*)(?:\{(.*)\})? \S+$", cls.text, re.M)]

    def sources(self):
        """Names and types, also of families that have no series yet."""
        text = (ROOT / "daemon/telemetry/metrics.cc").read_text()
        found = re.findall(r'\b(Counters|Gauges|Histograms)\(\s*'
                           r'registry_,\s*"(\w+)"', text)
        return {name: kind.lower()[:-1] for kind, name in found}

    def test_all_families_are_known(self):
        self.assertGreater(len(self.sources()), 40)
        exported = {name for name in self.types if name.startswith("hone_")}
        self.assertLessEqual(exported, set(self.sources()))
        # Those without a series wait for the first event of their label.
        self.assertLessEqual(set(self.sources()) - exported, set())

    def test_counters_are_plural_and_end_in_total(self):
        for name, kind in {**self.sources(), **self.types}.items():
            with self.subTest(name):
                self.assertEqual(name.endswith("_total"), kind == "counter")
                if kind == "counter":
                    words = name.removesuffix("_total").split("_")[1:]
                    self.assertTrue(
                        any(word.endswith("s") for word in words), name)

    def test_promtool_finds_nothing(self):
        result = subprocess.run(["promtool", "check", "metrics"],
                                input=self.text, capture_output=True,
                                text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_limit_of_memory_is_one(self):
        values = dict(re.findall(r"^(process_\w+) (\S+)$", self.text, re.M))
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit = float(values["process_memory_limit_bytes"])
        self.assertLessEqual(limit, total)
        self.assertGreater(limit,
                           float(values["process_resident_memory_bytes"]))

    def alerts(self):
        """By name: the expression."""
        text = (ROOT / "deploy/alerts.yml").read_text()
        found = re.findall(r"- alert: (\w+)\n +expr: (.*?)\n +(?:for|labels):",
                           text, re.S)
        self.assertEqual(len(found), text.count("- alert:"))
        return dict(found)

    def test_alerts_use_what_is_exported(self):
        names = {name for name, _ in self.series} | OF_PROMETHEUS
        for alert, expression in self.alerts().items():
            used = re.findall(WORD, re.sub(r'"[^"]*"', "", expression))
            with self.subTest(alert):
                self.assertTrue(used or expression.startswith("up{"))
                self.assertLessEqual(set(used), names)

    def test_labels_of_alerts_are_exported(self):
        for alert, expression in self.alerts().items():
            for name, selector in re.findall(rf"({WORD})\{{([^}}]*)\}}",
                                             expression):
                for label, operator, value in re.findall(
                        r'(\w+)(=~?)"([^"]*)"', selector):
                    if label == "job":
                        continue
                    found = {labels.get(label) for series, labels in
                             self.series if series == name}
                    # Series with a code exist after a call that ended so.
                    values = set() if label == "code" else \
                        set(value.split("|") if operator == "=~" else [value])
                    with self.subTest(f"{alert}: {label}"):
                        self.assertLessEqual(values, found)

    def test_documents_name_what_is_exported(self):
        limits = re.findall(r"^HONE_LIMIT_KEY\(\w+, (\w+),",
                            (ROOT / "daemon/limits.def").read_text(), re.M)
        known = set(self.sources()) | set(self.types) | set(limits)
        for name in ("docs/runbook.md", "docs/OPERATIONS.md"):
            for used in re.findall(WORD, (ROOT / name).read_text()):
                with self.subTest(used):
                    self.assertTrue(used in known)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
