"""Trains gradient-boosted trees on features of schedules, beside which the
learned model of kernels is judged.

Usage: bench/cost_model/train_xgboost.py FEATURES.csv [--seeds 5] [--threads 2]
           [-o JSON]

FEATURES.csv is what `hone dataset kernel-features` writes. Of each objective
(rank:pairwise within kernels, and the squared error of log times) as many models
are trained as there are seeds, on the part `training`; the part `validation`
decides when to stop, and the part `test` is what the figures are about. Printed
as JSON: the metrics of rank_metrics.py for each family and all together, the
means over seeds, beside those of the roofline ranker and of a random choice.
It needs xgboost (pip install xgboost-cpu==3.2.0).
"""

import argparse
import csv
import json
import pathlib

import numpy as np

import rank_metrics

ROUNDS = 1500
PATIENCE = 60
PARAMETERS = {"max_depth": 7, "eta": 0.05, "subsample": 0.8,
              "colsample_bytree": 0.5, "min_child_weight": 4,
              "tree_method": "hist"}
NOT_FEATURES = 5


class Table:
    """Schedules, those of a kernel together."""

    def __init__(self, path):
        with open(path, newline="") as file:
            rows = csv.reader(file)
            self.names = next(rows)[NOT_FEATURES:]
            rows = [row for row in rows if row]
        self.parts = np.array([row[0] for row in rows])
        self.families = np.array([row[1] for row in rows])
        self.kernels = np.array([row[2] for row in rows])
        self.log_times = np.array([float(row[3]) for row in rows])
        self.roofline = np.array([float(row[4]) for row in rows])
        self.features = np.array([row[NOT_FEATURES:] for row in rows],
                                 dtype=np.float32)

    def of_part(self, part):
        return np.flatnonzero(self.parts == part)

    def by_kernel(self, rows):
        """Lists the rows of each kernel."""
        kernels = {}
        for row in rows:
            kernels.setdefault(self.kernels[row], []).append(row)
        return [np.array(rows) for rows in kernels.values()]


def train(table, objective, seed, threads):
    """Returns a function from rows to predictions."""
    import xgboost

    ranks = objective.startswith("rank")
    groups = {part: table.by_kernel(table.of_part(part))
              for part in ("training", "validation")}
    data = {}
    for part, kernels in groups.items():
        rows = np.concatenate(kernels)
        # Of ranks, more is better: the rank from the slowest on.
        labels = (np.concatenate([relevance(table.log_times[k])
                                  for k in kernels])
                  if ranks else table.log_times[rows])
        data[part] = xgboost.DMatrix(table.features[rows], labels)
        if ranks:
            data[part].set_group([len(k) for k in kernels])
    parameters = {**PARAMETERS, "objective": objective, "seed": seed,
                  "nthread": threads,
                  "eval_metric": "ndcg@5" if ranks else "rmse"}
    model = xgboost.train(parameters, data["training"], ROUNDS,
                          evals=[(data["validation"], "validation")],
                          early_stopping_rounds=PATIENCE, verbose_eval=False)

    def predict(rows):
        values = model.predict(
            xgboost.DMatrix(table.features[rows]),
            iteration_range=(0, model.best_iteration + 1))
        return -values if ranks else np.exp(values)

    return predict


def relevance(log_times):
    """0 … 31, the largest for the fastest: how close to the fastest it is."""
    slowdown = log_times - log_times.min()
    return np.round(31 * np.exp(-3 * slowdown))


def evaluate(table, rows, predict, absolute):
    """Returns the metrics by family, and of all."""
    families = {}
    for kernel in table.by_kernel(rows):
        pair = (np.exp(table.log_times[kernel]), predict(kernel))
        families.setdefault(table.families[kernel[0]], []).append(pair)
    result = {name: rank_metrics.summarize(kernels, absolute)
              for name, kernels in sorted(families.items())}
    result["all"] = rank_metrics.summarize(sum(families.values(), []), absolute)
    return result


def mean_of(results):
    """Returns the mean of metrics over seeds, by family."""
    return {family: {name: float(np.mean([r[family][name] for r in results]))
                     for name in metrics}
            for family, metrics in results[0].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("features", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    table = Table(args.features)
    test = table.of_part("test")
    document = {
        "features": len(table.names),
        "schedules": {part: len(table.of_part(part))
                      for part in ("training", "validation", "test")},
        "roofline": evaluate(table, test, lambda rows: table.roofline[rows],
                             True)}
    shuffled = np.random.default_rng(0).random(len(table.log_times))
    document["random"] = evaluate(table, test, lambda rows: shuffled[rows],
                                  False)
    for objective in ("rank:pairwise", "reg:squarederror"):
        results = []
        for seed in range(args.seeds):
            predict = train(table, objective, seed, args.threads)
            results.append(evaluate(table, test, predict,
                                    not objective.startswith("rank")))
        document[objective] = mean_of(results)
        document[objective]["seeds"] = [r["all"] for r in results]
    text = json.dumps(document, indent=1)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
