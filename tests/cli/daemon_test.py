#!/usr/bin/env python3
"""Commands that talk to a daemon.

command_line.py has the usage.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import urllib.request

from command_line import (BIN, LAYER, MODULE, ROWS, TINY, Scratch, free_port,
                          hone, main)


class OnTheSocket(Scratch):
    def test_no_option_is_needed(self):
        path = self.write("tiny.hlo", TINY)
        self.start_daemon()
        tuned = self.ok(hone("tune", path, "--trials", 5, "--json",
                             state_home=self.folder))
        self.assertNotIn("no daemon", tuned.stderr)
        found = self.ok(hone("lookup", path, "--json", state_home=self.folder))
        self.assertTrue(json.loads(found.stdout)["hit"])

    def test_a_worker_finds_it(self):
        path = self.write("tiny.hlo", TINY)
        self.start_daemon()
        while True:
            listed = self.ok(hone("list", "workers", "--json",
                                  state_home=self.folder))
            if json.loads(listed.stdout)["workers"]:
                break
        self.ok(hone("tune", path, "--task", "kernel", "--trials", 3,
                     state_home=self.folder))

    def test_tokens_over_tcp(self):
        path = self.write("tiny.hlo", TINY)
        token = self.write("token", "secret\n")
        digest = hashlib.sha256(b"secret").hexdigest()
        tokens = self.write("tokens", f"ci lookup {digest}\n")
        tokens.chmod(0o600)
        server = f"127.0.0.1:{free_port()}"
        config = self.write("hone.toml", f'[access]\ntokens = "{tokens}"\n')
        daemon = self.start_daemon("--config", config, "--listen", server,
                            "--log-level", "trace")
        self.one_line_error(hone("lookup", path, server=server), 3,
                            "authorization: Bearer")
        # A miss: the call was let in.
        self.ok(hone("lookup", path, server=server, HONE_TOKEN_FILE=str(token)),
                status=1)
        self.one_line_error(
            hone("tune", path, "--token-file", token, server=server), 3,
            "ci", "role tune")
        tokens.write_text(f"ci admin {digest}\n")
        daemon.send_signal(signal.SIGHUP)
        for line in daemon.stderr:
            self.assertNotIn("secret", line)
            if "read the tokens again" in line:
                break
        self.ok(hone("tune", path, "--trials", 5, "--token-file", token,
                     server=server))
        daemon.terminate()
        for line in daemon.stderr:
            self.assertNotIn("secret", line)
            self.assertNotIn(digest, line)


    def test_tls(self):
        path = self.write("tiny.hlo", TINY)
        pem, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", key, "-out", pem], check=True, capture_output=True)
        token = self.write("token", "secret")
        digest = hashlib.sha256(b"secret").hexdigest()
        tokens = self.write("tokens", f"ci worker,tune {digest}\n")
        tokens.chmod(0o600)
        port = free_port()
        config = self.write("hone.toml", f"""
