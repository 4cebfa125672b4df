"""The kernels of the suite in PyTorch, compiled by XLA:CPU, and as exported
Hone objects, on the same inputs.

PyTorch has one or more expressions per kernel: the fused library operation
where there is one, and what a user writes by hand. The inputs are shared
memory as far as the layout that PyTorch users have is the same; otherwise
(NCHW images, weights as nn.Linear keeps them) they are brought into it once,
outside of what is timed.

Families differ in where results go. Allocated by each call: "torch",
"compiled", which is torch.compile of the same expressions, "xla", "numpy",
"hone+" and "tuned+". NumPy has products alone, which OpenBLAS computes. To
memory that is allocated once: "torch=", by the same expressions with `out=`,
their temporaries being allocated once too, "numpy=", and "hone", "tuned", as
the C interface has it. Some operations have no "torch=": PyTorch 2.13 offers no
`out=` for convolutions, layer normalization and fused attention, or one that
copies a result that it allocates. Adam updates in place in PyTorch, which is
"torch=" alone, and in "hone" and "tuned"; it returns new arrays in the others.
XLA frees and allocates its results; no argument is donated to it, since every
call has the same arguments.
"""

import ctypes
import dataclasses
import functools
from collections.abc import Callable

import jax
import numpy as np
import torch
import torch.nn.functional as F

import exported
import memory
import suite

# Largest error of a result against double precision, relative to the larger of
# the element's magnitude and the result's root mean square.
TOLERANCE = 1e-4

# Keys of EXPRESSIONS that NumPy has as one product.
NUMPY_PRODUCTS = ("matmul", "batched_matmul", "matvec")

torch.set_grad_enabled(False)


@dataclasses.dataclass(frozen=True)
class Expression:
    """`compute(*prepare(*inputs))`, of which compute alone is timed; `restore`
    brings its result into the suite's layout. `into(result, *prepared)` returns
    a call without arguments that computes the same into `result` and returns
    that; None where there is none."""
    name: str
    compute: Callable
    prepare: Callable = lambda *inputs: inputs
    restore: Callable = lambda result: result
    into: Callable | None = None


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


# Values of Expression.into, which write to memory that is there.


def _with_out(function, *positional, **named):
    """Makes an `into` of a function that takes `out`."""
    def into(result, *inputs):
        return functools.partial(function, *inputs, *positional, **named,
                                 out=result)
    return into


def _add_mul_into(result, x, y, z):
    def call():
        torch.add(x, y, out=result)
        return torch.mul(result, z, out=result)
    return call


def _bias_gelu_into(result, x, b):
    def call():
        torch.add(x, b, out=result)
        return torch._C._nn.gelu(result, approximate="tanh", out=result)
    return call


def _rms_norm_into(result, x, scale):
    square = torch.empty_like(x)
    mean = torch.empty(x.shape[0], 1, dtype=x.dtype)

    def call():
        torch.mul(x, x, out=square)
        torch.mean(square, -1, keepdim=True, out=mean)
        mean.add_(suite.EPSILON).rsqrt_()
        torch.mul(x, mean, out=result)
        return result.mul_(scale)
    return call


def _batch_norm_into(result, x, scale, bias):
    statistics = [torch.empty_like(scale) for _ in range(2)]

    def call():
        torch.ops.aten.native_batch_norm.out(
            x, scale, bias, None, None, True, 0.1, suite.EPSILON, out=result,
            save_mean=statistics[0], save_invstd=statistics[1])
        return result
    return call


def _transpose_into(result, x):
    return functools.partial(result.copy_, x.t())


def _linear_into(result, x, w):
    return functools.partial(torch.mm, x, w.t(), out=result)


def _bias_relu_into(result, x, w, b):
    return lambda: torch.addmm(b, x, w, out=result).relu_()


def _swiglu_into(result, x, gate, up):
    products = [torch.empty_like(result) for _ in range(2)]

    def call():
        torch.mm(x, gate, out=products[0])
        torch.mm(x, up, out=products[1])
        F.silu(products[0], inplace=True)
        return torch.mul(*products, out=result)
    return call


def _swiglu_merged_into(result, x, both):
    products = torch.empty(x.shape[0], both.shape[0], dtype=x.dtype)
    gate, up = products.chunk(2, -1)

    def call():
        torch.mm(x, both.t(), out=products)
        F.silu(gate, inplace=True)
        return torch.mul(gate, up, out=result)
    return call


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

    # In place: nothing is allocated anyway.
    return Expression(f"optim.Adam {implementation}", compute, prepare,
                      into=lambda _, *prepared: functools.partial(
                          compute, *prepared))


