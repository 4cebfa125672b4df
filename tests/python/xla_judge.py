"""The real XLA:CPU as a judge of HLO text: parses, verifies, compiles, runs.

Shared by fuzz_on_xla.py and verifier_on_xla.py. Judge works in this process;
Jury runs judges in a process of their own, as XLA aborts on some modules.
"""

import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile

# Two devices, for modules of two partitions. Before the first import of jax.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                           " --xla_force_host_platform_device_count=2")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import xla_runner


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


def difference(expected, actual):
    """Describes where two lists of outputs differ; None if they are equal."""
    if problem := xla_runner.mismatch(expected, actual):
        return problem
    for i, (x, y) in enumerate(zip(expected, actual)):
        found = xla_runner.error(x, y)
        if not xla_runner.within_tolerance(found, x.dtype):
            return f"output {i} ({x.dtype}): relative error {found:.3g}"
    return None


class Judge:
    """Parses, compiles and runs modules in this process."""

    def __init__(self):
        self.runner = xla_runner.Runner()

    def compile(self, text):
        """Compiles the module for as many partitions as it has; raises XLA's
        errors, its verifier's among them."""
        partitions = 2 if "num_partitions=2" in text.split("\n\n", 1)[0] else 1
        return self.runner.compile(text, partitions)

    def run(self, text, seed):
        """Runs the module on one device, without shardings."""
        text = without(text, "sharding").replace(", num_partitions=2", "")
        # As XLA prints it, the module has an entry_computation_layout.
        printed = self.runner.parse(text).to_string()
        arguments = xla_runner.make_arguments(
            xla_runner.parameter_shapes(printed), seed)
        executable = self.compile(text)
        return self.runner.run(executable, self.runner.put(arguments))


class Jury:
    """A worker process that answers one request at a time: a JSON object a
    line, answered by a line. A worker that dies, or takes longer than
    `seconds`, is replaced; `last_words` is then what it wrote to stderr."""

    def __init__(self, script, seconds=300):
        self.command = [sys.executable, str(script), "--worker"]
        self.seconds = seconds
        self.process = None
        self.stderr = None
        self.last_words = ""

    def ask(self, request):
        """The answer; None if the worker died of the request, or was ended
        because it took too long."""
        if self.process is None:
            self.stderr = tempfile.TemporaryFile("w+", errors="replace")
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self.stderr, text=True)
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
        self.stderr.seek(0)
        self.last_words = self.stderr.read()
        self.stderr.close()
        return None

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.stderr.close()


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
