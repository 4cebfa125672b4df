"""The kernels that are timed against PyTorch and XLA: what each computes, as a
user of JAX writes it, and on which shapes.

SMALL_KERNELS are the same for tests, small enough for an interpreter.

Everything is float32. Images are NHWC with HWIO filters, as Flax has them;
where the name says nchw, NCHW with OIHW.

`flops` counts additions, multiplications, divisions and comparisons, 2 for a
multiply-add; in products and convolutions these only, padding included.
`transcendentals` counts exp, log, tanh, erf, power and square roots.
"""

import dataclasses
import math
import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EPSILON = 1e-5
ADAM = {"lr": 1e-3, "b1": 0.9, "b2": 0.999, "eps": 1e-8}


@dataclasses.dataclass(frozen=True)
class Argument:
    shape: tuple[int, ...]
    # "normal"; "filter": normal, scaled by the length of the sum that it enters
    # (`fan_in`); "squares": positive; "count": the number of a training step.
    fill: str = "normal"
    fan_in: int = 1


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    kind: str
    function: Callable
    # A key of peers.EXPRESSIONS: what computes the same in PyTorch.
    torch: str
    arguments: tuple[Argument, ...]
    flops: int
    transcendentals: int = 0
    # Among the shapes by which kernel generators are commonly compared.
    reference: bool = False

    @property
    def family(self):
        """The name without the shape."""
        return re.split(r"_\d", self.name, maxsplit=1)[0]

    def result_shapes(self):
        specs = [jax.ShapeDtypeStruct(a.shape, jnp.float32)
                 for a in self.arguments]
        return [leaf.shape for leaf in
                jax.tree.leaves(jax.eval_shape(self.function, *specs))]

    def bytes_in(self):
        return 4 * sum(math.prod(a.shape) for a in self.arguments)

    def bytes_out(self):
        return 4 * sum(math.prod(shape) for shape in self.result_shapes())

    def lower(self):
        specs = [jax.ShapeDtypeStruct(a.shape, jnp.float32)
                 for a in self.arguments]
        return jax.jit(self.function).lower(*specs)


def make_inputs(kernel, seed):
    """float32 arrays, one per argument."""
    rng = np.random.default_rng(seed)
    inputs = []
    for argument in kernel.arguments:
        value = rng.standard_normal(argument.shape, np.float32)
        if argument.fill == "filter":
            value = value / np.float32(math.sqrt(argument.fan_in))
        elif argument.fill == "squares":
            value = value * value + np.float32(1e-3)
        elif argument.fill == "count":
            value = np.full(argument.shape, 10, np.float32)
        inputs.append(value)
    return inputs


# The functions that the kernels compute.


def add_mul(x, y, z):
    return (x + y) * z


def gelu_tanh(x):
    return jax.nn.gelu(x, approximate=True)


def gelu_erf(x):
    return jax.nn.gelu(x, approximate=False)


def bias_gelu(x, b):
    return jax.nn.gelu(x + b, approximate=True)


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def logsumexp(x):
    return jax.nn.logsumexp(x, axis=-1)


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + EPSILON) * scale + bias


def rms_norm(x, scale):
    square = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * lax.rsqrt(square + EPSILON) * scale


def batch_norm(x, scale, bias):
    """NCHW, with the statistics of the batch."""
    mean = jnp.mean(x, axis=(0, 2, 3), keepdims=True)
    variance = jnp.var(x, axis=(0, 2, 3), keepdims=True)
    normal = (x - mean) * lax.rsqrt(variance + EPSILON)
    return normal * scale[:, None, None] + bias[:, None, None]


def row_sum(x):
    return jnp.sum(x, axis=1)


def column_sum(x):
    return jnp.sum(x, axis=0)


def transpose(x):
    return x.T


def matmul(x, w):
    return x @ w


def matmul_bias_relu(x, w, b):
    return jax.nn.relu(x @ w + b)


def swiglu(x, gate, up):
    return jax.nn.silu(x @ gate) * (x @ up)