EXPRESSIONS = {
    "add_mul": (Expression("(x + y) * z", lambda x, y, z: (x + y) * z,
                           into=_add_mul_into),),
    "gelu_tanh": (
        Expression("F.gelu", functools.partial(F.gelu, approximate="tanh"),
                   into=_with_out(torch._C._nn.gelu, approximate="tanh")),
        Expression("by hand", _gelu_tanh_by_hand)),
    "gelu_erf": (Expression("F.gelu", F.gelu,
                            into=_with_out(torch._C._nn.gelu)),
                 Expression("by hand", _gelu_erf_by_hand)),
    "bias_gelu": (
        Expression("F.gelu", lambda x, b: F.gelu(x + b, approximate="tanh"),
                   into=_bias_gelu_into),),
    "softmax": (Expression("F.softmax", lambda x: F.softmax(x, -1),
                           into=_with_out(torch.softmax, -1)),
                Expression("by hand", _softmax_by_hand)),
    "logsumexp": (
        Expression("logsumexp", lambda x: torch.logsumexp(x, -1),
                   into=_with_out(torch.logsumexp, -1)),),
    "layer_norm": (
        Expression("F.layer_norm", lambda x, scale, bias: F.layer_norm(
            x, scale.shape, scale, bias, suite.EPSILON)),
        Expression("by hand", _layer_norm_by_hand)),
    "rms_norm": (
        Expression("F.rms_norm", lambda x, scale: F.rms_norm(
            x, scale.shape, scale, suite.EPSILON)),
        Expression("by hand", _rms_norm_by_hand, into=_rms_norm_into)),
    "batch_norm": (
        Expression("F.batch_norm", lambda x, scale, bias: F.batch_norm(
            x, None, None, scale, bias, training=True, eps=suite.EPSILON),
            into=_batch_norm_into),),
    "row_sum": (Expression("sum", lambda x: x.sum(1),
                           into=_with_out(torch.sum, 1)),),
    "column_sum": (Expression("sum", lambda x: x.sum(0),
                              into=_with_out(torch.sum, 0)),),
    "transpose": (Expression("t().contiguous", lambda x: x.t().contiguous(),
                             into=_transpose_into),),
    "matmul": (
        Expression("mm", torch.mm, into=_with_out(torch.mm)),
        Expression("F.linear", F.linear, lambda x, w: (x, _linear(w)),
                   into=_linear_into)),
    "batched_matmul": (Expression("bmm", torch.bmm,
                                  into=_with_out(torch.bmm)),),
    "matvec": (Expression("mv", torch.mv, into=_with_out(torch.mv)),),
    "matmul_bias_relu": (
        Expression("addmm, relu_",
                   lambda x, w, b: torch.addmm(b, x, w).relu_(),
                   into=_bias_relu_into),
        Expression("F.linear, relu",
                   lambda x, w, b: F.relu(F.linear(x, w, b)),
                   lambda x, w, b: (x, _linear(w), b),
                   into=lambda result, x, w, b: _bias_relu_into(
                       result, x, w.t(), b))),
    "swiglu": (
        Expression("mm", lambda x, gate, up: F.silu(x @ gate) * (x @ up),
                   into=_swiglu_into),
        Expression("F.linear",
                   lambda x, gate, up: F.silu(F.linear(x, gate)) *
                   F.linear(x, up),
                   lambda x, gate, up: (x, _linear(gate), _linear(up)),
                   into=lambda result, x, gate, up: _swiglu_into(
                       result, x, gate.t(), up.t())),
        Expression("F.linear merged", _swiglu_merged,
                   lambda x, gate, up: (x, _linear(torch.cat((gate, up), 1))),
                   into=_swiglu_merged_into)),
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
    # One of those above.
    family: str
    name: str
    # Computes once, and returns when the results are there.
    call: Callable[[], object]
    # Calls, and returns the results as numpy arrays in the suite's layout. A
    # call that updates in place has its first result here only at the first.
    results: Callable[[], list]


def _torch_results(call, restore):
    result = call()
    result = result if isinstance(result, tuple) else (result,)
    return [np.ascontiguousarray(restore(r).numpy()) for r in result]


def _torch_peer(family, expression, call):
    return Peer(family, expression.name, call,
                functools.partial(_torch_results, call, expression.restore))


def updates_in_place(kernel):
    """Returns true if PyTorch writes results to where their arguments are: the
    first ones, in the order of the results."""
    return kernel.torch == "adam"


def torch_peers(kernel, inputs):
    """Returns the peers of family "torch" and, if there are any, "torch="."""
    peers = []
    for expression in EXPRESSIONS[kernel.torch]:
        def prepare():
            return expression.prepare(*map(torch.from_numpy, inputs))
        # What updates in place has its results in what was prepared.
        in_place = updates_in_place(kernel)
        if not in_place:
            prepared = prepare()
            peers.append(_torch_peer(
                "torch", expression,
                functools.partial(expression.compute, *prepared)))
        if expression.into is None:
            continue
        prepared = prepare()
        result = None if in_place else torch.from_numpy(aligned_empty(
            expression.compute(*prepared).shape, len(inputs)))
        peers.append(_torch_peer("torch=", expression,
                                 expression.into(result, *prepared)))
    return peers


def compiled_peers(kernel, inputs):
    """Returns the peers of family "compiled". An update in place is left out:
    what is compiled there is the optimizer's loop over parameters."""
    if updates_in_place(kernel):
        return []
    peers = []
    for expression in EXPRESSIONS[kernel.torch]:
        prepared = expression.prepare(*map(torch.from_numpy, inputs))
        peers.append(_torch_peer("compiled", expression, functools.partial(
            torch.compile(expression.compute, dynamic=False), *prepared)))
    return peers


def numpy_peers(kernel, inputs):
    """Returns the peers of families "numpy" and "numpy=", for products."""
    if kernel.torch not in NUMPY_PRODUCTS:
        return []
    result = aligned_empty(kernel.result_shapes()[0], len(inputs))

    def peer(family, call):
        return Peer(family, "matmul", call, lambda: [call().copy()])

    return [peer("numpy", functools.partial(np.matmul, *inputs)),
            peer("numpy=", functools.partial(np.matmul, *inputs, out=result))]


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


def load_entry(path, threads):
    """Returns the entry of the shared object `path` (exported.py), which runs
    on so many threads."""
    library = ctypes.CDLL(str(path))
    if hasattr(library, "hone_kernel_set_threads"):
        library.hone_kernel_set_threads(ctypes.c_int32(threads))
    return exported.load_entry(path)


def hone_peer(family, kernel, inputs, entry):
    """Makes a peer whose results go to memory that is allocated once: to where
    their arguments are, if that is what PyTorch does."""
    results = [aligned_empty(shape, i + len(inputs))
               for i, shape in enumerate(kernel.result_shapes())]
    in_place = updates_in_place(kernel)
    arguments = [*results, *inputs[len(results):]] if in_place else inputs
    call = bind_entry(entry, arguments, results)

    def run():
        for i, result in enumerate(results):
            if in_place:
                result[...] = inputs[i]
            else:
                memory.poison(result)
        call()
        return [r.copy() for r in results]

    return Peer(family, "exported", call, run)


def allocating_hone_peer(family, kernel, inputs, entry):
    """Makes a peer whose results are new tensors at each call, from PyTorch's
    allocator; temporaries are in memory that the shared object keeps."""
    call = bind_allocating_entry(
        entry, inputs, [(s, torch.float32) for s in kernel.result_shapes()])
    return Peer(family, "exported, torch.empty", call,
                lambda: [r.numpy() for r in call()])


def _pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])


