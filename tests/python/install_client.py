"""Installs clients/python for the tests that use it.

Usage: install_client.py SOURCE TARGET

Nothing is downloaded.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        # A copy, as setuptools writes beside its sources.
        copy = pathlib.Path(scratch, "clients", "python")
        shutil.copytree(source / "clients" / "python", copy)
        shutil.copytree(source / "proto", pathlib.Path(scratch, "proto"))
        return subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet",
             "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
             "--no-index", "--target", target, copy]).returncode


if __name__ == "__main__":
    sys.exit(main())