def attention(q, k, v):
    """[heads, positions, width], without a mask."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / math.sqrt(q.shape[-1])
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)


def convolution(x, w, *, layout="NHWC", stride=1, depthwise=False):
    filters = "HWIO" if layout == "NHWC" else "OIHW"
    pad = w.shape[filters.index("H")] // 2
    return lax.conv_general_dilated(
        x, w, (stride, stride), ((pad, pad), (pad, pad)),
        dimension_numbers=(layout, filters, layout),
        feature_group_count=x.shape[-1] if depthwise else 1)


def convolution_nhwc(x, w):
    return convolution(x, w)


def convolution_nchw(x, w):
    return convolution(x, w, layout="NCHW")


def convolution_stride2(x, w):
    return convolution(x, w, stride=2)


def convolution_depthwise(x, w):
    return convolution(x, w, depthwise=True)


def adam(parameter, mean, square, gradient, step):
    """Returns the three states after the update; `step` counts from 1."""
    b1, b2 = ADAM["b1"], ADAM["b2"]
    mean = b1 * mean + (1 - b1) * gradient
    square = b2 * square + (1 - b2) * gradient * gradient
    unbiased_mean = mean / (1 - b1**step)
    unbiased_square = square / (1 - b2**step)
    update = unbiased_mean / (jnp.sqrt(unbiased_square) + ADAM["eps"])
    return parameter - ADAM["lr"] * update, mean, square


# On what.


def _dimensions(shape):
    return "x".join(map(str, shape))


def _pointwise(function, shape, inputs=1, flops=0, transcendentals=0, **more):
    """A kernel of `inputs` arrays of one shape."""
    n = math.prod(shape)
    return Kernel(f"{function.__name__}_{_dimensions(shape)}", "elementwise",
                  function, function.__name__, (Argument(shape),) * inputs,
                  n * flops, n * transcendentals, **more)


def _bias_gelu(m, n):
    return Kernel(f"bias_gelu_{m}x{n}", "elementwise", bias_gelu, "bias_gelu",
                  (Argument((m, n)), Argument((n,))), 10 * m * n, m * n)


def _by_row(function, m, n, vectors=0, flops=0, transcendentals=0, **more):
    """A kernel of m rows that takes `vectors` of n besides."""
    kind = "reduction" if function in (row_sum, column_sum) else "normalization"
    return Kernel(f"{function.__name__}_{m}x{n}", kind, function,
                  function.__name__,
                  (Argument((m, n)),) + (Argument((n,)),) * vectors,
                  flops * m * n, transcendentals, **more)


def _batch_norm(shape, **more):
    channels = Argument((shape[1],))
    return Kernel(f"batch_norm_{_dimensions(shape)}", "normalization",
                  batch_norm, "batch_norm",
                  (Argument(shape), channels, channels),
                  8 * math.prod(shape), shape[1], **more)


def _transpose(m, n, **more):
    return Kernel(f"transpose_{m}x{n}", "data movement", transpose, "transpose",
                  (Argument((m, n)),), 0, **more)


def _matmul(m, k, n, **more):
    return Kernel(f"matmul_{m}x{k}x{n}", "matmul", matmul, "matmul",
                  (Argument((m, k)), Argument((k, n), "filter", k)),
                  2 * m * k * n, **more)


def _batched_matmul(b, m, k, n):
    return Kernel(f"batched_matmul_{b}x{m}x{k}x{n}", "matmul", matmul,
                  "batched_matmul",
                  (Argument((b, m, k)), Argument((b, k, n), "filter", k)),
                  2 * b * m * k * n)


def _matvec(m, n):
    return Kernel(f"matvec_{m}x{n}", "matmul", matmul, "matvec",
                  (Argument((m, n)), Argument((n,), "filter", n)), 2 * m * n)


def _matmul_bias_relu(m, k, n, **more):
    return Kernel(f"matmul_bias_relu_{m}x{k}x{n}", "fused matmul",
                  matmul_bias_relu, "matmul_bias_relu",
                  (Argument((m, k)), Argument((k, n), "filter", k),
                   Argument((n,))), 2 * m * k * n + 2 * m * n, **more)


def _swiglu(m, k, n):
    weight = Argument((k, n), "filter", k)
    return Kernel(f"swiglu_{m}x{k}x{n}", "fused matmul", swiglu, "swiglu",
                  (Argument((m, k)), weight, weight),
                  4 * m * k * n + 4 * m * n, m * n)


def _attention(heads, positions, width):
    operand = Argument((heads, positions, width))
    return Kernel(f"attention_{heads}x{positions}x{width}", "fused matmul",
                  attention, "attention", (operand,) * 3,
                  heads * positions**2 * (4 * width + 5),
                  heads * positions**2)


def _convolution(name, function, image, size, outputs):
    """`image` as the function's layout has it; `size` of the square filter."""
    nchw = function is convolution_nchw
    batch, height, width, channels = (
        (image[0], *image[2:], image[1]) if nchw else image)
    depthwise = function is convolution_depthwise
    fan_in = size * size * (1 if depthwise else channels)
    stride = 2 if function is convolution_stride2 else 1
    filters = (size, size, 1 if depthwise else channels, outputs)
    if nchw:
        filters = (outputs, channels, size, size)
    pixels = batch * -(-height // stride) * -(-width // stride)
    return Kernel(f"{name}_{_dimensions(image)}_{outputs}", "convolution",
                  function, name,
                  (Argument(image), Argument(filters, "filter", fan_in)),
                  2 * pixels * outputs * fan_in)


def _adam(shape):
    n = math.prod(shape)
    state = Argument(shape)
    return Kernel(f"adam_{_dimensions(shape)}", "optimizer", adam, "adam",
                  (state, state, Argument(shape, "squares"), state,
                   Argument((), "count")), 13 * n, n + 2)


KERNELS = (
    _pointwise(add_mul, (1024, 1024), 3, 2),
    _pointwise(add_mul, (1000003,), 3, 2),
    _pointwise(gelu_tanh, (512, 3072), 1, 9, 1, reference=True),
    _pointwise(gelu_tanh, (127, 1001), 1, 9, 1),
    _pointwise(gelu_erf, (512, 3072), 1, 4, 1),
    _pointwise(gelu_erf, (127, 1001), 1, 4, 1),
    _bias_gelu(512, 3072),
    _bias_gelu(61, 1537),
    _by_row(softmax, 1024, 1024, 0, 4, 1024 * 1024, reference=True),
    _by_row(softmax, 4096, 257, 0, 4, 4096 * 257),
    _by_row(logsumexp, 1024, 1024, 0, 3, 1024 * 1025),
    _by_row(logsumexp, 333, 5003, 0, 3, 333 * 5004),
    _by_row(layer_norm, 1024, 768, 2, 8, 1024, reference=True),
    _by_row(layer_norm, 511, 1023, 2, 8, 511),
    _by_row(rms_norm, 1024, 768, 1, 4, 1024),
    _by_row(rms_norm, 511, 4099, 1, 4, 511),
    _batch_norm((8, 64, 56, 56), reference=True),
    _batch_norm((5, 37, 29, 31)),
    _by_row(row_sum, 2048, 2048, 0, 1, reference=True),
    _by_row(row_sum, 1001, 777, 0, 1),
    _by_row(column_sum, 2048, 2048, 0, 1, reference=True),
    _by_row(column_sum, 1001, 777, 0, 1),
    _transpose(2048, 1024, reference=True),
    _transpose(1001, 777),
    _matmul(256, 256, 256),
    _matmul(512, 512, 512, reference=True),
    _matmul(1024, 1024, 1024),
    _matmul(250, 333, 127),
    _matmul(1, 1024, 4096),
    _matmul(4, 1024, 4096),
    _matmul(16, 1024, 4096),
    _matmul(3, 1001, 2999),
    _batched_matmul(16, 128, 64, 128),
    _batched_matmul(24, 65, 33, 127),
    _matvec(4096, 1024),
    _matvec(1001, 2003),
    _matmul_bias_relu(128, 784, 512, reference=True),
    _matmul_bias_relu(61, 785, 333),
    _swiglu(128, 512, 1376),
    _swiglu(61, 257, 683),
    _attention(12, 128, 64),
    _attention(8, 512, 64),
    _attention(3, 197, 48),
    _convolution("conv3x3", convolution_nhwc, (8, 56, 56, 64), 3, 64),
    _convolution("conv3x3", convolution_nhwc, (2, 29, 31, 33), 3, 47),
    _convolution("conv3x3_nchw", convolution_nchw, (8, 64, 56, 56), 3, 64),
    _convolution("conv1x1", convolution_nhwc, (8, 28, 28, 128), 1, 256),
    _convolution("conv1x1", convolution_nhwc, (3, 15, 17, 61), 1, 97),
    _convolution("conv7x7s2", convolution_stride2, (2, 224, 224, 3), 7, 64),
    _convolution("conv7x7s2", convolution_stride2, (1, 113, 97, 3), 7, 48),
    _convolution("depthwise3x3", convolution_depthwise, (8, 56, 56, 64), 3, 64),
    _convolution("depthwise3x3", convolution_depthwise, (3, 29, 31, 45), 3, 45),
    _adam((1024, 1024)),
    _adam((333, 1001)),
)

# At least one of each family of the above, none of whose sizes is a multiple of
# another's or of a vector; 19 is two vectors of 8, or four of 4, and a rest.
SMALL_KERNELS = (
    _pointwise(add_mul, (7, 19), 3, 2),
    _pointwise(gelu_tanh, (7, 19), 1, 9, 1),
    _pointwise(gelu_erf, (7, 19), 1, 4, 1),
    _bias_gelu(7, 19),
    _by_row(softmax, 7, 19, 0, 4, 7 * 19),
    _by_row(logsumexp, 7, 19, 0, 3, 7 * 20),
    _by_row(layer_norm, 7, 19, 2, 8, 7),
    _by_row(rms_norm, 7, 19, 1, 4, 7),
    _batch_norm((3, 5, 3, 7)),
    _by_row(row_sum, 7, 19, 0, 1),
    _by_row(column_sum, 13, 19, 0, 1),
    _transpose(13, 19),
    _matmul(5, 13, 19),
    _matmul(1, 13, 19),
    _batched_matmul(3, 5, 7, 19),
    _matvec(13, 19),
    _matmul_bias_relu(5, 13, 19),
    _swiglu(5, 7, 19),
    _attention(2, 19, 5),
    _convolution("conv3x3", convolution_nhwc, (1, 5, 7, 3), 3, 19),
    _convolution("conv3x3_nchw", convolution_nchw, (1, 3, 5, 19), 3, 5),
    _convolution("conv1x1", convolution_nhwc, (2, 3, 5, 7), 1, 19),
    _convolution("conv7x7s2", convolution_stride2, (1, 9, 7, 2), 7, 9),
    _convolution("depthwise3x3", convolution_depthwise, (1, 5, 7, 19), 3, 19),
    _adam((7, 19)),
)
