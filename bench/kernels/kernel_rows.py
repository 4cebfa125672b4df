"""Measures and prints the rows of time_peers.py.

A ratio compares two families that allocate their results alike (peers.py):
torch/hone is PyTorch as users call it beside a Hone that gets new results at
each call, out/hone both with results that are there. `same/hone` is Hone
against itself in the same rounds: a second copy of the shared object, loaded
at another place, with results of its own. A ratio above or below 1 is
significant beyond that only (interleaved.compare).

best/ is the fastest of all peers, by the median of its times: of those that
allocate their results beside a Hone that gets new ones, or of those that write
to memory that is there beside a Hone that does, whichever ratio is smaller.
"""

import dataclasses
import filecmp
import gc
import math
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile

import jax
import numpy as np
import torch

import interleaved
import peers

OVERHEAD_MATTERS_US = 100
SEED = 1

# The two families whose times each column divides. `tuned/default` below 1
# means that tuning helped; elsewhere above 1 means that Hone is faster.
RATIOS = {"torch/hone": ("torch", "hone+"), "out/hone": ("torch=", "hone"),
          "xla/hone": ("xla", "hone+"), "torch/tuned": ("torch", "tuned+"),
          "out/tuned": ("torch=", "tuned"), "xla/tuned": ("xla", "tuned+"),
          "tuned/default": ("tuned", "hone"), "torch/xla": ("torch", "xla")}
# The peers of best/, with the Hone that they are compared with.
ALIKE = ((("torch", "compiled", "xla", "numpy"), "+"),
         (("torch=", "numpy="), ""))
# Kernels for which XLA takes tens of times as long as the others, so that they
# move its means: these are printed without them too.
OUTLIERS = "depthwise"
SAME, SAME_FAMILIES = "same/hone", ("hone again", "hone")


def measure_overheads(calibration):
    """Microseconds of a call that computes next to nothing, by family."""
    one = np.ones(1, np.float32)
    tensor, array = torch.ones(1), jax.device_put(one)
    function = jax.jit(lambda x: x + 1)
    empty = calibration.library.empty_entry
    calls = {"torch": lambda: tensor + 1,
             "torch=": lambda: torch.add(tensor, 1, out=tensor),
             "xla": lambda: function(array).block_until_ready(),
             "hone+": peers.bind_allocating_entry(
                 empty, [one], [((1,), torch.float32)]),
             "hone": peers.bind_entry(empty, [one], [one])}
    return {family: interleaved.warm_up(call) * 1e6
            for family, call in calls.items()}


