#!/usr/bin/env python3
"""Memory that runs out: one line, in this process and in a daemon's.

command_line.py has the usage.
"""

import json
import resource
import subprocess

from command_line import BIN, TINY, Scratch, hone, main

MIB = 1 << 20


def chain(nodes):
    """A graph of operators, each of which reads the one before."""
    return json.dumps({
        "nodes": [{"id": i, "opcode": "dot", "flops": 1e9, "bytes": 1e6,
                   "output_bytes": 1e5, "parameter_bytes": 1e3}
                  for i in range(nodes)],
        "edges": [{"from": i, "to": i + 1, "bytes": 1e5}
                  for i in range(nodes - 1)]})


def limit_memory(limit):
    # The stacks of threads are part of the memory.
    resource.setrlimit(resource.RLIMIT_STACK, (MIB, MIB))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def is_sanitized():
    """Sanitizers take more memory than the limit for themselves."""
    return any(name in (BIN / "hone").read_bytes()
               for name in (b"__asan_init", b"__tsan_init"))


class OutOfMemory(Scratch):
    def setUp(self):
        super().setUp()
        if is_sanitized():
            self.skipTest("a build with a sanitizer")
        self.graph = self.write("large.json", chain(100_001))
        self.tune = ["tune", self.graph, "--task", "placement", "--trials", 5,
                     "--target", "cluster:v100x2"]

    def limited(self, limit, *arguments):
        return subprocess.run(
            [BIN / "hone", *map(str, arguments)], capture_output=True,
            text=True, timeout=240, preexec_fn=lambda: limit_memory(limit),
            env={"HONE_SERVER": "127.0.0.1:1", "OPENBLAS_NUM_THREADS": "1"})

    def test_a_command_says_what_it_was_doing(self):
        output = self.folder / "result.json"
        state = self.folder / "state"
        tune = [*self.tune, "--local", "--state", state, "--report", output]
        result = self.limited(192 * MIB, *tune)
        self.one_line_error(result, 3, "ran out while", str(self.graph),
                            "MiB", "expected more memory or a smaller")
        self.assertEqual(result.stdout, "")
        self.assertFalse(output.exists())
        # Nothing is stored that would be taken for a result.
        found = self.json(*tune)
        self.assertEqual(found["tasks"][0]["cache"], "miss")
        self.one_line_error(self.limited(96 * MIB, "stats", self.graph), 3,
                            "ran out while running hone stats")

    def test_a_daemon_goes_on(self):
        config = self.write("hone.toml", "[limits]\n"
                            f"process_memory_bytes = {256 * MIB}\n")
        self.start_daemon("--config", config)
        larger = self.write("larger.json", chain(300_000))
        self.one_line_error(
            hone(self.tune[0], larger, *self.tune[2:],
                 state_home=self.folder), 3,
            "the work needs more than 256 MiB of memory")
        self.ok(hone("tune", self.write("tiny.hlo", TINY), "--trials", 5,
                     "--optimizer", "random", state_home=self.folder))


if __name__ == "__main__":
    main()
