"""Where and with what a table was measured."""

import ctypes
import os
import pathlib
import platform
import re
import subprocess
import sys

import jax
import jaxlib
import numpy
import torch


def describe_machine(cores):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", cpuinfo)
    pages = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {"cpu": name[1] if name else platform.processor(),
            "cores": cores, "kernel": platform.release(),
            "huge_pages": pages.read_text().strip() if pages.exists() else "",
            "denormals": "kept"}


def describe_openblas():
    """Returns the configuration and the chosen code path of NumPy's OpenBLAS,
    as OPENBLAS_CORETYPE has it."""
    folder = pathlib.Path(numpy.__file__).parent.with_name("numpy.libs")
    for path in folder.glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        function = library.scipy_openblas_get_config64_
        function.restype = ctypes.c_char_p
        return function().decode()
    return "unknown"


def describe_libraries():
    """Versions, and which code paths PyTorch's libraries chose: asked of a
    process of its own, as they answer on stdout only."""
    script = ("import torch; a = torch.ones(256, 256); a @ a; "
              "torch.nn.functional.conv2d(torch.ones(8, 64, 14, 14), "
              "torch.ones(64, 64, 3, 3))")
    verbose = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True,
        env=os.environ | {"MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"})
    dispatch = [line for line in verbose.stdout.splitlines()
                if re.match(r"MKL_VERBOSE|onednn.*(,isa:|,convolution,)", line)]
    return {"python": platform.python_version(), "numpy": numpy.__version__,
            "torch": torch.__version__, "jax": jax.__version__,
            "jaxlib": jaxlib.__version__,
            "xla": jax.devices()[0].client.platform_version,
            "torch_config": torch.__config__.show(),
            "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "torch_dispatch": dispatch, "openblas": describe_openblas()}
