"""Measures what the real XLA:CPU makes of a module: operations before layout
assignment, the final entry computation, its cost analysis and its memory.

Modules reach XLA through StableHLO, the only form that jaxlib compiles. The
conversion merges some chains of broadcasts and reshapes, so `xla_ops` of a
corpus module can be up to 0.6 % below its value in manifest.json, which comes
from compiling the JAX program itself.
"""

import functools
import pathlib
import re
import sys
import tempfile
import time

LAYOUT_PIPELINE = "HLO passes through layout assignment"
DUMP = re.compile(r"\.(\d{4})\." + LAYOUT_PIPELINE.replace(" ", "_") +
                  r"\.after_(.+)\.before_")

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ")
COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+)(?: \(.*\) -> .*)? \{$")
CALLING = re.compile(r"(?:\s|\))(call|fusion|while|conditional|async-start)\(")
CALLEE = re.compile(r"(?:to_apply|body|condition|true_computation|"
                    r"false_computation|calls|called_computation)="
                    r"%?([\w.\-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
METADATA = re.compile(r"metadata=\{.*?\}")


def entry_name(text):
    return next(match[2] for match in map(COMPUTATION.match, text.splitlines())
                if match and match[1])


def instructions_by_computation(text):
    """Returns {name of a computation: lines of its instructions}, without
    metadata."""
    computations, current = {}, None
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            current = computations.setdefault(match[2], [])
        elif current is not None and INSTRUCTION.match(line):
            current.append(METADATA.sub("", line))
    return computations


def count_ops(text):
    """Returns `ops` (hlo/analysis/op_count.h): instructions of the entry
    computation with calls and fusions inlined, and the bodies, conditions and
    branches of control flow once per site; not the regions applied per
    element."""
    computations = instructions_by_computation(text)

    @functools.cache
    def count(name):
        total = 0
        for line in computations.get(name, ()):
            calling = CALLING.search(line)
            if not calling or calling[1] not in ("call", "fusion"):
                total += 1
            if calling:
                callees = CALLEE.findall(line)
                for branches in BRANCHES.findall(line):
                    callees += [b.strip().lstrip("%")
                                for b in branches.split(",")]
                total += sum(map(count, callees))
        return total

    sys.setrecursionlimit(100_000)
    return count(entry_name(text))


def count_entry(text):
    """Returns (instructions, fusions) of the entry computation. A fusion that
    XLA splits over threads is inside a call; it counts as a fusion, too."""
    computations = instructions_by_computation(text)
    lines = computations[entry_name(text)]
    fusions = 0
    for line in lines:
        calling = CALLING.search(line)
        if calling and calling[1] == "call":
            callee = computations.get(CALLEE.search(line)[1], ())
            fusions += any(" fusion(" in inner for inner in callee)
        elif calling:
            fusions += calling[1] == "fusion"
    return len(lines), fusions


class StopBeforeScheduling:
    """A context in which XLA gives up compilations before scheduling and code
    generation, by far the longest part."""

    NAME = "stop_before_scheduling"

    def __enter__(self):
        from jax.extend import xla
        self._xla, self.reached = xla, False
        xla.register_hlo_module_transformation(
            self._stop, name=self.NAME, platforms="cpu",
            stage=xla.PipelineStage.PRE_SCHEDULER)
        return self

    def _stop(self, _):
        self.reached = True
        raise InterruptedError("what follows is not needed")

    def __exit__(self, *_):
        self._xla.clear_hlo_module_transformation(
            self.NAME, self._xla.PipelineStage.PRE_SCHEDULER, "cpu")


def text_before_layout(runner, text):
    """Returns the module that XLA's pipeline leaves just before layout
    assignment. Raises XLA's errors."""
    with tempfile.TemporaryDirectory() as folder:
        with StopBeforeScheduling() as stop:
            try:
                runner.compile(text, debug_options={
                    "xla_dump_to": folder, "xla_dump_hlo_as_text": True,
                    "xla_dump_hlo_pass_re": ".*",
                    "xla_dump_hlo_pipeline_re": f"^{LAYOUT_PIPELINE}$"})
            except Exception:
                if not stop.reached:
                    raise
        # XLA dumps a module when a pass has changed it, and at the beginning
        # of the pipeline; a nested pipeline counts as a pass.
        before = None
        for path in sorted(pathlib.Path(folder).iterdir()):
            match = DUMP.search(path.name)
            if match and match[2] == "layout-assignment":
                break
            if match:
                before = path
        if before is None:
            raise RuntimeError("XLA dumped nothing before layout assignment")
        return before.read_text()


def compile_and_describe(runner, text):
    """Returns (executable, metrics). `peak_bytes` is the memory of a run:
    arguments, outputs and temporaries, without what outputs share with
    arguments. (XLA's own peak_memory_in_bytes leaves out temporaries.)"""
    start = time.perf_counter()
    executable = runner.compile(text)
    seconds = time.perf_counter() - start
    final = executable.hlo_modules()[0].to_string()
    instructions, fusions = count_entry(final)
    cost = executable.cost_analysis()
    memory = executable.get_compiled_memory_stats()
    return executable, {
        "xla_ops": count_ops(text_before_layout(runner, text)),
        "final_ops": count_ops(final),
        "entry_instructions": instructions,
        "entry_fusions": fusions,
        "bytes_accessed": cost.get("bytes accessed", 0.0),
        "flops": cost.get("flops", 0.0),
        "transcendentals": cost.get("transcendentals", 0.0),
        "peak_bytes": (memory.argument_size_in_bytes +
                       memory.output_size_in_bytes +
                       memory.temp_size_in_bytes -
                       memory.alias_size_in_bytes),
        "argument_bytes": memory.argument_size_in_bytes,
        "output_bytes": memory.output_size_in_bytes,
        "temporary_bytes": memory.temp_size_in_bytes,
        "compile_seconds": seconds,
    }
