#!/usr/bin/env python3
"""Placement of weighted graphs, in this process and by a daemon.

command_line.py has the usage.
"""

import json
import subprocess

from command_line import BIN, ROOT, TINY, Scratch, hone, main

BERT = ROOT / "tests/testdata/graphs/layer_bert24_inference.json"
NODES = [{"id": i, "name": f"n{i}", "fpgaLatency": 1, "cpuLatency": 4,
          "size": 10, "supportedOnFpga": 1, "isBackwardNode": 0}
         for i in range(4)]
CHAIN = {"maxSizePerFPGA": 20, "maxFPGAs": 2, "maxCPUs": 1, "nodes": NODES,
         "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.25}
                   for i in range(3)]}


def loads_of(graph, assignment):
    """The load of each device, by the definition in graphs/max_load.h."""
    accelerators = graph["maxFPGAs"]
    loads = [0.0] * (accelerators + graph["maxCPUs"])
    device = {node["id"]: assignment[i]
              for i, node in enumerate(graph["nodes"])}
    for node in graph["nodes"]:
        own = device[node["id"]]
        loads[own] += node["fpgaLatency" if own < accelerators
                           else "cpuLatency"]
        out = [e for e in graph["edges"] if e["sourceId"] == node["id"]]
        others = {device[e["destId"]] for e in out} - {own}
        for other in others | ({own} if others else set()):
            if other < accelerators:
                loads[other] += out[0]["cost"]
    return loads


