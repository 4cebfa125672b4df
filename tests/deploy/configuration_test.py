#!/usr/bin/env python3
"""The configuration of deploy/README.md and the files of deploy/ can be used.

Usage: configuration_test.py ROOT BIN_DIR [unittest arguments]

Config.TheManualHasTheDefaults compares the values of the keys that are not
commented with the defaults of the code.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

import honed

ROOT, BINARIES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
MANUAL = (ROOT / "deploy/README.md").read_text()
BLOCK = re.search(r"^```toml\n(.*?)^```", MANUAL, re.M | re.S)[1]
WITH_COMMENTED = re.sub(r"^# (?=\w+ = )", "", BLOCK, flags=re.M)
SETTER = re.compile(
    r'\{"(\w+)",\s*(?:(?!LimitKeys)\w+\(&?|OptimizerName|LogFormat)')


def keys_of_the_code():
    """By table, as daemon/config.cc parses them, with daemon/limits.def."""
    text = (ROOT / "daemon/config.cc").read_text()
    schema = re.search(r"& Schema\(\) \{(.*?)^\}", text, re.M | re.S)[1]
    tables, found = re.split(r'\{"(\w+)",\s*\{', schema)[1:], {}
    for table, body in zip(tables[::2], tables[1::2]):
        found[table] = set(SETTER.findall("{" + body.lstrip("{")))
    limits = (ROOT / "daemon/limits.def").read_text()
    found["limits"] = set(re.findall(r"^HONE_LIMIT_KEY\(\w+, (\w+),", limits, re.M))
    found["limits"] |= {f"{name}_seconds" for name in re.findall(
        r"^HONE_LIMIT_SECONDS\((\w+),", limits, re.M)}
    return found


class Configuration(unittest.TestCase):
    def serve(self, text):
        with tempfile.TemporaryDirectory() as folder, \
                honed.running(BINARIES, folder, text):
            listed = subprocess.run(
                [BINARIES / "hone", "list", "tunings"], capture_output=True,
                text=True, timeout=60,
                env={**os.environ,
                     "HONE_SERVER": f"unix:{folder}/state/hone.sock"})
            self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_every_key_is_there(self):
        documented = {table: set(keys) for table, keys in
                      tomllib.loads(WITH_COMMENTED).items()}
        self.assertEqual(documented, keys_of_the_code())

    def test_as_it_stands(self):
        self.serve(BLOCK)

    def test_with_every_key(self):
        self.assertGreater(len(WITH_COMMENTED.splitlines()), 30)
        self.assertNotEqual(WITH_COMMENTED, BLOCK)
        self.serve(WITH_COMMENTED)

    def test_keys_without_a_default_in_the_code_are_commented(self):
        commented = re.findall(r"^# (\w+) = ", BLOCK, re.M)
        self.assertEqual(commented, ["state", "max_running_tunings",
                                     "process_memory_bytes",
                                     "default_optimizer"])

    def test_the_unit_leaves_time_to_drain(self):
        drain = tomllib.loads(BLOCK)["drain"] | tomllib.loads(
            (ROOT / "deploy/hone.toml").read_text())["drain"]
        unit = (ROOT / "deploy/hone.service").read_text()
        stop = int(re.search(r"^TimeoutStopSec=(\d+)$", unit, re.M)[1])
        # 5 s more are daemon/main.cc's.
        self.assertGreater(stop, sum(drain.values()) + 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
