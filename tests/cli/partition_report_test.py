#!/usr/bin/env python3
"""The report of a tuned partition, opened in Chromium.

command_line.py has the usage.
"""

import html
import json
import re
import sys
import tomllib

from browser import HOSTILE, Pages, chromium, pixels
from command_line import ROOT, TINY, hone, main

sys.path.insert(0, str(ROOT / "tools"))
import check_partition  # noqa: E402

PACKAGE = """[chips]
count = 4
flops_per_second = 1e12
bytes_per_second = 1e11
memory_bytes = 5e6
op_seconds = 1e-6
spill_bytes_per_second = 1e9
[link]
bytes_per_second = 1e10
latency_seconds = 1e-6
"""
BERT = ROOT / "bench/data/partition/bert_6x512.hlo.zst"
# A chain of large nodes. 1 is read by the next two, so its output may pass a
# chip; 7 is a source.
NAMES = ["first", HOSTILE, "third", "fourth", "fifth", "sixth", "last", "mask"]
NODES = [{"id": i, "name": name, "opcode": "constant" if i == 7 else "dot",
          "flops": 0 if i == 7 else 1e9 + 1e8 * i, "bytes": 1e6,
          "output_bytes": 1e5 * (i + 1), "parameter_bytes": 5e5}
         for i, name in enumerate(NAMES)]
EDGES = [{"from": a, "to": b, "bytes": 1e5 * (a + 1)}
         for a, b in ((0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6),
                      (7, 0), (7, 5))]
WEIGHTED = {
    "maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
    "nodes": [{"id": i, "name": f"l{i}", "fpgaLatency": 3, "cpuLatency": 7,
               "size": 2, "supportedOnFpga": 1, "isBackwardNode": 0}
              for i in range(6)],
    "edges": [{"sourceId": i, "destId": i + 1, "cost": 0.5}
              for i in range(5)]}
# What a user does, and what comes of it.
INTERACTION = """
const stacks = [...document.querySelectorAll('#loads .stack')];
seen.load = tipAt(stacks[1], 5, 5);
seen.link = tipAt(document.querySelector('#traffic .stack'), 5, 5);
const row = chipRows[0], last = row.item.length - 1;
const middle = (row, i) => pixelOf((row.begin[i] + row.end[i]) / 2);
seen.event = tipAt($('pipeline'), middle(row, last), 30);
seen.compute = tipAt($('pipeline'), middle(row, 0), 30);
press($('pipeline'), '+');
seen.zoomed = timeSpan / (timeView.hi - timeView.lo);
press($('pipeline'), 'ArrowRight');
seen.note = $('time-note').textContent;
press($('links'), '+');
$('links').dispatchEvent(new WheelEvent('wheel', {deltaY: -300, ctrlKey: true,
  clientX: $('links').clientWidth / 2, cancelable: true}));
seen.span = (timeView.hi - timeView.lo) / timeSpan;
// The last one colors by sample, before the keys go back.
for (const button of document.querySelectorAll('#time-zoom button')) button.click();
document.querySelectorAll('#color-mode button')[1].click();
seen.key = $('pipeline-key').textContent;
press($('links'), '0');
for (const chart of timeView.charts) chart.draw();
seen.all = timeView.hi - timeView.lo === timeSpan;
seen.drawn = Number(document.body.dataset.chipEvents) + Number(document.body.dataset.linkEvents);
// At the scale at which events are narrower than a pixel.
$('pipeline').style.width = '120px';
$('links').style.width = '120px';
for (const chart of timeView.charts) chart.draw();
seen.narrow = Number(document.body.dataset.chipEvents);
"""


def cells(dom, table):
    """The texts of a table, row by row."""
    body = re.search(rf'<table id="{table}">.*?<tbody>(.*?)</tbody>', dom,
                     re.DOTALL)[1]
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in
             re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
            for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)]


def data(page):
    """The JSON that a page shows."""
    return json.loads(re.search(
        r'<script id="data" type="application/json">(.*?)</script>', page,
        re.DOTALL)[1])


