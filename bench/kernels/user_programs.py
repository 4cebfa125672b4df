"""Small programs like those of which users of JAX report that they are slow on
CPUs: what each computes, and on what.

`report` says what kind of public report a program stands for, where there are
such reports; the program is not the reporter's. time_modules.py --programs
times them.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from arguments import TYPES, Argument


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    description: str
    function: Callable
    arguments: tuple[Argument, ...]
    report: str = ""

    def hlo(self):
        specs = [jax.ShapeDtypeStruct(a.shape, TYPES[a.type])
                 for a in self.arguments]
        lowered = jax.jit(self.function, keep_unused=True).lower(*specs)
        return lowered.compiler_ir("hlo").as_hlo_text(
            print_large_constants=True)


PROGRAMS = []


def _program(description, *arguments, report=""):
    """Registers a function under its name."""
    def register(function):
        PROGRAMS.append(Program(function.__name__, description, function,
                                arguments, report))
        return function
    return register


def _bf16(*shape, scale=1.0):
    return Argument(shape, "bf16", scale=scale)


def _f32(*shape, scale=1.0):
    return Argument(shape, scale=scale)


def _index(*shape, bound, fill="index"):
    return Argument(shape, "s32", fill, bound=bound)


# Products and attention.


@_program("a perceptron of three layers in bfloat16", _bf16(256, 784),
          _bf16(784, 1024, scale=0.04), _bf16(1024, 1024, scale=0.03),
          _bf16(1024, 10, scale=0.03),
          report="bfloat16 products slower than float32 on CPU")
def mlp_bf16(x, a, b, c):
    return jax.nn.relu(jax.nn.relu(x @ a) @ b) @ c


@_program("a product of int8 matrices into int32",
          Argument((256, 1024), "s8", "bytes"),
          Argument((1024, 1024), "s8", "bytes"),
          report="quantized products slower than float32 on CPU")
def int8_dot(a, b):
    return lax.dot(a, b, preferred_element_type=jnp.int32)


@_program("attention in bfloat16, softmax in float32",
          *(_bf16(4, 8, 256, 64, scale=0.5),) * 3,
          report="bfloat16 attention slow on CPU")
def attention_bf16(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8
    weights = jax.nn.softmax(scores.astype(jnp.float32)).astype(jnp.bfloat16)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


@_program("one token of attention on a cache of keys and values",
          _f32(8, 12, 64), _f32(8, 1024, 12, 64), _f32(8, 1024, 12, 64),
          _f32(8, 12, 64), _f32(8, 12, 64),
          Argument((), "s32", "value", bound=700),
          report="decoding copies its cache at every token")
def kv_decode(q, keys, values, key, value, at):
    keys = lax.dynamic_update_slice(keys, key[:, None], (0, at, 0, 0))
    values = lax.dynamic_update_slice(values, value[:, None], (0, at, 0, 0))
    scores = jnp.einsum("bhd,bthd->bht", q, keys) / 8
    scores = jnp.where(jnp.arange(1024) <= at, scores, -1e9)
    out = jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), values)
    return out, keys, values


@_program("a layer of 32 experts of which a token takes two",
          _f32(128, 64), _f32(64, 32), _f32(32, 64, 128, scale=0.1),
          _f32(32, 128, 64, scale=0.1))
def mixture_of_experts(x, router, up, down):
    gates, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    weights = jnp.zeros((128, 32)).at[
        jnp.arange(128)[:, None], chosen].set(gates)
    hidden = jax.nn.relu(jnp.einsum("td,edf->tef", x, up))
    return jnp.einsum("tef,efd,te->td", hidden, down, weights)


@_program("distances of all pairs of points", _f32(1000, 3), _f32(1000, 3))
def pairwise(a, b):
    return jnp.sqrt(((a[:, None] - b[None])**2).sum(-1) + 1e-6)


# Convolutions.


@_program("a convolution of images in bfloat16", _bf16(8, 28, 28, 64),
          _bf16(3, 3, 64, 64, scale=0.04),
          report="bfloat16 convolutions slow on CPU")
def conv2d_bf16(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@_program("a convolution of one image with channels first",
          _f32(1, 64, 56, 56), _f32(64, 64, 3, 3, scale=0.04),
          report="convolutions slower than PyTorch's at batch size 1")
def conv_nchw_batch1(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME")


@_program("a depthwise convolution with channels first", _f32(8, 64, 56, 56),
          _f32(64, 1, 3, 3, scale=0.3),
          report="depthwise convolutions slow on CPU")
def depthwise_nchw(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME",
                                    feature_group_count=64)


@_program("the gradient of a residual block with channels first",
          _f32(4, 64, 28, 28), _f32(2, 64, 64, 3, 3, scale=0.04), _f32(64),
          _f32(64),
          report="networks converted from PyTorch slow on CPU")
def residual_nchw_gradient(x, w, scale, offset):
    def normalized(y):
        mean = y.mean((0, 2, 3), keepdims=True)
        variance = ((y - mean) ** 2).mean((0, 2, 3), keepdims=True)
        return ((y - mean) * lax.rsqrt(variance + 1e-5)
                * scale[:, None, None] + offset[:, None, None])

    def loss(w, scale, offset):
        y = lax.conv_general_dilated(x, w[0], (1, 1), "SAME")
        y = lax.conv_general_dilated(jax.nn.relu(normalized(y)), w[1], (1, 1),
                                     "SAME")
        return (jax.nn.relu(x + normalized(y)).mean((2, 3)) ** 2).mean()

    return jax.grad(loss, argnums=(0, 1, 2))(w, scale, offset)


@_program("the gradient of a 3-D convolution by its filters",
          _f32(4, 16, 32, 32, 8), _f32(3, 3, 3, 8, 16, scale=0.1),
          report="gradients of 3-D convolutions slow on CPU")
def conv3d_weight_gradient(x, w):
    def loss(w):
        y = lax.conv_general_dilated(
            x, w, (1, 1, 1), "SAME",
            dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
        return (y**2).sum()
    return jax.grad(loss)(w)


@_program("a transposed convolution of a signal, as vocoders have it",
          _f32(1, 4096, 64), _f32(16, 64, 32, scale=0.03),
          report="transposed convolutions slow on CPU")
def conv1d_transposed(x, w):
    return lax.conv_transpose(x, w, (8,), "SAME",
                              dimension_numbers=("NWC", "WIO", "NWC"))


@_program("an image filtered by a window of 31 x 31", _f32(300, 300),
          _f32(31, 31, scale=0.03),
          report="convolve2d slower than SciPy's")
def convolve2d(x, window):
    return jax.scipy.signal.convolve2d(x, window, mode="same")


@_program("the gradient of max pooling with overlapping windows",
          _f32(16, 56, 56, 32),
          report="select-and-scatter slow on CPU")
def max_pool_gradient(x):
    def loss(x):
        y = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1),
                              (1, 2, 2, 1), "SAME")
        return (y**2).sum()
    return jax.grad(loss)(x)


@_program("an image resized by bilinear interpolation", _f32(4, 96, 96, 16))
def resize_bilinear(x):
    return jax.image.resize(x, (4, 224, 224, 16), "bilinear")


# Loops.


@_program("a recurrent layer over 128 steps", _f32(128, 32, 64),
          _f32(32, 256), _f32(64, 256, scale=0.1), _f32(256, 256, scale=0.06),
          report="lax.scan slower than an unrolled loop or PyTorch on CPU")
def rnn_scan(xs, h, wx, wh):
    def step(h, x):
        h = jnp.tanh(x @ wx + h @ wh)
        return h, h
    return lax.scan(step, h, xs)


@_program("the gradient of a gated recurrent layer over 64 steps",
          _f32(64, 16, 32), _f32(16, 64), _f32(32, 192, scale=0.1),
          _f32(64, 192, scale=0.1),
          report="gradients through lax.scan slow on CPU")
def gru_scan_gradient(xs, h, wx, wh):
    def loss(wx, wh):
        def step(h, x):
            g, r = x @ wx, h @ wh
            z = jax.nn.sigmoid(g[:, :64] + r[:, :64])
            q = jax.nn.sigmoid(g[:, 64:128] + r[:, 64:128])
            n = jnp.tanh(g[:, 128:] + q * r[:, 128:])
            h = (1 - z) * n + z * h
            return h, h
        return (lax.scan(step, h, xs)[1]**2).mean()
    return jax.grad(loss, (0, 1))(wx, wh)


@_program("500 Runge-Kutta steps of 64 equations", _f32(64),
          _f32(64, 64, scale=0.1),
          report="integrating small systems dominated by the loop's overhead")
def ode_rk4(y, a):
    def f(y):
        return jnp.tanh(a @ y)

    def step(y, _):
        h = 0.01
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
        return y, y
    return lax.scan(step, y, None, length=500)


@_program("50 steps of the game of life", Argument((256, 256), "s32", "coin",
                                                   0.3))
def game_of_life(grid):
    def step(grid, _):
        around = sum(jnp.roll(grid, (i, j), (0, 1)) for i in (-1, 0, 1)
                     for j in (-1, 0, 1) if (i, j) != (0, 0))
        alive = (around == 3) | ((grid == 1) & (around == 2))
        return alive.astype(jnp.int32), None
    return lax.scan(step, grid, None, length=50)[0]


@_program("Newton's method by a while loop", Argument((10000,), fill="positive",
                                                      scale=50.0))
def newton_while(x):
    def go_on(state):
        _, change, count = state
        return (change > 1e-6) & (count < 50)

    def step(state):
        y, _, count = state
        new = 0.5 * (y + x / y)
        return new, jnp.max(jnp.abs(new - y) / new), count + 1
    return lax.while_loop(go_on, step, (x, jnp.float32(1), 0))[0]


@_program("a filter with feedback over 4096 samples", _f32(4096, 8),
          Argument((8,), fill="coin", scale=0.5),
          report="recursive filters by lax.scan slow on CPU")
def recursive_filter(xs, pole):
    def step(y, x):
        y = x + 0.5 * pole * y
        return y, y
    return lax.scan(step, jnp.zeros(8), xs)[1]


# Orders and cumulative operations.


@_program("the 40 largest of a vocabulary, for 64 rows", _f32(64, 32000),
          report="top_k sorts whole rows on CPU")
def top_k(x):
    return lax.top_k(x, 40)


@_program("a million numbers sorted", _f32(1000000),
          report="sorting slower than NumPy's on CPU")
def sort(x):
    return jnp.sort(x)


@_program("the order of rows", _f32(64, 4096),
          report="argsort slower than NumPy's on CPU")
def argsort(x):
    return jnp.argsort(x, axis=-1)


@_program("medians of rows", _f32(256, 1001),
          report="medians and percentiles slower than NumPy's")
def median(x):
    return jnp.median(x, 1)


@_program("the place of the largest of a vocabulary", _f32(256, 32000),
          report="argmax slower than NumPy's on CPU")
def argmax(x):
    return jnp.argmax(x, -1)


@_program("cumulative sums of rows", _f32(128, 8192),
          report="cumsum slow on CPU: a sum over a window for each element")
def cumsum(x):
    return jnp.cumsum(x, 1)


@_program("cumulative products, maxima and sums of exponentials",
          Argument((64, 1000), fill="near one"),
          report="other cumulative operations, like cumsum")
def cumulative_others(x):
    return jnp.cumprod(x, 1), lax.cumlogsumexp(x, 1), lax.cummax(x, axis=1)


@_program("places of numbers in sorted ones",
          Argument((100000,), "f32", "sorted index", bound=1000000),
          Argument((20000,), "f32", "index", bound=1000000))
def searchsorted(a, x):
    return jnp.searchsorted(a, x)


# Rows by index.


@_program("rows of a table", _f32(50000, 64), _index(8192, bound=50000))
def gather_rows(table, rows):
    return jnp.take(table, rows, axis=0)


@_program("the gradient of an embedding of frequent and rare tokens",
          _index(64, 128, bound=10000, fill="zipf"), _f32(10000, 128),
          _f32(64, 128, 128),
          report="scatter-add of an embedding's gradient slow on CPU")
def embedding_gradient(tokens, table, gradient):
    return jax.vjp(lambda t: t[tokens], table)[1](gradient)[0]


@_program("numbers added to a thousand places", _index(100000, bound=1000),
          _f32(100000), report="scatter-add slower than NumPy's bincount")
def scatter_add(places, x):
    return jnp.zeros(1000).at[places].add(x)


@_program("sums of sorted segments of rows, as graph networks have them",
          _f32(20000, 64), _index(20000, bound=500, fill="sorted index"),
          report="segment_sum slow on CPU")
def segment_sum(x, segments):
    return jax.ops.segment_sum(x, segments, 500)


@_program("a histogram", _f32(200000))
def histogram(x):
    return jnp.histogram(x, bins=100, range=(-4.0, 4.0))[0]


@_program("a slice of each row at a place of its own", _f32(256, 4096),
          _index(256, bound=4096 - 128),
          report="vmap of dynamic_slice becomes a slow gather")
def batched_slices(x, starts):
    return jax.vmap(lambda row, at: lax.dynamic_slice(row, (at,), (128,)))(
        x, starts)


# Signals and complex numbers.


@_program("magnitudes of a real Fourier transform", _f32(64, 4096),
          report="FFT slower than NumPy's or SciPy's on CPU")
def fft(x):
    return jnp.abs(jnp.fft.rfft(x))


@_program("a convolution by Fourier transforms", _f32(16, 2048), _f32(512),
          report="FFT slower than NumPy's or SciPy's on CPU")
def fft_convolution(x, window):
    return jnp.fft.irfft(jnp.fft.rfft(x, 4096) * jnp.fft.rfft(window, 4096),
                         4096)


@_program("element-wise operations on complex numbers",
          Argument((512, 512), "c64"), Argument((512, 512), "c64"),
          report="complex operations are not vectorized on CPU")
def complex_elementwise(a, b):
    return jnp.exp(a) * b + jnp.conj(a)


@_program("a product of complex matrices", Argument((256, 256), "c64"),
          Argument((256, 256), "c64"))
def complex_matmul(a, b):
    return a @ b


# Linear algebra.


@_program("systems with positive definite matrices", _f32(8, 128, 128),
          _f32(8, 128, 16),
          report="batched Cholesky decompositions slow on CPU")
def cholesky_solve(a, b):
    k = a @ a.transpose(0, 2, 1) + 128 * jnp.eye(128)
    return jax.vmap(lambda k, b: jax.scipy.linalg.cho_solve(
        (jnp.linalg.cholesky(k), True), b))(k, b)


@_program("a system of 200 equations", _f32(200, 200), _f32(200, 8))
def lu_solve(a, b):
    return jnp.linalg.solve(a + 20 * jnp.eye(200), b)


@_program("a QR decomposition", _f32(256, 64))
def qr(a):
    return jnp.linalg.qr(a)


@_program("eigenvalues of symmetric matrices", _f32(4, 64, 64),
          report="eigh of batches of small matrices slow on CPU")
def eigenvalues(a):
    return jnp.linalg.eigvalsh(a + a.transpose(0, 2, 1))


@_program("a triangular system", _f32(256, 256), _f32(256, 64))
def triangular_solve(a, b):
    return jax.scipy.linalg.solve_triangular(a + 256 * jnp.eye(256), b,
                                             lower=True)


@_program("the exponential of a matrix by its series",
          _f32(64, 64, scale=0.05))
def matrix_exponential(a):
    result = term = jnp.eye(64)
    for i in range(1, 12):
        term = term @ a / i
        result = result + term
    return result


# Random numbers and the rest of a training step.


@_program("a million random normals",
          Argument((2,), "u32", "bytes"),
          report="threefry slower than NumPy's generators on CPU")
def random_normal(key):
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    return jax.random.normal(key, (1000, 1000))


@_program("dropout", Argument((2,), "u32", "bytes"), _f32(512, 1024),
          report="dropout dominated by its random bits on CPU")
def dropout(key, x):
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)


@_program("cross entropy of a vocabulary, with its gradient",
          _f32(256, 8000), _index(256, bound=8000, fill="zipf"))
def cross_entropy_gradient(logits, labels):
    def loss(logits):
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits),
                                     labels[:, None], 1)
        return -picked.mean()
    return jax.value_and_grad(loss)(logits)


@_program("layer normalization in bfloat16, with its gradient",
          _bf16(512, 768), _bf16(768, scale=0.5), _bf16(512, 768))
def layer_norm_bf16_gradient(x, scale, g):
    def norm(x, scale):
        y = x.astype(jnp.float32)
        y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(
            y.var(-1, keepdims=True) + 1e-5)
        return y.astype(jnp.bfloat16) * scale
    return jax.vjp(norm, x, scale)[1](g)


@_program("an Adam step of many small parameters",
          *(_f32(64, 48),) * 24, *(Argument((64, 48), fill="positive"),) * 12)
def adam_small(*state):
    groups = [state[i::12] for i in range(12)]
    new = []
    for parameter, gradient, square in groups:
        square = 0.999 * square + 0.001 * gradient**2
        new += [parameter - 1e-3 * gradient / (jnp.sqrt(square) + 1e-8),
                square]
    return new


def index():
    """What programs.json says of each."""
    return [{"name": p.name, "description": p.description, "report": p.report,
             "arguments": [a.as_dict() for a in p.arguments]}
            for p in PROGRAMS]
