#!/usr/bin/env python3
"""Fits the weights of the cost model xla-cpu, and says how well it ranks.

Usage: bench/fit_xla_cpu_model.py DIR... [--fit] [--write] [--per-module]
           [--counts OUT]

Each DIR comes from bench/measure_score_variants.py. --fit fits the weights to
the families that training may use; without it, those of
costmodels/xla_cpu_features.def are checked. --write puts the new ones there.
--counts writes how many kernels of each kind XLA made of the originals, for
tests/costmodels.

The fit has two steps, both of logarithms, so that ratios count and not the
machine's speed: first to the shortest time of each kernel in XLA's own final
programs, then, starting there, to the times of whole programs and to the ratios
between the programs that variants of one module end as.

For each group of families it prints, for `ops` and `analytical` (of the module
as it is, and `+` after the pipeline xla-cpu) and for the model:

  over modules   Spearman's rank correlation with the time of the originals
  within         its mean over modules, each among its variants, where those
                 differ measurably
  right, tied    of the pairs of variants that differ measurably, which it
                 orders rightly, and which it calls equal (within 0.2 %)
  picked         the time of the variant that it likes most over the
                 original's, the geometric mean of modules that have such
                 pairs; of variants that it calls equal, their mean

Variants that XLA makes the same program of are equal and no pair. A pair differs
measurably if the times differ by more than 3 % and by more than twice what the
original differs from itself by (A/A).
"""

import argparse
import collections
import itertools
import json
import pathlib
import re
import statistics
import subprocess

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import spearmanr

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEATURES = ROOT / "build/release/bin/hone_score_features"
WEIGHTS = ROOT / "costmodels/xla_cpu_features.def"
LINE = re.compile(r'"(\w+)",\s*([\d.e+-]+)\)')
MEASURABLE = 0.03
EQUAL = 0.002
# Arithmetic hides behind memory in most kernels of the data, so that a fit may
# call it free; it is not, and a search would find out.
AT_LEAST_NS = {"vector_flops": 0.01, "scalar_flops": 0.05,
               "scalar_functions": 0.2, "branches": 0.02,
               "loop_reduced_strided": 0.1, "copied_bytes": 0.02}
# No program of these may be fitted to.
GROUPS = {"test": ("bert", "gpt2", "resnet"), "validation": ("llama", "vit"),
          "unseen": ("evoformer", "mamba", "mixer")}


def group_of(name):
    for group, families in GROUPS.items():
        if name.startswith(families):
            return group
    return "training"


class Module:
    """A module's variants: their times and what the models say of them."""

    def __init__(self, folder, times, described):
        self.name, self.group = folder.name, group_of(folder.name)
        seconds = {key: statistics.median(final["seconds"])
                   for key, final in times["finals"].items()}
        finals = {name: variant["final"]
                  for name, variant in times["variants"].items()}
        self.original = seconds[finals["original"]]
        self.aa = abs(np.log(statistics.median(times["again"]) /
                             self.original))
        self.noise = max(MEASURABLE, 2 * self.aa)
        self.variants = list(finals)
        self.finals = [finals[v] for v in self.variants]
        self.ns = np.array([1e9 * seconds[f] for f in self.finals])
        of = [described[str(folder / f"{v}.hlo")] for v in self.variants]
        self.features = np.array([d["features"] for d in of])
        self.others = {
            "ops": [d["ops_as_is"] for d in of],
            "ops +": [d["ops"] for d in of],
            "analytical": [d["analytical_as_is"] for d in of],
            "analytical +": [d["analytical"] for d in of]}
        keys = self.final_keys = list(times["finals"])
        self.final_ns = np.array([1e9 * seconds[key] for key in keys])
        final_of = [described[str(folder / f"{key}.final.hlo")]
                    for key in keys]
        self.final_features = np.array(
            [d["features_as_is"] for d in final_of])
        self.kernels = [(d["kernels"], times["finals"][key]["kernels"])
                        for d, key in zip(final_of, keys)]

    def kernel_counts(self, names):
        """Kernels by kind of the program that XLA made of the original."""
        final = self.final_keys.index(
            self.finals[self.variants.index("original")])
        return {kind: int(self.final_features[final][names.index(kind)])
                for kind in ("kernels", "library_calls", "other_dots",
                             "vector_dots", "convolutions")}

    def pairs(self):
        """(i, j, log ratio of times) of variants that differ measurably."""
        for i, j in itertools.combinations(range(len(self.variants)), 2):
            ratio = np.log(self.ns[i] / self.ns[j])
            if self.finals[i] != self.finals[j] and abs(ratio) > self.noise:
                yield i, j, ratio


def describe(paths):
    """(feature names, {path: description}) by hone_score_features."""
    result = subprocess.run([FEATURES], input="\n".join(paths) + "\n",
                            capture_output=True, text=True, check=True)
    names, *lines = map(json.loads, result.stdout.splitlines())
    return names, {line["path"]: line for line in lines}


def load(folders):
    found = sorted(f for folder in folders
                   for f in folder.glob("*/times.json"))
    times = {f.parent: json.loads(f.read_text()) for f in found}
    paths = []
    for folder, t in times.items():
        paths += [str(folder / f"{v}.hlo") for v in t["variants"]]
        paths += [str(folder / f"{key}.final.hlo") for key in t["finals"]]
    names, described = describe(paths)
    return names, [Module(folder, t, described)
                   for folder, t in times.items()]


