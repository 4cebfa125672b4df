#!/usr/bin/env python3
"""Writes jax programs of further families as HLO text, for the score `xla`.

Usage: bench/make_score_models.py --set training|unseen -o DIR

The families of `training` add what the corpus has little of (graph networks,
scans, contractions of more than two dimensions) to the data that the cost model
`xla-cpu` is fitted to. Those of `unseen` (a training step each of an
evoformer block, an MLP mixer and a mamba block) are for checking it only: no
coefficient may be fitted to them.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp

FLOAT, INT = jnp.float32, jnp.int32


def array(*shape, dtype=FLOAT):
    return jax.ShapeDtypeStruct(shape, dtype)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def mlp(x, weights):
    for w, b in weights[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def dense(*sizes):
    return [(array(m, n), array(n)) for m, n in zip(sizes, sizes[1:])]


def norm(width):
    return array(width), array(width)


def training_step(loss):
    """One step of momentum SGD."""
    def step(parameters, momentum, *inputs):
        value, gradients = jax.value_and_grad(loss)(parameters, *inputs)
        tree_map = jax.tree_util.tree_map
        momentum = tree_map(lambda m, g: 0.9 * m + g, momentum, gradients)
        parameters = tree_map(lambda p, m: p - 0.01 * m, parameters, momentum)
        return value, parameters, momentum
    return step


def train(loss, parameters, *inputs):
    return training_step(loss), (parameters, parameters, *inputs)


# Training families.

def graph_network():
    """Two rounds of messages along edges, sums at the nodes."""
    nodes, edges, width = 256, 1024, 64

    def loss(p, x, source, target, goal):
        for message, update, (scale, bias) in p:
            m = mlp(jnp.concatenate([x[source], x[target]], -1), message)
            total = jnp.zeros((nodes, width)).at[target].add(m)
            x = x + mlp(jnp.concatenate([layer_norm(x, scale, bias), total],
                                        -1), update)
        return jnp.mean((x - goal) ** 2)

    p = [(dense(2 * width, width, width), dense(2 * width, width, width),
          norm(width)) for _ in range(2)]
    index = array(edges, dtype=INT)
    x = array(nodes, width)
    return train(loss, p, x, index, index, x)


def linear_recurrence():
    """A diagonal state-space layer by an associative scan."""
    batch, time, width = 4, 128, 64

    def scan(decay, x):
        def combine(a, b):
            return a[0] * b[0], a[1] * b[0] + b[1]
        return jax.lax.associative_scan(combine, (decay, x), axis=1)[1]

    def loss(p, x, goal):
        for (scale, bias), raw, w_in, w_out in p:
            h = layer_norm(x, scale, bias) @ w_in
            decay = jnp.broadcast_to(jax.nn.sigmoid(raw), h.shape)
            x = x + jnp.tanh(scan(decay, h)) @ w_out
        return jnp.mean((x - goal) ** 2)

    p = [(norm(width), array(width), array(width, width), array(width, width))
         for _ in range(2)]
    x = array(batch, time, width)
    return train(loss, p, x, x)


def gru_scan():
    """A gated recurrent unit, unrolled by scan."""
    batch, time, width = 8, 32, 128

    def loss(p, x, goal):
        w, u, b = p

        def cell(h, x_t):
            gx, gh = x_t @ w + b, h @ u
            r, z, n = (slice(i * width, (i + 1) * width) for i in range(3))
            reset = jax.nn.sigmoid(gx[:, r] + gh[:, r])
            keep = jax.nn.sigmoid(gx[:, z] + gh[:, z])
            new = jnp.tanh(gx[:, n] + reset * gh[:, n])
            h = keep * h + (1 - keep) * new
            return h, h

        first = jnp.zeros((batch, width))
        _, states = jax.lax.scan(cell, first, jnp.swapaxes(x, 0, 1))
        return jnp.mean((jnp.swapaxes(states, 0, 1) - goal) ** 2)

    p = array(width, 3 * width), array(width, 3 * width), array(3 * width)
    x = array(batch, time, width)
    return train(loss, p, x, x)


def linear_attention():
    """Attention without softmax: keys times values first."""
    batch, time, heads, width = 2, 256, 4, 32

    def loss(p, x, goal):
        for (scale, bias), qkv, out, hidden in p:
            h = layer_norm(x, scale, bias)
            q, k, v = jnp.split(jnp.einsum("btd,dhe->bthe", h, qkv), 3, -1)
            q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
            kv = jnp.einsum("bthe,bthf->bhef", k, v)
            z = jnp.einsum("bthe,bhe->bth", q, k.sum(1))
            y = jnp.einsum("bthe,bhef->bthf", q, kv) / z[..., None]
            x = x + jnp.einsum("bthf,hfd->btd", y, out)
            x = x + mlp(x, hidden)
        return jnp.mean((x - goal) ** 2)

    d = heads * width
    p = [(norm(d), array(d, heads, 3 * width), array(heads, width, d),
          dense(d, 4 * d, d)) for _ in range(2)]
    x = array(batch, time, d)
    return train(loss, p, x, x)


def capsules():
    """Routing between capsules: contractions over three dimensions."""
    batch, lower, upper, width = 8, 128, 10, 16

    def squash(s):
        square = jnp.sum(s * s, -1, keepdims=True)
        return s * (square / (1 + square) * jax.lax.rsqrt(square + 1e-7))

    def loss(p, u, goal):
        w, b = p
        u_hat = jnp.einsum("bid,ijde->bije", u, w) + b
        logits = jnp.zeros((batch, lower, upper))
        for _ in range(3):
            c = jax.nn.softmax(logits, -1)
            v = squash(jnp.einsum("bij,bije->bje", c, u_hat))
            logits = logits + jnp.einsum("bije,bje->bij", u_hat, v)
        length = jnp.sqrt(jnp.sum(v * v, -1) + 1e-9)
        return jnp.mean(goal * jax.nn.relu(0.9 - length) ** 2 +
                        (1 - goal) * jax.nn.relu(length - 0.1) ** 2)

    p = array(lower, upper, 8, width), array(1, 1, upper, width)
    return train(loss, p, array(batch, lower, 8), array(batch, upper))


def perceiver():
    """Cross attention from latents, then self attention."""
    batch, time, latents, heads, width = 2, 256, 64, 4, 32

    def attend(p, x, context):
        wq, wk, wv, wo = p
        q = jnp.einsum("btd,dhe->bhte", x, wq)
        k = jnp.einsum("bsd,dhe->bhse", context, wk)
        v = jnp.einsum("bsd,dhe->bhse", context, wv)
        a = jax.nn.softmax(
            jnp.einsum("bhte,bhse->bhts", q, k) / width ** 0.5, -1)
        y = jnp.einsum("bhts,bhse->bhte", a, v)
        return jnp.einsum("bhte,hed->btd", y, wo)

    def loss(p, x, goal):
        z, blocks = p
        z = jnp.broadcast_to(z, (batch, *z.shape))
        for (scale, bias), cross, (scale2, bias2), own, hidden in blocks:
            z = z + attend(cross, layer_norm(z, scale, bias), x)
            z_n = layer_norm(z, scale2, bias2)
            z = z + attend(own, z_n, z_n)
            z = z + mlp(z, hidden)
        return jnp.mean((z.mean(1) - goal) ** 2)

    d = heads * width
    attention = (array(d, heads, width),) * 3 + (array(heads, width, d),)
    block = norm(d), attention, norm(d), attention, dense(d, 2 * d, d)
    p = array(latents, d), [block, block]
    return train(loss, p, array(batch, time, d), array(batch, d))


def tensor_train():
    """A matrix as a product of small cores, applied to a batch."""
    batch = 64

    def loss(p, x, goal):
        h = x.reshape(batch, 8, 8, 8)
        for a, b, c in p:
            h = jnp.einsum("nxyz,xir,ryjs,szk->nijk", h, a, b, c)
            h = jnp.tanh(h)
        return jnp.mean((h.reshape(batch, 512) - goal) ** 2)

    cores = array(8, 8, 4), array(4, 8, 8, 4), array(4, 8, 8)
    return train(loss, [cores, cores], array(batch, 512), array(batch, 512))


def sine_network():
    """An implicit representation: sines of coordinates, gradients inside."""
    def loss(p, x, goal):
        def field(point):
            h = point
            for w, b in p[:-1]:
                h = jnp.sin(30.0 * (h @ w + b))
            w, b = p[-1]
            return (h @ w + b)[0]
        slope = jax.vmap(jax.grad(field))(x)
        return jnp.mean((slope - goal) ** 2)

    return train(loss, dense(2, 64, 64, 1), array(512, 2), array(512, 2))


def sequence_convolutions():
    """Gated convolutions in time with group normalization."""
    batch, time, width, groups = 4, 128, 64, 8

    def loss(p, x, goal):
        for w, (scale, bias), out in p:
            h = jax.lax.conv_general_dilated(
                x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
            a, g = jnp.split(h, 2, -1)
            h = a * jax.nn.sigmoid(g)
            h = h.reshape(batch, time, groups, width // groups)
            mean = h.mean((1, 3), keepdims=True)
            variance = h.var((1, 3), keepdims=True)
            h = (h - mean) * jax.lax.rsqrt(variance + 1e-5)
            x = x + (h.reshape(batch, time, width) * scale + bias) @ out
        return jnp.mean((x - goal) ** 2)

    p = [(array(3, width, 2 * width), norm(width), array(width, width))
         for _ in range(2)]
    x = array(batch, time, width)
    return train(loss, p, x, x)


# Held-out families.

def evoformer():
    rows, length, d, pair, heads, width = 16, 32, 64, 32, 4, 16

    def attend(p, x, bias):
        wq, wk, wv, gate, wo = p
        q = jnp.einsum("nrd,dhe->nrhe", x, wq) / width ** 0.5
        k = jnp.einsum("nrd,dhe->nrhe", x, wk)
        v = jnp.einsum("nrd,dhe->nrhe", x, wv)
        logits = jnp.einsum("nrhe,nshe->nhrs", q, k) + bias
        y = jnp.einsum("nhrs,nshe->nrhe", jax.nn.softmax(logits, -1), v)
        y = y * jax.nn.sigmoid(jnp.einsum("nrd,dhe->nrhe", x, gate))
        return jnp.einsum("nrhe,hed->nrd", y, wo)

    def triangle(p, z, equation):
        (scale, bias), a_w, b_w, gate, out = p
        h = layer_norm(z, scale, bias)
        a, b = h @ a_w, h @ b_w
        y = jnp.einsum(equation, a, b) @ out
        return y * jax.nn.sigmoid(h @ gate)

    def loss(p, m, z, goal):
        (m_norm, row, to_bias, c_norm, column, transition, (left, right, mix),
         outgoing, incoming, pair_norm, pair_mlp) = p
        bias = jnp.einsum("rsd,dh->hrs", layer_norm(z, *pair_norm), to_bias)
        m = m + attend(row, layer_norm(m, *m_norm), bias[None])
        turned = jnp.swapaxes(layer_norm(m, *c_norm), 0, 1)
        m = m + jnp.swapaxes(attend(column, turned, 0.0), 0, 1)
        m = m + mlp(m, transition)
        outer = jnp.einsum("nri,nsj->rsij", m @ left, m @ right) / rows
        z = z + outer.reshape(length, length, -1) @ mix
        z = z + triangle(outgoing, z, "ikc,jkc->ijc")
        z = z + triangle(incoming, z, "kic,kjc->ijc")
        z = z + mlp(z, pair_mlp)
        return jnp.mean(m ** 2) + jnp.mean((z - goal) ** 2)

    attention = ((array(d, heads, width),) * 4) + (array(heads, width, d),)
    square = array(pair, pair)
    tri = norm(pair), square, square, square, square
    p = (norm(d), attention, array(pair, heads), norm(d), attention,
         dense(d, 2 * d, d), (array(d, 8), array(d, 8), array(64, pair)),
         tri, tri, norm(pair), dense(pair, 2 * pair, pair))
    z = array(length, length, pair)
    return train(loss, p, array(rows, length, d), z, z)


def mixer():
    batch, patches, d, tokens, channels, classes = 16, 64, 128, 64, 256, 10

    def loss(p, x, labels):
        embed, blocks, (scale, bias), (head, head_bias) = p
        h = x @ embed
        for norm1, token_mlp, norm2, channel_mlp in blocks:
            y = jnp.swapaxes(layer_norm(h, *norm1), 1, 2)
            h = h + jnp.swapaxes(mlp(y, token_mlp), 1, 2)
            h = h + mlp(layer_norm(h, *norm2), channel_mlp)
        logits = layer_norm(h, scale, bias).mean(1) @ head + head_bias
        chosen = jax.nn.one_hot(labels, classes)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * chosen, -1))

    block = (norm(d), dense(patches, tokens, patches), norm(d),
             dense(d, channels, d))
    p = (array(48, d), [block] * 4, norm(d), (array(d, classes),
                                              array(classes)))
    return train(loss, p, array(batch, patches, 48), array(batch, dtype=INT))


def mamba():
    batch, time, d, inner, state, rank = 2, 64, 64, 128, 16, 4

    def block(p, x):
        (scale, bias), w_in, conv, w_x, w_dt, b_dt, a_log, skip, w_out = p
        u, z = jnp.split(layer_norm(x, scale, bias) @ w_in, 2, -1)
        padded = jnp.pad(u, ((0, 0), (3, 0), (0, 0)))
        u = sum(padded[:, i:i + time] * conv[i] for i in range(4))
        u = jax.nn.silu(u)
        dt, b, c = jnp.split(u @ w_x, [rank, rank + state], -1)
        dt = jax.nn.softplus(dt @ w_dt + b_dt)
        decay = jnp.exp(dt[..., None] * -jnp.exp(a_log))
        drive = (dt * u)[..., None] * b[:, :, None, :]

        def step(h, inputs):
            decay_t, drive_t, c_t = inputs
            h = decay_t * h + drive_t
            return h, jnp.einsum("bds,bs->bd", h, c_t)

        turned = [jnp.swapaxes(t, 0, 1) for t in (decay, drive, c)]
        first = jnp.zeros((batch, inner, state))
        _, y = jax.lax.scan(step, first, tuple(turned))
        y = jnp.swapaxes(y, 0, 1) + u * skip
        return x + (y * jax.nn.silu(z)) @ w_out

    def loss(p, x, goal):
        for layer in p:
            x = block(layer, x)
        return jnp.mean((x - goal) ** 2)

    layer = (norm(d), array(d, 2 * inner), array(4, inner),
             array(inner, rank + 2 * state), array(rank, inner), array(inner),
             array(inner, state), array(inner), array(inner, d))
    x = array(batch, time, d)
    return train(loss, [layer, layer], x, x)


SETS = {
    "training": [graph_network, linear_recurrence, gru_scan, linear_attention,
                 capsules, perceiver, tensor_train, sine_network,
                 sequence_convolutions],
    "unseen": [evoformer, mixer, mamba],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--set", choices=SETS, required=True)
    parser.add_argument("-o", type=pathlib.Path, required=True, metavar="DIR")
    args = parser.parse_args()
    args.o.mkdir(parents=True, exist_ok=True)
    for family in SETS[args.set]:
        step, inputs = family()
        lowered = jax.jit(step, keep_unused=True).lower(*inputs)
        text = lowered.compiler_ir(dialect="hlo").as_hlo_text()
        (args.o / f"{family.__name__}.train.hlo").write_text(text)


if __name__ == "__main__":
    main()
