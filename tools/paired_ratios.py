"""Geometric means of ratios over modules, and which ratios stand out of the
noise.

A module's ratio is the median over its rounds of the ratio within a round, and
its interval that of order statistics (interleaved.ratio). The interval of a
geometric mean resamples modules, and within each module drawn its
rounds anew; it covers what other modules of the same kind would have given, and
is slightly too wide, as the noise of timing counts at both levels. All
intervals have 95 %.
"""

import numpy as np

from interleaved import compare

RESAMPLES = 2000


def geometric_mean(rows, seed=0):
    """Returns (mean, lower, upper) over modules. `rows` has the ratios of each
    module's rounds; a figure without noise is a row of one."""
    rng = np.random.default_rng(seed)
    medians = np.log([
        np.median(rng.choice(row, (RESAMPLES, len(row))), axis=1)
        for row in rows])
    modules = rng.integers(len(rows), size=(RESAMPLES, len(rows)))
    resamples = rng.integers(RESAMPLES, size=modules.shape)
    means = medians[modules, resamples].mean(axis=1)
    lower, upper = np.exp(np.quantile(means, (0.025, 0.975)))
    value = np.exp(np.mean([np.log(np.median(row)) for row in rows]))
    return float(value), float(lower), float(upper)


def verdict(ratio, aa):
    """Returns "faster" or "slower" where the interval of a speedup lies outside
    both 1 and the interval of its A/A ratio, else None. Two compilations of one
    module may differ in earnest (the place of code and buffers), so a
    speedup's own interval is not enough."""
    return {1: "faster", -1: "slower"}.get(compare(ratio, aa))
