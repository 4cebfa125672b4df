#!/usr/bin/env python3
"""Partitions over the chips of a package, in this process and by a daemon.

command_line.py has the usage.
"""

import json
import subprocess
import sys

from command_line import MODULE, ROOT, Scratch, hone, main

PACKAGE = """[chips]
count = 3
flops_per_second = 1e12
bytes_per_second = 1e11
memory_bytes = 5e6
op_seconds = 1e-6
spill_bytes_per_second = 1e9
[link]
bytes_per_second = 1e10
latency_seconds = 1e-6
"""


def node(id, **fields):
    return {"id": id, "name": f"n{id}", "opcode": "dot", "flops": 1e9,
            "bytes": 1e6, "output_bytes": 1e5, "parameter_bytes": 1e6,
            **fields}


# 0 -> 1 -> ... -> 5, and a skip from 0 to 2.
NODES = [node(i) for i in range(6)]
EDGES = [{"from": a, "to": b, "bytes": 1e5}
         for a, b in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2))]
WEIGHTED = {
    "maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
    "nodes": [{"id": i, "name": f"l{i}", "fpgaLatency": 3, "cpuLatency": 7,
               "size": 2, "supportedOnFpga": 1, "isBackwardNode": 0}
              for i in range(6)],
    "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.5}
              for i in range(5)]}


class Partition(Scratch):
    def setUp(self):
        super().setUp()
        self.package = self.write("three.toml", PACKAGE)
        self.target = ["--target", f"mcm:{self.package}"]
        self.operators = self.write("g.json", json.dumps(
            {"nodes": NODES, "edges": EDGES}))

    def judge(self, graph, document, status=0, package=None):
        """The independent checker accepts a result, or does not."""
        result = self.write("result.json", json.dumps(document))
        checker = subprocess.run(
            [sys.executable, ROOT / "tools/check_partition.py", graph, result,
             "--package", package or self.package],
            capture_output=True, text=True)
        self.ok(checker, status)
        self.assertEqual(checker.stderr, "")

    def tune(self, file, *arguments):
        document = self.json("tune", file, "--task", "partition", "--local",
                             "--trials", 20, *self.target, *arguments)
        result, = document["tasks"]
        self.assertEqual(document["target"], "mcm")
        self.assertEqual(result["best"]["unit"], "ms")
        self.assertLessEqual(result["best"]["cost"], result["default"]["cost"])
        return document

    def test_graphs_and_modules(self):
        weighted = self.write("w.json", json.dumps(WEIGHTED))
        module = self.folder / "mlp.json"
        self.ok(hone("graph", MODULE, "-o", module))
        for file, graph in ((self.operators, self.operators),
                            (weighted, weighted), (MODULE, module)):
            for objective in ("max-load", "interval"):
                with self.subTest(file=file, objective=objective):
                    document = self.tune(file, "--objective", objective)
                    self.judge(graph, document)
                    best = document["tasks"][0]["best"]
                    decision = best["decision"]
                    self.assertEqual(decision["objective"], objective)
                    self.assertGreaterEqual(decision["ratio_to_bound"], 1)
                    self.assertEqual(len(decision["loads"]), 3)
                    if objective == "interval":
                        self.assertEqual(decision["interval"], best["cost"])
                        self.assertGreaterEqual(best["cost"],
                                                decision["max_load"])
                        continue
                    # What a result claims is compared.
                    best["cost"] *= 1.001
                    self.judge(graph, document, status=1)
                    best["cost"] /= 1.001
                    decision["loads"][0]["compute"] += 1
                    self.judge(graph, document, status=1)

    def test_the_best_of_a_chain_is_found(self):
        # Two nodes a chip, and 0.01 ms for each cut: the middle chip has two.
        decision = self.tune(self.operators)["tasks"][0]["best"]["decision"]
        self.assertEqual(decision["assignment"], [0, 0, 0, 1, 1, 2]
                         if decision["assignment"][2] == 0 else
                         [0, 0, 1, 1, 2, 2])

    def test_the_default_package_is_named(self):
        tuned = self.ok(hone("tune", self.operators, "--task", "partition",
                             "--local", "--trials", 2))
        self.assertIn("no package given, partitioning over hermosa36",
                      tuned.stderr)
        self.assertIn("hermosa36", self.ok(hone("list", "packages")).stdout)
        self.assertIn("mcm_sim", self.ok(hone("list", "backends")).stdout)

    def test_the_daemon_tunes_and_looks_up(self):
        self.start_daemon()

        def ask(*arguments):
            return json.loads(self.ok(hone(
                *arguments, "--json", state_home=self.folder)).stdout)

        tune = ["tune", self.operators, "--task", "partition", "--trials", 10,
                "--objective", "interval", *self.target]
        first = ask(*tune)
        self.assertEqual(first["tasks"][0]["cache"], "miss")
        self.judge(self.operators, first)
        second = ask(*tune)
        self.assertEqual(second["tasks"][0]["cache"], "hit")
        self.assertEqual(first["tasks"][0]["best"], second["tasks"][0]["best"])
        found = ask("lookup", self.operators, "--task", "partition",
                    "--objective", "interval", *self.target)
        self.assertEqual(found["record"]["best"]["decision"],
                         first["tasks"][0]["best"]["decision"])

    def test_bad_input(self):
        def refuse(message, *arguments, file=None):
            refused = hone("tune", file or self.operators, "--task",
                           "partition", "--local", "--trials", 2, *arguments)
            self.assertNotEqual(refused.returncode, 0)
            self.assertEqual(refused.stderr.count("\n"), 1, refused.stderr)
            self.assertIn(message, refused.stderr)

        def package(before, after):
            return ["--target", "mcm:" + str(self.write(
                "bad.toml", PACKAGE.replace(before, after)))]

        refuse("bad.toml:2:9: bad value of \"count\"",
               *package("count = 3", "count = 65"))
        refuse("[link] is missing", *package(PACKAGE[PACKAGE.index("[link]"):],
                                             ""))
        refuse("node 'n0' has 1000000 bytes from the start, 990000 more than "
               "the memory of a chip", *package("5e6", "1e4"))
        refuse("the graph has 6000000 bytes from the start, 1500000 more than "
               "the memory of all 3 chips", *package("5e6", "1.5e6"))
        refuse("expected one of: max-load, interval", *self.target,
               "--objective", "step-time")
        refuse("unknown package 'hermosa9000'", "--target", "mcm:hermosa9000")
        refuse("mcm: has no package", "--target", "mcm:")
        refuse("expected one of them", *self.target, "--package", "hermosa4")
        # A mask that all layers read, and that is dear to make again, keeps
        # them on two chips, which do not have the memory.
        nodes = [node(i, parameter_bytes=3e6) for i in range(6)] + [
            node(6, parameter_bytes=0)]
        edges = [{"from": i, "to": i + 1, "bytes": 1e5} for i in range(5)] + [
            {"from": 6, "to": i, "bytes": 1e5} for i in range(6)]
        masked = self.write("masked.json", json.dumps(
            {"nodes": nodes, "edges": edges}))
        refuse("(triangle rule)", *package("5e6", "6.5e6"), file=masked)
        cycle = self.write("cycle.json", json.dumps(
            {"nodes": NODES, "edges": EDGES + [
                {"from": 5, "to": 0, "bytes": 1}]}))
        refuse("cycle", *self.target, file=cycle)


if __name__ == "__main__":
    main()
