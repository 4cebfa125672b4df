#!/usr/bin/env python3
"""Tasks that minimize the time of a step, in this process and by a daemon.

command_line.py has the usage.
"""

import json
import re
import subprocess
import sys

from command_line import CORPUS, MODULE, ROOT, TINY, Scratch, hone, main

TASKS = ("placement", "schedule", "fusion", "joint")
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


def node(id, **fields):
    return {"id": id, "name": f"n{id}", "opcode": "dot", "flops": 1e9,
            "bytes": 1e6, "output_bytes": 1e5, "parameter_bytes": 1e6,
            **fields}


NODES = [node(0), node(1), node(2), node(3, is_output=True)]
EDGES = [{"from": a, "to": b, "bytes": 1e5}
         for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]


class Step(Scratch):
    def setUp(self):
        super().setUp()
        self.cluster = self.write("pair.toml", PAIR)
        self.target = ["--target", f"cluster:{self.cluster}"]

    def graph(self, nodes=NODES, edges=EDGES, name="g.json"):
        return self.write(name, json.dumps({"nodes": nodes, "edges": edges}))

    def judge(self, graph, document, cluster, status=0):
        """The independent checker accepts a result, or does not."""
        result = self.write("result.json", json.dumps(document))
        checker = subprocess.run(
            [sys.executable, ROOT / "tools/check_placement.py", graph, result,
             "--cluster", cluster], capture_output=True, text=True)
        self.ok(checker, status)
        self.assertEqual(checker.stderr, "")

    def check(self, document, task, graph, cluster):
        result, = document["tasks"]
        self.assertEqual(document["target"], "cluster")
        self.assertEqual(result["task"], task)
        self.assertEqual(result["best"]["unit"], "ms")
        self.assertEqual(result["assignment"],
                         result["best"]["decision"]["assignment"])
        self.assertLessEqual(result["best"]["cost"], result["default"]["cost"])
        self.judge(graph, document, cluster)
        return result

    def tamper(self, graph, document, cluster):
        """Changes what a result claims, one thing at a time."""
        copy = json.loads(json.dumps(document))
        copy["tasks"][0]["best"]["cost"] *= 0.999
        self.judge(graph, copy, cluster, status=1)
        copy = json.loads(json.dumps(document))
        copy["tasks"][0]["best"]["decision"]["step_seconds"] *= 1.001
        self.judge(graph, copy, cluster, status=1)
        copy = json.loads(json.dumps(document))
        copy["tasks"][0]["best"]["decision"]["peak_bytes"][0] += 1e6
        self.judge(graph, copy, cluster, status=1)
        copy = json.loads(json.dumps(document))
        decision = copy["tasks"][0]["best"]["decision"]
        decision["fused"] = [len(decision["assignment"]) - 1]
        self.judge(graph, copy, cluster, status=1)

    def test_graphs_and_modules(self):
        graph = self.folder / "mlp.json"
        self.ok(hone("graph", MODULE, "-o", graph))
        for task in TASKS:
            tune = ["--task", task, "--local", "--trials", 15, *self.target]
            of_module = self.json("tune", MODULE, *tune)
            of_graph = self.json("tune", graph, *tune)
            with self.subTest(task):
                self.assertEqual(of_graph["module"], "mlp")
                # A module is what its graph is.
                decisions = [
                    self.check(found, task, graph, self.cluster)["best"]
                    for found in (of_module, of_graph)]
                self.assertEqual(*decisions)
                self.tamper(graph, of_module, self.cluster)

    def test_stats(self):
        graph = self.graph()
        stats = self.json("stats", graph)
        self.assertGreaterEqual(stats.pop("parse_seconds"), 0)
        self.assertRegex(stats.pop("fingerprint"), "^[0-9a-f]{64}$")
        self.assertEqual(stats, {
            "graph": "g", "nodes": 4, "edges": 4, "flops": 4e9, "bytes": 4e6,
            "output_bytes": 4e5, "parameter_bytes": 4e6,
            "opcodes": {"dot": 4}})
        printed = self.ok(hone("stats", graph)).stdout
        self.assertRegex(printed, r"(?m)^parameter_bytes +4000000.0$")
        self.assertRegex(printed, r"(?m)^  dot +4$")
        # The graph of a module, too.
        written = self.folder / "mlp.json"
        summary = self.json("graph", MODULE, "-o", written)
        stats = self.json("stats", written)
        self.assertEqual(stats["nodes"], summary["nodes"])
        self.assertEqual(stats["edges"], summary["edges"])
        self.assertEqual(sum(stats["opcodes"].values()), stats["nodes"])

    def test_unrolled_loops(self):
        graph = self.folder / "scan.json"
        self.ok(hone("graph", CORPUS / "rnnlm_scan.fwd.hlo.zst", "--loops",
                     "unrolled", "-o", graph))
        for task in TASKS:
            found = self.json("tune", graph, "--task", task, "--local",
                              "--trials", 15, *self.target)
            with self.subTest(task):
                self.check(found, task, graph, self.cluster)

    def test_clusters_by_name(self):
        graph = self.graph()
        clusters = self.json("list", "clusters")["clusters"]
        for i, name in enumerate(clusters):
            for task in (TASKS[i % 4], TASKS[(i + 1) % 4]):
                document = self.json("tune", graph, "--task", task, "--local",
                                     "--trials", 12, "--target",
                                     f"cluster:{name}")
                self.check(document, task, graph,
                           ROOT / f"graphs/clusters/{name}.toml")

    def test_text(self):
        out = self.ok(hone("tune", self.graph(), "--task", "joint", "--local",
                           "--trials", 12, *self.target)).stdout
        self.assertIn("graph g\n", out)
        self.assertRegex(out, r"joint: step \S+ ms, default \S+ \(\S+ % less\), "
                              r"on \d devices?, 12 trials of policy")
        self.assertIn("verified: checked: step simulated", out)

    def test_placed_modules(self):
        graph = json.loads(self.ok(hone("graph", MODULE)).stdout)
        for task in ("placement", "joint"):
            path = self.folder / f"{task}.hlo"
            document = self.json("tune", MODULE, "--task", task, "--local",
                                 "--trials", 12, *self.target, "-o", path)
            entry = path.read_text().split("\nENTRY ")[1].split("\n}")[0]
            lines = [line for line in entry.splitlines() if " = " in line]
            found = {}
            for line in lines:
                device, = re.findall(r"sharding=\{maximal device=(\d)\}", line)
                name = line.replace("ROOT ", "").split(" = ")[0].strip(" %")
                found[name] = int(device)
            self.assertEqual(self.json("stats", path)["instructions"],
                             self.json("stats", MODULE)["instructions"])
            self.assertEqual(
                [found[node["name"]] for node in graph["nodes"]],
                document["tasks"][0]["assignment"])
        for task, subject in (("schedule", MODULE), ("fusion", MODULE),
                              ("joint", self.graph())):
            self.one_line_error(
                hone("tune", subject, "--task", task, "--local", *self.target,
                     "-o", self.folder / "no.hlo"), 2,
                f"-o FILE: task {task} makes no module", "expected --json")

    def run_hone(self, *arguments, status=0):
        return self.ok(hone(*arguments, state_home=self.folder), status)

    def records(self):
        listed = self.run_hone("cache", "list", "--json").stdout
        return len(json.loads(listed)["records"])

    def test_by_the_daemon(self):
        self.start_daemon()
        run = self.run_hone
        graph = self.graph()
        for count, task in enumerate(TASKS, start=1):
            tune = ["tune", graph, "--task", task, "--trials", 12, "--json",
                    *self.target]
            first = json.loads(run(*tune).stdout)
            self.check(first, task, graph, self.cluster)
            self.assertEqual(first["tasks"][0]["cache"], "miss")
            # Names do not count, nor how the figures are written.
            self.graph([{**n, "name": "", "scope": "s"} for n in NODES],
                       EDGES[::-1])
            self.write("pair.toml", PAIR.replace("1e9", "1_000_000_000"))
            again = json.loads(run(*tune).stdout)
            self.assertEqual(again["tasks"][0]["cache"], "hit")
            lookup = ["lookup", graph, "--task", task, "--json"]
            found = json.loads(run(*lookup, *self.target).stdout)["record"]
            self.assertEqual(found["best"]["decision"],
                             first["tasks"][0]["best"]["decision"])
            run(*lookup, "--target", "cluster:a100x8", status=1)
            self.assertEqual(self.records(), count)
            # What is tuned again is no worse.
            forced = json.loads(run(*tune, "--force", "--seed", 3).stdout)
            self.assertLessEqual(forced["tasks"][0]["best"]["cost"],
                                 first["tasks"][0]["best"]["cost"])

    def bad_inputs(self):
        """Yields a subject, a cluster and what the error has to say."""
        good, pair = self.graph(), self.cluster
        bad = {
            "cycle": (NODES, EDGES + [{"from": 3, "to": 0, "bytes": 1}],
                      "cycle"),
            "negative": ([node(0, flops=-1), *NODES[1:]], EDGES,
                         "nodes[0].flops is -1, expected"),
            "nan": ([node(0, bytes=float("nan")), *NODES[1:]], EDGES,
                    "not valid JSON"),
            "dangling": (NODES, EDGES + [{"from": 3, "to": 9, "bytes": 1}],
                         "edges[4].to is 9, expected"),
            "empty": ([], [], "nodes is empty, expected a node"),
            "string": ("x", [], "nodes is \"x\", expected an array"),
            "nested": ([[[[]]]], [], "nodes[0] is an array, expected an object"),
            "huge": ([node(0, flops=1e200), *NODES[1:]], EDGES,
                     "nodes[0].flops is 1e+200, expected")}
        for name, (nodes, edges, part) in bad.items():
            yield (self.graph(nodes, edges, f"{name}.json"), pair,
                   f"{name}.json:", part)
        table, link = PAIR.split("[link]")
        for name, text, part in (
                ("devices", "[link]" + link, "expected"),
                ("none", PAIR.replace("count = 2", "count = 0"), "count"),
                ("many", PAIR.replace("count = 2", "count = 65"), "65"),
                ("nolink", table, "link"),
                ("negative", PAIR.replace("= 1e12", "= -1e12"),
                 "flops_per_second"),
                ("nan", PAIR.replace("= 1e11", "= nan"), "bytes_per_second")):
            yield good, self.write(f"{name}.toml", text), part
        # 4 MB of weights, and 500 KB that are there at one time.
        small = PAIR.replace("memory_bytes = 1e9", "memory_bytes = 1e6")
        yield (good, self.write("small.toml", small), "4000000 bytes",
               "2000000 more")
        tight = PAIR.replace("memory_bytes = 1e9", "memory_bytes = 2.05e6")
        yield (good, self.write("tight.toml", tight), "fits in memory",
               "too many")

    def test_bad_inputs(self):
        for i, (graph, cluster, *parts) in enumerate(self.bad_inputs()):
            self.one_line_error(
                hone("tune", graph, "--task", TASKS[i % 4], "--local",
                     "--target", f"cluster:{cluster}"), 2, *parts)

    def test_the_daemon_stores_nothing_of_bad_inputs(self):
        self.start_daemon()
        for graph, cluster, *parts in self.bad_inputs():
            tune = ["tune", graph, "--task", "joint", "--target",
                    f"cluster:{cluster}"]
            result = hone(*tune, state_home=self.folder)
            self.ok(result, 2)
            # The same as without the daemon, about the file that was given;
            # the line before may show that the tuning has begun.
            error = result.stderr.splitlines()[-1]
            local = hone(*tune, "--local")
            self.one_line_error(local, 2, error, *parts)
            self.assertRegex(error, "^hone: .*(json|toml):")
        self.assertEqual(self.records(), 0)

    def test_options_that_do_not_apply(self):
        tune = ["tune", self.graph(), "--local", "--task", "placement"]
        self.one_line_error(
            hone(*tune, *self.target, "--cluster", "v100x4"), 2,
            "expected one of them")
        self.one_line_error(
            hone(*tune, *self.target, "--contiguity", "convex"), 2,
            "contiguity 'convex'", "step-time")
        self.one_line_error(
            hone(*tune, *self.target, "--objective", "luck"), 2, "'luck'",
            "max-load", "step-time")
        self.one_line_error(hone(*tune, "--target", "cluster:abacus"), 2,
                            "unknown cluster 'abacus'", "v100x4")
        load = self.json(*tune, *self.target, "--objective", "max-load")
        self.assertIn("loads", load["tasks"][0]["best"]["decision"])

    def test_files_that_would_overwrite_others(self):
        tiny = self.write("tiny.hlo", TINY)
        out, there = self.folder / "out", self.write("there", "old")
        again = self.folder / "." / "sub" / ".." / "out"
        (self.folder / "sub").mkdir()
        link, ahead = self.folder / "link", self.folder / "ahead"
        link.symlink_to(tiny)
        ahead.symlink_to("out")
        hard = self.folder / "hard"
        hard.hardlink_to(there)
        tune = ["tune", tiny, "--local", "--task", "joint", "--trials", 12,
                *self.target]
        before = sorted(self.folder.iterdir())
        for options, *names in (
                (["--report", out, "--trace", out], "--report ", "--trace "),
                (["--report", out, "--trace", again], "--report ", "--trace "),
                (["--report", out, "--trace", ahead], "--report ", "--trace "),
                (["-o", out, "--trace", out], "-o ", "--trace "),
                (["-o", there, "--report", hard], "-o ", "--report "),
                (["-o", tiny], "-o ", "FILE "),
                (["--report", link], "--report ", "FILE "),
                (["--trace", self.cluster], "--trace ", "the cluster ")):
            with self.subTest(options):
                self.one_line_error(hone(*tune, *options), 2,
                                    *names, "are the same file, expected")
        self.one_line_error(
            hone("tune", tiny, "--local", "--export", self.folder / "k.so",
                 "-o", self.folder / "k.h"), 2, "-o ",
            "the header of --export ", "are the same file, expected")
        self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertEqual(tiny.read_text(), TINY)
        self.assertEqual(there.read_text(), "old")
        self.assertEqual(self.cluster.read_text(), PAIR)
        self.ok(hone(*tune, "--report", "/dev/null", "--trace", "/dev/null",
                     "-o", out))
        self.assertIn("HloModule", out.read_text())

    def test_the_cluster_of_those_that_name_none(self):
        tiny = self.write("tiny.hlo", TINY)
        for task in TASKS:
            result = self.ok(hone("tune", tiny, "--local", "--task", task,
                                  "--trials", 12, "--json"))
            self.assertIn("no cluster given, placing on v100x4", result.stderr)
            named = self.json("tune", tiny, "--local", "--task", task,
                              "--trials", 12, "--target", "cluster:v100x4")
            self.assertEqual(json.loads(result.stdout)["tasks"][0]["best"],
                             named["tasks"][0]["best"])


if __name__ == "__main__":
    main()