class Timer:
    """`objects`: by family ("hone", "tuned") a folder of NAME.so, or None.
    `compiled`: with torch.compile."""

    def __init__(self, calibration, objects, rounds, compiled=False):
        self.objects, self.rounds = objects, rounds
        self.compiled = compiled
        self.calibration = calibration
        self._copies = tempfile.TemporaryDirectory()

    def time(self, kernel):
        """The kernel's row; None with a message when a result is wrong."""
        inputs = peers.make_inputs(kernel, SEED)
        candidates = [*peers.torch_peers(kernel, inputs),
                      *peers.numpy_peers(kernel, inputs),
                      peers.xla_peer(kernel, inputs)]
        if self.compiled:
            candidates += peers.compiled_peers(kernel, inputs)
        paths = {family: (folder / f"{kernel.name}.so").resolve()
                 for family, folder in self.objects.items()
                 if folder and (folder / f"{kernel.name}.so").exists()}
        # Where the search kept the default, the objects are the same code.
        kept = ("hone" in paths and "tuned" in paths and
                filecmp.cmp(paths["hone"], paths["tuned"], shallow=False))
        if kept:
            del paths["tuned"]
        if "hone" in paths:
            paths["hone again"] = pathlib.Path(self._copies.name,
                                               f"{kernel.name}.so")
            shutil.copy(paths["hone"], paths["hone again"])
        for family, path in paths.items():
            entry = peers.load_entry(path, self.calibration.threads)
            candidates.append(peers.hone_peer(family, kernel, inputs, entry))
            if family != "hone again":
                candidates.append(peers.allocating_hone_peer(
                    family + "+", kernel, inputs, entry))
        errors = self._check(kernel, inputs, candidates)
        if errors is None:
            return None
        row = {"kernel": kernel.name, "threads": self.calibration.threads,
               "errors": errors, "default_kept": kept}
        row |= self._measure(candidates)
        if not self._confirm(kernel, inputs, candidates, paths):
            return None
        if kept:
            copy_default(row)
        roofline = self.calibration.roofline(kernel, least_seconds(row))
        row |= {"roofline_us": roofline and roofline[0] * 1e6,
                "bound": roofline and roofline[1]}
        return row

    def _check(self, kernel, inputs, candidates):
        expected = peers.expected_results(kernel, inputs)
        errors = {f"{peer.family} {peer.name}":
                  peers.error(peer.results(), expected) for peer in candidates}
        wrong = {name: e for name, e in errors.items()
                 if not e <= peers.TOLERANCE}
        for name, e in wrong.items():
            print(f"{kernel.name}: {name}: error {e:.2g}", file=sys.stderr)
        return None if wrong else errors

    def _confirm(self, kernel, inputs, candidates, paths):
        """Checks Hone's results after timing, and those of arguments at other
        places. Returns false with a message when one is wrong."""
        others = [peer for peer in candidates
                  if peer.family.startswith(("hone", "tuned"))]
        moved = peers.elsewhere(inputs, SEED)
        others += [peers.hone_peer(
            f"{family} elsewhere", kernel, moved,
            peers.load_entry(path, self.calibration.threads))
            for family, path in paths.items()]
        return self._check(kernel, inputs, others) is not None

    def _measure(self, candidates):
        screened = {(peer.family, peer.name): interleaved.warm_up(peer.call)
                    for peer in candidates
                    if peer.family in ("torch", "torch=", "compiled")}
        best = {}  # family -> name
        for family, name in sorted(screened, key=screened.get):
            best.setdefault(family, name)
        chosen = {peer.family: peer.call for peer in candidates
                  if best.get(peer.family, peer.name) == peer.name}
        gc.collect()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        measured = interleaved.measure(
            chosen, self.rounds, self.calibration.threads, SEED,
            self.calibration.witness)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        samples = measured.samples
        row = {"torch": best, "page_faults": faults,
               "torch_screened_us": {" ".join(key): s * 1e6
                                     for key, s in screened.items()},
               "us": {family: statistics.median(s.seconds) * 1e6
                      for family, s in samples.items()},
               "cpu_us": {family: statistics.median(s.cpu_seconds) * 1e6
                          for family, s in samples.items()},
               "rounds_taken": measured.rounds_taken,
               "rounds_disturbed": measured.rounds_disturbed,
               "disturbed": measured.disturbed,
               "evidence": [dataclasses.asdict(e) for e in measured.evidence],
               "samples": {family: dataclasses.asdict(s)
                           for family, s in samples.items()}}
        for name, (above, below) in (*RATIOS.items(), (SAME, SAME_FAMILIES)):
            if above in samples and below in samples:
                row[name] = interleaved.ratio(samples[above].seconds,
                                              samples[below].seconds)
        add_best(row, samples)
        return row


def add_best(row, samples):
    """Adds best/hone and best/tuned, and the peers that they are of."""
    for own in ("hone", "tuned"):
        found = {}
        for families, suffix in ALIKE:
            timed = [family for family in families if family in samples]
            if timed and own + suffix in samples:
                peer = min(timed, key=row["us"].get)
                found[peer] = interleaved.ratio(samples[peer].seconds,
                                                samples[own + suffix].seconds)
        if found:
            peer = min(found, key=lambda name: found[name][0])
            row.setdefault("best", {})[own] = peer
            row[f"best/{own}"] = found[peer]


def least_seconds(row):
    """Returns the least time of Hone's, by median; inf without one."""
    return min((row["us"][family] * 1e-6 for family in ("hone", "tuned")
                if family in row["us"]), default=math.inf)