class PartitionReport(Pages):
    def setUp(self):
        super().setUp()
        self.package = self.write("four.toml", PACKAGE)
        self.graph = self.write("g.json", json.dumps(
            {"nodes": NODES, "edges": EDGES}))
        self.report = self.folder / "out.html"

    def tune(self, path, *arguments, package=None):
        """Tunes, and returns the task of the JSON and the page."""
        document = self.json(
            "tune", path, "--task", "partition", "--target",
            f"mcm:{package or self.package}", "--trials", 20, "--report",
            self.report, *arguments)
        return document["tasks"][-1], self.report.read_text()

    def tiles(self, dom):
        """The exact values of the tiles."""
        return {name: float(value) for name, value in re.findall(
            r'<b id="([\w-]+)"[^>]* data-value="([^"]+)"', dom)}

    def traffic(self, path, assignment, package):
        """The outputs on each link and their milliseconds, from definitions."""
        graph = check_partition.read_graph(path.read_bytes(), package)
        last = {}
        for source, target in check_partition.crossings(graph, assignment):
            last[source] = max(last.get(source, 0), assignment[target])
        links = [[0, 0.0] for _ in range(graph.chips)]
        for source, chip in last.items():
            for link in range(assignment[source], chip):
                links[link][0] += 1
                links[link][1] += graph.nodes[source].transfer
        return links

    def test_the_page_shows_the_partition(self):
        package = tomllib.loads(PACKAGE)
        for objective in ("max-load", "interval"):
            with self.subTest(objective):
                task, page = self.tune(self.graph, "--local", "--objective",
                                       objective)
                dom, found = self.open(self.report)
                best = task["best"]
                decision = best["decision"]
                assignment = decision["assignment"]
                used = max(assignment) + 1
                self.assertGreater(used, 1)
                tiles = self.tiles(dom)
                self.assertEqual(tiles["max-load"], decision["max_load"])
                self.assertEqual(tiles["lower-bound"], decision["lower_bound"])
                self.assertAlmostEqual(tiles["ratio"],
                                       decision["ratio_to_bound"])
                self.assertEqual(tiles["default-cost"],
                                 task["default"]["cost"])
                self.assertAlmostEqual(tiles["change"], task["improvement"])
                self.assertEqual(int(tiles["used"]), used)
                self.assertIn(f">{used} of 4<", dom)
                self.assertIn("greedy default’s "
                              + objective.replace("-", " "), dom)
                self.assertGreaterEqual(tiles["interval"],
                                        decision["max_load"])
                self.assertGreaterEqual(tiles["latency"], tiles["interval"])
                if objective == "interval":
                    self.assertEqual(tiles["interval"], best["cost"])
                    self.assertEqual(tiles["latency"], decision["latency"])
                text = re.search(r'id="max-load"[^>]*>([^<]+) (.?)s<', dom)
                self.assertEqual(
                    (f"{decision['max_load']:.6g}", "m"), text.groups())
                self.check_chips(dom, page, decision)
                self.check_links(dom, page, assignment, package, tiles)
                self.assertEqual((int(found["chips"]), int(found["samples"])),
                                 (used, 8))
                self.check_self_contained(page, dom)

    def check_chips(self, dom, page, decision):
        """A bar and a row of the table for each chip that is used."""
        shown = data(page)["chips"]
        used = max(decision["assignment"]) + 1
        self.assertEqual(
            len(re.findall(r'class="stack"', re.search(
                r'id="loads".*?<table', dom, re.DOTALL)[0])), used)
        rows = cells(dom, "load-table")
        self.assertEqual(len(rows), used)
        for chip, load in enumerate(decision["loads"]):
            for name, value in load.items():
                self.assertAlmostEqual(shown[name][chip], value)
            nodes = sum(c == chip for c in decision["assignment"][:7])
            self.assertEqual(shown["nodes"][chip], nodes)
            # Weights, and a copy of the source with each reader of it.
            resident = 5e5 * (nodes + (chip in (
                decision["assignment"][0], decision["assignment"][5])))
            self.assertEqual(shown["resident"][chip], resident)
            if chip < used:
                self.assertEqual(rows[chip][:2], [str(chip), str(nodes)])
                self.assertIn(f"{resident / 1e6:.4g} MB" if resident >= 1e6
                              else "500 kB", rows[chip])

    def check_links(self, dom, page, assignment, package, tiles):
        document = data(page)
        expected = self.traffic(self.graph, assignment, package)
        self.assertEqual(document["links"]["outputs"],
                         [outputs for outputs, _ in expected])
        rows = cells(dom, "link-table")
        self.assertEqual(len(rows), max(assignment))
        for link, row in enumerate(rows):
            outputs, milliseconds = expected[link]
            self.assertAlmostEqual(document["links"]["milliseconds"][link],
                                   milliseconds)
            self.assertAlmostEqual(document["links"]["busy"][link],
                                   milliseconds)
            sent = milliseconds * package["link"]["bytes_per_second"] / 1e3
            self.assertEqual(row, [
                f"{link} → {link + 1}", str(outputs),
                f"{sent / 1e3:.4g} kB" if sent < 1e6 else
                f"{sent / 1e6:.4g} MB",
                f"{milliseconds * 1e3:.4g} µs" if milliseconds < 1 else
                f"{milliseconds:.4g} ms",
                f"{100 * milliseconds / tiles['interval']:.1f} %"])

    def test_it_answers_to_keys_and_the_pointer(self):
        # All names are hostile, so that the one on chip 0 is.
        graph = self.write("hostile.json", json.dumps(
            {"nodes": [{**node, "name": HOSTILE} for node in NODES],
             "edges": EDGES}))
        _, page = self.tune(graph, "--local")
        events = data(page)["events"]
        seen = self.use(page, INTERACTION)
        self.assertTrue(seen["load"].startswith("chip 1load"), seen)
        self.assertTrue(seen["link"].startswith("link 0 → 1outputs"), seen)
        self.assertTrue(seen["event"].startswith(HOSTILE + "chip0"), seen)
        self.assertTrue(seen["compute"].startswith("sample 0chip0"), seen)
        self.assertAlmostEqual(seen["zoomed"], 1.4)
        self.assertIn(" – ", seen["note"])
        self.assertLess(seen["span"], 1 / 1.4 ** 2)
        self.assertEqual(seen["key"], "".join(
            f"sample {i}" for i in range(8)))
        self.assertTrue(seen["all"])
        self.assertEqual(seen["drawn"], len(events["kind"]))
        self.assertEqual(seen["narrow"], sum(
            kind != 3 for kind in events["kind"]))

    def test_events_agree_with_the_loads(self):
        task, page = self.tune(self.graph, "--local")
        events = data(page)["events"]
        loads = task["best"]["decision"]["loads"]
        for chip, load in enumerate(loads):
            for kind, name in ((1, "outbound"), (2, "inbound")):
                for sample in range(8):
                    self.assertAlmostEqual(load[name], sum(
                        events["end"][i] - events["begin"][i]
                        for i in range(len(events["kind"]))
                        if (events["kind"][i], events["chip"][i],
                            events["sample"][i]) == (kind, chip, sample)))

    def test_outputs_that_pass_a_chip(self):
        # A diamond with equal work: each node has a chip, and what the first
        # sends to the third passes the second.
        nodes = [{**node, "flops": 1e9, "opcode": "dot"} for node in NODES[:4]]
        graph = self.write("diamond.json", json.dumps(
            {"nodes": nodes, "edges": [
                {"from": a, "to": b, "bytes": 1e5 * (a + 1)}
                for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]}))
        task, page = self.tune(graph, "--local")
        self.assertEqual(sorted(task["assignment"]), [0, 1, 2, 3])
        dom, _ = self.open(self.report)
        expected = self.traffic(graph, task["assignment"],
                                tomllib.loads(PACKAGE))
        self.assertEqual([outputs for outputs, _ in expected], [1, 2, 2, 0])
        for link, (outputs, milliseconds) in enumerate(expected[:3]):
            self.assertEqual(cells(dom, "link-table")[link][1:4], [
                str(outputs), f"{milliseconds * 1e4:.4g} kB",
                f"{milliseconds * 1e3:.4g} µs"])
        # The first output takes two links for as long as it has bytes.
        first = next(row for row in cells(dom, "output-table")
                     if row[0] == NAMES[0])
        self.assertEqual(first[1:], ["0", "2", "2", "2", "100 kB", "10 µs"])

    def test_it_is_drawn_in_both_schemes(self):
        self.tune(self.graph, "--local")
        shot = self.folder / "shot.png"
        for scheme, colors in (
                (1, ((47, 111, 179), (31, 138, 76), (199, 88, 12),
                     (132, 80, 184))),
                (0, ((106, 167, 232), (88, 193, 132), (240, 146, 74),
                     (181, 139, 230)))):
            chromium(self.report, f"--screenshot={shot}",
                     "--window-size=900,1800",
                     f"--blink-settings=preferredColorScheme={scheme}")
            counts = pixels(shot.read_bytes())
            for color in colors:
                self.assertGreater(counts[color], 300, (scheme, color))

    def test_packages_and_graphs(self):
        for package, chips in (("hermosa4", 4), ("hermosa8", 8),
                               ("hermosa36", 36)):
            with self.subTest(package):
                task, page = self.tune(BERT, "--local", package=package)
                self.assertLess(len(page), 2 << 20)
                self.assertIn('"subject":"an HLO module"', page)
                dom, found = self.open(self.report)
                used = max(task["assignment"]) + 1
                self.assertIn(f">{used} of {chips}<", dom)
                self.assertEqual(int(found["chips"]), used)
        # No bytes are known of the transfers of a weighted graph.
        weighted = self.write("w.json", json.dumps(WEIGHTED))
        task, _ = self.tune(weighted, "--local")
        dom, found = self.open(self.report)
        expected = self.traffic(weighted, task["assignment"],
                                tomllib.loads(PACKAGE))
        self.assertEqual(cells(dom, "link-table")[0][:4], [
            "0 → 1", "1", "–", f"{expected[0][1] * 1e3:.4g} µs"])
        # A package of a chip has no links.
        one = self.write("one.toml", PACKAGE.replace("count = 4", "count = 1")
                         .replace("5e6", "5e7"))
        self.tune(self.graph, "--local", package=one)
        dom, found = self.open(self.report)
        self.assertEqual(found["links"], "0")
        self.assertIn("No output is read on another chip.", dom)

    def test_a_partition_that_runs_out_of_memory(self):
        # Fits from the start, but what nodes read and make does not.
        graph = self.write("large.json", json.dumps(
            {"nodes": [{**node, "output_bytes": 4e6} for node in NODES],
             "edges": EDGES}))
        _, page = self.tune(graph, "--local")
        dom, found = self.open(self.report)
        text = re.search(r'id="failure"[^>]*data-bytes="([^"]+)">([^<]+)<',
                         dom)
        excess = data(page)["chips"]["excess"]
        self.assertEqual(float(text[1]), max(excess))
        self.assertIn(f"Chip {excess.index(max(excess))} runs out of memory "
                      f"in simulation: it lacks {max(excess) / 1e6:.4g} MB",
                      text[2])
        self.assertNotIn(" hidden", re.search(r'<p [^>]*id="failure"[^>]*>',
                                              dom)[0])
        self.assertIn("hidden", re.search(
            r'<section [^>]*id="pipeline-part"[^>]*>', dom)[0])
        self.assertEqual((found["events"], found["samples"]), ("0", "0"))
        self.assertIn(">out of memory in simulation<", dom)
        # One with enough says nothing of it.
        self.tune(self.graph, "--local")
        dom, _ = self.open(self.report)
        self.assertIn("hidden", re.search(r'<p [^>]*id="failure"[^>]*>',
                                          dom)[0])

    def test_cached_results_and_the_daemon(self):
        store = ("--local", "--state", self.folder / "store")
        first, page = self.tune(self.graph, *store)
        again, same = self.tune(self.graph, *store)
        self.assertEqual((first["cache"], again["cache"]), ("miss", "hit"))
        self.assertEqual(page, same)
        self.start_daemon()
        self.report.unlink()
        self.ok(hone("tune", self.graph, "--task", "partition", "--target",
                     f"mcm:{self.package}", "--trials", 20, "--report",
                     self.report, state_home=self.folder))
        self.assertEqual(self.report.read_text(), page)

    def test_what_is_refused(self):
        tune = ["tune", self.graph, "--local", "--task", "partition",
                "--target", f"mcm:{self.package}"]
        out = self.folder / "out"
        self.one_line_error(
            hone(*tune, "--trace", out), 2,
            "--trace FILE: task partition has no step to show, expected "
            "--report FILE.html for its timeline")
        self.one_line_error(
            hone(*tune, "--report", self.folder / "none" / "out"), 2,
            "none/out: cannot be written")
        self.one_line_error(
            hone("tune", self.write("tiny.hlo", TINY), "--local", "--report",
                 out), 2, "--report FILE: task pass_order has no step to show, "
            "expected task schedule, fusion, joint, placement for step-time, "
            "or partition")
        for path in (self.graph, self.package):
            before = path.read_text()
            self.one_line_error(hone(*tune, "--report", path), 2,
                                "are the same file, expected")
            self.assertEqual(path.read_text(), before)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    main()
