"""Compiles and runs HLO text on the real XLA:CPU, and compares results.

Shared by examine_on_xla.py and tests/python/xla_judge.py, so that one rule
decides which results are equal. Importing this does not import jax: callers may
set the environment variables that XLA reads before they make a Runner.
"""

import re

import ml_dtypes
import numpy as np

# The largest relative error between equal results, by element type; types that
# are missing here must be equal in every element. An f8 may differ by one unit
# in the last place.
TOLERANCE = {
    "float64": 1e-9, "float32": 1e-3, "bfloat16": 3e-2, "float16": 2e-2,
    "complex64": 1e-3, "complex128": 1e-9,
    **{f"float8_{name}": 0.3 for name in (
        "e5m2", "e4m3fn", "e4m3b11fnuz", "e5m2fnuz", "e4m3fnuz", "e4m3",
        "e3m4", "e8m0fnu")},
}

# Differences below the smallest normal f32 count as none: XLA:CPU flushes
# denormals to zero.
SMALLEST_NORMAL = 1.2e-38

# Elements that are compared at once.
PIECE = 1 << 17


class Runner:
    """Compiles and runs HLO text on the CPU backend."""

    def __init__(self):
        import jax
        from jax._src.lib import xla_client
        from jaxlib import _hlo, _jax, lapack
        self._jax, self._xla_client = jax, xla_client
        self._hlo, self._extension = _hlo, _jax
        self.devices = jax.devices("cpu")
        # Finds the routines that LAPACK custom calls use.
        lapack.prepare_lapack_call("getrf", np.dtype(np.float32))

    def parse(self, text):
        return self._hlo.hlo_module_from_text(text)

    def compile(self, text, partitions=1, debug_options=None):
        """Parses, verifies and compiles a module for the first `partitions`
        devices; raises XLA's errors. `debug_options`: values of XLA's
        DebugOptions by field."""
        options = self._xla_client.CompileOptions()
        options.num_partitions = partitions
        build = options.executable_build_options
        build.num_partitions = partitions
        build.use_spmd_partitioning = partitions > 1
        for name, value in (debug_options or {}).items():
            setattr(build.debug_options, name, value)
        if partitions > 1:
            build.device_assignment = self._xla_client.DeviceAssignment.create(
                np.arange(partitions).reshape(1, partitions))
        stablehlo = self._extension.mlir.hlo_to_stablehlo(
            self.parse(text).as_serialized_hlo_module_proto())
        devices = self._extension.DeviceList(tuple(self.devices[:partitions]))
        return self.devices[0].client.compile_and_load(
            stablehlo, devices, options)

    def put(self, arguments):
        """Device buffers for run()."""
        # Otherwise jax narrows 64-bit types.
        with self._jax.enable_x64(True):
            return [self._jax.device_put(a, self.devices[0])
                    for a in arguments]

    def run(self, executable, buffers):
        return [np.asarray(a) for a in executable.execute(buffers)]


def fill_elided_constants(text):
    """Gives constants whose values the text leaves out the same values in every
    module: small integers that depend on the shape alone. (XLA would make up
    other ones at every read.)"""
    def fill(match):
        dims = [int(d) for d in match[2].split(",")]
        values = np.arange(np.prod(dims)).reshape(dims) % 8
        return match[1] + str(values.tolist()).replace(
            "[", "{").replace("]", "}") + ")"
    return re.sub(r"( = s32\[([0-9,]+)\]\S* constant\(){\.\.\.}\)", fill, text)


def parameter_shapes(text):
    """(element type, dimensions) of each entry parameter, from
    entry_computation_layout; a tuple counts as its elements, and a dynamic
    dimension has its bound."""
    layout = text.split("entry_computation_layout={(", 1)[1].split(")->", 1)[0]
    found = re.findall(r"([a-z][a-z0-9]*)\[([^\]]*)\]", layout)
    return [(name, tuple(int(d.strip("<= ")) for d in dims.split(",") if d))
            for name, dims in found]


def numpy_type(name):
    """The NumPy type of an HLO element type."""
    named = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16, "c64": np.complex64,
             "c128": np.complex128}
    if name in named:
        return np.dtype(named[name])
    if name.startswith("f8"):
        return np.dtype(getattr(ml_dtypes, f"float8_{name[2:]}"))
    name = {"f": "float", "s": "int", "u": "uint"}[name[0]] + name[1:]
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def make_arguments(shapes, seed, positive=False):
    """Seeded arrays: small normals for floats, their absolute values if
    `positive`, and small non-negative integers."""
    rng = np.random.default_rng(seed)

    def normal(shape):
        value = np.asarray(rng.normal(0, 0.1, shape))
        return np.abs(value) if positive else value

    arguments = []
    for name, shape in shapes:
        if name == "pred" or name in ("s2", "u2", "s4", "u4"):
            value = rng.integers(0, 2, shape)
        elif name[0] in "su":
            value = rng.integers(0, 8, shape)
        elif name[0] == "c":
            value = normal(shape) + 1j * normal(shape)
        else:
            value = normal(shape)
        arguments.append(np.asarray(value).astype(numpy_type(name)))
    return arguments


def numbers(array):
    """The array as float64, complex numbers as pairs; None for integers."""
    kind = str(array.dtype)
    if kind.startswith("complex"):
        return np.stack([array.real, array.imag]).astype(np.float64)
    return array.astype(np.float64) if "float" in kind else None


def nan_fraction(outputs):
    total = sum(o.size for o in outputs)
    bad = sum(int(np.isnan(o if o.dtype.kind in "fc" else
                           o.astype(np.float64)).sum())
              for o in outputs if o.dtype.kind not in "biu")
    return bad / max(total, 1)


def error(a, b):
    """The largest error of an element, relative to the larger of the element's
    magnitude and the root mean square of `a`; infinite if a NaN or an infinity
    is on one side only, or if integers differ."""
    if np.array_equal(a, b):  # much faster than what follows
        return 0.0
    if numbers(a.reshape(-1)[:0]) is None:
        return np.inf
    pieces = list(zip(_pieces(a), _pieces(b), strict=True))
    squares, count = 0.0, 0
    for piece, _ in pieces:
        x = numbers(piece)
        finite = x[np.isfinite(x)]
        with np.errstate(over="ignore"):
            squares += float(np.sum(finite * finite))
        count += finite.size
    rms = np.sqrt(squares / count) if count else 0.0
    return max(_error_of_piece(numbers(x), numbers(y), rms) for x, y in pieces)


def _pieces(a):
    """The elements in parts that a cache holds as float64 several times."""
    flat = np.ascontiguousarray(a).reshape(-1)
    return [flat[i:i + PIECE] for i in range(0, flat.size, PIECE)]


def _error_of_piece(x, y, rms):
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        same |= np.abs(x - y) < SMALLEST_NORMAL
    if same.all():
        return 0.0
    if not (np.isfinite(x) | same).all() or not (np.isfinite(y) | same).all():
        return np.inf
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), rms)
        return float(np.nanmax(np.where(same, 0.0, np.abs(x - y) / scale)))


def mismatch(expected, actual):
    """Describes the first difference in number, shape or type between two
    lists of outputs; None if there is none."""
    if len(expected) != len(actual):
        return f"{len(expected)} outputs became {len(actual)}"
    for i, (x, y) in enumerate(zip(expected, actual)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"output {i} changed its shape or type"
    return None


def within_tolerance(found, dtype):
    """Returns true if an error of `found` is at most the tolerance of `dtype`;
    a NaN is not."""
    return found <= TOLERANCE.get(str(dtype), 0.0)