def copy_default(row):
    """Fills in the figures of `tuned` where it is the default schedule: timing
    the same code again would show noise only."""
    for name in ("torch", "out", "xla", "best"):
        if f"{name}/hone" in row:
            row[f"{name}/tuned"] = row[f"{name}/hone"]
    if "hone" in row.get("best", {}):
        row["best"]["tuned"] = row["best"]["hone"]
    for suffix in ("", "+"):
        row["us"]["tuned" + suffix] = row["us"]["hone" + suffix]
    row["tuned/default"] = (1.0, 1.0, 1.0)


def verdict(row, name):
    """Returns 1, -1 or 0 as interleaved.compare does; 0 for a disturbed row,
    and without a Hone to compare with itself."""
    if row["disturbed"] or name not in row or SAME not in row:
        return 0
    return interleaved.compare(row[name], row[SAME])


TIMES = {"torch": "PyTorch", "torch=": "PyTorch out=",
         "compiled": "torch.compile", "xla": "XLA", "numpy": "OpenBLAS",
         "hone+": "Hone, new results", "hone": "Hone",
         "tuned+": "tuned, new results", "tuned": "tuned"}
BEST = ("best/hone", "best/tuned")
NOT_MEASURED = "not measured"
PRINTED = [*BEST, *(name for name in RATIOS if name != "torch/xla")]
HEADINGS = ["kernel", *TIMES.values(), *PRINTED, SAME, "roofline", "bound",
            "% of roofline"]

LEGEND = """\
Microseconds, medians; ratios are medians of those within a round, with their
95 % interval; `+` after one that is significantly above 1, `-` below: beyond
1 and beyond the interval of Hone with itself (same/hone) in the same rounds.
torch/ and xla/ compare calls that allocate their results, on both sides; out/
and tuned/default calls to results that are there; best/ the fastest of all
peers, which it names, in the way that is worse for Hone. `!`: too few
undisturbed rounds, in no mean, and with several threads not measured. `=`:
tuned is the default schedule. `~`: calls matter."""


