#!/usr/bin/env python3
"""Commands that talk to a daemon.

command_line.py has the usage.
"""

import os
import re
import shutil
import signal
import subprocess
import urllib.request

from command_line import (BIN, MODULE, ROWS, TINY, Scratch, free_port, hone,
                          main)


class WithDaemon(Scratch):
    binaries = BIN

    def setUp(self):
        super().setUp()
        self.server = f"127.0.0.1:{free_port()}"
        self.http = f"127.0.0.1:{free_port()}"
        self.daemon = None
        self.start()

    def start(self):
        self.daemon = subprocess.Popen(
            [self.binaries / "honed", "--listen", self.server, "--http",
             self.http, "--state", self.folder / "state"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        # The daemon says on stderr when it serves.
        for line in self.daemon.stderr:
            if "serves" in line:
                return
        self.fail("honed ended at once")

    def stop(self):
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(timeout=30)
        self.daemon.stderr.close()

    def metric(self, name):
        with urllib.request.urlopen(f"http://{self.http}/metrics") as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[-1])
        return None

    def test_the_main_job(self):
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])
        out = self.folder / "tuned.hlo"
        first = self.json("tune", MODULE, "--trials", 40, "-o", out,
                          server=self.server)
        self.assertEqual(first["module"], "jit_step")
        task = first["tasks"][0]
        self.assertEqual(task["cache"], "miss")
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertEqual(self.json("stats", out)["ops"], task["best"]["cost"])

        second = self.json("tune", MODULE, "--trials", 40, server=self.server)
        self.assertEqual(second["tasks"][0]["cache"], "hit")
        self.assertEqual(second["tasks"][0]["best"], task["best"])

        found = self.json("lookup", MODULE, "--explain", server=self.server)
        self.assertTrue(found["hit"])
        self.assertTrue(
            all(c["matches"] for c in found["explanation"]["components"]))
        missed = self.json("lookup", MODULE, "--explain", "--score", "xla",
                           server=self.server, status=1)
        self.assertEqual(
            [c["name"] for c in missed["explanation"]["components"]
             if not c["matches"]], ["task_options"])
        # Space versions are long; in text they are cut.
        explained = self.ok(hone("lookup", MODULE, "--explain",
                                 server=self.server)).stdout
        self.assertRegex(explained, r"space_version +=.*… \(\d+ characters, SHA")
        self.assertLess(max(map(len, explained.splitlines())), 250)
        missed = self.json("lookup", MODULE, "--numerics", "exact",
                           server=self.server, status=1)
        self.assertFalse(missed["hit"])
        records = self.json("cache", "list", server=self.server)["records"]
        self.assertEqual(len(records), 1)
        tunings = self.json("list", "tunings", server=self.server)["tunings"]
        self.assertEqual([t["state"] for t in tunings], ["succeeded"])
        self.assertEqual(self.metric("hone_cache_entries"), 1)

        compiled = self.folder / "compiled.pb"
        document = self.json("compile", MODULE, "-o", compiled,
                             server=self.server)
        self.assertEqual(document["decisions"][0]["source"], "cache")
        self.assertEqual(self.json("stats", compiled)["ops"],
                         task["best"]["cost"])

        self.assertEqual(
            self.json("cache", "invalidate", "--all",
                      server=self.server)["removed"], 1)
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])

    def test_results_survive_a_restart(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        self.stop()
        self.assertEqual(self.daemon.returncode, 0)
        self.start()
        self.assertTrue(
            self.json("lookup", MODULE, server=self.server)["hit"])

    def test_compile_answers_at_once_and_tunes_behind(self):
        document = self.json("compile", MODULE, "-o", self.folder / "a.hlo",
                             server=self.server)
        self.assertEqual(document["decisions"][0]["source"], "default")
        document = self.json("compile", MODULE, "-o", self.folder / "b.hlo",
                             "--patience", "120s", server=self.server)
        self.assertIn(document["decisions"][0]["source"], ("tuned", "cache"))
        self.assertTrue(self.json("diff", MODULE, self.folder / "b.hlo")
                        ["equal"])

    def test_kernels_are_measured_by_the_local_worker(self):
        module = self.write("rows.hlo", ROWS)
        # At once: the worker may still be on its way.
        tuned = self.json("tune", module, "--task", "kernel", "--trials", 4,
                          server=self.server)
        worker, = self.json("list", "workers", server=self.server)["workers"]
        self.assertEqual(tuned["target"], worker["fingerprint"])
        self.assertEqual(tuned["tasks"][0]["trials"], 4)
        self.assertTrue(self.json("lookup", module, "--task", "kernel",
                                  server=self.server)["hit"])
        missed = self.json("lookup", module, "--task", "kernel", "--threads",
                           2, "--explain", server=self.server, status=1)
        self.assertEqual(
            [(c["name"], c["asked"])
             for c in missed["explanation"]["components"] if not c["matches"]],
            [("task_options", "threads=2")])
        # What another device would need is not there.
        self.assertFalse(self.json(
            "lookup", module, "--task", "kernel", "--target", "cpu:0",
            server=self.server, status=1)["hit"])

    def test_a_killed_kernel_tuning_is_resumed(self):
        module = self.write("rows.hlo", ROWS)
        tune = subprocess.Popen(
            [BIN / "hone", "tune", str(module), "--task", "kernel", "--trials",
             "64", "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HONE_SERVER": self.server})
        for line in tune.stderr:
            if re.search(r"trial [1-9]", line):
                break
        self.daemon.kill()
        self.daemon.wait()
        self.start()
        # The client has waited for the daemon to come back, or asks again.
        tune.communicate(timeout=120)
        document = self.json("tune", module, "--task", "kernel", "--trials",
                             "64", server=self.server)
        self.assertEqual(document["tasks"][0]["trials"], 64)
        states = [t["state"] for t in
                  self.json("list", "tunings", server=self.server)["tunings"]]
        self.assertEqual(states, ["succeeded"])

    def test_a_tuning_is_cancelled(self):
        tune = subprocess.Popen(
            [BIN / "hone", "tune", str(MODULE), "--optimizer", "random",
             "--trials", "100000000"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HONE_SERVER": self.server})
        tunings = []
        while not tunings:
            tunings = self.json("list", "tunings",
                                server=self.server)["tunings"]
        name = tunings[0]["name"]
        document = self.json("cancel", name, server=self.server)
        self.assertEqual((document["name"], document["state"]),
                         (name, "cancelled"))
        _, errors = tune.communicate(timeout=120)
        self.assertEqual(tune.returncode, 3)
        self.assertIn(f"{name} was cancelled", errors)
        listed = self.ok(hone("list", "tunings", server=self.server)).stdout
        self.assertRegex(listed, f"^{name} jit_step pass_order random: "
                         r"cancelled, \d+ trials\n$")
        self.one_line_error(hone("cancel", name, server=self.server), 2)
        self.one_line_error(hone("cancel", "tunings/none", server=self.server),
                            2, "none")

    def test_an_incomplete_installation_is_no_bad_input(self):
        """Without the library of learned optimizers, which is in ../lib."""
        self.binaries = self.folder / "bin"
        self.binaries.mkdir()
        for name in ("hone", "honed"):
            shutil.copy(BIN / name, self.binaries)
        path = self.write("tiny.hlo", TINY)
        local = subprocess.run(
            [self.binaries / "hone", "tune", path, "--local", "--optimizer",
             "guided"], capture_output=True, text=True, timeout=60)
        self.one_line_error(local, 3, "libhone_policies.so")
        self.assertEqual(local.stdout, "")
        self.stop()
        self.start()
        # Progress, of which there may be a line, comes before.
        remote = self.ok(hone("tune", path, "--optimizer", "guided",
                              server=self.server), 3)
        self.assertRegex(remote.stderr.splitlines()[-1],
                         r"^hone: .*libhone_policies\.so")
        listed = self.ok(hone("list", "tunings", server=self.server)).stdout
        self.assertRegex(listed, "^tunings/.*: failed, 0 trials: .*"
                         r"libhone_policies\.so.*\n$")

    def test_a_second_daemon_on_the_store_is_refused(self):
        result = subprocess.run(
            [BIN / "honed", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--state", self.folder / "state"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("honed: ", result.stderr)
        self.assertIn("state", result.stderr)

    def test_bad_requests(self):
        self.one_line_error(
            hone("tune", MODULE, "--optimizer", "nope", server=self.server), 2,
            "nope", "beam")
        self.one_line_error(hone("cache", "invalidate", server=self.server), 2)


if __name__ == "__main__":
    main()
