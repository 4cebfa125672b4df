"""Measures and prints the rows of time_peers.py."""

import dataclasses
import gc
import resource
import statistics
import sys

import jax
import numpy as np
import torch

import interleaved
import peers

OVERHEAD_MATTERS_US = 100
# Beyond these a row is marked as disturbed.
LEAST_PEAK, MOST_PREEMPTED = 0.85, 0.1
SEED = 1


def measure_overheads(calibration):
    """Microseconds of a call that computes next to nothing, by family."""
    one = np.ones(1, np.float32)
    tensor, array = torch.ones(1), jax.device_put(one)
    function = jax.jit(lambda x: x + 1)
    entry = peers.bind_entry(calibration.library.empty_entry, [one], [one])
    calls = {"torch": lambda: tensor + 1,
             "xla": lambda: function(array).block_until_ready(),
             "hone": entry}
    return {family: interleaved.warm_up(call) * 1e6
            for family, call in calls.items()}


class Timer:
    """`objects`: by family ("hone", "tuned") a folder of NAME.so, or None."""

    def __init__(self, calibration, objects, rounds):
        self.objects, self.rounds = objects, rounds
        self.calibration = calibration

    def time(self, kernel):
        """The kernel's row; None with a message when a result is wrong."""
        inputs = peers.make_inputs(kernel, SEED)
        candidates = [*peers.torch_peers(kernel, inputs),
                      peers.xla_peer(kernel, inputs)]
        for family, folder in self.objects.items():
            path = folder and folder / f"{kernel.name}.so"
            if path and path.exists():
                candidates.append(
                    peers.hone_peer(family, kernel, inputs, path.resolve(),
                                    self.calibration.threads))
        errors = self._check(kernel, inputs, candidates)
        if errors is None:
            return None
        row = {"kernel": kernel.name, "errors": errors}
        row |= self._measure(candidates)
        peak = self.calibration.measure_peak()
        seconds, bound = self.calibration.roofline(kernel)
        row |= {"roofline_us": seconds * 1e6, "bound": bound, "peak_flops": peak,
                "disturbed": (peak < LEAST_PEAK * self.calibration.peak_flops or
                              row["preempted"] > MOST_PREEMPTED)}
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

    def _measure(self, candidates):
        screened = {peer.name: interleaved.warm_up(peer.call)
                    for peer in candidates if peer.family == "torch"}
        best = min(screened, key=screened.get)
        chosen = {peer.family: peer.call for peer in candidates
                  if peer.family != "torch" or peer.name == best}
        chosen["torch again"] = chosen["torch"]
        gc.collect()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        samples = interleaved.measure(chosen, self.rounds,
                                      self.calibration.threads, SEED)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults

        def ratio(a, b):
            return interleaved.ratio(samples[a].seconds, samples[b].seconds,
                                     SEED)

        preempted = statistics.mean(
            n > 0 for s in samples.values() for n in s.preemptions)
        row = {"torch": best, "page_faults": faults,
               "torch_screened_us": {n: s * 1e6 for n, s in screened.items()},
               "us": {family: statistics.median(s.seconds) * 1e6
                      for family, s in samples.items()},
               "cpu_us": {family: statistics.median(s.cpu_seconds) * 1e6
                          for family, s in samples.items()},
               "t/t": ratio("torch", "torch again"),
               "torch/xla": ratio("torch", "xla"), "preempted": preempted,
               "samples": {family: dataclasses.asdict(s)
                           for family, s in samples.items()}}
        for family in self.objects:
            if family in chosen:
                row |= {f"{peer}/{family}": ratio(peer, family)
                        for peer in ("torch", "xla")}
        return row


RATIOS = ("torch/hone", "xla/hone", "torch/tuned", "xla/tuned")
HEADER = (f"{'kernel':28} {'torch us':>10} {'XLA us':>10} {'Hone us':>10} "
          f"{'tuned us':>10} " + " ".join(f"{name:>17}" for name in RATIOS) +
          f" {'roofline us':>11} {'bound':5} {'%':>5}")


def print_header(document, calibration):
    """What the table needs to be understood; `document` is the JSON's."""
    libraries = document["libraries"]
    print(f"{document['machine']['cpu']}, {calibration.threads} thread(s); "
          f"torch {libraries['torch']} {libraries['torch_cpu_capability']}, "
          f"jax {libraries['jax']}")
    for line in libraries["torch_dispatch"]:
        print(line[:120])
    print(f"peak {calibration.peak_flops / 1e9:.1f} GFLOP/s, "
          f"{calibration.transcendentals / 1e9:.2f} G exp/s")
    print("bare calls, us: " + ", ".join(
        f"{family} {us:.2f}" for family, us in document["overhead_us"].items()))
    print(HEADER, flush=True)


def format_row(row):
    def time(family):
        us = row["us"].get(family)
        if us is None:
            return f"{'-':>10}"
        mark = "~" if us < OVERHEAD_MATTERS_US else " "
        return f"{us:9.1f}{mark}"

    def ratio(name):
        if name not in row:
            return f"{'-':>17}"
        median, lower, upper = row[name]
        return f"{median:5.2f} {lower:5.2f}-{upper:<5.2f}"

    us = row["us"]
    best = us.get("tuned") or us.get("hone") or min(us.values())
    return (f"{row['kernel']:28} {time('torch')} {time('xla')} {time('hone')} "
            f"{time('tuned')} {' '.join(ratio(name) for name in RATIOS)} "
            f"{row['roofline_us']:11.1f} {row['bound'][:5]:5} "
            f"{100 * row['roofline_us'] / best:5.0f}"
            f"{' !' if row['disturbed'] else ''}")


def summarize(rows):
    for name in (*RATIOS, "torch/xla", "t/t"):
        medians = [row[name][0] for row in rows if name in row]
        if medians:
            print(f"{name}: geometric mean "
                  f"{statistics.geometric_mean(medians):.3f}, median "
                  f"{statistics.median(medians):.3f}, least "
                  f"{min(medians):.3f}, most {max(medians):.3f} "
                  f"of {len(medians)}")
