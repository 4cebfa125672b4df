#!/usr/bin/env python3
"""Placement of weighted graphs, in this process and by a daemon.

command_line.py has the usage.
"""

import json

from command_line import (CORPUS, LOOP, MODULE, ROOT, TINY, Scratch, hone,
                          main)

BERT = ROOT / "tests/testdata/graphs/layer_bert24_inference.json"
NODES = [{"id": i, "name": f"n{i}", "fpgaLatency": 1, "cpuLatency": 4,
          "size": 10, "supportedOnFpga": 1, "isBackwardNode": 0}
         for i in range(4)]
CHAIN = {"maxSizePerFPGA": 20, "maxFPGAs": 2, "maxCPUs": 1, "nodes": NODES,
         "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.25}
                   for i in range(3)]}

PAIR = """[accelerators]
count = 2
flops_per_second = 1e12
bytes_per_second = 1e11
memory_bytes = 1e9
launch_seconds = 1e-6
[link]
bytes_per_second = 1e10
latency_seconds = 1e-6
"""


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

    def run_hone(self, *arguments, status=0):
        return self.ok(hone(*arguments, state_home=self.folder), status)

    def test_by_the_daemon(self):
        self.start_daemon()
        run = self.run_hone
        path = self.graph()

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
        summary = self.json("graph", BERT, "-o", out)
        self.assertEqual(summary["kind"], "devices")
        self.assertEqual(summary["fingerprint"], of[out]["fingerprint"])
        # Six accelerators share what suits them: the core takes the rest.
        bounds = [of[out][name + "_bound"] for name in
                  ("shared_work", "largest_class", "memory")]
        self.assertEqual(of[out]["max_load_bound"], max(bounds))
        self.assertGreater(max(bounds), sum(
            node["fpgaLatency"] for node in graph["nodes"]) / 7)
        self.assertLess(max(bounds), 17.7899)
        printed = self.ok(hone("graph", out)).stdout
        self.assertEqual(printed, out.read_text())
        self.assertEqual(len(json.loads(printed)["nodes"]),
                         len(graph["nodes"]))

    def test_graphs_of_modules(self):
        """In every format the same nodes; a cluster adds times."""
        text, proto = (self.folder / name for name in ("m.hlo", "m.pb"))
        for path in (text, proto):
            self.ok(hone("opt", MODULE, "--passes=dce", "-o", path))
        out = {name: self.folder / f"{name}.json"
               for name in ("text", "proto", "operators", "devices")}
        self.ok(hone("graph", text, "-o", out["text"]))
        summary = self.json("graph", proto, "-o", out["proto"])
        self.assertEqual(summary["kind"], "operators")
        operators = json.loads(out["text"].read_text())
        self.assertEqual(summary["nodes"], len(operators["nodes"]))
        self.assertEqual(summary["edges"], len(operators["edges"]))
        self.assertEqual(out["text"].read_text(), out["proto"].read_text())
        stats = self.json("stats", text)
        self.assertEqual(sum(node["flops"] for node in operators["nodes"]),
                         stats["flops"] + stats["transcendentals"])
        # Operators in JSON are read, too.
        self.ok(hone("graph", out["text"], "-o", out["operators"]))
        self.assertEqual(out["operators"].read_text(), out["text"].read_text())
        printed = [self.ok(hone("graph", path, "--cluster", "t4x2-cpu")).stdout
                   for path in (text, out["operators"])]
        self.assertEqual(*printed)
        devices = json.loads(printed[0])
        self.assertEqual((devices["maxFPGAs"], devices["maxCPUs"]), (2, 1))
        self.assertEqual([node["name"] for node in devices["nodes"]],
                         [node["name"] for node in operators["nodes"]])
        dot = next(i for i, node in enumerate(operators["nodes"])
                   if node["opcode"] == "dot")
        operator = operators["nodes"][dot]
        self.assertAlmostEqual(
            devices["nodes"][dot]["fpgaLatency"],
            5e-3 + 1e3 * max(operator["flops"] / 8.1e12,
                             operator["bytes"] / 320e9))

    def test_unrolled_loops(self):
        scan = CORPUS / "rnnlm_scan.fwd.hlo.zst"
        one, unrolled = (self.json("graph", scan, "--loops", loops, "-o",
                                   self.folder / f"{loops}.json")
                         for loops in ("one", "unrolled"))
        self.assertEqual((self.folder / "one.json").read_text(),
                         self.ok(hone("graph", scan)).stdout)
        self.assertGreater(unrolled["nodes"], 5 * one["nodes"])
        names = [node["name"] for node in json.loads(
            (self.folder / "unrolled.json").read_text())["nodes"]]
        self.assertEqual(len(set(names)), len(names))
        # The name of the loop, and how many nodes it would be.
        many = self.write("many.hlo", LOOP.replace(
            "body=body", 'body=body, backend_config='
            '{"known_trip_count":{"n":"200000"}}'))
        self.one_line_error(
            hone("graph", many, "--loops", "unrolled"), 2,
            "many.hlo: loop 'w' would be 200000 nodes", "at most 100000")
        self.ok(hone("graph", many))
        self.one_line_error(
            hone("graph", self.graph(), "--loops", "unrolled"), 2,
            "chain.json is a weighted graph, expected an HLO module")
        self.assertEqual(hone("graph", scan, "--loops", "two").returncode, 2)

    def test_modules_by_the_daemon(self):
        self.start_daemon()
        run = self.run_hone
        cluster = self.write("pair.toml", PAIR)
        graph = json.loads(run("graph", MODULE, "--cluster", cluster).stdout)
        tune = ["tune", MODULE, "--task", "placement", "--cluster", cluster,
                "--json"]
        first = self.check(json.loads(run(*tune).stdout), graph, "pipeline")
        self.assertEqual(first["cache"], "miss")
        # The figures count, and not how they are written.
        self.write("pair.toml", PAIR.replace("1e9", "1_000_000_000"))
        again = self.check(json.loads(run(*tune).stdout), graph, "pipeline")
        self.assertEqual(again["cache"], "hit")
        lookup = ["lookup", MODULE, "--task", "placement", "--json",
                  "--cluster"]
        found = json.loads(run(*lookup, cluster).stdout)
        self.assertEqual(found["record"]["best"]["decision"]["assignment"],
                         first["assignment"])
        run(*lookup, "v100x4", status=1)
        local = self.check(self.json(*tune[:-1], "--local"), graph, "pipeline")
        self.assertEqual(local["assignment"], first["assignment"])

    def test_bad_clusters(self):
        tune = ["tune", MODULE, "--local", "--task", "placement"]
        for command in (tune, ["lookup", MODULE, "--task", "placement"],
                        ["graph", MODULE]):
            def refuse(cluster, *parts, command=command):
                self.one_line_error(hone(*command, "--cluster", cluster), 2,
                                    *parts)

            refuse("abacus", "unknown cluster 'abacus', expected a TOML file "
                   "or one of a100x8,")
            refuse(self.folder, "unknown cluster")
            refuse(self.write("c.toml", PAIR.replace("count = 2", "count = x")),
                   "c.toml:2:9: ", "expected TOML")
            refuse(self.write("c.toml", PAIR.replace("count = 2", "")),
                   "c.toml:1:", '[accelerators] has no "count", expected')
        self.one_line_error(
            hone("graph", MODULE, "--cluster",
                 self.write("c.toml", PAIR.replace("1e9", "1"))), 2,
            "node '", "expected at most 1")
        self.one_line_error(
            hone("tune", self.graph(), "--local", "--task", "placement",
                 "--cluster", "v100x4"), 2, "chain.json is a weighted graph",
            "or no cluster, as the graph lists its devices")
        self.one_line_error(hone("graph", self.graph(), "--cluster", "v100x4"),
                            2, "chain.json lists its devices")
        listed = self.json("list", "clusters")["clusters"]
        self.assertIn("v100x4", listed)
        for name in listed:
            graph = hone("graph", MODULE, "--cluster", name, "-o",
                         self.folder / "g.json")
            # A placement graph has two kinds of devices and one link.
            if name in ("v100x2-t4x2", "v100x8-two-hosts"):
                self.one_line_error(graph, 2, "expected one of each")
            else:
                self.ok(graph)

    def test_training(self):
        weights = self.folder / "placement.pt"
        trained = self.json(
            "train", "placement", "-o", weights, "--graphs", 3, "--max-nodes",
            20, "--search-trials", 8, "--label-rounds", 1, "--updates", 1,
            "--architecture", "width=8,layers=1")
        self.assertEqual(trained["weights"], str(weights))
        self.assertEqual(trained["updates"], 1)
        found = self.json(
            "bench", "placement-searches", "--graphs",
            ROOT / "bench/data/graphs", "--only", "layer_bert24_inference",
            "--search", "random,zero-shot,policy,guided,finetune,ppo", "--trials", 4,
            "--seeds", 1, "--weights", weights)
        row, = found["graphs"]
        self.assertTrue(row["exact"])
        for search in ("zero-shot", "policy", "guided", "finetune", "ppo"):
            self.assertGreaterEqual(row[search], 1)

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
        tiny = self.write("tiny.hlo", TINY)
        placed = hone("tune", "--local", tiny, "--task", "placement")
        self.ok(placed)
        self.assertIn("no cluster given, placing on v100x4", placed.stderr)
        self.one_line_error(
            hone("graph", self.write("bad.hlo", "HloModule m\nENTRY e {")), 2,
            "bad.hlo:")

    def test_where_a_graph_makes_no_sense(self):
        path = self.graph()
        tiny = self.write("tiny.hlo", TINY)
        for task in ("pass_order", "kernel"):
            self.one_line_error(
                hone("tune", path, "--local", "--task", task), 2,
                "chain.json is a weighted graph, expected an HLO module",
                task)
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