[access]
tokens = "{tokens}"
tls_cert = "{pem}"
tls_key = "{key}"
tls_client_ca = "{pem}"
""")
        # Other machines could reach it.
        self.start_daemon("--config", config, "--listen", f"0.0.0.0:{port}")
        server = f"localhost:{port}"
        credentials = ["--token-file", token, "--tls-ca", pem, "--tls-cert",
                       pem, "--tls-key", key]
        self.ok(hone("tune", path, "--trials", 5, *credentials, server=server))
        self.one_line_error(
            hone("lookup", path, *credentials[2:], server=server), 3,
            "authorization: Bearer")
        self.one_line_error(
            hone("lookup", path, "--token-file", token, "--tls-ca", pem,
                 server=server), 3, server)
        self.one_line_error(
            hone("lookup", path, "--token-file", token, server=server), 3,
            server)
        worker = subprocess.Popen(
            [BIN / "hone", "worker", "--connect", server,
             *map(str, credentials)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(worker.communicate, timeout=60)
        self.addCleanup(worker.terminate)
        self.assertIn("serves " + server, worker.stderr.readline())

    def test_other_machines_need_tls_and_tokens(self):
        result = subprocess.run(
            [BIN / "honed", "--listen", "0.0.0.0:0", "--state",
             self.folder / "hone"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("0.0.0.0:0: other machines can reach it", result.stderr)


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

    def test_records_are_shown_and_deleted_by_name(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        record, = self.json("cache", "list", server=self.server)["records"]
        name = record["name"]
        self.assertRegex(name, "^projects/default/records/[0-9a-f]{64}$")
        self.assertEqual(self.json("cache", "show", name, server=self.server),
                         record)
        text = self.ok(hone("cache", "show", name, server=self.server)).stdout
        self.assertTrue(text.startswith(name))
        self.assertIn('"passes"', text)
        self.assertIn(name, self.ok(
            hone("cache", "delete", name, server=self.server)).stdout)
        for command in ("show", "delete"):
            self.one_line_error(
                hone("cache", command, name, server=self.server), 2, name)
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])

    def test_results_survive_a_restart(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        self.stop()
        self.assertEqual(self.daemon.returncode, 0)
        self.start()
        self.assertTrue(
            self.json("lookup", MODULE, server=self.server)["hit"])

    def test_a_backup_comes_back(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        made = self.json("admin", "backup", "first", server=self.server)
        self.assertEqual(made["records"], 1)
        self.assertEqual(made["path"],
                         str(self.folder / "state" / "backups" / "first"))
        self.one_line_error(hone("admin", "backup", "first",
                                 server=self.server), 2, "exists already")
        self.one_line_error(hone("admin", "backup", "../x",
                                 server=self.server), 2, "backup name")
        state = ("--state", self.folder / "state")
        # Not while the daemon has it open.
        self.one_line_error(hone("admin", "restore", "first", *state), 3,
                            "in use by process")
        self.assertEqual(self.json("cache", "invalidate", "--all",
                                   server=self.server)["removed"], 1)
        self.stop()
        self.assertEqual(
            self.json("admin", "restore", "first", *state)["records"], 1)
        self.start()
        self.assertTrue(self.json("lookup", MODULE, server=self.server)["hit"])

    def test_check_lists_what_is_corrupt(self):
        self.json("tune", MODULE, "--trials", 20, server=self.server)
        self.assertEqual(
            self.json("cache", "check", server=self.server)["corrupt"], [])
        self.stop()
        with sqlite3.connect(self.folder / "state" / "hone.db") as database:
            database.execute("UPDATE record SET unit = 'x'")
        database.close()
        self.start()
        found = self.json("cache", "check", server=self.server, status=1)
        self.assertEqual([item["table"] for item in found["corrupt"]],
                         ["record"])
        text = hone("cache", "check", server=self.server)
        self.assertEqual(text.returncode, 1)
        listed = re.search(r"^record (projects/default/records/\w+): .*corrupt row",
                           text.stdout, re.MULTILINE)
        self.assertIsNotNone(listed, text.stdout)
        self.assertFalse(
            self.json("lookup", MODULE, server=self.server, status=1)["hit"])
        # What is listed can be deleted by its name.
        self.json("cache", "delete", listed[1], server=self.server)
        self.assertEqual(
            self.json("cache", "check", server=self.server)["corrupt"], [])

    def test_compile_answers_at_once_and_tunes_behind(self):
        document = self.json("compile", MODULE, "-o", self.folder / "a.hlo",
                             "--patience", "0s", server=self.server)
        decision, = document["decisions"]
        self.assertEqual(decision["source"], "default")
        # Verified by then, or not: up to the machine.
        self.assertEqual("applied" in decision, decision["missing"] == "")
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
        self.assertEqual(tuned["target"],
                         worker["devices"][0]["fingerprint"])
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

    def test_modules_are_tuned_kernel_by_kernel(self):
        module = self.write("rows.hlo", ROWS)
        tuned = self.json("tune", module, "--task", "module", "--trials", 6,
                          server=self.server)
        task = tuned["tasks"][0]
        self.assertEqual(task["trials"], 6)
        self.assertIn("measured by worker", task["verified"]["method"])
        self.assertTrue(self.json("lookup", module, "--task", "module",
                                  server=self.server)["hit"])
        kernels = task["best"]["decision"]["kernels"]
        ran = self.json("run", module, "--target", "cpu", "--threads", 1,
                        server=self.server)
        self.assertEqual(ran["kernels"], len(kernels))
        self.assertEqual(ran["tuned_kernels"],
                         sum("script" in kernel for kernel in kernels))
        default = self.json("run", module, "--target", "cpu", "--threads", 1,
                            "--default", server=self.server)
        self.assertEqual(default["tuned_kernels"], 0)

    def test_a_worker_fetches_a_large_module(self):
        """Over 64 KiB: not part of the work, but fetched by its digest."""
        values = ", ".join(str(i % 97) for i in range(20000))
        module = self.write("large.hlo", f"""HloModule large

