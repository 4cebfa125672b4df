"""The kernels of the suite in PyTorch, compiled by XLA:CPU, and as exported
Hone objects, on the same inputs.

PyTorch has one or more expressions per kernel: the fused library operation
where there is one, and what a user writes by hand. The inputs are shared
memory as far as the layout that PyTorch users have is the same; otherwise
(NCHW images, weights as nn.Linear keeps them) they are brought into it once,
outside of what is timed. Calls allocate their results, as users' calls do;
Adam updates in place in PyTorch and returns new arrays in JAX.
"""

import ctypes
import dataclasses
import functools
from collections.abc import Callable

import jax
import numpy as np
import torch
import torch.nn.functional as F

import suite

# Largest error of a result against double precision, relative to the larger of
# the element's magnitude and the result's root mean square.
TOLERANCE = 1e-4

torch.set_grad_enabled(False)


@dataclasses.dataclass(frozen=True)
class Expression:
    """`compute(*prepare(*inputs))`, of which compute alone is timed; `restore`
    brings its result into the suite's layout."""
    name: str
    compute: Callable
    prepare: Callable = lambda *inputs: inputs
    restore: Callable = lambda result: result


def _gelu_tanh_by_hand(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


def _gelu_erf_by_hand(x):
    return 0.5 * x * (1 + torch.erf(x * 0.7071067811865476))


def _softmax_by_hand(x):
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


def _layer_norm_by_hand(x, scale, bias):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + suite.EPSILON) * scale + bias


def _rms_norm_by_hand(x, scale):
    square = x.square().mean(-1, keepdim=True)
    return x * torch.rsqrt(square + suite.EPSILON) * scale


def _attention_by_hand(q, k, v):
    scores = torch.bmm(q, k.mT) * q.shape[-1]**-0.5
    return torch.bmm(F.softmax(scores, -1), v)


def _swiglu_merged(x, both):
    gate, up = F.linear(x, both).chunk(2, -1)
    return F.silu(gate) * up


def _linear(w):
    """A [in, out] weight as nn.Linear keeps it."""
    return w.t().contiguous()


def _nchw(image):
    return image.permute(0, 3, 1, 2)


def _oihw(filters):
    return filters.permute(3, 2, 0, 1)


def _nhwc(image):
    return image.permute(0, 2, 3, 1)


def _convolutions(compute):
    """NHWC inputs as they lie in memory, which PyTorch calls channels_last, and
    copied into its default layout."""
    return (
        Expression("F.conv2d nchw", compute,
                   lambda x, w: (_nchw(x).contiguous(), _oihw(w).contiguous()),
                   _nhwc),
        Expression("F.conv2d channels_last", compute,
                   lambda x, w: (_nchw(x), _oihw(w).contiguous(
                       memory_format=torch.channels_last)), _nhwc))


def _adam(implementation):
    def prepare(parameter, mean, square, gradient, step):
        parameter = parameter.clone()
        parameter.grad = gradient
        optimizer = torch.optim.Adam(
            [parameter], lr=suite.ADAM["lr"], eps=suite.ADAM["eps"],
            betas=(suite.ADAM["b1"], suite.ADAM["b2"]),
            **{implementation: True})
        # step() counts up before it uses the count.
        state = {"step": step.to(torch.float32) - 1, "exp_avg": mean.clone(),
                 "exp_avg_sq": square.clone()}
        optimizer.state[parameter].update(state)
        return (optimizer, parameter, state["exp_avg"], state["exp_avg_sq"])

    def compute(optimizer, *state):
        optimizer.step()
        return state

    return Expression(f"optim.Adam {implementation}", compute, prepare)


EXPRESSIONS = {
    "add_mul": (Expression("(x + y) * z", lambda x, y, z: (x + y) * z),),
    "gelu_tanh": (
        Expression("F.gelu", functools.partial(F.gelu, approximate="tanh")),
        Expression("by hand", _gelu_tanh_by_hand)),
    "gelu_erf": (Expression("F.gelu", F.gelu),
                 Expression("by hand", _gelu_erf_by_hand)),
    "bias_gelu": (
        Expression("F.gelu", lambda x, b: F.gelu(x + b, approximate="tanh")),),
    "softmax": (Expression("F.softmax", lambda x: F.softmax(x, -1)),
                Expression("by hand", _softmax_by_hand)),
    "logsumexp": (
        Expression("logsumexp", lambda x: torch.logsumexp(x, -1)),),
    "layer_norm": (
        Expression("F.layer_norm", lambda x, scale, bias: F.layer_norm(
            x, scale.shape, scale, bias, suite.EPSILON)),
        Expression("by hand", _layer_norm_by_hand)),
    "rms_norm": (
        Expression("F.rms_norm", lambda x, scale: F.rms_norm(
            x, scale.shape, scale, suite.EPSILON)),
        Expression("by hand", _rms_norm_by_hand)),
    "batch_norm": (
        Expression("F.batch_norm", lambda x, scale, bias: F.batch_norm(
            x, None, None, scale, bias, training=True, eps=suite.EPSILON)),),
    "row_sum": (Expression("sum", lambda x: x.sum(1)),),
    "column_sum": (Expression("sum", lambda x: x.sum(0)),),
    "transpose": (Expression("t().contiguous", lambda x: x.t().contiguous()),),
    "matmul": (
        Expression("mm", torch.mm),
        Expression("F.linear", F.linear, lambda x, w: (x, _linear(w)))),
    "batched_matmul": (Expression("bmm", torch.bmm),),
    "matvec": (Expression("mv", torch.mv),),
    "matmul_bias_relu": (
        Expression("addmm, relu_",
                   lambda x, w, b: torch.addmm(b, x, w).relu_()),
        Expression("F.linear, relu",
                   lambda x, w, b: F.relu(F.linear(x, w, b)),
                   lambda x, w, b: (x, _linear(w), b))),
    "swiglu": (
        Expression("mm", lambda x, gate, up: F.silu(x @ gate) * (x @ up)),
        Expression("F.linear",
                   lambda x, gate, up: F.silu(F.linear(x, gate)) *
                   F.linear(x, up),
                   lambda x, gate, up: (x, _linear(gate), _linear(up))),
        Expression("F.linear merged", _swiglu_merged,
                   lambda x, gate, up: (x, _linear(torch.cat((gate, up), 1))))),
    "attention": (
        # The fused kernel wants a batch dimension in front of the heads.
        Expression("F.scaled_dot_product_attention",
                   F.scaled_dot_product_attention,
                   lambda *inputs: [x[None] for x in inputs],
                   lambda result: result[0]),
        Expression("by hand", _attention_by_hand)),
    "conv3x3": _convolutions(lambda x, w: F.conv2d(x, w, padding=1)),
    "conv1x1": _convolutions(F.conv2d),
    "conv7x7s2": _convolutions(
        lambda x, w: F.conv2d(x, w, padding=3, stride=2)),
    "depthwise3x3": _convolutions(
        lambda x, w: F.conv2d(x, w, padding=1, groups=x.shape[1])),
    "conv3x3_nchw": (
        Expression("F.conv2d nchw", lambda x, w: F.conv2d(x, w, padding=1)),
        Expression("F.conv2d channels_last",
                   lambda x, w: F.conv2d(x, w, padding=1),
                   lambda *inputs: [x.contiguous(
                       memory_format=torch.channels_last) for x in inputs])),
    "adam": (_adam("fused"), _adam("foreach")),
}


