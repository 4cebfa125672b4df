#!/usr/bin/env python3
"""tools/run_tests.sh: which tests may be skipped.

Usage: check_skipped_test.py ROOT [unittest arguments]
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
PASSES = """add_test(NAME passes COMMAND cmake -E true)
"""
SKIPS = """add_test(NAME skips COMMAND cmake -E echo "[  SKIPPED ] here")
set_tests_properties(skips PROPERTIES
  SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]" LABELS "e2e;{label}")
"""
DISABLED = """add_test(NAME disabled COMMAND cmake -E true)
set_tests_properties(disabled PROPERTIES DISABLED TRUE)
"""
ABSENT = """add_test(NAME absent COMMAND "/nonexistent/program")
"""
FAILS = """add_test(NAME fails COMMAND cmake -E false)
"""


class RunTests(unittest.TestCase):
    def run_tests(self, tests):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(tests NONE)\n"
            "enable_testing()\n" + tests)
        subprocess.run(["cmake", "-S", folder, "-B", folder / "build"],
                       check=True, capture_output=True)
        return subprocess.run([ROOT / "tools/run_tests.sh", "build"],
                              cwd=folder, capture_output=True, text=True)

    def test_passes_when_all_ran(self):
        result = self.run_tests(PASSES)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("GPU", result.stdout)

    def test_names_what_needs_a_gpu(self):
        result = self.run_tests(PASSES + SKIPS.format(label="gpu"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("Tests skipped, as they need a GPU: 1\n  skips\n",
                      result.stdout)

    def test_refuses_what_did_not_run(self):
        for tests, reason in (
                (SKIPS.format(label="slow"), "skips: SKIP_REGULAR_EXPRESSION"),
                (DISABLED, "disabled: disabled"),
                (ABSENT, "absent: Unable to find")):
            with self.subTest(reason=reason):
                result = self.run_tests(PASSES + tests)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"Tests that did not run: 1\n  {reason}",
                              result.stderr)

    def test_reports_failures(self):
        result = self.run_tests(PASSES + FAILS)
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("did not run", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
