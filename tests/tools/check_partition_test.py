#!/usr/bin/env python3
"""tools/check_partition.py computes what can be computed by hand.

Usage: check_partition_test.py ROOT [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()

# A flop takes 1 ms, a byte of memory 1/4 ms, a byte on the link 1/2 ms.
PACKAGE = """[chips]
count = 4
flops_per_second = 1000
bytes_per_second = 4000
memory_bytes = 100
op_seconds = 1
spill_bytes_per_second = 1
[link]
bytes_per_second = 2000
latency_seconds = 1
"""


def node(id, opcode="dot", flops=5, bytes=4, output_bytes=4,
         parameter_bytes=30):
    return {"id": id, "opcode": opcode, "flops": flops, "bytes": bytes,
            "output_bytes": output_bytes, "parameter_bytes": parameter_bytes}


def edge(source, target, bytes=4):
    return {"from": source, "to": target, "bytes": bytes}


# 0 -> 1 -> 3, 0 -> 2 -> 3, and a mask that 1 and 3 read. A broadcast takes 4 ms.
DIAMOND = {
    "nodes": [node(0), node(1), node(2, flops=1, bytes=12), node(3),
              node(4, "parameter", 0, 0, 8, 8), node(5, "broadcast", 0, 16, 16,
                                                     0)],
    "edges": [edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(4, 5, 8),
              edge(5, 1, 16), edge(5, 3, 16)]}


class CheckPartition(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def run_check(self, graph, result, package=PACKAGE, flags=()):
        return subprocess.run(
            [sys.executable, ROOT / "tools/check_partition.py",
             self.write("graph.json", graph),
             self.write("result.json", result), "--package",
             self.write("package.toml", package), *flags],
            capture_output=True, text=True)

    def report(self, graph, result, status=0, **others):
        found = self.run_check(graph, result, flags=["--json"], **others)
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)
        report = json.loads(found.stdout)
        self.assertEqual(report["valid"], status == 0)
        return report

    def violations(self, chips, *parts, graph=DIAMOND):
        found = self.report(graph, {"assignment": chips}, 1)["violations"]
        for part in parts:
            self.assertIn(part, "\n".join(found))

    def refuse(self, graph, result, *parts, **others):
        found = self.run_check(graph, result, **others)
        self.assertEqual(found.returncode, 2, found.stdout + found.stderr)
        self.assertEqual(found.stderr.count("\n"), 1, found.stderr)
        for part in parts:
            self.assertIn(part, found.stderr)

    def test_loads(self):
        # The mask has copies on chips 0 and 1; a transfer takes 2 ms.
        report = self.report(DIAMOND, {"assignment": [0, 0, 1, 1, 0, 0]})
        self.assertEqual(report["loads"][0],
                         {"compute": 14, "inbound": 0, "outbound": 4})
        # 12 bytes of memory take longer than a flop.
        self.assertEqual(report["loads"][1],
                         {"compute": 12, "inbound": 4, "outbound": 0})
        self.assertEqual(report["loads"][2]["compute"], 0)
        self.assertEqual(report["max_load"], 18)

    def test_an_output_counts_once(self):
        graph = {"nodes": [node(0), node(1), node(2)],
                 "edges": [edge(0, 1), edge(0, 2)]}
        report = self.report(graph, {"assignment": [0, 1, 1]})
        self.assertEqual(report["loads"][0]["outbound"], 2)
        self.assertEqual(report["loads"][1]["inbound"], 2)
        # As often as it takes links, it leaves once.
        report = self.report(graph, {"assignment": [0, 1, 2]})
        self.assertEqual(report["loads"][0]["outbound"], 2)
        self.assertEqual(report["loads"][2]["inbound"], 2)

    def test_rules(self):
        self.violations([1, 0, 1, 1, 0, 0], "node 1 on chip 0 reads node 0 on "
                        "chip 1")
        self.violations([0, 0, 2, 2, 0, 0], "[0, 2] have nodes")
        # 0 -> 1 -> 2 and, by node 2, 0 -> 2.
        self.violations([0, 1, 0, 2, 1, 1], "chip 0 sends to chip 2 directly")
        # A branch is legal: 0 -> 1 -> 3, 0 -> 2 -> 3.
        self.report(DIAMOND, {"assignment": [0, 1, 2, 3, 1, 1]})
        self.violations([0, 0, 1, 1, 0, 1], "source 5 is on chip 1")
        # 4 * 30 bytes of weights and 8 of the parameter.
        self.violations([0, 0, 0, 0, 0, 0], "chip 0 needs 128.0 bytes")

    def test_cheap_nodes_are_sources(self):
        # A twentieth of a chip's share of 40 ms is 0.5 ms.
        def graph(flops, weights=0):
            return {"nodes": [node(0, "compare", flops, 0, 4, weights),
                              node(1, flops=20), node(2, flops=20)],
                    "edges": [edge(0, 1), edge(0, 2)]}

        report = self.report(graph(0.5), {"assignment": [0, 0, 1]})
        self.assertEqual(report["loads"][1],
                         {"compute": 20.5, "inbound": 0, "outbound": 0})
        # So do its parts together.
        parts = graph(0.3)
        parts["nodes"].append(node(3, "compare", 0.3, 0, 4, 0))
        parts["edges"].append(edge(3, 0))
        for dear in (graph(0.6), graph(0.5, 2), parts):
            report = self.report(dear, {
                "assignment": [0, 0, 1, 0][:len(dear["nodes"])]})
            self.assertEqual(report["loads"][1]["inbound"], 2)

    def test_latencies(self):
        graph = {"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
                 "nodes": [{"id": i, "fpgaLatency": 3 if i else 0,
                            "cpuLatency": 7, "size": 4, "supportedOnFpga": 1}
                           for i in range(3)],
                 "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.5}
                           for i in range(2)]}
        report = self.report(graph, {"assignment": [0, 0, 1]})
        # Node 0 is a source: nothing is sent for it.
        self.assertEqual(report["loads"][0],
                         {"compute": 3, "inbound": 0, "outbound": 0.5})
        self.assertEqual(report["max_load"], 3.5)
        graph["nodes"][1]["colorClass"] = graph["nodes"][2]["colorClass"] = 4
        self.refuse(graph, {"assignment": [0, 0, 1]}, "nodes[2] shares its")

    def test_claims(self):
        chips = [0, 0, 1, 1, 0, 0]
        result = {"assignment": chips, "max_load": 18, "cost": 18,
                  "objective": "max-load",
                  "loads": self.report(DIAMOND, {"assignment": chips})["loads"]}
        self.report(DIAMOND, result)
        self.report(DIAMOND, {"tasks": [{"best": {"decision": result}}]})
        wrong = self.report(DIAMOND, result | {"cost": 18.1}, 1)
        self.assertIn("cost is 18.1, expected 18", wrong["violations"][0])
        # A simulated interval is no claim about the loads.
        self.report(DIAMOND,
                    result | {"cost": 20.0, "objective": "interval"})
        result["loads"][1]["inbound"] = 3
        self.report(DIAMOND, result, 1)

    def test_bad_input(self):
        good = {"assignment": [0] * 6}
        self.refuse(DIAMOND, {"assignment": [0] * 5}, "assignment has 5 values")
        self.refuse(DIAMOND, {"assignment": [4] + [0] * 5}, "assignment[0] is 4")
        self.refuse(DIAMOND, good, "chips.count",
                    package=PACKAGE.replace("count = 4", "count = 65"))
        self.refuse(DIAMOND, good, "ring is unknown", package=PACKAGE +
                    "[ring]\nx = 1\n")
        self.refuse(DIAMOND | {"edges": [edge(0, 1), edge(1, 0)]}, good,
                    "cycle")
        self.refuse("nonsense", good, "graph.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
