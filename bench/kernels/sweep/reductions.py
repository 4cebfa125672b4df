"""Reductions over any axes, softmax and normalizations."""

import jax
import jax.numpy as jnp
import torch
import torch.nn.functional as F
from jax import lax

from arguments import Argument
from sweep.case import (Case, Expression, dimensions, elements, float_type,
                        lengths, with_out)

EPSILON = 1e-5
REDUCTIONS = {
    "sum": (jnp.sum, torch.sum), "mean": (jnp.mean, torch.mean),
    "max": (jnp.max, torch.amax), "min": (jnp.min, torch.amin),
    "logsumexp": (jax.nn.logsumexp, torch.logsumexp),
    "var": (jnp.var, lambda x, axes: torch.var(x, axes, correction=0)),
    "norm": (lambda x, axis: jnp.sqrt(jnp.sum(x * x, axis)),
             lambda x, axes: torch.linalg.vector_norm(x, 2, axes)),
}
WITH_OUT = ("sum", "mean", "max", "min", "logsumexp")


def reduction(rng):
    shape = lengths(rng, int(rng.integers(1, 5)), elements(rng))
    rank = len(shape)
    count = int(rng.integers(1, rank + 1))
    axes = tuple(sorted(int(a) for a in rng.choice(rank, count, False)))
    name = str(rng.choice(sorted(REDUCTIONS)))
    type = float_type(rng)
    jax_function, torch_function = REDUCTIONS[name]
    return Case(
        f"{name}_{type}_{dimensions(shape)}_over_{'_'.join(map(str, axes))}",
        "reduction", lambda x: jax_function(x, axis=axes),
        (Argument(shape, type),),
        (Expression(name, lambda x: torch_function(x, axes),
                    into=with_out(torch_function, axes)
                    if name in WITH_OUT else None),))


def arg_reduction(rng):
    shape = lengths(rng, int(rng.integers(1, 4)), elements(rng))
    axis = int(rng.integers(len(shape)))
    name = str(rng.choice(["argmax", "argmin"]))
    # In bfloat16 equal values are common, of which PyTorch takes any.
    jax_function = getattr(jnp, name)
    torch_function = getattr(torch, name)
    return Case(
        f"{name}_f32_{dimensions(shape)}_over_{axis}", "arg reduction",
        lambda x: jax_function(x, axis=axis), (Argument(shape),),
        (Expression(name, lambda x: torch_function(x, axis),
                    restore=lambda r: r.to(torch.int32)),
         Expression("max", lambda x: getattr(torch, name[3:])(x, axis)[1],
                    restore=lambda r: r.to(torch.int32))))


def softmax(rng):
    shape = lengths(rng, int(rng.integers(1, 5)), elements(rng, high=2e6))
    axis = len(shape) - 1 if rng.random() < 0.6 else int(
        rng.integers(len(shape)))
    name = str(rng.choice(["softmax", "log_softmax"]))
    type = float_type(rng)
    out = {"softmax": torch.softmax}.get(name)
    return Case(
        f"{name}_{type}_{dimensions(shape)}_over_{axis}", "softmax",
        lambda x: getattr(jax.nn, name)(x, axis=axis), (Argument(shape, type),),
        (Expression(name, lambda x: getattr(F, name)(x, axis),
                    into=out and with_out(out, axis)),))


def _layer_norm(x, scale, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + EPSILON) * scale + bias


def _rms_norm(x, scale):
    square = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * lax.rsqrt(square + EPSILON) * scale


def _batch_norm(x, scale, bias, axis):
    """With the statistics of the batch; `axis` has the channels."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    mean = jnp.mean(x, axis=others, keepdims=True)
    variance = jnp.var(x, axis=others, keepdims=True)
    along = [1] * x.ndim
    along[axis] = -1
    return ((x - mean) * lax.rsqrt(variance + EPSILON) * scale.reshape(along) +
            bias.reshape(along))


def normalization(rng):
    name = str(rng.choice(["layer_norm", "rms_norm", "batch_norm_nchw",
                           "batch_norm_nhwc"]))
    type = float_type(rng)
    if name.startswith("batch_norm"):
        shape = lengths(rng, 4, elements(rng, high=2e6))
        axis = 1 if name.endswith("nchw") else 3
        vector = Argument((shape[axis],), type)
        return Case(
            f"{name}_{type}_{dimensions(shape)}", "normalization",
            lambda x, scale, bias: _batch_norm(x, scale, bias, axis),
            (Argument(shape, type), vector, vector),
            (Expression("batch_norm", lambda x, scale, bias: F.batch_norm(
                x, None, None, scale, bias, training=True, eps=EPSILON),
                lambda x, scale, bias: (x.movedim(axis, 1), scale, bias),
                lambda r: r.movedim(1, axis)),))
    shape = lengths(rng, int(rng.integers(2, 4)), elements(rng, high=2e6))
    vector = Argument(shape[-1:], type)
    if name == "rms_norm":
        return Case(
            f"rms_norm_{type}_{dimensions(shape)}", "normalization", _rms_norm,
            (Argument(shape, type), vector),
            (Expression("rms_norm", lambda x, scale: F.rms_norm(
                x, scale.shape, scale, EPSILON)),
             Expression("by hand", lambda x, scale: x * torch.rsqrt(
                 x.square().mean(-1, keepdim=True) + EPSILON) * scale)))
    return Case(
        f"layer_norm_{type}_{dimensions(shape)}", "normalization", _layer_norm,
        (Argument(shape, type), vector, vector),
        (Expression("layer_norm", lambda x, scale, bias: F.layer_norm(
            x, scale.shape, scale, bias, EPSILON)),))
