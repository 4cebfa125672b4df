#!/usr/bin/env python3
"""Lowers training steps of large models to HLO text, for device placement.

Usage: bench/placement/lower_models.py --hone PATH -o DIR [--batch N] [MODEL...]

The models are those of the table of Zhou et al., "Transferable Graph Optimizers
for ML Compilers" (2020), at sizes they are trained at. Each is one step of
momentum SGD in f32 with its loops over time unrolled. Nothing is executed or
allocated. `hone opt --pipeline=xla-gpu` simplifies the module, then it is
written as DIR/MODEL.hlo.zst and listed in DIR/manifest.json.

Every instruction that a layer owns has it as the scope of its op_name:
`layer03_lstm/op` in the forward pass and the update, `transpose(layer03_lstm)/op`
in the backward pass.
The numbers of layers follow the forward pass. Instructions that passes make
without a name get that of their users or operands; a constant that layers share
has the name of one of them.

Needs jax 0.10.2 and zstd.
"""

import argparse
import collections
import contextlib
import json
import math
import pathlib
import re
import subprocess


class Layers:
    """The parameters of a model, by layer.

    A model is a function of its layers and its inputs. It runs twice: without
    values, to learn the shapes of the parameters, then with them.
    """

    def __init__(self, values=None):
        self.values = values
        self.shapes = {}
        self.name = None

    @contextlib.contextmanager
    def layer(self, kind):
        self.name = f"layer{len(self.shapes):02}_{kind}"
        self.shapes[self.name] = []
        with jax.named_scope(self.name):
            yield

    def weight(self, *shape):
        own = self.shapes[self.name]
        own.append(jax.ShapeDtypeStruct(shape, jnp.float32))
        if self.values is None:
            return jnp.zeros(shape)
        return self.values[self.name][len(own) - 1]


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def integers(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


# Parts. They avoid functions that JAX compiles apart, as the instructions of
# those would not be in the layer that calls them.

def relu(x):
    return lax.select(x > 0, x, jnp.zeros_like(x))


def linear(p, x, width):
    return x @ p.weight(x.shape[-1], width) + p.weight(width)


def embed(p, tokens, vocabulary, width):
    return p.weight(vocabulary, width).at[tokens].get(
        mode="promise_in_bounds", wrap_negative_indices=False)


def softmax(x):
    e = jnp.exp(x - lax.stop_gradient(x.max(-1, keepdims=True)))
    return e / e.sum(-1, keepdims=True)


def cross_entropy(logits, targets):
    shifted = logits - lax.stop_gradient(logits.max(-1, keepdims=True))
    total = jnp.log(jnp.exp(shifted).sum(-1))
    classes = lax.broadcasted_iota(jnp.int32, logits.shape, logits.ndim - 1)
    chosen = lax.select(classes == targets[..., None], shifted,
                        jnp.zeros_like(shifted))
    return (total - chosen.sum(-1)).mean()


def layer_norm(p, x):
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered ** 2).mean(-1, keepdims=True)
    width = x.shape[-1]
    return (centered * lax.rsqrt(variance + 1e-5) * p.weight(width)
            + p.weight(width))


def steps_of(x):
    """Splits the first dimension, time, into steps."""
    return [lax.squeeze(step, [0])
            for step in lax.split(x, [1] * x.shape[0], axis=0)]


def lstm(p, sizes, hidden):
    """A cell from an input of the sum of `sizes`; returns its step function."""
    w = p.weight(sum(sizes) + hidden, 4 * hidden)
    b = p.weight(4 * hidden)

    def step(inputs, state):
        h, c = state
        gates = lax.concatenate([*inputs, h], 1) @ w + b
        gates, new = lax.split(gates, [3 * hidden, hidden], axis=1)
        i, f, o = lax.split(lax.logistic(gates), [hidden] * 3, axis=1)
        c = f * c + i * jnp.tanh(new)
        return o * jnp.tanh(c), c
    return step


def zero_state(batch, hidden):
    return (jnp.zeros((batch, hidden)),) * 2


def run_lstm(p, xs, hidden):
    step = lstm(p, [xs[0].shape[1]], hidden)
    state, out = zero_state(xs[0].shape[0], hidden), []
    for x in xs:
        state = step([x], state)
        out.append(state[0])
    return out


