"""Chains of element-wise operations, and conversions."""

import jax
import jax.numpy as jnp
import torch
import torch.nn.functional as F

from arguments import Argument
from sweep.case import (Case, Expression, dimensions, elements, float_type,
                        lengths)

# The same function in JAX and in PyTorch. All are bounded, or linear, so that
# a chain stays within what its type can tell apart.
UNARY = {
    "tanh": (jnp.tanh, torch.tanh), "sigmoid": (jax.nn.sigmoid, torch.sigmoid),
    "relu": (jax.nn.relu, torch.relu), "abs": (jnp.abs, torch.abs),
    "sin": (jnp.sin, torch.sin),
    "gelu": (lambda x: jax.nn.gelu(x, approximate=True),
             lambda x: F.gelu(x, approximate="tanh")),
    "erf": (jax.lax.erf, torch.erf), "silu": (jax.nn.silu, F.silu),
    "sqrtabs": (lambda x: jnp.sqrt(jnp.abs(x)),
                lambda x: torch.sqrt(torch.abs(x))),
    "expnabs": (lambda x: jnp.exp(-jnp.abs(x)),
                lambda x: torch.exp(-torch.abs(x))),
    "log1pabs": (lambda x: jnp.log1p(jnp.abs(x)),
                 lambda x: torch.log1p(torch.abs(x))),
}
BINARY = {
    "add": (jnp.add, torch.add), "sub": (jnp.subtract, torch.sub),
    "mul": (jnp.multiply, torch.mul), "max": (jnp.maximum, torch.maximum),
    "rdiv": (lambda x, y: x / (2 + jnp.abs(y)),
             lambda x, y: x / (2 + torch.abs(y))),
}


def _operand_shape(rng, shape):
    """Of the other operand: the whole, a row, a column or an inner block."""
    form = rng.choice(["whole", "whole", "row", "column"])
    if form == "whole":
        return shape
    if form == "row":
        return shape[-1:]
    return (*shape[:-1], 1)


def chain(rng):
    shape = lengths(rng, int(rng.integers(1, 5)), elements(rng))
    type = float_type(rng)
    steps, arguments = [], [Argument(shape, type)]
    for _ in range(int(rng.integers(1, 6))):
        if rng.random() < 0.5:
            steps.append((str(rng.choice(sorted(UNARY))), None))
            continue
        steps.append((str(rng.choice(sorted(BINARY))), len(arguments)))
        arguments.append(Argument(_operand_shape(rng, shape), type))

    def evaluate(side):
        def function(x, *others):
            for name, operand in steps:
                x = (UNARY[name][side](x) if operand is None else
                     BINARY[name][side](x, others[operand - 1]))
            return x
        return function

    def label(step):
        name, operand = step
        if operand is None or arguments[operand].shape == shape:
            return name
        return name + ("c" if len(arguments[operand].shape) == len(shape) and
                       len(shape) > 1 else "r")

    return Case("chain_" + "_".join(map(label, steps)) +
                f"_{type}_{dimensions(shape)}", "elementwise",
                evaluate(0), tuple(arguments),
                (Expression("eager", evaluate(1)),))


def convert(rng):
    """A change of type, as mixed precision has it around a sum."""
    shape = lengths(rng, int(rng.integers(1, 4)), elements(rng))
    narrow = bool(rng.random() < 0.5)
    source, target = ("f32", "bf16") if narrow else ("bf16", "f32")
    scaled = bool(rng.random() < 0.5)
    factor = 0.125 if scaled else 1.0
    jax_type = jnp.bfloat16 if narrow else jnp.float32
    torch_type = torch.bfloat16 if narrow else torch.float32

    def torch_function(x):
        return (x * factor if scaled else x).to(torch_type)

    return Case(
        f"convert_{'scaled_' if scaled else ''}{source}_{target}_"
        f"{dimensions(shape)}", "elementwise",
        lambda x: (x * factor if scaled else x).astype(jax_type),
        (Argument(shape, source),), (Expression("to", torch_function),))
