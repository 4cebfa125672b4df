"""A folder in which the blocks of one page are run, one after the other."""

import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import zstandard

import pages

SECONDS_PER_BLOCK = 180

# The files that pages call by these names.
MODULES = {
    "model.hlo": "bench/data/corpus/mlp.train.hlo.zst",
    "softmax.hlo": "tests/testdata/kernels/softmax_7x19.hlo",
}

# honed on ports of its own, with its state in the sandbox.
HONED = """#!/bin/sh
case " $* " in *" --help "*|*" --version "*) exec {binaries}/honed "$@" ;; esac
case " $* " in *" --http "*) ;; *) set -- "$@" --http {http} ;; esac
echo $$ >>{root}/honed.pids
exec {binaries}/honed "$@"
"""

# A daemon that was started just before serves first.
HONE = """#!/bin/sh
tries=0
while [ -e {root}/honed.pids ] && [ $tries -lt 300 ] &&
    ! {binaries}/hone list tunings --json >/dev/null 2>&1; do
  tries=$((tries + 1)); sleep 0.1
done
exec {binaries}/hone "$@"
"""

# Nothing is downloaded: what is built and installed has to find what it needs
# among what tests/python/requirements.txt names.
PIP = """#!/bin/sh
[ "$1" = install ] || exit 2
shift
exec {venv}/bin/python -m pip install --quiet --disable-pip-version-check \
  --no-index --no-build-isolation --check-build-dependencies "$@"
"""


def free_address():
    # Below the ports that the system gives to connections, which other tests
    # open all the time.
    while True:
        port = random.randrange(12000, 30000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        return f"127.0.0.1:{port}"


def end(pid):
    """Ends a process, of this one or not, and waits until it has ended."""
    try:
        os.kill(pid, signal.SIGTERM)
        stat = pathlib.Path(f"/proc/{pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.05)
    except (FileNotFoundError, ProcessLookupError):
        pass


class Sandbox:
    """A copy of the source tree with programs and modules, for one page.

    Its root is the working folder of the blocks. The programs are in
    build/release/bin; Python has an environment of its own.
    """

    def __init__(self, source, binaries):
        self._folder = tempfile.TemporaryDirectory(prefix="hone-docs-")
        self.root = pathlib.Path(self._folder.name)
        self._binaries = binaries
        copied = [path for path in source.iterdir()
                  if path.name not in ("build", ".git", ".venv")]
        subprocess.run(["cp", "-r", *copied, self.root], check=True)
        self._make_python()
        values = {"binaries": binaries, "root": self.root,
                  "http": free_address(),
                  "venv": self.root / "docs-venv"}
        bin_folder = self.root / "build/release/bin"
        bin_folder.mkdir(parents=True)
        self._script(bin_folder / "honed", HONED, values)
        self._script(bin_folder / "hone", HONE, values)
        self._script(self.root / "docs-venv/bin/pip", PIP, values)
        self._environment = {
            "PATH": f"{bin_folder}:{self.root / 'docs-venv/bin'}:"
                    f"{os.environ['PATH']}",
            "HOME": str(self.root / "home"),
            "JAX_PLATFORMS": "cpu",
            "LANG": "C.UTF-8",
        }
        self._make_modules(source)
        self._daemon = None

    def close(self):
        pids = self.root / "honed.pids"
        if pids.exists():
            for pid in map(int, pids.read_text().split()):
                end(pid)
            pids.unlink()
        if self._daemon is not None:
            self._daemon.wait()
        self._folder.cleanup()

    def run(self, block):
        """Runs a block; returns what it printed, and what went wrong."""
        self._wait_for_daemon()
        if block.language == "sh":
            return self._run(["bash", "-euo", "pipefail", "-c", block.text])
        if block.language == "python":
            return self._run(["python", "-c", block.text])
        if block.language == "c":
            (self.root / "block.c").write_text(block.text)
            return self._run(["cc", "-std=c11", "-Wall", "-Werror",
                              "-fsyntax-only", "block.c"])
        return self._run_daemon_with(block.text)

    def start_daemon(self):
        self._daemon = subprocess.Popen(
            [self.root / "build/release/bin/honed"], cwd=self.root,
            env=self._environment, stderr=subprocess.DEVNULL)
        while not (self.root / "honed.pids").exists():
            time.sleep(0.01)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _make_python(self):
        # With the packages of this Python, and room for others.
        venv = self.root / "docs-venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv],
                       check=True)
        site, = venv.glob("lib/python*/site-packages")
        (site / "packages_of_the_tests.pth").write_text(
            "\n".join(path for path in sys.path
                      if path.endswith("site-packages")) + "\n")

    def _make_modules(self, source):
        (self.root / "home").mkdir()
        for name, original in MODULES.items():
            data = (source / original).read_bytes()
            if original.endswith(".zst"):
                data = zstandard.ZstdDecompressor().decompressobj().decompress(
                    data)
            (self.root / name).write_bytes(data)
        script = subprocess.run(
            [self._binaries / "hone", "kernel", self.root / "softmax.hlo",
             "--moves"], capture_output=True, text=True, check=True).stdout
        moves = re.findall(r"^\w+ [\d.]+.*$", script, re.M)
        self.write("my.script", moves[0] + "\n")

    def _script(self, path, text, values):
        path.write_text(text.format(**values))
        path.chmod(0o755)

    def _run(self, command):
        # To a file: a daemon that stays would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            try:
                status = subprocess.run(
                    command, cwd=self.root, env=self._environment,
                    stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=SECONDS_PER_BLOCK).returncode
            except subprocess.TimeoutExpired:
                status = f"none after {SECONDS_PER_BLOCK} s"
            output.seek(0)
            printed = output.read()
        problem = "" if status == 0 else f"exit status {status}:\n{printed}"
        return printed, problem

    def _run_daemon_with(self, configuration):
        """Starts honed with a configuration, commented keys included."""
        self.write("hone.toml",
                   re.sub(r"^# (?=\w+ = )", "", configuration, flags=re.M))
        process = subprocess.Popen(
            [self._binaries / "honed", "--config", "hone.toml", "--http",
             "127.0.0.1:0", "--state", "state"],
            cwd=self.root, env=self._environment, text=True,
            stderr=subprocess.PIPE)
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "serves gRPC" in line:
                process.terminate()
        process.stderr.close()
        status = process.wait()
        printed = "".join(lines)
        return printed, printed if status != 0 else ""

    def _wait_for_daemon(self):
        if not (self.root / "honed.pids").exists():
            return
        subprocess.run([self.root / "build/release/bin/hone", "list",
                        "tunings"], env=self._environment,
                       capture_output=True, timeout=60)
