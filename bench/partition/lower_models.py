#!/usr/bin/env python3
"""Lowers inference of many models to HLO text, to be partitioned over chips.

Usage: bench/partition/lower_models.py --hone PATH -o DIR [MODEL...]

Each family has the same architecture at several sizes, at small batches, in
bfloat16, as it would be served from on-chip memory: weights of a model fit the
chips of a package, and each operator's fit one chip. Loops over time are
unrolled. Nothing is executed or allocated. `hone opt --pipeline=xla-gpu`
simplifies the module, then it is written as DIR/MODEL.hlo.zst and listed in
DIR/manifest.json, with graphs of other origin.

Needs jax 0.10.2 and zstd.
"""

import argparse
import functools
import json
import pathlib
import random
import subprocess


class Weights:
    """The parameters of a model, in the order in which it asks for them.

    A model runs twice: without values, to learn their shapes, then with them.
    """

    def __init__(self, values=None):
        self.values = values
        self.shapes = []

    def __call__(self, *shape):
        self.shapes.append(jax.ShapeDtypeStruct(shape, jnp.bfloat16))
        if self.values is None:
            return jnp.zeros(shape, jnp.bfloat16)
        return self.values[len(self.shapes) - 1]


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def integers(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


# Parts.

def linear(w, x, width):
    return x @ w(x.shape[-1], width) + w(width)


def embed(w, tokens, vocabulary, width):
    return w(vocabulary, width).at[tokens].get(
        mode="promise_in_bounds", wrap_negative_indices=False)


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(0.7978846 * (x + 0.044715 * x * x * x)))


def relu(x):
    return jnp.maximum(x, 0)


def silu(x):
    return x * lax.logistic(x)


def softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(w, x):
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered * centered).mean(-1, keepdims=True)
    width = x.shape[-1]
    return centered * lax.rsqrt(variance + 1e-5) * w(width) + w(width)


def rms_norm(w, x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w(
        x.shape[-1])


def heads_of(x, heads):
    batch, time, width = x.shape
    return x.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3)


def merged(x):
    batch, heads, time, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, time, heads * width)


