"""Permutations, rows by index, pooling, and arrays put together."""

import jax.numpy as jnp
import torch
import torch.nn.functional as F
from jax import lax

from arguments import Argument
from sweep.case import (Case, Expression, dimensions, elements, float_type,
                        lengths, size)


def permute(rng):
    rank = int(rng.integers(2, 6))
    shape = lengths(rng, rank, elements(rng))
    order = tuple(range(rank))
    while order == tuple(range(rank)):
        order = tuple(int(i) for i in rng.permutation(rank))
    type = float_type(rng)
    return Case(
        f"permute_{type}_{dimensions(shape)}_to_{''.join(map(str, order))}",
        "permute", lambda x: jnp.transpose(x, order), (Argument(shape, type),),
        (Expression("permute, contiguous",
                    lambda x: x.permute(order).contiguous(),
                    into=lambda result, x: result.copy_(x.permute(order))),))


def _table(rng):
    """Rows and width of a table, and how many of its rows are asked for."""
    rows, width = size(rng, 100, 50000), size(rng, 8, 768)
    while rows * width > 4e6:
        rows //= 2
    count = size(rng, 64, 20000)
    while count * width > 2e6:
        count //= 2
    return rows, width, count


def gather_rows(rng):
    rows, width, count = _table(rng)
    type = float_type(rng)
    return Case(
        f"gather_rows_{type}_{rows}x{width}_by_{count}", "gather",
        lambda t, i: jnp.take(t, i, axis=0),
        (Argument((rows, width), type),
         Argument((count,), "s32", "index", bound=rows)),
        (Expression("index_select", lambda t, i: torch.index_select(t, 0, i),
                    into=lambda result, t, i: torch.index_select(
                        t, 0, i, out=result)),
         Expression("embedding", lambda t, i: F.embedding(i, t))))


def scatter_add(rng):
    rows, width, count = _table(rng)
    rows = min(rows, 20000)
    if rng.random() < 0.3:
        width = 1
    shape = (width,) if width > 1 else ()
    return Case(
        f"scatter_add_f32_{rows}x{width}_by_{count}", "scatter",
        lambda t, i, x: t.at[i].add(x),
        (Argument((rows, *shape)),
         Argument((count,), "s32", "index", bound=rows),
         Argument((count, *shape))),
        (Expression("index_add", lambda t, i, x: torch.index_add(t, 0, i, x)),))


def pool(rng):
    last = bool(rng.random() < 0.5)
    batch, channels = size(rng, 1, 16), size(rng, 3, 128)
    height, width = size(rng, 8, 112), size(rng, 8, 112)
    while batch * channels * height * width > 3e6:
        batch, height = max(1, batch // 2), max(8, height * 3 // 4)
    window, stride = int(rng.choice([2, 3, 3])), int(rng.choice([1, 2, 2]))
    name = str(rng.choice(["max", "mean"]))
    shape = ((batch, height, width, channels) if last else
             (batch, channels, height, width))

    def over(n):
        return (1, n, n, 1) if last else (1, 1, n, n)

    def function(x):
        if name == "max":
            return lax.reduce_window(x, -jnp.inf, lax.max, over(window),
                                     over(stride), "VALID")
        return lax.reduce_window(x, 0.0, lax.add, over(window), over(stride),
                                 "VALID") / window**2

    def expression(format, lay_out):
        operation = F.max_pool2d if name == "max" else F.avg_pool2d
        return Expression(
            f"{name}_pool2d {format}", lambda x: operation(x, window, stride),
            lambda x: (lay_out(x.movedim(-1, 1) if last else x),),
            lambda r: r.movedim(1, -1) if last else r)

    return Case(
        f"{name}_pool_{'nhwc' if last else 'nchw'}_f32_{dimensions(shape)}_"
        f"w{window}_s{stride}", "pooling", function, (Argument(shape),),
        (expression("contiguous", lambda x: x.contiguous()),
         expression("channels_last", lambda x: x.contiguous(
             memory_format=torch.channels_last))))


def concatenate(rng):
    rank = int(rng.integers(1, 4))
    shape = lengths(rng, rank, elements(rng, high=2e6))
    axis = int(rng.integers(rank))
    count = int(rng.integers(2, 5))
    type = float_type(rng)
    return Case(
        f"concatenate_{count}_{type}_{dimensions(shape)}_over_{axis}",
        "data movement", lambda *xs: jnp.concatenate(xs, axis),
        (Argument(shape, type),) * count,
        (Expression("cat", lambda *xs: torch.cat(xs, axis),
                    into=lambda result, *xs: torch.cat(xs, axis, out=result)),))


def shift(rng):
    """A roll, a reversal, a slice with strides or padding."""
    rank = int(rng.integers(1, 4))
    shape = lengths(rng, rank, elements(rng, high=2e6))
    axis = int(rng.integers(rank))
    type = float_type(rng)
    name = str(rng.choice(["roll", "reverse", "slice", "pad"]))
    n = shape[axis]
    amount = max(1, n // 3)
    every = [slice(None)] * rank
    every[axis] = slice(0, n, 2)
    widths = [(0, 0)] * rank
    widths[axis] = (amount, amount)
    torch_widths = [0, 0] * (rank - 1 - axis) + [amount, amount]
    jax_function, torch_function = {
        "roll": (lambda x: jnp.roll(x, amount, axis),
                 lambda x: torch.roll(x, amount, axis)),
        "reverse": (lambda x: jnp.flip(x, axis), lambda x: x.flip(axis)),
        "slice": (lambda x: x[tuple(every)],
                  lambda x: x[tuple(every)].contiguous()),
        "pad": (lambda x: jnp.pad(x, widths),
                lambda x: F.pad(x, torch_widths))}[name]
    return Case(
        f"{name}_{type}_{dimensions(shape)}_over_{axis}", "data movement",
        jax_function, (Argument(shape, type),),
        (Expression(name, torch_function),))
