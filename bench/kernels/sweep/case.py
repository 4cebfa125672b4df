"""A kernel of the sweep in JAX and in its peers, and its arguments."""

import dataclasses
import math
from collections.abc import Callable

import jax
import numpy as np

from arguments import TYPES, Argument


@dataclasses.dataclass(frozen=True)
class Expression:
    """`compute(*prepare(*inputs))` of tensors or arrays, of which compute alone
    is timed; `restore` brings a result into the layout of JAX's. `into(result,
    *prepared)` computes the same into memory that is there; None where the
    library has no such operation."""
    name: str
    compute: Callable
    prepare: Callable = lambda *inputs: inputs
    restore: Callable = lambda result: result
    into: Callable | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    kind: str
    function: Callable
    arguments: tuple[Argument, ...]
    torch: tuple[Expression, ...]
    # In NumPy, whose products are OpenBLAS's.
    numpy: tuple[Expression, ...] = ()

    def specs(self):
        return [jax.ShapeDtypeStruct(a.shape, TYPES[a.type])
                for a in self.arguments]

    def results(self):
        """Shapes and types of the results."""
        return jax.tree.leaves(jax.eval_shape(self.function, *self.specs()))

    def hlo(self):
        lowered = jax.jit(self.function).lower(*self.specs())
        return lowered.compiler_ir("hlo").as_hlo_text(
            print_large_constants=True)


def size(rng, low, high):
    """Returns a length in [low, high], uniform by its logarithm; half of them
    are multiples of 16, where that is possible."""
    value = int(round(math.exp(rng.uniform(math.log(low), math.log(high)))))
    if value >= 24 and rng.random() < 0.5:
        value = 16 * round(value / 16)
    return int(min(max(value, math.ceil(low)), max(high, low)))


def lengths(rng, rank, elements):
    """Returns `rank` lengths whose product is about `elements`, of different
    magnitudes."""
    shares = rng.dirichlet(np.full(rank, 2.0))
    return tuple(max(2, size(rng, max(1, elements**s / 1.2),
                             max(2, elements**s * 1.2))) for s in shares)


def elements(rng, low=3e4, high=4e6):
    """Returns a number of elements, uniform by its logarithm."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def float_type(rng):
    return "bf16" if rng.random() < 0.35 else "f32"


def dimensions(shape):
    return "x".join(map(str, shape))


def with_out(function, *positional, **named):
    """Makes an `into` of a function that takes `out`."""
    return lambda result, *inputs: function(*inputs, *positional, **named,
                                            out=result)