def attention(w, x, heads, mask=None, memory=None):
    width = x.shape[-1]
    memory = x if memory is None else memory
    q = heads_of(linear(w, x, width), heads)
    k = heads_of(linear(w, memory, width), heads)
    v = heads_of(linear(w, memory, width), heads)
    score = q @ k.transpose(0, 1, 3, 2) * (width // heads) ** -0.5
    if mask is not None:
        score = score + mask
    return linear(w, merged(softmax(score) @ v), width)


def causal_mask(time):
    row = lax.broadcasted_iota(jnp.int32, (time, time), 0)
    column = lax.broadcasted_iota(jnp.int32, (time, time), 1)
    return jnp.where(column <= row, 0.0, -1e30).astype(jnp.bfloat16)


def convolution(w, x, channels, size=1, stride=1, groups=1, dilation=1):
    size = size if isinstance(size, tuple) else (size, size)
    return lax.conv_general_dilated(
        x, w(*size, x.shape[-1] // groups, channels), (stride, stride), "SAME",
        rhs_dilation=(dilation, dilation), feature_group_count=groups,
        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def scaled(w, x):
    """A batch normalization as inference has it."""
    return x * w(x.shape[-1]) + w(x.shape[-1])


def conv_relu(w, x, *shape, **options):
    return relu(scaled(w, convolution(w, x, *shape, **options)))


def max_pool(x, size=2, stride=2):
    return lax.reduce_window(x, jnp.array(-jnp.inf, x.dtype), lax.max,
                             (1, size, size, 1), (1, stride, stride, 1), "SAME")


def lstm(w, xs, hidden):
    weights, bias = w(xs[0].shape[1] + hidden, 4 * hidden), w(4 * hidden)
    h = c = jnp.zeros((xs[0].shape[0], hidden), jnp.bfloat16)
    out = []
    for x in xs:
        i, f, o, new = jnp.split(
            lax.concatenate([x, h], 1) @ weights + bias, 4, axis=1)
        c = (lax.logistic(f) * c + lax.logistic(i) * jnp.tanh(new))
        h = lax.logistic(o) * jnp.tanh(c)
        out.append(h)
    return out


def steps_of(x):
    return [lax.squeeze(step, [0])
            for step in lax.split(x, [1] * x.shape[0], axis=0)]


# Models. Each returns a function of weights and inputs, and the inputs.

def encoder(depth, width, time, batch=1):
    """BERT: one mask for all layers."""
    def model(w, tokens, lengths):
        x = embed(w, tokens, 8192, width) + w(time, width)
        x = layer_norm(w, x)
        place = lax.broadcasted_iota(jnp.int32, (batch, time), 1)
        mask = jnp.where(place < lengths[:, None], 0.0, -1e30).astype(
            jnp.bfloat16)[:, None, None]
        for _ in range(depth):
            x = layer_norm(w, x + attention(w, x, width // 64, mask))
            x = layer_norm(w, x + linear(w, gelu(linear(w, x, 4 * width)),
                                         width))
        return jnp.tanh(linear(w, x[:, 0], width))
    return model, (integers(batch, time), integers(batch))


def decoder(depth, width, time):
    """GPT-2."""
    def model(w, tokens):
        x = embed(w, tokens, 8192, width) + w(time, width)
        mask = causal_mask(time)
        for _ in range(depth):
            x = x + attention(w, layer_norm(w, x), width // 64, mask)
            x = x + linear(w, gelu(linear(w, layer_norm(w, x), 4 * width)),
                           width)
        return layer_norm(w, x) @ w(width, 8192)
    return model, (integers(1, time),)


def llama(depth, width, time):
    def rotated(x, cosine, sine):
        a, b = jnp.split(x, 2, axis=-1)
        return lax.concatenate([a * cosine - b * sine, a * sine + b * cosine],
                               3)

    def attend(w, x, cosine, sine, mask):
        heads = width // 64
        q, k, v = (heads_of(x @ w(width, width), heads) for _ in range(3))
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        score = q @ k.transpose(0, 1, 3, 2) * 0.125 + mask
        return merged(softmax(score) @ v) @ w(width, width)

    def model(w, tokens):
        x = embed(w, tokens, 8192, width)
        angle = (lax.iota(jnp.float32, time)[:, None]
                 * jnp.exp(lax.iota(jnp.float32, 32) * -0.2878))
        cosine = jnp.cos(angle).astype(jnp.bfloat16)
        sine = jnp.sin(angle).astype(jnp.bfloat16)
        mask = causal_mask(time)
        inner = 8 * width // 3 // 64 * 64
        for _ in range(depth):
            x = x + attend(w, rms_norm(w, x), cosine, sine, mask)
            y = rms_norm(w, x)
            y = silu(y @ w(width, inner)) * (y @ w(width, inner))
            x = x + y @ w(inner, width)
        return rms_norm(w, x) @ w(width, 8192)
    return model, (integers(1, time),)


def translator(depth, width, time):
    """An encoder and a decoder that attends to it in each layer."""
    def model(w, source, target):
        memory = embed(w, source, 8192, width)
        for _ in range(depth):
            memory = layer_norm(w, memory + attention(w, memory, width // 64))
            memory = layer_norm(w, memory + linear(
                w, relu(linear(w, memory, 4 * width)), width))
        x = embed(w, target, 8192, width)
        mask = causal_mask(time)
        for _ in range(depth):
            x = layer_norm(w, x + attention(w, x, width // 64, mask))
            x = layer_norm(w, x + attention(w, x, width // 64, None, memory))
            x = layer_norm(w, x + linear(w, relu(linear(w, x, 4 * width)),
                                         width))
        return x @ w(width, 8192)
    return model, (integers(1, time), integers(1, time))


def vit(depth, width, patches):
    def model(w, image):
        x = convolution_patches(w, image, width)
        x = x + w(patches * patches, width)
        for _ in range(depth):
            x = x + attention(w, layer_norm(w, x), width // 64)
            x = x + linear(w, gelu(linear(w, layer_norm(w, x), 4 * width)),
                           width)
        return linear(w, layer_norm(w, x).mean(1), 1000)
    return model, (floats(1, 16 * patches, 16 * patches, 3),)


def convolution_patches(w, image, width):
    x = lax.conv_general_dilated(
        image, w(16, 16, 3, width), (16, 16), "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return x.reshape(1, -1, width)


def mixer(depth, width, patches):
    def model(w, image):
        x = convolution_patches(w, image, width)
        tokens = patches * patches
        for _ in range(depth):
            y = layer_norm(w, x).transpose(0, 2, 1)
            y = linear(w, gelu(linear(w, y, width // 2)), tokens)
            x = x + y.transpose(0, 2, 1)
            x = x + linear(w, gelu(linear(w, layer_norm(w, x), 4 * width)),
                           width)
        return linear(w, layer_norm(w, x).mean(1), 1000)
    return model, (floats(1, 16 * patches, 16 * patches, 3),)


def experts(depth, width, time, count):
    """A mixture that weighs all experts."""
    def model(w, tokens):
        x = embed(w, tokens, 8192, width)
        mask = causal_mask(time)
        for _ in range(depth):
            x = x + attention(w, layer_norm(w, x), width // 64, mask)
            y = layer_norm(w, x)
            share = softmax(y @ w(width, count))
            mixed = None
            for e in range(count):
                out = linear(w, gelu(linear(w, y, 2 * width)), width)
                out = out * share[..., e:e + 1]
                mixed = out if mixed is None else mixed + out
            x = x + mixed
        return layer_norm(w, x)
    return model, (integers(1, time),)


def resnet(blocks, width, size):
    def bottleneck(w, x, channels, stride):
        y = conv_relu(w, x, channels)
        y = conv_relu(w, y, channels, 3, stride)
        y = scaled(w, convolution(w, y, 4 * channels))
        if x.shape != y.shape:
            x = scaled(w, convolution(w, x, 4 * channels, 1, stride))
        return relu(x + y)

    def model(w, image):
        x = max_pool(conv_relu(w, image, width, 7, 2), 3)
        for stage, count in enumerate(blocks):
            for i in range(count):
                stride = 2 if i == 0 and stage > 0 else 1
                x = bottleneck(w, x, width * 2 ** stage, stride)
        return linear(w, x.mean((1, 2)), 1000)
    return model, (floats(1, size, size, 3),)


def vgg(blocks, width, size):
    def model(w, x):
        for stage, count in enumerate(blocks):
            for _ in range(count):
                x = conv_relu(w, x, width * 2 ** min(stage, 3), 3)
            x = max_pool(x)
        x = relu(linear(w, x.mean((1, 2)), 2048))
        return linear(w, x, 1000)
    return model, (floats(1, size, size, 3),)


def mobilenet(width, depth, size):
    def inverted(w, x, channels, stride):
        inner = 6 * x.shape[-1]
        y = conv_relu(w, x, inner)
        y = conv_relu(w, y, inner, 3, stride, groups=inner)
        y = scaled(w, convolution(w, y, channels))
        return x + y if x.shape == y.shape else y

    def model(w, image):
        x = conv_relu(w, image, width, 3, 2)
        for stage in range(4):
            for i in range(depth):
                x = inverted(w, x, width * 2 ** stage, 2 if i == 0 else 1)
        x = conv_relu(w, x, 1280)
        return linear(w, x.mean((1, 2)), 1000)
    return model, (floats(1, size, size, 3),)


def inception(width, blocks, size):
    def block(w, x):
        n = width
        a = conv_relu(w, x, n)
        b = conv_relu(w, conv_relu(w, x, n), n, 5)
        c = conv_relu(w, x, n)
        c = conv_relu(w, conv_relu(w, c, n, (1, 7)), n, (7, 1))
        d = conv_relu(w, max_pool(x, 3, 1), n)
        return lax.concatenate([a, b, c, d], 3)

    def model(w, x):
        x = max_pool(conv_relu(w, x, width, 7, 2))
        for stage in range(3):
            for _ in range(blocks):
                x = block(w, x)
            x = max_pool(x)
        return linear(w, x.mean((1, 2)), 1000)
    return model, (floats(1, size, size, 3),)


def densenet(growth, layers, size):
    def model(w, x):
        x = max_pool(conv_relu(w, x, 2 * growth, 7, 2))
        for count in layers:
            for _ in range(count):
                y = conv_relu(w, x, 4 * growth)
                x = lax.concatenate([x, conv_relu(w, y, growth, 3)], 3)
            x = max_pool(conv_relu(w, x, x.shape[-1] // 2))
        return linear(w, x.mean((1, 2)), 1000)
    return model, (floats(1, size, size, 3),)


def convnext(depths, width, size):
    def block(w, x):
        channels = x.shape[-1]
        y = layer_norm(w, convolution(w, x, channels, 7, groups=channels))
        return x + linear(w, gelu(linear(w, y, 4 * channels)), channels)

    def model(w, image):
        x = layer_norm(w, convolution(w, image, width, 4, 4))
        for stage, count in enumerate(depths):
            if stage > 0:
                x = convolution(w, layer_norm(w, x), width * 2 ** stage, 2, 2)
            for _ in range(count):
                x = block(w, x)
        return linear(w, layer_norm(w, x.mean((1, 2))), 1000)
    return model, (floats(1, size, size, 3),)


def unet(width, levels, size):
    def double(w, x, channels):
        return conv_relu(w, conv_relu(w, x, channels, 3), channels, 3)

    def model(w, x):
        skips = []
        for level in range(levels):
            x = double(w, x, width * 2 ** level)
            skips.append(x)
            x = max_pool(x)
        x = double(w, x, width * 2 ** levels)
        for level in reversed(range(levels)):
            batch, height, breadth, channels = x.shape
            x = jnp.broadcast_to(
                x[:, :, None, :, None], (batch, height, 2, breadth, 2, channels)
            ).reshape(batch, 2 * height, 2 * breadth, channels)
            x = lax.concatenate([skips[level],
                                 conv_relu(w, x, width * 2 ** level, 3)], 3)
            x = double(w, x, width * 2 ** level)
        return convolution(w, x, 2)
    return model, (floats(1, size, size, 3),)


def wavenet(stacks, depth, channels, samples):
    def model(w, x):
        x = linear(w, x, channels)
        total = None
        for i in range(stacks * depth):
            y = lax.conv_general_dilated(
                x, w(2, channels, 2 * channels), (1,), [(2 ** (i % depth), 0)],
                rhs_dilation=(2 ** (i % depth),),
                dimension_numbers=("NWC", "WIO", "NWC"))
            new, gate = jnp.split(y + w(2 * channels), 2, axis=2)
            y = jnp.tanh(new) * lax.logistic(gate)
            skip = linear(w, y, 2 * channels)
            total = skip if total is None else total + skip
            x = x + linear(w, y, channels)
        return linear(w, relu(linear(w, relu(total), 256)), 256)
    return model, (floats(1, samples, 64),)


def rnnlm(depth, hidden, time, batch):
    def model(w, tokens):
        xs = steps_of(embed(w, tokens, 8192, hidden))
        for _ in range(depth):
            xs = lstm(w, xs, hidden)
        return lax.concatenate(xs, 0) @ w(hidden, 8192)
    return model, (integers(time, batch),)


def sequence_to_sequence(depth, hidden, time, batch):
    """GNMT: two directions at first, attention to the last encoder layer."""
    def model(w, source, target):
        xs = steps_of(embed(w, source, 8192, hidden))
        back = lstm(w, xs[::-1], hidden)[::-1]
        xs = [lax.concatenate([a, b], 1)
              for a, b in zip(lstm(w, xs, hidden), back)]
        for _ in range(depth - 1):
            xs = lstm(w, xs, hidden)
        memory = lax.concatenate([x[:, None] for x in xs], 1)
        ys = lstm(w, steps_of(embed(w, target, 8192, hidden)), hidden)
        query = lax.concatenate([y[:, None] for y in ys], 1)
        share = softmax(query @ memory.transpose(0, 2, 1) * hidden ** -0.5)
        context = share @ memory
        ys = steps_of(lax.concatenate([query, context], 2).transpose(1, 0, 2))
        for _ in range(depth - 1):
            ys = lstm(w, ys, hidden)
        return lax.concatenate(ys, 0) @ w(hidden, 8192)
    return model, (integers(time, batch), integers(time, batch))


def ranker(tables, width, layers, batch):
    """DLRM: many embeddings, products of pairs, a stack of layers."""
    def model(w, dense, sparse):
        x = dense
        for _ in range(layers):
            x = relu(linear(w, x, width))
        columns = [x] + [embed(w, sparse[:, i], 4096, width)
                         for i in range(tables)]
        stacked = lax.concatenate([c[:, None] for c in columns], 1)
        products = stacked @ stacked.transpose(0, 2, 1)
        x = lax.concatenate([x, products.reshape(batch, -1)], 1)
        for _ in range(2 * layers):
            x = relu(linear(w, x, 4 * width))
        return lax.logistic(linear(w, x, 1))
    return model, (floats(batch, 256), integers(batch, tables))


def autoencoder(width, levels, size):
    def model(w, x, noise):
        for level in range(levels):
            x = conv_relu(w, x, width * 2 ** level, 3, 2)
            x = conv_relu(w, x, width * 2 ** level, 3)
        mean, spread = convolution(w, x, 32), convolution(w, x, 32)
        x = mean + jnp.exp(spread) * noise
        for level in reversed(range(levels)):
            x = lax.conv_transpose(
                x, w(4, 4, x.shape[-1], width * 2 ** level), (2, 2), "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = conv_relu(w, relu(x), width * 2 ** level, 3)
        return convolution(w, x, 3, 3)
    small = size // 2 ** levels
    return model, (floats(1, size, size, 3), floats(1, small, small, 32))


def mlp(depth, width, batch):
    def model(w, x):
        for _ in range(depth):
            x = x + relu(linear(w, x, width))
        return linear(w, x, 1000)
    return model, (floats(batch, width),)


def branches(blocks, width, batch, seed):
    """Random blocks of layers in parallel and in a row, and skips."""
    chance = random.Random(seed)

    def model(w, x):
        for _ in range(blocks):
            ends = []
            for _ in range(chance.randint(1, 4)):
                y = x
                for _ in range(chance.randint(1, 3)):
                    inner = width * chance.choice((1, 2))
                    y = linear(w, gelu(linear(w, y, inner)), width)
                ends.append(y)
            y = sum(ends[1:], ends[0])
            x = layer_norm(w, x + y if chance.random() < 0.7 else y)
        return linear(w, x, 1000)

    def seeded(*arguments):  # the same each time that it runs
        chance.seed(seed)
        return model(*arguments)
    return seeded, (floats(batch, width),)


def grid(rows, columns, width, batch):
    """Each layer reads that above it and that before it."""
    def model(w, x):
        above = [x] * columns
        for _ in range(rows):
            before = x
            for i in range(columns):
                before = relu(linear(w, above[i] + before, width))
                above[i] = before
        return above[-1]
    return model, (floats(batch, width),)


# The families that no policy is trained on: a transformer, residual and mobile
# convolutions, and long skips.
SPLITS = {"bert": "test", "resnet": "test", "mobilenet": "test",
          "unet": "test", "mixer": "validation", "grid": "validation"}

# Name of a family: its models by what tells them apart.
FAMILIES = {
    "bert": {"6x512": (encoder, 6, 512, 128), "12x768": (encoder, 12, 768, 128),
             "12x768_t384": (encoder, 12, 768, 384),
             "24x1024": (encoder, 24, 1024, 128)},
    "gpt2": {"4x512": (decoder, 4, 512, 256), "8x768": (decoder, 8, 768, 256),
             "12x768": (decoder, 12, 768, 512),
             "24x1024": (decoder, 24, 1024, 256)},
    "llama": {"4x512": (llama, 4, 512, 256), "8x1024": (llama, 8, 1024, 128),
              "12x768": (llama, 12, 768, 512),
              "16x1024": (llama, 16, 1024, 256)},
    "translator": {"3x512": (translator, 3, 512, 128),
                   "3x256": (translator, 3, 256, 128),
                   "4x384": (translator, 4, 384, 128),
                   "6x256": (translator, 6, 256, 256)},
    "vit": {"8x512": (vit, 8, 512, 16), "6x384": (vit, 6, 384, 14), "12x384": (vit, 12, 384, 14),
            "12x768": (vit, 12, 768, 14), "24x1024": (vit, 24, 1024, 14)},
    "mixer": {"8x512": (mixer, 8, 512, 14), "12x512": (mixer, 12, 512, 14),
              "12x768": (mixer, 12, 768, 14), "24x768": (mixer, 24, 768, 14)},
    "moe": {"4x512e4": (experts, 4, 512, 128, 4),
            "6x512e8": (experts, 6, 512, 128, 8),
            "8x768e4": (experts, 8, 768, 256, 4),
            "12x512e4": (experts, 12, 512, 256, 4)},
    "resnet": {"50": (resnet, (3, 4, 6, 3), 64, 224),
               "101": (resnet, (3, 4, 23, 3), 64, 224),
               "50w96": (resnet, (3, 4, 6, 3), 96, 160)},
    "vgg": {"13": (vgg, (2, 2, 2, 2, 3), 48, 128), "11": (vgg, (1, 1, 2, 2, 2), 64, 128),
            "16": (vgg, (2, 2, 3, 3, 3), 64, 128),
            "19": (vgg, (2, 2, 4, 4, 4), 64, 96),
            "24": (vgg, (2, 4, 6, 6, 6), 64, 96)},
    "mobilenet": {"16x2": (mobilenet, 16, 2, 160), "24x3": (mobilenet, 24, 3,
                                                            160),
                  "32x4": (mobilenet, 32, 4, 192),
                  "32x6": (mobilenet, 32, 6, 160)},
    "inception": {"64x2": (inception, 64, 2, 160), "96x3": (inception, 96, 3,
                                                            160),
                  "128x3": (inception, 128, 3, 160),
                  "128x5": (inception, 128, 5, 128)},
    "densenet": {"24": (densenet, 24, (4, 6, 8), 128),
                 "32": (densenet, 32, (6, 8, 12), 128),
                 "32d": (densenet, 32, (6, 12, 24), 160),
                 "48": (densenet, 48, (6, 12, 16), 128)},
    "convnext": {"tiny": (convnext, (3, 3, 9, 3), 96, 160),
                 "small": (convnext, (3, 3, 27, 3), 96, 160),
                 "narrow": (convnext, (2, 2, 6, 2), 64, 192),
                 "base": (convnext, (3, 3, 27, 3), 128, 160)},
    "unet": {"16x3": (unet, 16, 3, 128), "16x4": (unet, 16, 4, 128),
             "32x3": (unet, 32, 3, 128)},
    "wavenet": {"2x8": (wavenet, 2, 8, 128, 2048),
                "3x9": (wavenet, 3, 9, 128, 2048),
                "2x9w256": (wavenet, 2, 9, 256, 2048),
                "4x9": (wavenet, 4, 9, 192, 2048)},
    "rnnlm": {"2x512": (rnnlm, 2, 512, 16, 8), "4x1024": (rnnlm, 4, 1024, 12,
                                                          16),
              "8x512": (rnnlm, 8, 512, 16, 16), "6x1024": (rnnlm, 6, 1024, 8,
                                                           32)},
    "gnmt": {"2x512": (sequence_to_sequence, 2, 512, 12, 16),
             "4x512": (sequence_to_sequence, 4, 512, 16, 16),
             "4x1024": (sequence_to_sequence, 4, 1024, 8, 32),
             "8x512": (sequence_to_sequence, 8, 512, 12, 16)},
    "dlrm": {"8": (ranker, 8, 128, 3, 128), "16": (ranker, 16, 128, 4, 256),
             "26": (ranker, 26, 128, 4, 512), "32": (ranker, 32, 192, 6, 256)},
    "vae": {"32x3": (autoencoder, 32, 3, 128), "64x3": (autoencoder, 64, 3, 96),
            "48x4": (autoencoder, 48, 4, 128),
            "64x4": (autoencoder, 64, 4, 128)},
    "mlp": {"12x512": (mlp, 12, 512, 64), "8x1024": (mlp, 8, 1024, 256), "16x1024": (mlp, 16, 1024, 256),
            "24x2048": (mlp, 24, 2048, 256), "40x1024": (mlp, 40, 1024, 512)},
    "branches": {"12x512": (branches, 12, 512, 128, 1),
                 "16x384": (branches, 16, 384, 64, 3),
                 "20x768": (branches, 20, 768, 256, 2)},
    "grid": {"6x8": (grid, 6, 8, 512, 128)},
}

# Weighted graphs of bench/data/graphs, which bring their times.
WEIGHTED = {"layer_bert24_inference": "bert",
            "layer_resnet50_inference": "resnet",
            "layer_inceptionv3_inference": "inception"}

MODELS = {f"{family}_{size}": (family, functools.partial(*model))
          for family, models in FAMILIES.items()
          for size, model in models.items()}


def lower(name):
    """Returns HLO text, of a function of the weights and the inputs."""
    model, inputs = MODELS[name][1]()
    weights = Weights()
    jax.eval_shape(lambda *inputs: model(weights, *inputs), *inputs)
    return jax.jit(
        lambda values, *inputs: model(Weights(values), *inputs),
        keep_unused=True).lower(weights.shapes, *inputs).as_text(dialect="hlo")


def make(name, hone, folder):
    lowered = folder / f"{name}.lowered.hlo"
    result = folder / f"{name}.hlo"
    lowered.write_text(lower(name))
    subprocess.run([hone, "opt", lowered, "--pipeline=xla-gpu", "-o", result],
                   check=True)
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", result], check=True)
    stats = json.loads(subprocess.run(
        [hone, "stats", "--json", f"{result}.zst"], check=True,
        capture_output=True).stdout)
    lowered.unlink()
    family = MODELS[name][0]
    return {"name": name, "family": family,
            "split": SPLITS.get(family, "train"), "file": f"{name}.hlo.zst",
            "instructions": stats["instructions"], "flops": stats["flops"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hone", required=True, type=pathlib.Path)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    parser.add_argument("models", nargs="*", default=[], metavar="MODEL",
                        help="default: all")
    arguments = parser.parse_args()
    # Not before: --help needs no jax.
    global jax, jnp, lax
    import jax
    import jax.numpy as jnp
    from jax import lax
    arguments.output.mkdir(parents=True, exist_ok=True)
    manifest = arguments.output / "manifest.json"
    entries = {e["name"]: e for e in json.loads(manifest.read_text())
               } if manifest.exists() else {}
    for name in arguments.models or MODELS:
        entries[name] = make(name, arguments.hone, arguments.output)
    for name, family in WEIGHTED.items():
        entries[name] = {"name": name, "family": family,
                         "split": SPLITS.get(family, "train"),
                         "file": f"../graphs/{name}.json.zst"}
    manifest.write_text("[\n" + ",\n".join(
        json.dumps(e) for e in entries.values()) + "\n]\n")


if __name__ == "__main__":
    main()
