"""Trains gradient-boosted trees on features of schedules, beside which the
learned model of kernels is judged.

Usage: bench/cost_model/train_xgboost.py FEATURES.csv [--seeds 5] [--threads 2]
           [--json] [-o JSON]

FEATURES.csv is what `hone dataset kernel-features` writes. There are two
objectives: the squared error of log times, and pairwise ranks within kernels.
For each, the parameters of GRID are swept: trees are trained on the part
`training`, as many as the part `validation` says (early stopping on the error of
log times, or on the NDCG of the first five), and the parameters are taken that
have the least error in choosing on `validation`: the mean over its families and
SWEEP_SEEDS seeds of (APE + top 5) / 2, of which the first asks for the one
best schedule of the kernels that take long and the second for a good one among
five of any kernel. A single seed would choose by luck: APE differs much from one
to the next. With these parameters as many models are trained as there are
seeds, and evaluated on the part `test`, which nothing else looks at.

Printed is a table like that of `hone bench cost-model --kernels`: by family of
`test`, the mean and the median of families, and all kernels together, the
metrics of rank_metrics.py of

  squared, ranks: the trees of each objective, the mean over seeds;
  squared xN, ranks xN: the seeds' trees as one model, which predicts the mean of
      their log times or scores;
  roofline: costmodels/loop_roofline.h;
  random: the mean of RANDOM_DRAWS random orders;

then how much the means over families differ from seed to seed. --json prints one
JSON document instead, which -o writes to a file. It needs xgboost
(pip install xgboost-cpu==3.2.0).
"""

import argparse
import csv
import itertools
import json
import pathlib
import sys

import numpy as np

import rank_metrics

MOST_ROUNDS = 3000
PATIENCE = 60
FIXED = {"tree_method": "hist", "eta": 0.05, "subsample": 0.8}
GRID = {"max_depth": (4, 6, 8), "min_child_weight": (4, 16),
        "colsample_bytree": (0.3, 0.6)}
SWEEP_SEEDS = 3
OBJECTIVES = {"squared": "reg:squarederror", "ranks": "rank:pairwise"}
RANDOM_DRAWS = 100
NOT_FEATURES = 5
PARTS = ("training", "validation", "test")
# Metrics of rank_metrics.py, as the table calls them.
MEASURES = {"ape": "APE", "top1": "top 1", "top5": "top 5", "tau": "tau",
            "mape": "MAPE"}


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


def relevance(log_times):
    """0 … 31, the largest for the fastest: how close to the fastest it is."""
    slowdown = log_times - log_times.min()
    return np.round(31 * np.exp(-3 * slowdown))


class Trees:
    """Trains trees of one objective."""

    def __init__(self, table, objective, threads):
        import xgboost

        self.xgboost = xgboost
        self.is_ranks = objective.startswith("rank")
        self.fixed = {**FIXED, "objective": objective, "nthread": threads,
                      "eval_metric": "ndcg@5" if self.is_ranks else "rmse"}
        self.data = {}
        for part in ("training", "validation"):
            kernels = table.by_kernel(table.of_part(part))
            rows = np.concatenate(kernels)
            labels = (np.concatenate([relevance(table.log_times[kernel])
                                      for kernel in kernels])
                      if self.is_ranks else table.log_times[rows])
            self.data[part] = xgboost.DMatrix(table.features[rows], labels)
            if self.is_ranks:
                self.data[part].set_group([len(kernel) for kernel in kernels])
        self.all = xgboost.DMatrix(table.features)

    def train(self, parameters, seed):
        """Returns the number of trees, and a log time of each row of the table,
        or of ranks a score of which less is better."""
        model = self.xgboost.train(
            {**self.fixed, **parameters, "seed": seed}, self.data["training"],
            MOST_ROUNDS, evals=[(self.data["validation"], "validation")],
            early_stopping_rounds=PATIENCE, verbose_eval=False)
        rounds = model.best_iteration + 1
        values = model.predict(self.all, iteration_range=(0, rounds))
        # Of ranks, more is better.
        return rounds, (-1 if self.is_ranks else 1) * values.astype(float)


def evaluate(table, rows, predictions, absolute):
    """Returns the metrics by family, and of the families' mean and median and
    all kernels. `predictions` has a number for each row of the table:
    nanoseconds if they are `absolute`."""
    families = {}
    for kernel in table.by_kernel(rows):
        pair = (np.exp(table.log_times[kernel]), predictions[kernel])
        families.setdefault(table.families[kernel[0]], []).append(pair)
    result = {str(name): rank_metrics.summarize(kernels, absolute)
              for name, kernels in sorted(families.items())}
    summaries = {}
    for name, of in (("mean", np.mean), ("median", np.median)):
        summaries[name] = {}
        for measure in MEASURES:
            values = [metrics[measure] for metrics in result.values()
                      if not np.isnan(metrics.get(measure, np.nan))]
            if values:
                summaries[name][measure] = float(of(values))
    result.update(summaries)
    result["all kernels"] = rank_metrics.summarize(
        sum(families.values(), []), absolute)
    return result