def kernel_table(names, modules):
    """Features and shortest times of all distinct kernels."""
    loop, memory = names.index("iterations"), names.index("memory_bytes")
    found = collections.defaultdict(list)
    for module in modules:
        for kernels, measured in module.kernels:
            for _, root, features in kernels:
                if root not in measured or features[loop]:
                    continue
                calls, shortest, _ = measured[root]
                if calls > 1:
                    features[memory] = 0  # touched before
                found[module.name, tuple(features)].append(shortest)
    return (np.array([features for _, features in found]),
            np.array([statistics.median(ns) for ns in found.values()]))


def fit(residuals, names, start):
    """Minimizes over logarithms of weights, so that they stay positive."""
    least = np.log([AT_LEAST_NS.get(name, 1e-6) for name in names])
    start = np.maximum(np.log(start), least + 1e-3)
    return np.exp(least_squares(
        lambda z: residuals(np.exp(z), z - start), start, loss="soft_l1",
        bounds=(least, np.inf), f_scale=0.3, max_nfev=200).x)


def fit_kernels(names, features, ns, start):
    weight = (ns / np.median(ns)) ** 0.125
    return fit(lambda w, change: np.concatenate(
        [weight * np.log((features @ w + 200) / (ns + 200)), 0.02 * change]),
        names, start)


def fit_programs(names, modules, start):
    def residuals(w, change):
        out = [0.3 * change]
        for m in modules:
            predicted = np.log(m.final_features @ w)
            error = predicted - np.log(m.final_ns)
            out.append(error[:1] * 0.5)
            ratios = error[1:] - error[0]
            out.append(3 * ratios / np.sqrt(max(len(ratios), 1)))
        return np.concatenate(out)
    return fit(residuals, names, start)


def report(title, modules, weights):
    scores = {name: [m.others[name] for m in modules]
              for name in modules[0].others}
    scores["xla-cpu"] = [m.features @ weights for m in modules]
    pairs = [list(m.pairs()) for m in modules]
    total = sum(map(len, pairs))
    programs = sum(len(set(m.finals)) for m in modules)
    aa = statistics.median(m.aa for m in modules)
    print(f"\n{title}: {len(modules)} modules, "
          f"{sum(len(m.variants) for m in modules)} variants, {programs} "
          f"programs, A/A {aa:.3f} (median); {total} pairs of variants of "
          f"{sum(map(bool, pairs))} modules differ measurably")
    print(f"{'':14} {'over modules':>12} {'within':>7} {'right':>7} "
          f"{'tied':>6} {'picked':>7}")
    for name, values in scores.items():
        over = spearmanr([v[m.variants.index("original")]
                          for v, m in zip(values, modules)],
                         [m.original for m in modules])[0]
        within, right, tied, picked = [], 0, 0, []
        for m, v, ps in zip(modules, values, pairs):
            logs = np.log(np.array(v, float))
            if ps:
                rounded = np.round(logs / EQUAL)
                within.append(0 if np.ptp(rounded) == 0
                              else spearmanr(rounded, m.ns)[0])
                liked = logs < logs.min() + EQUAL
                picked.append(np.log(m.ns[liked] / 1e9 / m.original).mean())
            for i, j, ratio in ps:
                difference = logs[i] - logs[j]
                tied += abs(difference) < EQUAL
                right += abs(difference) >= EQUAL and difference * ratio > 0
        print(f"{name:14} {over:12.3f} "
              f"{np.mean(within) if within else np.nan:7.3f} "
              f"{right / max(total, 1):7.3f} {tied / max(total, 1):6.3f} "
              f"{np.exp(np.mean(picked)) if picked else np.nan:7.3f}")
    best = [np.log(m.ns.min() / 1e9 / m.original)
            for m, ps in zip(modules, pairs) if ps]
    print(f"{'the fastest':14} {'':12} {'':7} {'':7} {'':6} "
          f"{np.exp(np.mean(best)) if best else np.nan:7.3f}")


def read_weights(names):
    values = dict(LINE.findall(WEIGHTS.read_text()))
    return np.array([float(values[name]) for name in names])


def write_weights(names, weights):
    values = dict(zip(names, weights))
    WEIGHTS.write_text(LINE.sub(
        lambda m: m[0].replace(m[2], f"{values[m[1]]:.3g}"),
        WEIGHTS.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--per-module", action="store_true")
    parser.add_argument("--counts", type=pathlib.Path, metavar="OUT")
    args = parser.parse_args()
    names, modules = load(args.folders)
    weights = read_weights(names)
    training = [m for m in modules if m.group == "training"]
    if args.fit:
        features, ns = kernel_table(names, training)
        weights = fit_kernels(names, features, ns, weights)
        error = np.log(features @ weights / ns)
        print(f"{len(ns)} distinct kernels: correlation of logarithms "
              f"{np.corrcoef(np.log(features @ weights), np.log(ns))[0, 1]:.3f}"
              f", standard deviation of the error {error.std():.3f}")
        weights = fit_programs(names, training, weights)
        for name, weight, rows in zip(names, weights, (features > 0).sum(0)):
            print(f"  {name:32} {weight:12.5g} ns, {rows} kernels")
    if args.per_module:
        for m in modules:
            predicted = m.features @ weights
            first = m.variants.index("original")
            print(f"{m.name:28} {m.original * 1e3:8.2f} ms, predicted "
                  f"{predicted[first] / 1e6:8.2f}; aa {m.aa:.3f}; " + " ".join(
                      f"{v}={t / m.ns[first]:.2f}/{p / predicted[first]:.2f}"
                      for v, t, p in zip(m.variants, m.ns, predicted)))
    for group in ("training", *GROUPS):
        if of_group := [m for m in modules if m.group == group]:
            report(group, of_group, weights)
    if args.write:
        write_weights(names, weights)
    if args.counts:
        args.counts.write_text(json.dumps(
            {m.name: m.kernel_counts(names) for m in modules}, indent=1) +
            "\n")


if __name__ == "__main__":
    main()
