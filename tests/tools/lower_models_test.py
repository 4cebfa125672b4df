#!/usr/bin/env python3
"""bench/placement/lower_models.py explains itself where jax is not installed.

Usage: lower_models_test.py ROOT [unittest arguments]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = ROOT / "bench/placement/lower_models.py"


class LowerModels(unittest.TestCase):
    def test_help_needs_no_jax(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "jax.py").write_text(
                "raise ImportError('not installed')\n")
            done = subprocess.run(
                [sys.executable, PROGRAM, "--help"], capture_output=True,
                text=True, env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--hone", done.stdout)

    def test_it_can_be_run(self):
        self.assertTrue(os.access(PROGRAM, os.X_OK))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
