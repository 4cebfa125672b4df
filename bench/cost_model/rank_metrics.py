"""How well predictions choose among the schedules of a kernel.

Arrays have an entry for each schedule of one kernel. Times are nanoseconds,
predictions anything of which less is better.
"""

import numpy as np


def kendall_tau(times, predictions):
    """Kendall's tau-b; nan if all times or all predictions are equal."""
    times, predictions = np.asarray(times), np.asarray(predictions)
    i, j = np.triu_indices(len(times), 1)
    a = np.sign(times[i] - times[j])
    b = np.sign(predictions[i] - predictions[j])
    pairs = np.sqrt(float(np.sum(a != 0)) * float(np.sum(b != 0)))
    return float(np.sum(a * b)) / pairs if pairs else float("nan")


def top_k_slowdown(times, predictions, k):
    """The best time among the k best predictions over the best of all, less 1.
    Of equal predictions the first ones count."""
    times = np.asarray(times)
    chosen = np.argsort(predictions, kind="stable")[:k]
    return float(times[chosen].min() / times.min() - 1)


def absolute_percentage_errors(times, predictions):
    times, predictions = np.asarray(times), np.asarray(predictions)
    return 100 * np.abs(predictions - times) / times


def mean_of_numbers(values):
    """The mean of those that are no nan; nan if there are none."""
    numbers = [value for value in values if value == value]
    return sum(numbers) / len(numbers) if numbers else float("nan")


def summarize(kernels, absolute):
    """The metrics of `kernels`, a list of (times, predictions), in per cent;
    those of ErrorsOf in kernel_evaluation.h:

    ape: what choosing by the predictions costs: the sum of the times of the
    schedules predicted best over the sum of the best times, less 1.
    top1, top5: the mean slowdown of the best of the one and five predicted best.
    tau: the mean of Kendall's tau.
    mape: the mean error of the predictions themselves, if they are `absolute`.

    A kernel with a single schedule leaves nothing to choose and counts in mape
    only. Of nothing, a metric is nan.
    """
    choices = [(t, p) for t, p in kernels if len(t) > 1]
    chosen = sum(float(t[int(np.argmin(p))]) for t, p in choices)
    best = sum(float(np.min(t)) for t, _ in choices)
    result = {
        "kernels": len(kernels),
        "schedules": sum(len(t) for t, _ in kernels),
        "ape": 100 * (chosen / best - 1) if choices else float("nan"),
        "tau": mean_of_numbers([kendall_tau(t, p) for t, p in choices]),
    }
    for k in (1, 5):
        result[f"top{k}"] = mean_of_numbers(
            [100 * top_k_slowdown(t, p, k) for t, p in choices])
    if absolute:
        result["mape"] = mean_of_numbers([
            error for t, p in kernels
            for error in absolute_percentage_errors(t, p)])
    return result
