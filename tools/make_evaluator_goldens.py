#!/usr/bin/env python3
"""Writes tests/testdata/evaluator/*.hlo: what XLA:CPU makes of small modules.

Each file holds cases of one family. A case is a module with parameters and,
behind `// expected`, a module without parameters whose root is
((inputs...), result): the seeded inputs and XLA's result as constants. The
evaluator's test compares without Python.

Usage: make_evaluator_goldens.py [FAMILY...]   (needs jax 0.10.2)
"""

import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jaxlib._hlo as hlo  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jaxlib import _jax, lapack, xla_client  # noqa: E402

import evaluator_golden_cases as cases  # noqa: E402

jax.config.update("jax_enable_x64", True)

FOLDER = pathlib.Path(__file__).parent.parent / "tests/testdata/evaluator"
TYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "s16": np.int16,
    "s32": np.int32,
    "s64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}


def run_on_xla(text, inputs):
    """The flat results of XLA:CPU on `inputs`."""
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    devices = tuple(jax.devices("cpu")[:1])
    executable = devices[0].client.compile_and_load(
        _jax.mlir.hlo_to_stablehlo(proto),
        _jax.DeviceList(devices),
        xla_client.CompileOptions(),
    )
    arguments = [jax.device_put(x, devices[0]) for x in inputs]
    shards = executable.execute_sharded(arguments)
    arrays = shards.disassemble_into_single_device_arrays()
    return [np.asarray(array[0]) for array in arrays]


def shape_text(array):
    dimensions = ",".join(str(d) for d in array.shape)
    return f"{NAMES[array.dtype]}[{dimensions}]"


def real_text(x, dtype):
    x = float(x)
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    return f"{x:.17g}" if dtype == np.float64 else f"{x:.9g}"


def element_text(x, dtype):
    if dtype == np.bool_:
        return "true" if x else "false"
    if np.issubdtype(dtype, np.integer):
        return str(int(x))
    if np.issubdtype(dtype, np.complexfloating):
        part = np.float64 if dtype == np.complex128 else np.float32
        return f"({real_text(x.real, part)}, {real_text(x.imag, part)})"
    return real_text(x, dtype)


def values_text(array):
    if array.ndim == 0:
        return element_text(array[()], array.dtype)
    return "{" + ", ".join(values_text(row) for row in array) + "}"


def golden_module(inputs, results):
    lines = ["HloModule expected", "", "ENTRY main {"]
    groups = []
    for group, arrays in (("input", inputs), ("result", results)):
        names = []
        for i, array in enumerate(arrays):
            name = f"{group}.{i}"
            lines.append(
                f"  {name} = {shape_text(array)} "
                f"constant({values_text(array)})"
            )
            names.append(name)
        shapes = ", ".join(shape_text(array) for array in arrays)
        lines.append(f"  {group}s = ({shapes}) tuple({', '.join(names)})")
        groups.append(f"({shapes})")
    lines.append(f"  ROOT all = ({', '.join(groups)}) tuple(inputs, results)")
    lines.append("}")
    return "\n".join(lines)


def write_family(family, family_cases):
    sections = []
    for case in family_cases:
        inputs = [np.asarray(x) for x in case.inputs]
        results = run_on_xla(case.text, inputs)
        sections.append(
            f"// case {case.name}\n{case.text.strip()}\n"
            f"// expected\n{golden_module(inputs, results)}\n"
        )
    (FOLDER / f"{family}.hlo").write_text("\n".join(sections))
    print(f"{family}: {len(sections)} cases")


def main():
    # Finds the routines that LAPACK custom calls use.
    lapack.prepare_lapack_call("getrf", np.dtype(np.float32))
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[1:]
    for family, family_cases in cases.families(TYPES).items():
        if not chosen or family in chosen:
            write_family(family, family_cases)


if __name__ == "__main__":
    main()