ENTRY main {{
  x = f32[20000]{{0}} parameter(0)
  c = f32[20000]{{0}} constant({{{values}}})
  ROOT sum = f32[20000]{{0}} add(x, c)
}}
""")
        tuned = self.json("tune", module, "--task", "kernel", "--trials", 2,
                          server=self.server)
        method = tuned["tasks"][0]["verified"]["method"]
        worker, = self.json("list", "workers", server=self.server)["workers"]
        self.assertIn(f"measured by worker {worker['id']}", method)
        self.assertFalse(worker["on_probation"])
        calls = ('hone_rpcs_started_total'
                 '{method="hone.v1.WorkerService/ReadModule"}')
        # Once: the worker keeps it.
        self.assertEqual(self.metric(calls), 1)

    def test_a_worker_drains(self):
        """On SIGTERM, and when the daemon asks: it ends, and is listed no
        more."""
        def start(name):
            worker = subprocess.Popen(
                [BIN / "hone", "worker", "--connect", self.server, "--id",
                 name], stderr=subprocess.PIPE, text=True)
            self.addCleanup(worker.communicate)
            self.addCleanup(worker.kill)
            self.assertIn("serves", worker.stderr.readline())
            return worker

        by_signal, by_daemon = start("by_signal"), start("by_daemon")
        by_signal.terminate()
        self.assertEqual(by_signal.wait(timeout=60), 0)
        drained = self.json("admin", "drain", "by_daemon", server=self.server)
        self.assertEqual(drained, {"id": "by_daemon", "busy_devices": 0})
        self.assertEqual(by_daemon.wait(timeout=60), 0)
        listed = self.json("list", "workers", server=self.server)["workers"]
        self.assertFalse({"by_signal", "by_daemon"} & {w["id"] for w in listed})

    def test_results_are_selected_by_machine_and_time(self):
        module = self.write("rows.hlo", ROWS)
        self.json("tune", module, "--task", "kernel", "--trials", 2,
                  server=self.server)
        found = self.json("lookup", module, "--task", "kernel",
                          server=self.server)
        machine, = found["record"]["verified"]["measured_by"]
        worker, = self.json("list", "workers", server=self.server)["workers"]
        self.assertEqual(worker["machine_id"], machine)

        def count(*filters):
            return len(self.json("cache", "list", *filters,
                                 server=self.server)["records"])

        self.assertEqual(count("--measured-by", machine), 1)
        self.assertEqual(count("--measured-by", "another"), 0)
        self.assertEqual(count("--measured-by", machine, "--after",
                               "2020-01-01T00:00:00Z"), 1)
        self.assertEqual(count("--before", "2020-01-01"), 0)
        self.ok(hone("cache", "list", "--after", "today", server=self.server),
                status=2)
        removed = self.json("cache", "invalidate", "--measured-by", machine,
                            server=self.server)
        self.assertEqual(removed["removed"], 1)

    def test_a_worker_offers_a_simulated_tpu(self):
        def offer(tpu):
            return subprocess.Popen(
                [BIN / "hone", "worker", "--connect", self.server, "--id",
                 "simulator", "--tpu", tpu], stderr=subprocess.PIPE, text=True)
        worker = offer("v3")
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        self.assertIn("TPU v3 (simulated)", worker.stderr.readline())
        workers = self.json("list", "workers", server=self.server)["workers"]
        simulator, = [w for w in workers if w["id"] == "simulator"]
        self.assertEqual(simulator["devices"][0]["kind"], "tpu_sim")
        # Schedules for a processor do not go to it.
        path = self.write("tiny.hlo", TINY)
        self.ok(hone("tune", path, "--task", "kernel", "--trials", 2,
                     server=self.server))
        unknown = offer("v9")
        self.assertIn("expected a TOML file or one of v3, v4, v5e", unknown.communicate()[1])
        self.assertEqual(unknown.returncode, 2)

    def test_kernels_are_measured_by_a_worker_with_the_tpu(self):
        module = self.write("layer.hlo", LAYER)

        def tune(name, *arguments, server=None):
            task, = self.json("tune", module, "--task", name, "--target",
                              "tpu:v4", "--trials", 6, *arguments,
                              server=server)["tasks"]
            return {key: task[key] for key in ("default", "best", "trials")}

        def measured_by(name):
            found = self.json("lookup", module, "--task", name, "--target",
                              "tpu:v4", server=self.server)
            return found["record"]["verified"]["measured_by"]

        simulated = {name: tune(name, "--local") for name in ("tile", "fusion")}
        for name, result in simulated.items():
            # The daemon's own worker offers no TPU: there is no worker yet.
            self.assertEqual(tune(name, server=self.server), result)
            self.assertEqual(measured_by(name), [])
        worker = subprocess.Popen(
            [BIN / "hone", "worker", "--connect", self.server, "--id",
             "simulator", "--tpu", "v4"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        self.assertIn("TPU v4 (simulated)", worker.stderr.readline())
        workers = self.json("list", "workers", server=self.server)["workers"]
        machine, = {w["machine_id"] for w in workers}
        for name, result in simulated.items():
            self.ok(hone("cache", "invalidate", "--task", name,
                         server=self.server))
            self.assertEqual(tune(name, server=self.server), result)
            self.assertEqual(measured_by(name), [machine])

    def test_a_worker_survives_its_measuring_process(self):
        module = self.write("rows.hlo", ROWS)
        tuning = subprocess.Popen(
            [BIN / "hone", "tune", str(module), "--task", "kernel", "--trials",
             "12", "--json", "--server", self.server], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(tuning.communicate)
        self.addCleanup(tuning.kill)
        # The daemon's worker is its child, and the measuring process that one's.
        while not (workers := self.workers()):
            self.assertIsNone(tuning.poll())
        while not (measuring := self.children(workers[0])):
            self.assertIsNone(tuning.poll())
        os.kill(measuring[0], signal.SIGKILL)
        out, err = tuning.communicate(timeout=120)
        self.assertEqual(tuning.returncode, 0, err)
        self.assertIn("fresh process", out)
        self.assertEqual(self.workers(), workers)

    def workers(self):
        """The daemon's worker, among the processes that compute for it."""
        return [pid for pid in self.children(self.daemon.pid) if b"worker" in
                pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]

    @staticmethod
    def children(pid):
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
        return found

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
        self.assertEqual(
            (document["name"], document["state"], document["shares_left"]),
            (name, "cancelled", 0))
        _, errors = tune.communicate(timeout=120)
        self.assertEqual(tune.returncode, 3)
        self.assertIn(f"{name} was cancelled", errors)
        listed = self.ok(hone("list", "tunings", server=self.server)).stdout
        self.assertRegex(listed, f"^{name} jit_step pass_order random: "
                         r"cancelled, \d+ trials\n$")
        self.one_line_error(hone("cancel", name, server=self.server), 2)
        self.one_line_error(
            hone("cancel", "projects/default/tunings/none", "--force",
                 server=self.server), 2, "none")
        self.one_line_error(hone("cancel", "tunings/none", server=self.server),
                            2, "projects/PROJECT/tunings/ID")

    def test_an_interrupted_client_says_that_the_tuning_goes_on(self):
        tune = subprocess.Popen(
            [BIN / "hone", "tune", str(MODULE), "--optimizer", "random",
             "--trials", "100000000"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HONE_SERVER": self.server})
        # It watches as soon as it shows progress.
        self.assertIn("pass_order", tune.stderr.readline())
        name = self.json("list", "tunings",
                         server=self.server)["tunings"][0]["name"]
        tune.send_signal(signal.SIGINT)
        errors = tune.stderr.read()
        self.assertEqual(tune.wait(), -signal.SIGINT)
        self.assertIn(f"hone cancel {name} ends it", errors)
        tunings = self.json("list", "tunings", server=self.server)["tunings"]
        self.assertEqual(tunings[0]["state"], "running")
        self.ok(hone("cancel", name, server=self.server))

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
        self.assertRegex(listed,
                         "^projects/default/tunings/.*: failed, 0 trials: .*"
                         r"libhone_policies\.so.*\n$")

    def test_a_second_daemon_on_the_store_is_refused(self):
        result = subprocess.run(
            [BIN / "honed", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--state", self.folder / "state"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("honed: ", result.stderr)
        self.assertIn("state", result.stderr)

    def test_bad_instruction_sets_are_refused(self):
        result = subprocess.run(
            [BIN / "honed", "--state", self.folder / "other"],
            capture_output=True, text=True, timeout=60,
            env=os.environ | {"HONE_CPU_ISA": "mmx"})
        self.assertEqual(result.returncode, 2)
        self.assertEqual(
            result.stderr,
            "honed: HONE_CPU_ISA is 'mmx', expected avx2 or native\n")

    def test_bad_requests(self):
        self.one_line_error(
            hone("tune", MODULE, "--optimizer", "nope", server=self.server), 2,
            "nope", "beam")
        self.one_line_error(hone("cache", "invalidate", server=self.server), 2)


if __name__ == "__main__":
    main()