def convolution(p, x, channels, size=1, stride=1, padding="SAME"):
    height, width = size if isinstance(size, tuple) else (size, size)
    return lax.conv_general_dilated(
        x, p.weight(height, width, x.shape[-1], channels), (stride, stride),
        padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(p, x):
    centered = x - x.mean((0, 1, 2))
    variance = (centered ** 2).mean((0, 1, 2))
    channels = x.shape[-1]
    scale = lax.rsqrt(variance + 1e-3) * p.weight(channels)
    return centered * scale + p.weight(channels)


def pool(x, size, stride, padding, start, combine):
    return lax.reduce_window(x, start, combine, (1, size, size, 1),
                             (1, stride, stride, 1), padding)


def max_pool(x, size=3, stride=2, padding="VALID"):
    return pool(x, size, stride, padding, -jnp.inf, lax.max)


def average_pool(x, size=3, stride=1, padding="SAME"):
    return pool(x, size, stride, padding, 0.0, lax.add) / size ** 2


# Models. Each returns the loss as a function of layers and inputs, the inputs,
# and a sentence on its sizes.

# In place of the usual batch sizes, if not None.
BATCH = None


def batch_size(usual):
    return BATCH or usual


def rnnlm(depth):
    batch, hidden, time, vocabulary = batch_size(64), 2048, 32, 10000

    def loss(p, tokens, targets):
        with p.layer("embedding"):
            xs = steps_of(embed(p, tokens, vocabulary, hidden))
        for _ in range(depth):
            with p.layer("lstm"):
                xs = run_lstm(p, xs, hidden)
        with p.layer("softmax"):
            h = lax.concatenate(xs, 0)
            return cross_entropy(linear(p, h, vocabulary), targets)

    return loss, (integers(time, batch), integers(time * batch)), (
        f"{depth} LSTM layers, batch {batch}, hidden {hidden}, {time} steps, "
        f"vocabulary {vocabulary}")


def gnmt(depth):
    batch, hidden, time, vocabulary = batch_size(128), 1024, 24, 32000

    def residual(i, xs, ys):
        return [x + y for x, y in zip(xs, ys)] if i > 1 else ys

    def encode(p, xs):
        with p.layer("bidirectional_encoder"):
            forward = run_lstm(p, xs, hidden)
            backward = run_lstm(p, xs[::-1], hidden)[::-1]
            xs = [lax.concatenate([f, b], 1) for f, b in zip(forward, backward)]
        for i in range(1, depth):
            with p.layer("encoder"):
                xs = residual(i, xs, run_lstm(p, xs, hidden))
        return xs

    def attend(p, memory):
        """Additive attention to `memory`, [batch, time, hidden]."""
        keys = memory @ p.weight(hidden, hidden)
        w, v = p.weight(hidden, hidden), p.weight(hidden)

        def context(h):
            score = jnp.tanh(keys + (h @ w)[:, None]) @ v
            return lax.dot_general(softmax(score), memory,
                                   (((1,), (1,)), ((0,), (0,))))
        return context

    def decode(p, xs, memory):
        with p.layer("attention_decoder"):
            context = attend(
                p, lax.concatenate([m[:, None] for m in memory], 1))
            step = lstm(p, [hidden, hidden], hidden)
            seen, state = jnp.zeros((batch, hidden)), zero_state(batch, hidden)
            contexts, out = [], []
            for x in xs:
                state = step([x, seen], state)
                seen = context(state[0])
                contexts.append(seen)
                out.append(state[0])
        xs = out
        for i in range(1, depth):
            with p.layer("decoder"):
                step = lstm(p, [hidden, hidden], hidden)
                state, out = zero_state(batch, hidden), []
                for x, c in zip(xs, contexts):
                    state = step([x, c], state)
                    out.append(state[0])
                xs = residual(i, xs, out)
        return xs

    def loss(p, source, target, goals):
        with p.layer("source_embedding"):
            xs = steps_of(embed(p, source, vocabulary, hidden))
        memory = encode(p, xs)
        with p.layer("target_embedding"):
            xs = steps_of(embed(p, target, vocabulary, hidden))
        xs = decode(p, xs, memory)
        with p.layer("softmax"):
            h = lax.concatenate(xs, 0)
            return cross_entropy(linear(p, h, vocabulary), goals)

    words = integers(time, batch)
    return loss, (words, words, integers(time * batch)), (
        f"{depth} encoder layers (the first bidirectional) and {depth} decoder "
        f"layers of LSTM with additive attention, batch {batch}, hidden "
        f"{hidden}, {time} source and {time} target steps, vocabulary "
        f"{vocabulary}")


def transformer_xl(depth):
    batch, segment, memory, vocabulary = batch_size(8), 512, 512, 32000
    width, heads, inner = 1024, 16, 4096
    head, span = width // heads, segment + memory

    def positions():
        """Sinusoids of the distances span - 1 .. 0."""
        distance = span - 1 - lax.iota(jnp.float32, span)
        rate = jnp.exp(lax.iota(jnp.float32, width // 2)
                       * (-2 * math.log(10000) / width))
        angle = distance[:, None] * rate
        return lax.concatenate([jnp.sin(angle), jnp.cos(angle)], 1)

    def scores(a, b):
        """Of [batch, query, heads, head] with [batch, key, heads, head]."""
        return lax.dot_general(a, b, (((3,), (3,)), ((0, 2), (0, 2))))

    def shift(x):
        """Row i moves left by segment - 1 - i: from distances to keys."""
        x = lax.pad(x, 0.0, [(0, 0, 0)] * 3 + [(1, 0, 0)])
        x = x.reshape(batch, heads, span + 1, segment)
        return x[:, :, 1:].reshape(batch, heads, segment, span)

    def attention(p, x, past, where):
        both = lax.concatenate([past, x], 1)
        q = (x @ p.weight(width, width)).reshape(batch, segment, heads, head)
        k = (both @ p.weight(width, width)).reshape(batch, span, heads, head)
        v = (both @ p.weight(width, width)).reshape(batch, span, heads, head)
        r = (where @ p.weight(width, width)).reshape(span, heads, head)
        content = scores(q + p.weight(heads, head), k)
        position = lax.dot_general(q + p.weight(heads, head), r,
                                   (((3,), (2,)), ((2,), (1,))))
        position = shift(lax.transpose(position, (1, 0, 2, 3)))
        score = (content + position) * head ** -0.5
        row = lax.broadcasted_iota(jnp.int32, (segment, span), 0)
        column = lax.broadcasted_iota(jnp.int32, (segment, span), 1)
        seen = lax.broadcast_in_dim(column <= row + memory, score.shape, (2, 3))
        share = softmax(lax.select(seen, score, jnp.full_like(score, -1e30)))
        out = lax.dot_general(share, v, (((3,), (1,)), ((0, 1), (0, 2))))
        out = lax.transpose(out, (0, 2, 1, 3)).reshape(batch, segment, width)
        return out @ p.weight(width, width)

    def loss(p, tokens, targets, pasts):
        with p.layer("embedding"):
            x = embed(p, tokens, vocabulary, width) * width ** 0.5
            where = positions()
        for past in pasts:
            with p.layer("transformer"):
                x = layer_norm(p, x + attention(p, x, past, where))
                y = linear(p, relu(linear(p, x, inner)), width)
                x = layer_norm(p, x + y)
        with p.layer("softmax"):
            return cross_entropy(linear(p, x, vocabulary), targets)

    words = integers(batch, segment)
    pasts = [floats(batch, memory, width)] * depth
    return loss, (words, words, pasts), (
        f"{depth} layers, batch {batch}, segment {segment}, memory {memory}, "
        f"width {width}, {heads} heads, inner width {inner}, vocabulary "
        f"{vocabulary}")


def inception(usual_batch):
    batch = batch_size(usual_batch)
    classes = 1000

    def conv(p, x, *shape, **options):
        return relu(batch_norm(p, convolution(p, x, *shape, **options)))

    def chain(p, x, *shapes):
        for channels, size in shapes:
            x = conv(p, x, channels, size)
        return x

    def reduce(p, x, channels):
        return conv(p, x, channels, 3, 2, "VALID")

    def join(*branches):
        return lax.concatenate(branches, 3)

    def block_a(p, x, pooled):
        return join(chain(p, x, (64, 1)), chain(p, x, (48, 1), (64, 5)),
                    chain(p, x, (64, 1), (96, 3), (96, 3)),
                    chain(p, average_pool(x), (pooled, 1)))

    def block_b(p, x):
        return join(reduce(p, x, 384),
                    reduce(p, chain(p, x, (64, 1), (96, 3)), 96), max_pool(x))

    def block_c(p, x, n):
        row, column = (1, 7), (7, 1)
        return join(chain(p, x, (192, 1)),
                    chain(p, x, (n, 1), (n, row), (192, column)),
                    chain(p, x, (n, 1), (n, column), (n, row), (n, column),
                          (192, row)),
                    chain(p, average_pool(x), (192, 1)))

    def block_d(p, x):
        return join(reduce(p, chain(p, x, (192, 1)), 320),
                    reduce(p, chain(p, x, (192, 1), (192, (1, 7)),
                                    (192, (7, 1))), 192), max_pool(x))

    def block_e(p, x):
        def fork(y):
            return conv(p, y, 384, (1, 3)), conv(p, y, 384, (3, 1))
        return join(chain(p, x, (320, 1)), *fork(chain(p, x, (384, 1))),
                    *fork(chain(p, x, (448, 1), (384, 3))),
                    chain(p, average_pool(x), (192, 1)))

    def stem(p, x):
        for channels, size, stride, padding, pooled in (
                (32, 3, 2, "VALID", False), (32, 3, 1, "VALID", False),
                (64, 3, 1, "SAME", True), (80, 1, 1, "VALID", False),
                (192, 3, 1, "VALID", True)):
            with p.layer("convolution"):
                x = conv(p, x, channels, size, stride, padding)
                x = max_pool(x) if pooled else x
        return x

    def loss(p, x, targets):
        x = stem(p, x)
        for pooled in (32, 64, 64):
            with p.layer("block_a"):
                x = block_a(p, x, pooled)
        with p.layer("block_b"):
            x = block_b(p, x)
        for channels in (128, 160, 160, 192):
            with p.layer("block_c"):
                x = block_c(p, x, channels)
        with p.layer("auxiliary_head"):
            y = chain(p, average_pool(x, 5, 3, "VALID"), (128, 1))
            y = conv(p, y, 768, 5, padding="VALID").mean((1, 2))
            auxiliary = 0.4 * cross_entropy(linear(p, y, classes), targets)
        with p.layer("block_d"):
            x = block_d(p, x)
        for _ in range(2):
            with p.layer("block_e"):
                x = block_e(p, x)
        with p.layer("softmax"):
            logits = linear(p, x.mean((1, 2)), classes)
            return cross_entropy(logits, targets) + auxiliary

    return loss, (floats(batch, 299, 299, 3), integers(batch)), (
        f"Inception-v3 with its auxiliary head, batch {batch}, 299x299, "
        f"{classes} classes")


def amoebanet():
    """AmoebaNet-D as GPipe trains it."""
    batch, cells, filters, classes = batch_size(64), 18, 208, 1000
    same = ((0, 0), (1, 1), (1, 1), (0, 0))

    def conv(p, x, *shape):
        return batch_norm(p, convolution(p, relu(x), *shape))

    def halve(p, x, channels):
        """Two convolutions of stride 2, the second a pixel further."""
        x = relu(x)
        moved = lax.pad(x, 0.0, [(0, 0, 0), (-1, 1, 0), (-1, 1, 0), (0, 0, 0)])
        return batch_norm(p, lax.concatenate(
            [convolution(p, x, channels // 2, 1, 2),
             convolution(p, moved, channels // 2, 1, 2)], 3))

    def none(p, x, channels, stride):
        return x

    def conv_1x1(p, x, channels, stride):
        return conv(p, x, channels, 1, stride)

    def conv_3x3(p, x, channels, stride):
        x = conv(p, x, channels // 4, 1)
        return conv(p, conv(p, x, channels // 4, 3, stride), channels, 1)

    def conv_1x7_7x1(p, x, channels, stride):
        x = conv(p, x, channels // 4, 1)
        x = conv(p, conv(p, x, channels // 4, (1, 7)), channels // 4, (7, 1))
        return conv(p, x, channels, 1)

    def average_3x3(p, x, channels, stride):
        return average_pool(x, 3, stride, same)

    def max_3x3(p, x, channels, stride):
        return max_pool(x, 3, stride, same)

    def max_2x2(p, x, channels, stride):
        return max_pool(x, 2, stride)

    # Pairs of (state, operation); the sum of a pair is the next state.
    normal = [((1, conv_1x1), (1, max_3x3)), ((1, none), (0, conv_1x7_7x1)),
              ((0, conv_1x1), (0, conv_1x7_7x1)), ((2, max_3x3), (2, none)),
              ((1, average_3x3), (5, conv_1x1))], (0, 3, 4, 6)
    reduction = [((0, max_2x2), (0, max_3x3)), ((2, none), (1, conv_3x3)),
                 ((2, conv_1x7_7x1), (2, max_3x3)), ((3, none), (1, max_2x2)),
                 ((2, average_3x3), (3, conv_1x1))], (4, 5, 6)

    def cell(p, last, before, channels, genotype):
        pairs, kept = genotype
        first = conv(p, last, channels)
        if before.shape[1] != last.shape[1]:
            second = halve(p, before, channels)
        elif before.shape[3] != channels:
            second = conv(p, before, channels)
        else:
            second = before
        states = [first, second]
        for pair in pairs:
            a, b = (operation(p, states[i], channels,
                              2 if genotype is reduction and i < 2 else 1)
                    for i, operation in pair)
            states.append(a + b)
        return lax.concatenate([states[i] for i in kept], 3)

    def loss(p, x, targets):
        channels = filters // 4
        with p.layer("stem"):
            last = batch_norm(p, convolution(p, x, channels, 3, 2))
        before = last
        stage = ["normal"] * (cells // 3)
        for kind in (["reduction"] * 2 + stage + ["reduction"] + stage
                     + ["reduction"] + stage):
            channels *= 2 if kind == "reduction" else 1
            with p.layer(kind + "_cell"):
                genotype = reduction if kind == "reduction" else normal
                last, before = cell(p, last, before, channels, genotype), last
        with p.layer("softmax"):
            logits = linear(p, last.mean((1, 2)), classes)
            return cross_entropy(logits, targets)

    return loss, (floats(batch, 224, 224, 3), integers(batch)), (
        f"AmoebaNet-D of {cells} normal cells, {filters} filters, batch "
        f"{batch}, 224x224, {classes} classes")


def wavenet(stacks):
    batch, samples, channels = batch_size(4), 16384, 128
    skips, values, depth = 256, 256, 9

    def dilated(p, x, width, dilation):
        """A causal convolution of two taps."""
        return lax.conv_general_dilated(
            x, p.weight(2, x.shape[-1], width), (1,), [(dilation, 0)],
            rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC"))

    def loss(p, wave, targets):
        with p.layer("embedding"):
            x = embed(p, wave, values, channels)
        total = None
        for i in range(stacks * depth):
            with p.layer("residual"):
                y = (dilated(p, x, 2 * channels, 2 ** (i % depth))
                     + p.weight(2 * channels))
                new, gate = lax.split(y, [channels] * 2, axis=2)
                y = jnp.tanh(new) * lax.logistic(gate)
                skip = linear(p, y, skips)
                total = skip if total is None else total + skip
                if i < stacks * depth - 1:
                    x = x + linear(p, y, channels)
        with p.layer("softmax"):
            y = relu(linear(p, relu(total), skips))
            return cross_entropy(linear(p, y, values), targets)

    wave = integers(batch, samples)
    return loss, (wave, wave), (
        f"{stacks} stacks of {depth} dilated layers, batch {batch}, {samples} "
        f"samples of {values} values, {channels} residual and {skips} skip "
        f"channels")


# Name: (family, devices in the paper's table, model).
MODELS = {
    **{f"rnnlm_{n}l": ("rnnlm", n, lambda n=n: rnnlm(n)) for n in (2, 4, 8)},
    **{f"gnmt_{n}l": ("gnmt", n, lambda n=n: gnmt(n)) for n in (2, 4, 8)},
    **{f"txl_{n}l": ("transformer_xl", n, lambda n=n: transformer_xl(n))
       for n in (2, 4, 8)},
    "inception_b32": ("inception", 2, lambda: inception(32)),
    "inception_b64": ("inception", 2, lambda: inception(64)),
    "amoebanet": ("amoebanet", 4, amoebanet),
    "wavenet_2x9": ("wavenet", 2, lambda: wavenet(2)),
    "wavenet_4x9": ("wavenet", 4, lambda: wavenet(4)),
}


def lower(loss, inputs):
    """One step of momentum SGD, as HLO text with JAX's metadata."""
    layers = Layers()
    jax.eval_shape(lambda *inputs: loss(layers, *inputs), *inputs)

    def step(parameters, momentum, *inputs):
        value, gradients = jax.value_and_grad(
            lambda values: loss(Layers(values), *inputs))(parameters)
        new_parameters, new_momentum = {}, {}
        for name in parameters:
            with jax.named_scope(name):
                new_momentum[name] = [
                    0.9 * m + g
                    for m, g in zip(momentum[name], gradients[name])]
                new_parameters[name] = [
                    w - 0.01 * m
                    for w, m in zip(parameters[name], new_momentum[name])]
        return value, new_parameters, new_momentum

    lowered = jax.jit(step, keep_unused=True).lower(
        layers.shapes, layers.shapes, *inputs)
    return lowered.as_text(dialect="hlo", debug_info=True)


def keep_layers(text):
    """Of the metadata keeps the layer, and whether it is the backward pass."""
    def shorten(match):
        layer = re.search(r"layer\d\d_\w+", match[0])
        if not layer:
            return ""
        backward = "transpose(jvp(" in match[0]
        name = f"transpose({layer[0]})" if backward else layer[0]
        return f', metadata={{op_name="{name}"}}'

    text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n"
                  r"(\d+ .*\n)*", "", text)
    return re.sub(r', metadata=\{(?:"[^"]*"|[^"}])*\}', shorten, text)


def inherit_layers(text):
    """Gives a layer to the entry's instructions without one.

    It is that of their users. Where those are in several layers it is that of
    an operand, and if none has one, that of the first user.
    """
    head, entry = text.split("\nENTRY", 1)
    lines = entry.split("\n")
    instructions, layers, users = [], {}, collections.defaultdict(list)
    for i, line in enumerate(lines):
        parts = re.match(
            r"  (?:ROOT )?(\S+) = (?:\(.*?\)|\S+) ([\w-]+)\(([^)]*)\)", line)
        if parts and parts[2] not in ("parameter", "constant", "tuple"):
            operands = re.sub(r"/\*.*?\*/", "", parts[3]).split(", ")
            instructions.append((i, parts[1], operands))
        metadata = re.search(r', metadata=\{op_name="(.*)"\}', line)
        if parts and metadata:
            layers[parts[1]] = metadata[1]

    def inherit(i, name, layer):
        layers[name] = layer
        lines[i] += f', metadata={{op_name="{layer}"}}'

    for i, name, operands in reversed(instructions):
        own = {re.search(r"layer\d\d", layer)[0] for layer in users[name]}
        if name not in layers and len(own) == 1:
            inherit(i, name, users[name][-1])
        for operand in operands:
            if name in layers:
                users[operand].append(layers[name])
    for i, name, operands in instructions:
        choices = [layers[o] for o in operands if o in layers]
        choices += reversed(users[name])
        if name not in layers and choices:
            inherit(i, name, choices[0])
    return head + "\nENTRY" + "\n".join(lines)


def as_scopes(text):
    """Makes layers scopes, which end before the name of the operator."""
    return re.sub(r'op_name="([^"]*)"', r'op_name="\1/op"', text)


def make(name, hone, folder):
    family, devices, model = MODELS[name]
    loss, inputs, sizes = model()
    lowered = folder / f"{name}.lowered.hlo"
    result = folder / f"{name}.hlo"
    lowered.write_text(keep_layers(lower(loss, inputs)))
    subprocess.run([hone, "opt", lowered, "--pipeline=xla-gpu", "-o", result],
                   check=True)
    result.write_text(as_scopes(inherit_layers(result.read_text())))
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", result], check=True)
    stats = json.loads(subprocess.run(
        [hone, "stats", "--json", f"{result}.zst"], check=True,
        capture_output=True).stdout)
    lowered.unlink()
    return {"name": name, "family": family, "devices": devices,
            "instructions": stats["instructions"], "flops": stats["flops"],
            "sizes": sizes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hone", required=True, type=pathlib.Path)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    parser.add_argument("--batch", type=int, metavar="N",
                        help="of all models, in place of their usual ones")
    parser.add_argument("models", nargs="*", default=[], metavar="MODEL",
                        help="default: all")
    arguments = parser.parse_args()
    # Not before: --help needs no jax.
    global jax, jnp, lax
    import jax
    import jax.numpy as jnp
    from jax import lax
    global BATCH
    BATCH = arguments.batch
    arguments.output.mkdir(parents=True, exist_ok=True)
    manifest = arguments.output / "manifest.json"
    entries = {e["name"]: e for e in json.loads(manifest.read_text())
               } if manifest.exists() else {}
    for name in arguments.models or MODELS:
        entries[name] = make(name, arguments.hone, arguments.output)
    manifest.write_text("[\n" + ",\n".join(
        json.dumps(e) for e in entries.values()) + "\n]\n")


if __name__ == "__main__":
    main()