def mean_of(results):
    """Returns the mean of metrics over models, by family."""
    return {family: {name: rank_metrics.mean_of_numbers(
                         [result[family][name] for result in results])
                     for name in metrics}
            for family, metrics in results[0].items()}


def sweep(table, trees):
    """Returns the entries of the grid with their errors of choosing, the least
    first."""
    validation = table.of_part("validation")
    entries = []
    for values in itertools.product(*GRID.values()):
        parameters = dict(zip(GRID, values))
        means = []
        rounds = []
        for seed in range(SWEEP_SEEDS):
            count, predictions = trees.train(parameters, seed)
            rounds.append(count)
            means.append(evaluate(table, validation, predictions,
                                  False)["mean"])
        entries.append({
            **parameters, "rounds": rounds,
            **{name: float(np.mean([mean[name] for mean in means]))
               for name in ("ape", "top5", "tau")}})
        entries[-1]["error"] = (entries[-1]["ape"] + entries[-1]["top5"]) / 2
    return sorted(entries, key=lambda entry: entry["error"])


def compare(table, seeds, threads):
    """Returns the JSON document."""
    test = table.of_part("test")
    rng = np.random.default_rng(0)
    models = {}
    document = {
        "features": len(table.names),
        "schedules": {part: len(table.of_part(part))
                      for part in PARTS},
        "sweep": {}, "seeds": {}, "models": models}
    for name, objective in OBJECTIVES.items():
        trees = Trees(table, objective, threads)
        swept = sweep(table, trees)
        document["sweep"][name] = swept
        chosen = {key: swept[0][key] for key in GRID}
        predictions = [trees.train(chosen, seed)[1] for seed in range(seeds)]

        def evaluate_on_test(values):
            if trees.is_ranks:
                return evaluate(table, test, values, False)
            return evaluate(table, test, np.exp(values), True)

        results = [evaluate_on_test(values) for values in predictions]
        document["seeds"][name] = [result["mean"] for result in results]
        models[name] = mean_of(results)
        models[f"{name} x{seeds}"] = evaluate_on_test(
            np.mean(predictions, axis=0))
    models["roofline"] = evaluate(table, test, table.roofline, True)
    models["random"] = mean_of([
        evaluate(table, test, rng.random(len(table.log_times)), False)
        for _ in range(RANDOM_DRAWS)])
    return document


def print_table(document, out):
    models = document["models"]
    columns = [(measure, name) for measure in MEASURES for name in models
               if measure in models[name]["all kernels"]]
    head = ["family", "kernels", "schedules"]
    for i, (measure, name) in enumerate(columns):
        is_first = i == 0 or columns[i - 1][0] != measure
        head.append(f"{MEASURES[measure]}: {name}" if is_first else name)
    out.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    for family, counts in models["roofline"].items():
        cells = [family, str(counts.get("kernels", "")),
                 str(counts.get("schedules", ""))]
        for measure, name in columns:
            value = models[name][family].get(measure, np.nan)
            cells.append("—" if np.isnan(value) else f"{value:.2f}")
        out.write(f"| {' | '.join(cells)} |\n")
    out.write("\n")
    for name, seeds in document["seeds"].items():
        chosen = document["sweep"][name][0]
        parameters = ", ".join(f"{key} {chosen[key]}" for key in GRID)
        ranges = ", ".join(
            f"{title} {min(values):.2f} to {max(values):.2f}"
            for measure, title in MEASURES.items()
            if (values := [seed[measure] for seed in seeds
                           if measure in seed]))
        out.write(f"{name} ({parameters}; {min(chosen['rounds'])} to "
                  f"{max(chosen['rounds'])} trees): means over families, least "
                  f"and most of {len(seeds)} seeds: {ranges}.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("features", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    table = Table(args.features)
    for part in PARTS:
        if not len(table.of_part(part)):
            parser.error(f"{args.features}: no schedules of the part {part}")
    document = compare(table, args.seeds, args.threads)
    text = json.dumps(document, indent=1) + "\n"
    if args.out:
        args.out.write_text(text)
    if args.json:
        sys.stdout.write(text)
    else:
        print_table(document, sys.stdout)


if __name__ == "__main__":
    main()
