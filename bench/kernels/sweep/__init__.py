"""Random kernels of all classes, from which kernel_sweep.py draws.

Each class is a function that makes a case (case.py) of a random generator. A
case depends on the seed and its number alone, so that a larger count adds cases
and leaves the others as they are.
"""

import numpy as np

from sweep import (convolutions, movement, pointwise, products, reductions,
                   sequences)

# Cases take turns; a class that stands twice has twice as many cases.
CLASSES = (
    products.matmul, convolutions.convolution, pointwise.chain,
    reductions.reduction, products.batched_matmul, movement.permute,
    reductions.softmax, convolutions.weight_gradient, products.matmul_bias,
    movement.gather_rows, products.matmul, convolutions.depthwise,
    reductions.normalization, sequences.cumulative, products.attention,
    sequences.sort, products.matvec, convolutions.transposed,
    movement.scatter_add, sequences.top_k, convolutions.convolution,
    movement.pool, reductions.arg_reduction, convolutions.input_gradient,
    movement.concatenate, products.matmul, products.decode, movement.shift,
    pointwise.convert, convolutions.grouped,
)


def make_case(seed, number):
    """Returns the case `number` of the sweep `seed`."""
    rng = np.random.default_rng([seed, number])
    return CLASSES[number % len(CLASSES)](rng)


def make_cases(seed, count):
    """Returns {name: case} of `count` cases. A case whose name another one has
    is the same kernel on the same shape, and is left out."""
    cases = {}
    for number in range(count):
        case = make_case(seed, number)
        cases.setdefault(case.name, case)
    return cases
