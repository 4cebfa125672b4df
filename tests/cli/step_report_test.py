#!/usr/bin/env python3
"""The report and the trace of a tuned step, opened in Chromium.

command_line.py has the usage.
"""

import json
import re

from browser import HOSTILE, Pages, chromium, pixels
from command_line import TINY, hone, main

NAMES = ["tokens", HOSTILE, "left", "right", "join"]
GRAPH = {
    "nodes": [{"id": i, "name": name,
               "opcode": "parameter" if i == 0 else "dot",
               "flops": 0 if i == 0 else 8e9 * i,
               "bytes": 0 if i == 0 else 1e7, "output_bytes": 4e6,
               "parameter_bytes": 1e6, "scope": f"part{i // 2}/{HOSTILE}"}
              for i, name in enumerate(NAMES)],
    "edges": [{"from": a, "to": b, "bytes": 4e6}
              for a, b in ((0, 1), (1, 2), (1, 3), (2, 4), (3, 4))]}
# What a user does, and what comes of it.
INTERACTION = """const {x0, x1, y0, y1} = graphView.layout;
seen.tip = tipAt($('graph'), ((x0[1] + x1[1]) / 2 - graphView.x) * graphView.kx,
                 ((y0[1] + y1[1]) / 2 - graphView.y) * graphView.ky);
seen.row = tipAt($('kernels'), $('kernels').clientWidth - 20, 30);
tipAt($('memory'), $('memory').clientWidth / 2, 20);
const kx = graphView.kx;
press($('graph'), '+');
seen.zoomed = graphView.kx / kx;
for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', '-', '0'])
  press($('graph'), key);
seen.back = graphView.kx / kx;
press($('kernels'), '+');
press($('links'), '+');
$('memory').dispatchEvent(new WheelEvent('wheel', {deltaY: -300, ctrlKey: true,
  clientX: $('memory').clientWidth / 2, cancelable: true}));
seen.span = (timeView.hi - timeView.lo) / step;
press($('memory'), 'ArrowRight');
for (const button of document.querySelectorAll('button')) button.click();
press($('kernels'), '0');
seen.all = timeView.hi - timeView.lo === step;
for (const part of [graphPart, ...timeView.charts]) part.draw();
"""


class StepReport(Pages):
    def tune(self, path, *arguments, task="joint"):
        """Tunes, and returns the task of the JSON, the page and the trace."""
        self.report = self.folder / "step.html"
        trace = self.folder / "step.json"
        document = self.json(
            "tune", path, "--task", task, "--target", "cluster:v100x2",
            "--trials", 20, "--report", self.report, "--trace", trace,
            *arguments)
        return (document["tasks"][-1], self.report.read_text(),
                json.loads(trace.read_text()))

    def graph(self):
        return self.write("graph.json", json.dumps(GRAPH))

    def test_the_page_shows_the_step(self):
        task, page, trace = self.tune(self.graph(), "--local")
        events = trace["traceEvents"]
        dom, found = self.open(self.report)
        decision = task["best"]["decision"]
        self.assertEqual(int(found["devices"]), 2)
        self.assertEqual(int(found["nodes"]), len(NAMES))
        for kind in ("kernel", "transfer"):
            self.assertEqual(int(found[f"{kind}s"]),
                             sum(e.get("cat") == kind for e in events), kind)
        seconds, text = re.search(
            r'id="step-time" data-seconds="([^"]+)">([^<]+) ms<', dom).groups()
        self.assertEqual(float(seconds), decision["step_seconds"])
        self.assertEqual(text, f"{task['best']['cost']:.6g}")
        text = re.search(r'id="default-time">([^<]+) ms<', dom)[1]
        self.assertEqual(text, f"{task['default']['cost']:.6g}")
        # The last kernel ends with the step.
        self.assertAlmostEqual(
            max(e["ts"] + e["dur"] for e in events if e["ph"] == "X"),
            1e6 * decision["step_seconds"])
        self.check_self_contained(page, dom)

    def test_it_answers_to_keys_and_the_pointer(self):
        _, page, _ = self.tune(self.graph(), "--local")
        seen = self.use(page, INTERACTION)
        self.assertTrue(seen["tip"].startswith(HOSTILE), seen)
        self.assertIn("opcodedot", seen["tip"])
        self.assertTrue(seen["row"].startswith("join"), seen)
        self.assertAlmostEqual(seen["zoomed"], 1.4)
        self.assertAlmostEqual(seen["back"], 1)
        self.assertLess(seen["span"], 1 / 1.4 ** 2)
        self.assertTrue(seen["all"])

    def test_it_is_drawn_in_the_colors_of_devices(self):
        self.tune(self.graph(), "--local")
        shot = self.folder / "shot.png"
        for scheme, colors in ((1, ((47, 111, 179), (199, 88, 12))),
                               (0, ((106, 167, 232), (240, 146, 74)))):
            chromium(self.report, f"--screenshot={shot}",
                     f"--blink-settings=preferredColorScheme={scheme}")
            counts = pixels(shot.read_bytes())
            self.assertGreater(len(counts), 50)
            for color in colors:
                self.assertGreater(counts[color], 1000, (scheme, counts[color]))

    def test_modules_and_other_tasks(self):
        path = self.write("tiny.hlo", TINY)
        for task in ("joint", "fusion", "schedule", "placement"):
            _, page, trace = self.tune(path, "--local", task=task)
            self.assertIn('"subject":"an HLO module"', page)
            self.assertTrue(trace["traceEvents"])
        self.open(self.report)

    def test_cached_results_and_the_daemon(self):
        store = ("--local", "--state", self.folder / "store")
        first, page, trace = self.tune(self.graph(), *store)
        again = self.tune(self.graph(), *store)
        self.assertEqual((first["cache"], again[0]["cache"]), ("miss", "hit"))
        self.assertEqual((page, trace), again[1:])
        self.start_daemon()
        self.report.unlink()
        self.ok(hone("tune", self.graph(), "--task", "joint", "--target",
                     "cluster:v100x2", "--trials", 20, "--report", self.report,
                     state_home=self.folder))
        self.assertEqual(self.report.read_text(), page)

    def test_what_has_no_step(self):
        tiny = self.write("tiny.hlo", TINY)
        tune = ["tune", tiny, "--local"]
        for option in ("--report", "--trace"):
            path = self.folder / "out"
            self.one_line_error(
                hone(*tune, option, path), 2,
                f"{option} FILE: task pass_order has no step to show, expected")
            self.one_line_error(
                hone(*tune, "--task", "placement", "--cluster", "v100x2",
                     option, path), 2,
                f"{option} FILE: task placement for max-load has no step")
            self.assertFalse(path.exists())
            self.one_line_error(
                hone(*tune, "--task", "joint", "--target", "cluster:v100x2",
                     option, self.folder / "none" / "out"), 2,
                "none/out: cannot be written")


if __name__ == "__main__":
    main()
