"""Training steps of language models of any depth, whose number of instructions
grows with it: the input of compile_times.py."""

import jax
import jax.numpy as jnp
from jax import lax

WIDTH, HEADS, POSITIONS, VOCABULARY = 64, 4, 32, 256
ADAM = {"lr": 1e-3, "b1": 0.9, "b2": 0.999, "eps": 1e-8}
SHAPES = {"scale1": (WIDTH,), "bias1": (WIDTH,), "qkv": (WIDTH, 3 * WIDTH),
          "out": (WIDTH, WIDTH), "scale2": (WIDTH,), "bias2": (WIDTH,),
          "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}


def _normalize(x, scale, bias):
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    return centered * lax.rsqrt(variance + 1e-5) * scale + bias


def _layer(x, p):
    y = _normalize(x, p["scale1"], p["bias1"]) @ p["qkv"]
    q, k, v = (part.reshape(*x.shape[:2], HEADS, -1)
               for part in jnp.split(y, 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1]**0.5
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    y = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
    x = x + y @ p["out"]
    y = jax.nn.gelu(_normalize(x, p["scale2"], p["bias2"]) @ p["up"])
    return x + y @ p["down"]


def _loss(parameters, tokens):
    x = parameters["tokens"][tokens] + parameters["positions"]
    for layer in parameters["layers"]:
        x = _layer(x, layer)
    logits = jax.nn.log_softmax(x @ parameters["tokens"].T)
    picked = jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], -1)
    return -picked.mean()


def _update(p, g, m, v, count):
    m = ADAM["b1"] * m + (1 - ADAM["b1"]) * g
    v = ADAM["b2"] * v + (1 - ADAM["b2"]) * g * g
    step = (m / (1 - ADAM["b1"]**count)) / (
        jnp.sqrt(v / (1 - ADAM["b2"]**count)) + ADAM["eps"])
    return p - ADAM["lr"] * step, m, v


def _step(parameters, means, squares, count, tokens):
    loss, gradients = jax.value_and_grad(_loss)(parameters, tokens)
    leaves, tree = jax.tree.flatten(parameters)
    updated = [_update(*each, count) for each in zip(
        leaves, *(jax.tree.leaves(t) for t in (gradients, means, squares)))]
    return loss, *(jax.tree.unflatten(tree, part) for part in zip(*updated))


def step_text(layers):
    """Returns the HLO text of a training step with so many layers."""
    def spec(*shape, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype)

    layer = {name: spec(*shape) for name, shape in SHAPES.items()}
    parameters = {"tokens": spec(VOCABULARY, WIDTH),
                  "positions": spec(POSITIONS, WIDTH),
                  "layers": [layer] * layers}
    lowered = jax.jit(_step).lower(parameters, parameters, parameters, spec(),
                                   spec(2, POSITIONS, dtype=jnp.int32))
    return lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True)
