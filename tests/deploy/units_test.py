#!/usr/bin/env python3
"""Installs what the units say, and runs them as systemd would.

Usage: units_test.py ROOT BUILD_DIR [unittest arguments]

The test is a machine of its own: in namespaces for mounts and the network, so
that paths, ports and ExecStart= are those of the units. It needs root, or user
namespaces. enter_unit.py emulates the units' directives and names those that it
does not; `systemd-analyze` judges all of them.
"""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

import enter_unit

ROOT, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
ENTER = pathlib.Path(enter_unit.__file__).resolve()
STATE = pathlib.Path("/var/lib/hone")
UNITS = {name: pathlib.Path("/etc/systemd/system", name)
         for name in ("hone.service", "hone-worker.service")}
KERNEL = ROOT / "tests/testdata/kernels/softmax_7x19.hlo"
MODULE = ROOT / "bench/data/corpus/mlp.train.hlo.zst"
EXPOSURE = 13  # in tenths; 100 is a unit without any directive
MEMORY_MAX = 3_000_000_000
SECONDS = 120

# Tried in a unit: the name, and what fails if the unit forbids it.
PROBE = """
import mmap, os, pathlib, socket, sys
def write_execute():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
def netlink(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
def unix(): socket.socket(socket.AF_UNIX)
def namespace():
    import ctypes
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000): raise OSError
def write_usr(): pathlib.Path("/usr/local/bin/probe").write_text("")
def change_usr():
    if os.statvfs("/usr").f_flag & os.ST_RDONLY: raise OSError
def write_state(): pathlib.Path("/var/lib/hone/probe").write_text("")
def call_socket(): socket.socket(socket.AF_UNIX).connect("/var/lib/hone/hone.sock")
def write_tmp(): pathlib.Path("/tmp/probe").write_text("")
def set_user_id(): os.chmod("/tmp/probe", 0o4755)
def see_tmp():
    if os.listdir("/tmp") not in ([], ["probe"]): return
    raise OSError
for name in sys.argv[1:]:
    try: globals()[name](); print(name, "works")
    except OSError: print(name, "fails")
"""


