"""The real XLA:CPU as a judge of HLO text: parses, verifies, compiles, runs.

Shared by fuzz_on_xla.py and verifier_on_xla.py. Judge works in this process;
Jury runs judges in a process of their own, as XLA aborts on some modules.
"""

import json
import os
import pathlib
import re
import select
import subprocess
import sys

# Two devices, for modules of two partitions. Before the first import of jax.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                           " --xla_force_host_platform_device_count=2")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

TOLERANCE = {"float64": 1e-9, "float32": 1e-3, "bfloat16": 5e-2,
             "float16": 2e-2, "complex64": 1e-3, "complex128": 1e-9}
NARROW_TOLERANCE = 0.3  # one unit in the last place of an f8


def without(text, attribute):
    """The text without every `, attribute={…}`, braces matched."""
    start = f", {attribute}={{"
    parts = []
    while (at := text.find(start)) >= 0:
        parts.append(text[:at])
        depth, i = 1, at + len(start)
        while depth:
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
        text = text[i:]
    return "".join(parts) + text


def entry_parameters(module):
    """(dtype, dimensions) of each entry parameter, taken apart if it is a
    tuple; None for one that no array can stand for."""
    layout = module.to_string().split("entry_computation_layout={(", 1)[1]
    layout = layout.split(")->", 1)[0]
    found = re.findall(r"([a-z][a-z0-9]*)\[([^\]]*)\]", layout)
    return [(name, tuple(int(d.strip("<= ")) for d in dims.split(",") if d))
            for name, dims in found]


def make_array(name, shape, rng):
    import ml_dtypes
    named = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16, "c64": np.complex64,
             "c128": np.complex128}
    if name in named:
        dtype = named[name]
    elif name.startswith("f8"):
        dtype = getattr(ml_dtypes, name.replace("f8", "float8_", 1))
    elif name in ("s4", "u4", "s2", "u2"):
        dtype = getattr(ml_dtypes, name.replace("s", "int").replace("u", "uint"))
    else:
        dtype = {"f": "float", "s": "int", "u": "uint"}[name[0]] + name[1:]
    if name == "pred":
        return rng.integers(0, 2, shape).astype(dtype)
    if name[0] in "su":
        return rng.integers(0, 2 if name[1:] in "24" else 8, shape).astype(dtype)
    if name[0] == "c":
        return (rng.normal(0, 0.1, shape) +
                1j * rng.normal(0, 0.1, shape)).astype(dtype)
    return np.asarray(rng.normal(0, 0.1, shape)).astype(dtype)


def numbers(array):
    """The array as float64, complex numbers taken apart; None for integers."""
    kind = str(array.dtype)
    if kind.startswith("complex"):
        return np.stack([array.real, array.imag]).astype(np.float64)
    if "float" in kind:
        return array.astype(np.float64)
    return None


def error(a, b):
    """The largest error relative to the larger of the element's magnitude and
    the root mean square; inf for NaN or an infinity on one side only."""
    x, y = numbers(a), numbers(b)
    if x is None:
        same = np.array_equal(np.asarray(a).astype(object),
                              np.asarray(b).astype(object))
        return 0.0 if same else np.inf
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    # Denormals are flushed to zero.
    with np.errstate(invalid="ignore"):
        same |= np.abs(x - y) < 1.2e-38
    if same.all():
        return 0.0
    if not (np.isfinite(x) | same).all() or not (np.isfinite(y) | same).all():
        return np.inf
    finite = x[np.isfinite(x)]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rms = np.sqrt(np.mean(finite * finite)) if finite.size else 0.0
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), rms)
        return float(np.nanmax(np.where(same, 0.0, np.abs(x - y) / scale)))


def difference(expected, actual):
    """Where two lists of results differ, or None."""
    if len(expected) != len(actual):
        return f"{len(expected)} outputs became {len(actual)}"
    for i, (x, y) in enumerate(zip(expected, actual)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"output {i} changed its shape or type"
        kind = str(x.dtype)
        narrow = NARROW_TOLERANCE if kind.startswith("float8") else 0.0
        found = error(x, y)
        if found > TOLERANCE.get(kind, narrow):
            return f"output {i} ({kind}): relative error {found:.3g}"
    return None


class Judge:
    """Parses, compiles and runs modules in this process."""

    def __init__(self):
        import jax
        from jax._src.lib import xla_client
        from jaxlib import _hlo, _jax
        self.hlo, self.jax, self.extension = _hlo, jax, _jax
        self.xla_client = xla_client
        self.devices = jax.devices("cpu")
        self.client = self.devices[0].client

    def parse(self, text):
        return self.hlo.hlo_module_from_text(text)

    def compile(self, text):
        """Runs XLA's verifier, too; raises what XLA says."""
        module = self.parse(text)
        partitions = 2 if "num_partitions=2" in text.split("\n\n", 1)[0] else 1
        options = self.xla_client.CompileOptions()
        options.num_partitions = partitions
        build = options.executable_build_options
        build.num_partitions = partitions
        build.use_spmd_partitioning = partitions > 1
        devices = tuple(self.devices[:partitions])
        if partitions > 1:
            build.device_assignment = self.xla_client.DeviceAssignment.create(
                np.arange(partitions).reshape(1, partitions))
        stablehlo = self.extension.mlir.hlo_to_stablehlo(
            module.as_serialized_hlo_module_proto())
        return self.client.compile_and_load(
            stablehlo, self.extension.DeviceList(devices), options)

    def run(self, text, seed):
        """Runs it on one device, without shardings."""
        text = without(text, "sharding").replace(", num_partitions=2", "")
        rng = np.random.default_rng(seed)
        arguments = [make_array(name, dims, rng)
                     for name, dims in entry_parameters(self.parse(text))]
        executable = self.compile(text)
        buffers = [self.jax.device_put(a, self.devices[0]) for a in arguments]
        return [np.asarray(a) for a in executable.execute(buffers)]


class Jury:
    """A worker process that answers one request at a time: a JSON object a
    line, answered by a line. A worker that dies, or takes longer than
    `seconds`, is replaced."""

    def __init__(self, script, seconds=300):
        self.command = [sys.executable, str(script), "--worker"]
        self.seconds = seconds
        self.process = None

    def ask(self, request):
        """The answer; None if the worker died of the request, or was ended
        because it took too long."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            # An answer is written at once, so a line is there or nothing is.
            ready, _, _ = select.select(
                [self.process.stdout], [], [], self.seconds)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.process.kill()
        self.process.wait()
        self.process = None
        return None

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def serve(answer):
    """The worker's side: answers requests until there are none."""
    # What XLA prints must not be taken for an answer.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    judge = Judge()
    for line in sys.stdin:
        out.write(json.dumps(answer(judge, json.loads(line))) + "\n")
        out.flush()


def first_line(exception):
    lines = [line for line in str(exception).splitlines() if line.strip()]
    return lines[0] if lines else type(exception).__name__


def read(path):
    return pathlib.Path(path).read_text()
