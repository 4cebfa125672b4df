"""Runs `hone` as a user does, for the tests of this folder.

Each is called as: NAME_test.py BIN_DIR CORPUS_DIR [unittest arguments]
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv[1])
CORPUS = pathlib.Path(sys.argv[2])
MODULE = CORPUS / "mlp.train.hlo.zst"
ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = """HloModule tiny

ENTRY main {
  x = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4]{0} broadcast(zero), dimensions={}
  dead = f32[4]{0} multiply(x, x)
  ROOT sum = f32[4]{0} add(x, zeros)
}
"""
ROWS = """HloModule rows

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[5,37]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[5]{0} reduce(x, zero), dimensions={1}, to_apply=add
}
"""
LAYER = """HloModule layer

ENTRY e {
  a = f32[64,512] parameter(0)
  w = f32[512,256] parameter(1)
  d = f32[64,256] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,256] tanh(d)
  ROOT n = f32[64,256] negate(t)
}
"""
LOOP = """HloModule loop

body {
  p = f32[4]{0} parameter(0)
  ROOT r = f32[4]{0} add(p, p)
}

condition {
  p = f32[4]{0} parameter(0)
  ROOT c = pred[] constant(false)
}

ENTRY main {
  x = f32[4]{0} parameter(0)
  ROOT w = f32[4]{0} while(x), condition=condition, body=body
}
"""


def hone(*arguments, server=None, stdin=None, state_home=None, **variables):
    """Runs hone. With `state_home` it looks for the daemon of that folder;
    otherwise its server is `server`, or none."""
    environment = {**os.environ, **variables}
    if state_home is None:
        environment["HONE_SERVER"] = server or "127.0.0.1:1"
    else:
        environment.pop("HONE_SERVER", None)
        environment["XDG_STATE_HOME"] = str(state_home)
    return subprocess.run([BIN / "hone", *map(str, arguments)],
                          capture_output=True, text=True, env=environment,
                          input=stdin, timeout=240)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def ok(self, result, status=0):
        self.assertEqual(result.returncode, status,
                         result.stdout + result.stderr)
        return result

    def start_daemon(self, *arguments):
        """Starts honed with the state folder that `state_home=self.folder`
        finds, and returns it once it serves."""
        daemon = subprocess.Popen(
            [BIN / "honed", "--http", "127.0.0.1:0", "--state",
             self.folder / "hone", *arguments],
            stderr=subprocess.PIPE, text=True)

        def stop():
            daemon.terminate()
            daemon.communicate(timeout=60)

        self.addCleanup(stop)
        log = []
        for line in daemon.stderr:
            log.append(line)
            if "serves" in line and "honed" in line:
                return daemon
        self.fail("honed ended at once: " + "".join(log))

    def json(self, *arguments, server=None, status=0):
        result = self.ok(hone(*arguments, "--json", server=server), status)
        return json.loads(result.stdout)

    def one_line_error(self, result, status, *parts):
        self.ok(result, status)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("hone: "), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)


def main():
    """Runs the tests of the program."""
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
