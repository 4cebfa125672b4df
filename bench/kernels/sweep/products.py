"""Products of matrices, alone and fused, and attention."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from jax import lax

from arguments import Argument
from sweep.case import Case, Expression, float_type, size, with_out

MOST_PRODUCT = 1.5e8  # multiply-adds
MOST_ELEMENTS = 1e7  # of an operand or the result


def _extents(rng, batch=1):
    """Returns m, k and n: of like size, skinny, with a long sum, or flat."""
    form = {"square": ((32, 640),) * 3, "odd": ((17, 400),) * 3,
            "skinny": ((1, 8), (256, 4096), (256, 4096)),
            "deep": ((16, 128), (1024, 16384), (16, 128)),
            "flat": ((512, 8192), (8, 96), (8, 96))}
    limits = form[str(rng.choice(sorted(form)))]
    m, k, n = (size(rng, low, high) for low, high in limits)
    if rng.random() < 0.2:
        m, n = n, m
    while (m * k * n * batch > MOST_PRODUCT or
           batch * max(m * k, k * n, m * n) > MOST_ELEMENTS):
        m, k, n = max(1, m * 3 // 4), max(1, k * 3 // 4), max(1, n * 3 // 4)
    return m, k, n


def _transposed(layout, m, k, n):
    """Returns the shapes of the operands as they lie in memory."""
    return ((m, k) if layout[0] == "n" else (k, m),
            (k, n) if layout[1] == "n" else (n, k))


def matmul(rng):
    m, k, n = _extents(rng)
    layout = str(rng.choice(["nn", "nt", "tn", "tt"]))
    type = float_type(rng)
    a, b = _transposed(layout, m, k, n)
    dims = (((1 if layout[0] == "n" else 0,), (0 if layout[1] == "n" else 1,)),
            ((), ()))

    def views(a, b):
        return (a if layout[0] == "n" else a.T, b if layout[1] == "n" else b.T)

    return Case(
        f"matmul_{layout}_{type}_{m}x{k}x{n}", "matmul",
        lambda a, b: lax.dot_general(a, b, dims),
        (Argument(a, type), Argument(b, type, scale=k**-0.5)),
        (Expression("mm", torch.mm, views, into=with_out(torch.mm)),),
        (Expression("matmul", np.matmul, views, into=with_out(np.matmul)),)
        if type == "f32" else ())


def batched_matmul(rng):
    batch = size(rng, 2, 64)
    m, k, n = _extents(rng, batch)
    type = float_type(rng)
    # The batch may be in the middle, as heads are.
    equation = str(rng.choice(["bmk,bkn->bmn", "bmk,bnk->bmn", "bkm,bkn->bmn",
                               "mbk,nbk->bmn", "mbk,kbn->mbn"]))
    extents = {"b": batch, "m": m, "k": k, "n": n}
    left, right = equation.split("->")[0].split(",")
    a, b = (tuple(extents[i] for i in s) for s in (left, right))

    def views(a, b):
        return (a.permute([left.index(i) for i in "bmk"]),
                b.permute([right.index(i) for i in "bkn"]))

    def array_views(a, b):
        return (a.transpose([left.index(i) for i in "bmk"]),
                b.transpose([right.index(i) for i in "bkn"]))

    outer = equation.endswith("mbn")
    # What JAX returns as [m, b, n] users of PyTorch get by einsum.
    expressions = (Expression("einsum", lambda a, b: torch.einsum(
        equation, a, b).contiguous()),) if outer else (
            Expression("bmm", torch.bmm, views, into=with_out(torch.bmm)),)
    return Case(
        f"batched_matmul_{equation.replace(',', '_').replace('->', '_')}_"
        f"{type}_{batch}x{m}x{k}x{n}", "batched matmul",
        lambda a, b: jnp.einsum(equation, a, b),
        (Argument(a, type), Argument(b, type, scale=k**-0.5)), expressions,
        (Expression("matmul", np.matmul, array_views,
                    into=with_out(np.matmul)),)
        if type == "f32" and not outer else ())


def matvec(rng):
    m, n = size(rng, 64, 4096), size(rng, 64, 4096)
    type = float_type(rng)
    left = bool(rng.random() < 0.5)  # x A in place of A x
    return Case(
        f"{'vecmat' if left else 'matvec'}_{type}_{m}x{n}", "matvec",
        (lambda a, x: x @ a) if left else (lambda a, x: a @ x),
        (Argument((m, n), type),
         Argument((m if left else n,), type, scale=(m if left else n)**-0.5)),
        (Expression("mv", lambda a, x: torch.mv(a, x),
                    lambda a, x: (a.T if left else a, x),
                    into=with_out(torch.mv)),),
        (Expression("matmul", np.matmul, lambda a, x: (a.T if left else a, x),
                    into=with_out(np.matmul)),) if type == "f32" else ())


def matmul_bias(rng):
    m, k, n = _extents(rng)
    type = float_type(rng)
    name = str(rng.choice(["relu", "gelu", "silu", "none"]))
    jax_function, torch_function = {
        "relu": (jax.nn.relu, torch.relu), "silu": (jax.nn.silu, F.silu),
        "gelu": (lambda x: jax.nn.gelu(x, approximate=True),
                 lambda x: F.gelu(x, approximate="tanh")),
        "none": (lambda x: x, lambda x: x)}[name]
    return Case(
        f"matmul_bias_{name}_{type}_{m}x{k}x{n}", "fused matmul",
        lambda x, w, b: jax_function(x @ w + b),
        (Argument((m, k), type), Argument((k, n), type, scale=k**-0.5),
         Argument((n,), type)),
        (Expression("addmm", lambda x, w, b: torch_function(
            torch.addmm(b, x, w))),
         Expression("linear", lambda x, w, b: torch_function(
             F.linear(x, w, b)), lambda x, w, b: (x, w.t().contiguous(), b))))


def attention(rng):
    batch, heads = size(rng, 1, 4), size(rng, 1, 12)
    width = int(rng.choice([32, 48, 64, 80, 128]))
    queries = size(rng, 16, 384)
    keys = queries if rng.random() < 0.6 else size(rng, 16, 384)
    while batch * heads * queries * keys * width > MOST_PRODUCT:
        batch, heads = max(1, batch // 2), max(1, heads // 2)
        queries, keys = queries * 3 // 4, keys * 3 // 4
    causal = queries == keys and bool(rng.random() < 0.5)
    type = float_type(rng)

    def function(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(width)
        if causal:
            ones = jnp.tril(jnp.ones((queries, keys), bool))
            scores = jnp.where(ones, scores, -1e9)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)

    def by_hand(q, k, v):
        scores = q @ k.mT * width**-0.5
        if causal:
            ones = torch.ones(queries, keys, dtype=torch.bool)
            scores = scores.masked_fill(~ones.tril(), -1e9)
        return F.softmax(scores, -1) @ v

    return Case(
        f"attention_{'causal_' if causal else ''}{type}_"
        f"{batch}x{heads}x{queries}x{keys}x{width}", "attention", function,
        (Argument((batch, heads, queries, width), type, scale=0.3),
         *(Argument((batch, heads, keys, width), type),) * 2),
        (Expression("scaled_dot_product_attention",
                    lambda q, k, v: F.scaled_dot_product_attention(
                        q, k, v, is_causal=causal)),
         Expression("by hand", by_hand)))


def decode(rng):
    """One position of attention on a cache of keys and values [b, t, h, d]."""
    batch, heads = size(rng, 1, 8), size(rng, 2, 16)
    width, keys = int(rng.choice([64, 80, 128])), size(rng, 128, 2048)
    while batch * heads * width * keys > 4e6:
        batch, keys = max(1, batch // 2), max(16, keys * 3 // 4)
    type = float_type(rng)

    def function(q, k, v):
        scores = jnp.einsum("bhd,bthd->bht", q, k) / math.sqrt(width)
        return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores, -1), v)

    def fused(q, k, v):
        return F.scaled_dot_product_attention(
            q[:, :, None], k.transpose(1, 2), v.transpose(1, 2))[:, :, 0]

    def by_hand(q, k, v):
        scores = torch.einsum("bhd,bthd->bht", q, k) * width**-0.5
        return torch.einsum("bht,bthd->bhd", F.softmax(scores, -1), v)

    return Case(
        f"decode_{type}_{batch}x{heads}x{keys}x{width}", "attention", function,
        (Argument((batch, heads, width), type, scale=0.3),
         *(Argument((batch, keys, heads, width), type),) * 2),
        (Expression("scaled_dot_product_attention", fused),
         Expression("by hand", by_hand)))