def enter_machine():
    """Runs this program again, in namespaces of its own."""
    command = ["unshare", "--mount", "--net"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    os.environ["HONE_TEST_MACHINE"] = "entered"
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def start_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        up = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(s, 0x8914, up)  # SIOCSIFFLAGS


def install(folder):
    """Runs the commands in the head of hone.service, with `folder` as root."""
    text = (ROOT / "deploy/hone.service").read_text()
    commands = re.findall(r"^#   (install .*)$", text, re.M)
    assert commands
    release = BUILD.relative_to(ROOT) if BUILD.is_relative_to(ROOT) else BUILD
    for command in commands:
        words = [f"{folder}{word}" if word.startswith("/") else
                 word.replace("build/release", str(release))
                 for word in shlex.split(command)]
        subprocess.run(words, cwd=ROOT, check=True)


def build_machine(folder):
    """Puts what is installed in `folder` where it belongs."""
    enter_unit.mount("--make-rprivate", "/")
    start_loopback()
    enter_unit.mount("--bind", folder / "usr/local", "/usr/local")
    enter_unit.mount("-t", "overlay", "-o", f"lowerdir={folder / 'etc'}:/etc",
                     "overlay", "/etc")
    enter_unit.mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/var/lib")
    STATE.mkdir()
    # Stands for MemoryMax=.
    enter_unit.mount("-t", "tmpfs", "tmpfs", "/sys/fs/cgroup")
    pathlib.Path("/sys/fs/cgroup/memory.max").write_text(f"{MEMORY_MAX}\n")


class Service:
    """A unit that runs; its log is what it wrote so far."""

    def __init__(self, unit, command=(), path=None):
        self.process = subprocess.Popen(
            ["unshare", "--mount", sys.executable, ENTER, path or UNITS[unit],
             STATE, *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = []
        self._said = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            with self._said:
                self.log.append(line)
                self._said.notify_all()
        with self._said:
            self.log.append("")
            self._said.notify_all()

    def wait_for(self, text):
        with self._said:
            self._said.wait_for(
                lambda: any(text in line for line in self.log) or
                self.log[-1:] == [""], SECONDS)
            if not any(text in line for line in self.log):
                raise AssertionError(f"no \"{text}\" in: {''.join(self.log)}")

    def stop(self):
        """Its exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=60)
        self._reader.join()
        self.process.stderr.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
            self._reader.join()
            self.process.stderr.close()


def probe(unit, *names):
    result = subprocess.run(
        ["unshare", "--mount", sys.executable, ENTER, UNITS[unit], STATE,
         "/usr/bin/python3", "-c", PROBE, *names],
        capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, f"{result.returncode}: {result.stderr}"
    return dict(line.split() for line in result.stdout.splitlines())


def hone(*arguments, **variables):
    environment = {"PATH": "/usr/bin:/bin", "HONE_SERVER": "127.0.0.1:7420",
                   **variables}
    return subprocess.run(["/usr/local/bin/hone", *map(str, arguments)],
                          capture_output=True, text=True, env=environment,
                          timeout=240)


def metric(name):
    with urllib.request.urlopen("http://127.0.0.1:7421/metrics") as page:
        for line in page.read().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
    raise AssertionError(f"no metric {name}")


class Installed(unittest.TestCase):
    def test_nothing_is_missing(self):
        for name in ("bin/honed", "bin/hone", "lib/libhone_policies.so"):
            loaded = subprocess.run(["ldd", f"/usr/local/{name}"], check=True,
                                    capture_output=True, text=True,
                                    env={"PATH": os.environ["PATH"]}).stdout
            self.assertNotIn("not found", loaded, name)
            self.assertNotIn(str(ROOT), loaded, name)

    def test_only_programs_can_be_executed(self):
        for path in [*UNITS.values(), pathlib.Path("/etc/hone/hone.toml")]:
            self.assertEqual(path.stat().st_mode & 0o777, 0o644, path)


class Units(unittest.TestCase):
    def test_systemd_understands_them(self):
        result = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *UNITS.values()],
            capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_exposure(self):
        for path in UNITS.values():
            result = subprocess.run(
                ["systemd-analyze", "security", "--offline=true",
                 f"--threshold={EXPOSURE}", path],
                capture_output=True, text=True)
            self.assertEqual(result.returncode, 0,
                             result.stdout + result.stderr)

    def test_the_comments_of_the_worker_can_be_used(self):
        text = UNITS["hone-worker.service"].read_text()
        lines = re.findall(r"^#   (\w+=.*)$", text, re.M)
        self.assertEqual(len(lines), 4)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "hone-worker.service")
            path.write_text(text.replace(
                "\n[Service]\n", "\n[Service]\n" + "\n".join(lines) + "\n"))
            result = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", path],
                capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_daemon_can_do_no_more_than_it_needs(self):
        self.assertEqual(
            probe("hone.service", "write_execute", "netlink", "unix",
                  "namespace", "write_usr", "change_usr", "write_state",
                  "see_tmp", "write_tmp", "set_user_id"),
            {"write_execute": "fails", "netlink": "fails", "unix": "works",
             "namespace": "fails", "write_usr": "fails", "change_usr": "fails",
             "write_state": "works", "see_tmp": "fails", "write_tmp": "works",
             "set_user_id": "fails"})

    def test_the_worker_makes_code_and_has_no_state(self):
        self.assertEqual(
            probe("hone-worker.service", "write_execute", "netlink",
                  "namespace", "write_usr", "change_usr", "write_state",
                  "see_tmp", "write_tmp"),
            {"write_execute": "works", "netlink": "fails",
             "namespace": "fails", "write_usr": "fails",
             "change_usr": "fails", "write_state": "fails", "see_tmp": "fails",
             "write_tmp": "works"})


class Run(unittest.TestCase):
    def check(self, result, status=0):
        self.assertEqual(result.returncode, status,
                         result.stdout + result.stderr)
        return json.loads(result.stdout)

    def start(self, unit, text, **options):
        service = self.enterContext(Service(unit, **options))
        service.wait_for(text)
        return service

    def children_that_loaded(self, process, library):
        found = []
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if library in pathlib.Path(f"/proc/{child}/maps").read_text():
                    found.append(child)
        return found

    def test_from_start_to_end(self):
        # As Type=notify says.
        notify = self.enterContext(
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        notify.settimeout(SECONDS)
        os.environ["NOTIFY_SOCKET"] = "/var/lib/notify"
        self.addCleanup(os.environ.pop, "NOTIFY_SOCKET")
        notify.bind(os.environ["NOTIFY_SOCKET"])
        os.chmod(os.environ["NOTIFY_SOCKET"], 0o666)
        daemon = self.start("hone.service", "serves gRPC")
        self.assertEqual(notify.recv(100), b"READY=1")
        self.assertEqual(metric("hone_workers"), 0)
        self.assertEqual(metric("process_memory_limit_bytes"), MEMORY_MAX)
        worker = self.start("hone-worker.service", "serves 127.0.0.1:7420")
        self.assertEqual(metric("hone_workers"), 1)
        # A test without root has one user for both.
        self.assertEqual(
            probe("hone-worker.service", "call_socket"),
            {"call_socket": "fails" if enter_unit.has_users() else "works"})

        tuned = self.check(hone("tune", MODULE, "--optimizer", "guided",
                                "--trials", 20, "--json"))
        self.assertEqual(tuned["tasks"][0]["optimizer"], "guided")
        for library in ("libhone_policies.so", "libtorch_cpu.so"):
            self.assertTrue(
                self.children_that_loaded(daemon.process, library), library)
        # Over the socket, as root.
        self.assertTrue(self.check(
            hone("lookup", MODULE, "--json",
                 HONE_SERVER=f"unix:{STATE}/hone.sock"))["hit"])

        self.check(hone("tune", KERNEL, "--task", "kernel", "--trials", 3,
                        "--json"))
        self.assertGreater(metric('hone_candidates_total{outcome="ok"}'), 0)
        self.assertEqual(
            metric('hone_candidates_total{outcome="crashed"}'), 0)
        self.assertEqual(metric("hone_process_failures_total"), 0)

        self.assertEqual(worker.stop(), 0, worker.log)
        self.assertEqual(daemon.stop(), 0, daemon.log)
        self.assertEqual(notify.recv(100), b"STOPPING=1")
        self.assertNotIn("Operation not permitted",
                         "".join(daemon.log + worker.log))

    def test_a_worker_with_a_token(self):
        token = pathlib.Path("/var/lib/token")
        token.write_text("secret\n")
        token.chmod(0o644)  # LoadCredential= gives it to the worker's user
        digest = hashlib.sha256(b"secret").hexdigest()
        tokens = pathlib.Path("/var/lib/tokens")
        tokens.write_text(f"worker worker {digest}\n")
        tokens.chmod(0o644)
        config = pathlib.Path("/var/lib/hone.toml")
        config.write_text(pathlib.Path("/etc/hone/hone.toml").read_text() +
                          f'[access]\ntokens = "{tokens}"\n')
        daemon = self.start(
            "hone.service", "serves gRPC",
            command=("/usr/local/bin/honed", "--config", str(config)))
        with Service("hone-worker.service") as refused:
            refused.wait_for("authorization: Bearer")
        unit = pathlib.Path("/var/lib/hone-worker.service")
        unit.write_text(UNITS["hone-worker.service"].read_text().replace(
            "\nEnvironment=", f"\nEnvironment=HONE_TOKEN_FILE={token}"
            "\nEnvironment=", 1))
        worker = self.start("hone-worker.service", "serves 127.0.0.1:7420",
                            path=unit)
        # The worker's role does not do for more.
        self.assertEqual(hone("lookup", MODULE, "--token-file",
                              token).returncode, 3)
        self.check(hone("tune", KERNEL, "--task", "kernel", "--trials", 2,
                        "--json", HONE_SERVER=f"unix:{STATE}/hone.sock"))
        self.assertEqual(worker.stop(), 0, worker.log)
        self.assertEqual(daemon.stop(), 0, daemon.log)


def main():
    if os.environ.get("HONE_TEST_MACHINE") != "entered":
        enter_machine()
    with tempfile.TemporaryDirectory(prefix="hone-units-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        install(folder)
        build_machine(folder)
        program = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False)
        for target in ("/usr/local", "/etc"):
            subprocess.run(["umount", "--lazy", target], check=True)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