@dataclasses.dataclass(frozen=True)
class Peer:
    """One way to compute a kernel."""
    family: str  # "torch", "xla" or "hone"
    name: str
    # Computes once, and returns when the results are there.
    call: Callable[[], object]
    # Calls, and returns the results as numpy arrays in the suite's layout. A
    # call that updates in place has its first result here only at the first.
    results: Callable[[], list]


def _torch_results(expression, prepared):
    result = expression.compute(*prepared)
    result = result if isinstance(result, tuple) else (result,)
    return [np.ascontiguousarray(expression.restore(r).numpy()) for r in result]


def torch_peers(kernel, inputs):
    peers = []
    for expression in EXPRESSIONS[kernel.torch]:
        prepared = expression.prepare(*map(torch.from_numpy, inputs))
        peers.append(Peer(
            "torch", expression.name,
            functools.partial(expression.compute, *prepared),
            functools.partial(_torch_results, expression, prepared)))
    return peers


def xla_peer(kernel, inputs):
    function = jax.jit(kernel.function)
    arguments = [jax.device_put(x) for x in inputs]

    def call():
        return jax.block_until_ready(function(*arguments))

    def call_for_array():  # without jax's walk of a tree in Python
        return function(*arguments).block_until_ready()

    if len(kernel.result_shapes()) == 1:
        call = call_for_array
    return Peer("xla", "jax.jit", call,
                lambda: [np.asarray(r) for r in jax.tree.leaves(call())])


def hone_peer(family, kernel, inputs, path, threads):
    """`path`: a shared object that defines `hone_entry`. Results go to memory
    that is allocated once, as the C interface has it."""
    library = ctypes.CDLL(str(path))
    if hasattr(library, "hone_kernel_set_threads"):
        library.hone_kernel_set_threads(ctypes.c_int32(threads))
    results = [aligned_empty(shape, i + len(inputs))
               for i, shape in enumerate(kernel.result_shapes())]
    call = bind_entry(library.hone_entry, inputs, results)

    def run():
        call()
        return [r.copy() for r in results]

    return Peer(family, path.name, call, run)


def bind_entry(entry, inputs, results):
    """`entry` of the exported C interface as a call without arguments."""
    def pointers(arrays):
        return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])

    entry.restype = None
    arguments, outputs = pointers(inputs), pointers(results)
    call = functools.partial(entry, arguments, outputs)
    call.keep_alive = (inputs, results)
    return call


def aligned_empty(shape, index):
    """float32, at a 2 MiB boundary plus 17 cache lines per `index`: the same in
    every run, without the arrays of a kernel fighting for the same sets."""
    alignment, offset = 2 << 20, index * 17 * 64
    size = 4 * int(np.prod(shape, dtype=np.int64))
    memory = np.empty(size + alignment + offset, np.uint8)
    start = -memory.ctypes.data % alignment + offset
    return memory[start:start + size].view(np.float32).reshape(shape)


def make_inputs(kernel, seed):
    inputs = []
    for i, values in enumerate(suite.make_inputs(kernel, seed)):
        inputs.append(aligned_empty(values.shape, i))
        inputs[-1][...] = values
    return inputs


def expected_results(kernel, inputs):
    """In double precision, by the first of PyTorch's expressions."""
    expression = EXPRESSIONS[kernel.torch][0]
    doubles = [torch.from_numpy(x.astype(np.float64)) for x in inputs]
    return _torch_results(expression, expression.prepare(*doubles))


def error(results, expected):
    """As TOLERANCE has it; inf where shapes differ or something is not finite
    (the suite's results are)."""
    worst = 0.0
    if len(results) != len(expected):
        return np.inf
    for a, b in zip(results, expected):
        if a.shape != b.shape or not np.isfinite(a).all():
            return np.inf
        scale = np.maximum(np.abs(b), np.sqrt(np.mean(b * b)))
        worst = max(worst, float(np.max(np.abs(a - b) / scale)))
    return worst