def print_line(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def print_header(document, calibration):
    """What the table needs to be understood; `document` is the JSON's."""
    libraries = document["libraries"]
    print(f"{document['machine']['cpu']}, {calibration.threads} thread(s); "
          f"torch {libraries['torch']} {libraries['torch_cpu_capability']}, "
          f"jax {libraries['jax']}, {libraries['openblas']}")
    for line in libraries["torch_dispatch"]:
        print(line[:120])

    def rate(value, unit):
        return (f"{value / 1e9:.2f} {unit}" if value else
                f"no {unit} that passed its check")

    print(f"peak {rate(calibration.peak_flops, 'GFLOP/s')}, "
          f"{rate(calibration.transcendentals, 'G exp/s')}; threads "
          f"{'are' if calibration.pinned else 'could not be'} pinned")
    print("bare calls, us: " + ", ".join(
        f"{family} {us:.2f}" for family, us in document["overhead_us"].items()))
    print(LEGEND + "\n")
    print_line(HEADINGS)
    print_line(["---"] * len(HEADINGS))


def roofline_percent(row):
    """Returns the roofline in percent of the least time of Hone's; None without
    a roofline or a Hone."""
    least_us = least_seconds(row) * 1e6
    if math.isinf(least_us) or not row["roofline_us"]:
        return None
    return 100 * row["roofline_us"] / least_us


def is_measured(row):
    """Returns false for rows of several threads that were disturbed: whoever
    else has a core makes the threads wait for each other, so their times are no
    figures of the kernel."""
    return not row["disturbed"] or row.get("threads", 1) == 1


def format_row(row):
    """Returns the cells of a line of the table."""
    if not is_measured(row):
        return [row["kernel"] + " !", NOT_MEASURED,
                *["-"] * (len(HEADINGS) - 2)]

    def time(family):
        us = row["us"].get(family)
        if us is None:
            return "-"
        return f"{us:.1f}{'~' if us < OVERHEAD_MATTERS_US else ''}"

    def ratio(name):
        if name not in row:
            return "-"
        if name == "tuned/default" and row["default_kept"]:
            return "="
        median, lower, upper = row[name]
        mark = {1: " +", -1: " -", 0: ""}[verdict(row, name)]
        peer = ("" if name not in BEST else
                f"{row['best'][name.removeprefix('best/')]} ")
        return f"{peer}{median:.2f} ({lower:.2f} to {upper:.2f}){mark}"

    percent = roofline_percent(row)
    return [row["kernel"] + (" !" if row["disturbed"] else ""),
            *map(time, TIMES), *map(ratio, PRINTED), ratio(SAME),
            f"{row['roofline_us']:.1f}" if row["roofline_us"] else "-",
            row["bound"] or "-", "-" if percent is None else f"{percent:.0f}"]


def summarize(rows):
    """Returns the summary as lines of cells, the first the headings."""
    undisturbed = [row for row in rows if not row["disturbed"]]
    lines = [["ratio", "rows", "geometric mean", "median", "least", "most",
              "significantly above 1", "significantly below 1"]]

    def add(name, these, heading):
        if not these:
            return
        medians = [row[name][0] for row in these]
        least = min(these, key=lambda row: row[name][0])
        verdicts = [verdict(row, name) for row in these]
        lines.append([
            heading, f"{len(these)} of {len(rows)}",
            f"{statistics.geometric_mean(medians):.3f}",
            f"{statistics.median(medians):.3f}",
            f"{least[name][0]:.3f} ({least['kernel']})", f"{max(medians):.3f}",
            *(["", ""] if name == SAME else
              [str(verdicts.count(1)), str(verdicts.count(-1))])])

    for name in (*BEST, *RATIOS, SAME):
        these = [row for row in undisturbed if name in row]
        add(name, these, name)
        others = [row for row in these if OUTLIERS not in row["kernel"]]
        if "xla" in name and len(others) < len(these):
            add(name, others, f"{name} without {OUTLIERS}")
    return lines


def findings(rows, calibration):
    """Returns sentences that must stand beside the summary: the number of rows
    in it, slower tuned kernels, and faults of the calibration."""
    undisturbed = [row for row in rows if not row["disturbed"]]
    said = [f"{len(undisturbed)} of {len(rows)} rows undisturbed; the others "
            f"are in no mean."]
    tuned = [row for row in undisturbed if "tuned/default" in row]
    if tuned:
        slower = [row["kernel"] for row in tuned
                  if verdict(row, "tuned/default") > 0]
        said.append(
            f"Of {len(tuned)} tuned kernels the default was kept for "
            f"{sum(row['default_kept'] for row in tuned)}, "
            f"{sum(verdict(row, 'tuned/default') < 0 for row in tuned)} are "
            f"significantly faster, {len(slower)} significantly slower"
            f"{': ' + ', '.join(slower) if slower else ''}.")
        # That a kernel is slower must not be hidden by a noisy row.
        maybe = [row["kernel"] for row in tuned
                 if row["tuned/default"][1] > 1]
        said.append(
            f"By the interval alone, which finds one of 40 that are the same, "
            f"{len(maybe)} are slower"
            f"{': ' + ', '.join(maybe) if maybe else ''}.")
    # Hone beside itself is beyond 1 in one row of twenty, by its interval.
    same = [row[SAME] for row in undisturbed if SAME in row]
    if same:
        beyond = sum(lower > 1 or upper < 1 for _, lower, upper in same)
        said.append(f"Hone differs from itself, by its interval alone, in "
                    f"{beyond} of {len(same)} rows.")
    above = [row["kernel"] for row in undisturbed
             if (roofline_percent(row) or 0) > 100]
    if above:
        said.append(f"Above the roofline, which is too low there: "
                    f"{', '.join(above)}.")
    said += [f"No rate of {' '.join(map(str, key))}: {problem}."
             for key, problem in calibration.problems.items()]
    return said


def print_summary(rows, calibration):
    print()
    headings, *lines = summarize(rows)
    if lines:
        for line in (headings, ["---"] * len(headings), *lines):
            print_line(line)
        print()
    for sentence in findings(rows, calibration):
        print(sentence)
