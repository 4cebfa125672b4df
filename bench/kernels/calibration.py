"""Peaks of the cores in use and the bandwidth of a working set, and from them
the least time that a kernel can take.

calibration.c is compiled by `cc` for the host into a temporary folder. With two
threads every thread works on its own half.
"""

import concurrent.futures
import ctypes
import functools
import math
import os
import pathlib
import subprocess
import tempfile
import time

import peers

# Short, so that some samples fit between two other processes.
SAMPLE_SECONDS = 1e-3
SAMPLES = 25
LEAST_BYTES = 64  # of an array of one thread
# The largest array that is calibrated: larger ones are in memory likewise.
MOST_BYTES = 256 << 20


def _build():
    source = pathlib.Path(__file__).with_name("calibration.c")
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "calibration.so")
        # -ffp-contract=fast makes multiply-adds of the loops that mean them.
        subprocess.run(
            ["cc", "-O3", "-march=native", "-ffp-contract=fast", "-shared",
             "-fPIC", "-fno-tree-loop-distribute-patterns", "-o", target,
             source], check=True)
        return ctypes.CDLL(str(target))


def _arguments(values):
    """Pointers for arrays, 64-bit integers for numbers."""
    return [ctypes.c_int64(v) if isinstance(v, int)
            else ctypes.c_void_p(v.ctypes.data) for v in values]


class Calibration:
    """Measured when asked for, and remembered."""

    def __init__(self, threads):
        self.threads = threads
        cores = iter(sorted(os.sched_getaffinity(0)))
        # A thread to a core, which the system may take its time to come to.
        self._pool = concurrent.futures.ThreadPoolExecutor(
            threads, initializer=lambda: os.sched_setaffinity(0, {next(cores)}))
        self.library = _build()
        self.peak_flops = 0.0
        for _ in range(10):  # clocks may need a while to rise
            self.measure_peak()
        self.transcendentals = max(
            self._measure_exponential() for _ in range(10))
        self._bandwidths = {}  # (what, bytes of the array) -> bytes per second

    def measure_peak(self):
        """float32 flop/s of multiply-adds, now; peak_flops is the most seen."""
        per_repeat = 24 * self.library.vector_floats()
        peak = self._rate(self.library.multiply_add, [()] * self.threads,
                          per_repeat * self.threads)
        self.peak_flops = max(self.peak_flops, peak)
        return peak

    def _measure_exponential(self):
        count = 2048
        arrays = [[peers.aligned_empty((count,), i) for i in range(2)]
                  for _ in range(self.threads)]
        for source, _ in arrays:
            source[:] = 0.5
        return self._rate(self.library.exponential,
                          [(a, b, count) for a, b in arrays],
                          count * self.threads)

    def bandwidth(self, what, total_bytes):
        """Bytes per second, read and written ones counted, of a loop that
        touches `total_bytes` again and again: "read", "write" or "copy"."""
        arrays = 2 if what == "copy" else 1
        # Sizes that are near each other share a measurement.
        steps = round(4 * math.log2(max(total_bytes, 1)))
        each = 2**(steps / 4) / arrays / self.threads
        each = int(min(max(each, LEAST_BYTES), MOST_BYTES)) // 64 * 64
        key = (what, each)
        if key not in self._bandwidths:
            self._bandwidths[key] = self._measure_bandwidth(what, each)
        return self._bandwidths[key]

    def _measure_bandwidth(self, what, each):
        arrays = 2 if what == "copy" else 1
        buffers = [[peers.aligned_empty((each // 4,), i) for i in range(arrays)]
                   for _ in range(self.threads)]
        for buffer in (b for bs in buffers for b in bs):
            buffer[:] = 1
        loops = {"read": ["read_memory"],
                 "write": ["write_memory", "write_by_library"],
                 "copy": ["copy_memory", "copy_by_library"]}[what]
        return max(
            self._rate(getattr(self.library, loop),
                       [(*bs, each) for bs in buffers],
                       each * arrays * self.threads) for loop in loops)

    def _rate(self, function, arguments, units):
        """Units per second of function(*arguments, repeats) on every thread:
        the best of the samples, as a roofline is meant."""
        arguments = [_arguments(a) for a in arguments]

        def seconds(repeats):
            start = time.perf_counter()
            if self.threads == 1:
                function(*arguments[0], ctypes.c_int64(repeats))
            else:
                list(self._pool.map(
                    lambda a: function(*a, ctypes.c_int64(repeats)),
                    arguments))
            return time.perf_counter() - start

        def least_seconds(repeats):  # of three, should one be disturbed
            return min(seconds(repeats) for _ in range(3))

        repeats = 1
        while (took := least_seconds(repeats)) < SAMPLE_SECONDS / 2:
            repeats *= 2
        repeats = max(1, round(repeats * SAMPLE_SECONDS / took))
        return max(units * repeats / seconds(repeats) for _ in range(SAMPLES))

    def roofline(self, kernel):
        """(seconds, "memory" | "flops" | "transcendentals"): the largest of
        three bounds. Memory: `bytes_in` and `bytes_out` once at the speed of
        their sum's level: as much as is both read and written by copying, the
        rest by reading or writing alone."""
        read, written = kernel.bytes_in(), kernel.bytes_out()
        both = min(read, written)
        bandwidth = functools.partial(self.bandwidth,
                                      total_bytes=read + written)
        memory = 2 * both / bandwidth("copy")
        if read > both:
            memory += (read - both) / bandwidth("read")
        if written > both:
            memory += (written - both) / bandwidth("write")
        return max((memory, "memory"),
                   (kernel.flops / self.peak_flops, "flops"),
                   (kernel.transcendentals / self.transcendentals,
                    "transcendentals"))

    def report(self):
        return {"peak_flops": self.peak_flops,
                "transcendentals_per_second": self.transcendentals,
                "vector_floats": self.library.vector_floats(),
                "bytes_per_second": [
                    {"loop": what, "bytes_of_an_array": size, "rate": rate}
                    for (what, size), rate in sorted(self._bandwidths.items())]}
