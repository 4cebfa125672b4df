"""XLA reads the modules that a placement makes, with a device everywhere.

Usage: placed_module_test.py HONE CORPUS [unittest arguments]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from jaxlib import _hlo

HONE = sys.argv[1]
CORPUS = pathlib.Path(sys.argv[2])
DEVICES = 4

# Shardings from before, a pair, tuples, a barrier and what nobody reads.
ODD = """HloModule odd

pair {
  p = f32[8]{0} parameter(0)
  e = f32[2]{0} slice(p), slice={[0:2]}
  ROOT both = (f32[8]{0}, f32[2]{0}) tuple(p, e)
}

ENTRY main {
  x = f32[8]{0} parameter(0), sharding={replicated}
  y = (f32[8]{0}, f32[8]{0}) parameter(1)
  unread = f32[8]{0} parameter(2)
  c = f32[8]{0} constant({1, 2, 3, 4, 5, 6, 7, 8})
  y1 = f32[8]{0} get-tuple-element(y), index=1
  a = f32[8]{0} add(x, c), sharding={maximal device=7}
  f = (f32[8]{0}, f32[2]{0}) fusion(a), kind=kLoop, calls=pair
  o = (f32[8]{0}, f32[2]{0}) opt-barrier(f)
  o0 = f32[8]{0} get-tuple-element(o), index=0
  s = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(o0)
  d = f32[8]{0} copy-done(s)
  m = f32[8]{0} multiply(d, y1)
  ROOT r = (f32[8]{0}, f32[8]{0}) tuple(m, c)
}
"""


def run_hone(*arguments):
    return subprocess.run([HONE, *map(str, arguments)], check=True,
                          capture_output=True, text=True).stdout


def devices_of(module):
    """The devices of each entry instruction, by name, as XLA prints them."""
    text = module.to_string()
    entry = text[text.index("\nENTRY "):].split("\n}")[0]
    found = {}
    for line in entry.splitlines():
        match = re.match(r"\s+(?:ROOT )?%?(\S+) = ", line)
        if match:
            sharding = re.search(r"sharding=(\{[^=]*maximal device=\d+\}.*)",
                                 line)
            found[match[1]] = set(re.findall(r"maximal device=(\d+)",
                                             sharding[1] if sharding else ""))
    return found


class PlacedModules(unittest.TestCase):
    def check(self, path, task):
        with tempfile.TemporaryDirectory() as folder:
            out = {name: pathlib.Path(folder, "out." + name)
                   for name in ("hlo", "pb")}
            tune = ["tune", path, "--local", "--task", task, "--trials", 12,
                    "--target", f"cluster:v100x{DEVICES}", "--json", "-o"]
            decisions = [json.loads(run_hone(*tune, out[name]))["tasks"][0]
                         for name in out]
            self.assertEqual(*[found["assignment"] for found in decisions])
            modules = [
                _hlo.hlo_module_from_text(out["hlo"].read_text()),
                _hlo.HloModule.from_serialized_hlo_module_proto(
                    out["pb"].read_bytes())]
        graph = json.loads(run_hone("graph", path))
        placed = {node["name"]: str(device) for node, device in
                  zip(graph["nodes"], decisions[0]["assignment"], strict=True)}
        for module in modules:
            found = devices_of(module)
            self.assertGreater(len(found), len(placed) - 1)
            for name, devices in found.items():
                self.assertEqual(len(devices), 1, name)
                self.assertLess(int(*devices), DEVICES, name)
                if name in placed:
                    self.assertEqual(devices, {placed[name]}, name)
            self.assertLessEqual(set(placed), set(found))

    def test_corpus(self):
        for name in ("mlp.train", "rnnlm_scan.train"):
            for task in ("placement", "joint"):
                with self.subTest(name, task=task):
                    self.check(CORPUS / f"{name}.hlo.zst", task)

    def test_odd_instructions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "odd.hlo")
            path.write_text(ODD)
            self.check(path, "placement")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
