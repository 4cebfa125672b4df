#!/usr/bin/env python3
"""tools/check_placement.py computes what can be computed by hand.

Usage: check_placement_test.py ROOT [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()

# A flop takes 1 s, a byte of memory 1/4 s, a launch 1 s.
CLUSTER = """[accelerators]
count = 2
flops_per_second = 1
bytes_per_second = 4
memory_bytes = 100
launch_seconds = 1
[link]
bytes_per_second = 2
latency_seconds = 3
"""


def node(id, opcode="dot", flops=5, bytes=4, output_bytes=4, parameter_bytes=0,
         **fields):
    return {"id": id, "opcode": opcode, "flops": flops, "bytes": bytes,
            "output_bytes": output_bytes, "parameter_bytes": parameter_bytes,
            **fields}


def edge(source, target, bytes=4):
    return {"from": source, "to": target, "bytes": bytes}


# One node whose result two read, and another one that reads theirs.
DIAMOND = {
    "nodes": [node(0), node(1), node(2, "add", flops=2, bytes=12),
              node(3, flops=9, bytes=4, is_output=True)],
    "edges": [edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)]}

CHAIN = {
    "maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
    "nodes": [{"id": i, "fpgaLatency": 3, "cpuLatency": 7, "size": 5,
               "supportedOnFpga": 1} for i in range(3)],
    "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.5}
              for i in range(2)]}


class CheckPlacement(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def run_check(self, graph, result, cluster=CLUSTER, flags=()):
        command = [sys.executable, ROOT / "tools/check_placement.py",
                   self.write("graph.json", graph),
                   self.write("result.json", result), *flags]
        if cluster:
            command += ["--cluster", self.write("cluster.toml", cluster)]
        return subprocess.run(command, capture_output=True, text=True)

    def report(self, graph, result, status=0, **others):
        found = self.run_check(graph, result, flags=("--json", "--bounds"),
                               **others)
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)
        self.assertEqual(found.stderr, "")
        report = json.loads(found.stdout)
        self.assertEqual(report["valid"], status == 0)
        self.assertEqual(bool(report["violations"]), status != 0)
        return report

    def violation(self, graph, result, *parts, **others):
        found = self.report(graph, result, 1, **others)["violations"]
        for part in parts:
            self.assertIn(part, "\n".join(found))

    def refuse(self, graph, result, *parts, **others):
        found = self.run_check(graph, result, **others)
        self.assertEqual(found.returncode, 2, found.stdout + found.stderr)
        self.assertEqual(found.stdout, "")
        self.assertEqual(found.stderr.count("\n"), 1, found.stderr)
        for part in parts:
            self.assertIn(part, found.stderr)

    def test_step_on_one_device(self):
        report = self.report(DIAMOND, {"assignment": [0, 0, 0, 0]})
        self.assertEqual(report["step_seconds"], 6 + 6 + 4 + 10)
        # All but the first result, which nobody reads any more.
        self.assertEqual(report["peak_bytes"], [12, 0])
        self.assertEqual(report["lower_bounds"],
                         {"critical_path": 22, "work": 13})

    def test_step_with_transfers(self):
        # 6 s, a transfer of 5 s, then 6 s on one and 4 s on the other.
        report = self.report(DIAMOND, {"assignment": [0, 0, 1, 0]})
        self.assertEqual(report["step_seconds"], 6 + 5 + 4 + 5 + 10)
        self.assertEqual(report["peak_bytes"], [12, 8])

    def test_transfers_of_a_channel_wait_for_each_other(self):
        graph = {"nodes": [node(0), node(1), node(2), node(3)],
                 "edges": [edge(0, 2, 40), edge(1, 3, 2)]}
        # The second result is ready at 12 s, but the channel only at 29 s.
        report = self.report(graph, {"assignment": [0, 0, 1, 1]})
        self.assertEqual(report["step_seconds"], 6 + 23 + 6 + 6)

    def test_priorities(self):
        graph = {"nodes": [node(0), node(1), node(2)], "edges": [edge(1, 2)]}
        places = {"assignment": [0, 0, 1]}
        self.assertEqual(self.report(graph, places)["step_seconds"], 23)
        places["priorities"] = [1, 2, 0]
        self.assertEqual(self.report(graph, places)["step_seconds"], 17)

    def test_fusion(self):
        graph = {"nodes": [node(0, "negate"), node(1, "abs", bytes=8)],
                 "edges": [edge(0, 1)]}
        report = self.report(graph, {"assignment": [0, 0], "fused": [0]})
        self.assertEqual(report["step_seconds"], 11)
        self.violation(DIAMOND, {"assignment": [0] * 4, "fused": [3]},
                       "node 3 is fused, but a result of the program")
        self.violation(DIAMOND, {"assignment": [0] * 4, "fused": [2]},
                       "node 3 may not read fused nodes")

    def test_claims(self):
        decision = {"assignment": [0, 0, 1, 0], "priorities": [4, 3, 2, 1],
                    "fused": [], "step_seconds": 30, "peak_bytes": [12, 8]}
        self.report(DIAMOND, decision)
        self.violation(DIAMOND, {**decision, "step_seconds": 29.99},
                       "step_seconds is 29.99, expected 30.0")
        self.violation(DIAMOND, {**decision, "peak_bytes": [12, 7]},
                       "peak_bytes[1] is 7.0, expected 8.0")
        document = {"tasks": [
            {"task": "pass_order", "best": {"cost": 3, "unit": "ops"}},
            {"task": "placement", "assignment": decision["assignment"],
             "best": {"cost": 30e3, "unit": "ms", "decision": decision}}]}
        self.report(DIAMOND, document)
        document["tasks"][1]["best"]["cost"] = 29e3
        self.violation(DIAMOND, document, "cost is 29000")
        document["tasks"][1]["assignment"] = [0, 0, 0, 0]
        self.refuse(DIAMOND, document, "two different assignments")

    def test_memory(self):
        heavy = {**DIAMOND, "nodes": [{**n, "parameter_bytes": 30}
                                      for n in DIAMOND["nodes"]]}
        self.violation(heavy, {"assignment": [0] * 4},
                       "device 0 needs 132.0 bytes, more than it has")
        self.report(heavy, {"assignment": [0, 0, 1, 1]})

    def test_max_load(self):
        report = self.report(CHAIN, {"assignment": [0, 0, 1]}, cluster=None)
        self.assertEqual(report["loads"], [6.5, 3.5, 0])
        self.assertEqual(report["max_load"], 6.5)
        self.violation(CHAIN, {"assignment": [0, 0, 0]}, "device 0 needs 15.0",
                       cluster=None)
        self.violation(CHAIN, {"assignment": [0, 0, 1], "loads": [6.5, 3, 0]},
                       "loads[1] is 3", cluster=None)
        self.refuse(CHAIN, {"assignment": [0, 0, 1]}, "--cluster is for")

    def test_bad_graphs(self):
        places = {"assignment": [0] * 4}

        def refuse(message, nodes=(), edges=()):
            self.refuse({"nodes": DIAMOND["nodes"] + list(nodes),
                         "edges": DIAMOND["edges"] + list(edges)},
                        places, "graph.json: " + message)

        refuse("edges make a cycle", edges=[edge(3, 0)])
        refuse("edges[4].to 7 is no node", edges=[edge(3, 7)])
        refuse("edges[4] is there twice", edges=[edge(0, 1)])
        refuse("edges[4].bytes is -1", edges=[edge(0, 3, -1)])
        refuse("nodes[4].id 3 is there twice", nodes=[node(3)])
        refuse("nodes[4].flops is -5", nodes=[node(4, flops=-5)])
        refuse("nodes[4].flops is NaN", nodes=[node(4, flops=float("nan"))])
        refuse("nodes[4].bytes is Infinity",
               nodes=[node(4, bytes=float("inf"))])
        self.refuse({"nodes": [], "edges": []}, {"assignment": []},
                    "nodes is empty")
        self.refuse("{", places, "graph.json: ")

    def test_bad_results_and_clusters(self):
        for result, part in (
                ({"assignment": [0] * 3}, "assignment has 3 values"),
                ({"assignment": [0, 0, 0, 2]}, "assignment[3] is 2"),
                ({"assignment": [0, 0, 0, -1]}, "assignment[3] is -1"),
                ({"assignment": [0, 0, 0, 0.5]}, "assignment[3] is 0.5"),
                ({"assignment": [0] * 4, "fused": [4]}, "fused[0] is 4"),
                ({"assignment": [0] * 4, "loads": [1, 1]}, "another kind"),
                ({"tasks": []}, "0 assignments")):
            self.refuse(DIAMOND, result, part)
        places = {"assignment": [0] * 4}
        for cluster, part in (
                (None, "--cluster is missing"),
                (CLUSTER.replace("count = 2", "count = 0"), "count is 0"),
                (CLUSTER.replace("count = 2", "count = 65"), "count is 65"),
                (CLUSTER.split("[link]")[0], "link is missing"),
                ("[link]" + CLUSTER.split("[link]")[1], "0 devices"),
                (CLUSTER.replace("= 4", "= nan"), "bytes_per_second is"),
                ("count", "cluster.toml: ")):
            self.refuse(DIAMOND, places, part, cluster=cluster)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
