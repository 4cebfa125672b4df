"""Cumulative operations and orders."""

import jax.numpy as jnp
import torch
from jax import lax

from arguments import Argument
from sweep.case import (Case, Expression, dimensions, elements, float_type,
                        lengths, size, with_out)


def cumulative(rng):
    shape = lengths(rng, int(rng.integers(1, 4)), elements(rng, high=1e6))
    axis = len(shape) - 1 if rng.random() < 0.5 else int(
        rng.integers(len(shape)))
    name = str(rng.choice(["cumsum", "cumsum", "cumprod", "cummax"]))
    fill = "near one" if name == "cumprod" else "normal"
    type = "f32" if name != "cumsum" else float_type(rng)
    functions = {
        "cumsum": (jnp.cumsum, torch.cumsum),
        "cumprod": (jnp.cumprod, torch.cumprod),
        "cummax": (lambda x, axis: lax.cummax(x, axis=axis),
                   lambda x, axis: torch.cummax(x, axis)[0])}
    jax_function, torch_function = functions[name]
    return Case(
        f"{name}_{type}_{dimensions(shape)}_over_{axis}", "cumulative",
        lambda x: jax_function(x, axis=axis), (Argument(shape, type, fill),),
        (Expression(name, lambda x: torch_function(x, axis),
                    into=with_out(torch_function, axis)
                    if name != "cummax" else None),))


def sort(rng):
    shape = lengths(rng, int(rng.integers(1, 4)), elements(rng, high=3e5))
    axis = len(shape) - 1 if rng.random() < 0.7 else int(
        rng.integers(len(shape)))
    name = str(rng.choice(["sort", "argsort"]))
    if name == "sort":
        expression = Expression("sort", lambda x: torch.sort(x, axis)[0])
    else:
        expression = Expression(
            "argsort", lambda x: torch.argsort(
                x, dim=axis, stable=True),
            restore=lambda r: r.to(torch.int32))
    return Case(
        f"{name}_f32_{dimensions(shape)}_over_{axis}", "sort",
        lambda x: getattr(jnp, name)(x, axis=axis), (Argument(shape),),
        (expression,))


def top_k(rng):
    rows, length = size(rng, 1, 256), size(rng, 100, 50000)
    while rows * length > 2e6:
        rows = max(1, rows // 2)
        length = length * 3 // 4
    k = min(size(rng, 1, 100), length // 2)
    return Case(
        f"top_k_f32_{rows}x{length}_of_{k}", "top k",
        lambda x: lax.top_k(x, k), (Argument((rows, length)),),
        (Expression("topk", lambda x: tuple(torch.topk(x, k, -1)),
                    restore=lambda r: r if r.is_floating_point() else
                    r.to(torch.int32)),))