def bind_allocating_entry(entry, inputs, specs):
    """Makes a call without arguments that returns new results each time, of the
    shapes and types of PyTorch in `specs`."""
    # In Python torch.empty takes much longer than a tensor like another one.
    models = [torch.empty(shape, dtype=dtype) for shape, dtype in specs]
    return _bind_allocating(entry, inputs, [
        (functools.partial(torch.empty_like, model), torch.Tensor.data_ptr)
        for model in models])


def bind_numpy_allocating_entry(entry, inputs, specs):
    """The same with arrays of NumPy, of its shapes and types in `specs`."""
    def address(array):
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return _bind_allocating(entry, inputs, [
        (functools.partial(np.empty, shape, dtype), address)
        for shape, dtype in specs])


def _bind_allocating(entry, inputs, makers):
    """Makes a call as above, of functions that make a result and that return
    its address."""
    arguments = _pointers(inputs)
    outputs = (ctypes.c_void_p * len(makers))()
    run = exported.bind(entry, arguments, outputs)

    def call():
        results = []
        for i, (make, address) in enumerate(makers):
            result = make()
            outputs[i] = address(result)
            results.append(result)
        run()
        return results

    if len(makers) == 1:
        make, address = makers[0]

        def call():  # without the loop, which small kernels notice
            result = make()
            outputs[0] = address(result)
            run()
            return [result]
    call.keep_alive = inputs
    return call


def bind_entry(entry, inputs, results):
    """`entry` of the exported C interface as a call without arguments."""
    call = exported.bind(entry, _pointers(inputs), _pointers(results))
    call.keep_alive = (inputs, results)
    return call


def aligned_empty(shape, index):
    """float32, at the place of argument or result `index` of a kernel: the same
    in every run, without the arrays of a kernel fighting for the same sets."""
    return memory.empty(shape, np.float32, index * memory.LINES_APART)


def make_inputs(kernel, seed):
    """Read-only arrays: nothing that is timed may change its arguments."""
    return [memory.place(values, i)
            for i, values in enumerate(suite.make_inputs(kernel, seed))]


def elsewhere(inputs, seed):
    """Returns copies of `inputs` in small pages at random offsets."""
    rng = np.random.default_rng(seed)
    most = memory.HUGE_PAGE // memory.CACHE_LINE // 2
    return [memory.place(values, i, huge=False, lines=int(rng.integers(most)))
            for i, values in enumerate(inputs)]


def expected_results(kernel, inputs):
    """In double precision, by the first of PyTorch's expressions."""
    expression = EXPRESSIONS[kernel.torch][0]
    doubles = [torch.from_numpy(x.astype(np.float64)) for x in inputs]
    prepared = expression.prepare(*doubles)
    return _torch_results(functools.partial(expression.compute, *prepared),
                          expression.restore)


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