class Placement(Scratch):
    def graph(self, name="chain.json", **changes):
        return self.write(name, json.dumps({**CHAIN, **changes}))

    def check(self, document, graph, contiguity):
        task, = document["tasks"]
        self.assertEqual(document["target"], "cluster")
        self.assertEqual(task["task"], "placement")
        decision = task["best"]["decision"]
        self.assertEqual(task["assignment"], decision["assignment"])
        self.assertEqual(decision["contiguity"], contiguity)
        self.assertEqual(len(task["assignment"]), len(graph["nodes"]))
        loads = loads_of(graph, task["assignment"])
        for own, theirs in zip(loads, decision["loads"], strict=True):
            self.assertAlmostEqual(own, theirs)
        self.assertAlmostEqual(max(loads), task["best"]["cost"])
        self.assertLessEqual(task["best"]["cost"], task["default"]["cost"])
        self.assertIn("max load recomputed", task["verified"]["method"])
        return task

    def test_local(self):
        for contiguity in ("pipeline", "convex", "none"):
            document = self.json("tune", BERT, "--task", "placement",
                                 "--local", "--trials", 20,
                                 "--contiguity", contiguity)
            self.assertEqual(document["module"], "layer_bert24_inference")
            self.check(document, json.loads(BERT.read_text()), contiguity)

    def test_text(self):
        out = self.ok(hone("tune", self.graph(), "--task", "placement",
                           "--local")).stdout
        self.assertIn("graph chain\n", out)
        self.assertRegex(out, r"placement: max load \S+ ms, default \S+ "
                              r"\(\S+ % less\), on \d devices?, \d+ trials")
        self.assertIn("verified: checked: max load recomputed, valid pipeline\n",
                      out)

    def test_by_the_daemon(self):
        daemon = subprocess.Popen(
            [BIN / "honed", "--http", "127.0.0.1:0", "--state",
             self.folder / "hone"], stderr=subprocess.PIPE, text=True)

        def stop():
            daemon.terminate()
            daemon.communicate(timeout=60)

        self.addCleanup(stop)
        for line in daemon.stderr:
            if "serves" in line and "honed" in line:
                break
        path = self.graph()

        def run(*arguments, status=0):
            return self.ok(hone(*arguments, state_home=self.folder), status)

        tune = ["tune", path, "--task", "placement", "--json"]
        first = self.check(json.loads(run(*tune).stdout), CHAIN, "pipeline")
        self.assertEqual(first["cache"], "miss")
        # In other words the same graph.
        self.graph(nodes=[{**node, "name": "x"} for node in NODES],
                   edges=CHAIN["edges"][::-1])
        again = self.check(json.loads(run(*tune).stdout), CHAIN, "pipeline")
        self.assertEqual(again["cache"], "hit")
        lookup = ["lookup", path, "--task", "placement", "--json"]
        found = json.loads(run(*lookup).stdout)
        self.assertEqual(found["record"]["best"]["decision"]["assignment"],
                         first["assignment"])
        run(*lookup, "--contiguity", "none", status=1)
        shown = run("cache", "show", found["record"]["name"]).stdout
        self.assertIn('"assignment":[', shown)
        listed = json.loads(run("cache", "list", "--task", "placement",
                                "--json").stdout)
        self.assertEqual(len(listed["records"]), 1)
        self.assertIn("chain placement", run("list", "tunings").stdout)

    def test_graph_and_stats(self):
        out = self.folder / "out.json"
        self.ok(hone("graph", BERT, "-o", out))
        of = {path: self.json("stats", path) for path in (BERT, out)}
        self.assertEqual(of[BERT]["fingerprint"], of[out]["fingerprint"])
        graph = json.loads(BERT.read_text())
        self.assertEqual(of[out]["nodes"], len(graph["nodes"]))
        self.assertEqual(of[out]["edges"], len(graph["edges"]))
        self.assertEqual(of[out]["accelerators"], graph["maxFPGAs"])
        printed = self.ok(hone("graph", out)).stdout
        self.assertEqual(printed, out.read_text())
        self.assertEqual(len(json.loads(printed)["nodes"]),
                         len(graph["nodes"]))

    def test_bad_graphs(self):
        def refuse(path, *parts):
            for command in (["tune", "--local", "--task", "placement"],
                            ["lookup", "--task", "placement"], ["graph"]):
                self.one_line_error(hone(*command, path), 2, *parts)

        edge = CHAIN["edges"][0]
        refuse(self.graph(edges=CHAIN["edges"] +
                          [{"sourceId": 3, "destId": 0, "cost": 0.25}]),
               "chain.json: ", "cycle")
        refuse(self.graph(edges=[{**edge, "destId": 9}]),
               "chain.json: edges[0].destId")
        refuse(self.graph(edges=[{**edge, "cost": -1}]),
               "chain.json: edges[0].cost is -1, expected")
        refuse(self.graph(edges=[{**edge, "cost": float("nan")}]),
               "chain.json:1:", "not valid JSON")
        refuse(self.graph(maxCPUs=0, maxSizePerFPGA=5),
               "chain.json: nodes[0].size is 10")
        refuse(self.write("bad.json", "nodes: []\n"), "bad.json:1:",
               "not valid JSON")
        refuse(self.write("tiny.hlo", TINY), "tiny.hlo is an HLO module, "
               "expected a weighted graph for task 'placement'")

    def test_where_a_graph_makes_no_sense(self):
        path = self.graph()
        tiny = self.write("tiny.hlo", TINY)
        for task in ("pass_order", "kernel"):
            self.one_line_error(
                hone("tune", path, "--local", "--task", task), 2,
                "chain.json is a weighted graph, expected an HLO module",
                task)
        self.one_line_error(
            hone("tune", tiny, "--local", "--task", "pass_order,placement"), 2,
            "tiny.hlo is an HLO module, expected a weighted graph")
        for command in (["diff", tiny], ["run"], ["opt", "--passes=dce"],
                        ["kernel"]):
            self.one_line_error(hone(*command, path), 2,
                                "chain.json is JSON, expected an HLO module")
        tune = ["tune", path, "--local", "--task", "placement"]
        self.one_line_error(hone(*tune, "-o", self.folder / "o.hlo"), 2,
                            "-o FILE: task placement makes no module")
        self.one_line_error(hone(*tune, "--export", self.folder / "k.so"), 2,
                            "--export K.so: task placement makes no native")
        self.one_line_error(hone(*tune, "--contiguity", "loose"), 2,
                            "unknown contiguity 'loose', expected pipeline, "
                            "convex or none")
        self.one_line_error(hone(*tune, "--target", "xla-cpu"), 2,
                            "target 'xla-cpu', expected 'cluster'")


if __name__ == "__main__":
    main()
