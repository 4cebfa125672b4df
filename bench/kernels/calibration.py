"""Peaks of the cores in use and the bandwidth of a working set, and from them
the least time that a kernel can take.

calibration.c is compiled by `cc` for the host into a temporary folder. It
starts a thread for each core, pins it where the system allows that, and times
slices from a barrier at which the threads spin to the last end, so that no
start of a thread and no lock of Python is in them. With two threads every
thread works on its own half.

A roofline must not be lower than what the machine does. Therefore a rate is the
best slice of samples of SLICES slices of SLICE_SECONDS, taken until SAMPLES in
a row were no better; a kernel's memory time is the least of what loops with its
bytes took; and a kernel that is faster than its roofline has the rates measured
again, up to TRIES times, of which the best count from then on. With several
threads each rate is compared with one thread's on arrays of the same size:
below it, or above MOST_SCALING for each thread, it is measured again, and after
TRIES is no rate. A kernel that needs such a rate has no roofline.
"""

import ctypes
import functools
import math
import os
import pathlib
import subprocess
import tempfile

import peers

# 12 ms a sample, in parts that are short enough for some of them to fit between
# two turns of another process.
SLICES, SLICE_SECONDS = 12, 1e-3
SAMPLES, MOST_SAMPLES = 10, 60
BETTER = 1.005
# The length of the witness, which runs once in a round.
WITNESS_SECONDS = 2e-3
LEAST_BYTES = 64  # of an array of one thread
# The largest array that is calibrated: larger ones are in memory likewise.
MOST_BYTES = 256 << 20
EXPONENTIAL_BYTES = 8192
# Threads together do at least as much as one, within the noise, and each at
# most as much as one alone.
LEAST_SCALING, MOST_SCALING = 0.97, 1.1
TRIES = 3


def check_scaling(one, many, threads):
    """Returns a message if the rate of `threads` threads cannot be right beside
    that of one, each on arrays of the same size; otherwise None."""
    scaling = many / one
    if scaling < LEAST_SCALING:
        return f"{threads} threads have {scaling:.2f} times the rate of one"
    if scaling > MOST_SCALING * threads:
        return (f"{threads} threads have {scaling:.2f} times the rate of one, "
                f"more than {threads}")
    return None


def checked_rate(measure, threads, least=0.0):
    """Returns (measure(threads), None) if check_scaling accepts that beside
    measure(1), otherwise (None, its message). Each side is the best of its
    tries, and the first at least `least`."""
    one, many = 0.0, least
    problem = None
    for _ in range(TRIES):
        many = max(many, measure(threads))
        if threads == 1:
            return many, None
        one = max(one, measure(1))
        problem = check_scaling(one, many, threads)
        if problem is None:
            return many, None
    return None, problem


def best_of_samples(sample):
    """Returns the largest value of sample(). Stops once SAMPLES values in a row
    were below BETTER times the largest before, or after MOST_SAMPLES."""
    best, since = 0.0, 0
    for _ in range(MOST_SAMPLES):
        value = sample()
        since = 0 if value > BETTER * best else since + 1
        best = max(best, value)
        if since == SAMPLES:
            break
    return best


@functools.cache
def _build():
    source = pathlib.Path(__file__).with_name("calibration.c")
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "calibration.so")
        # -ffp-contract=fast makes multiply-adds of the loops that mean them.
        subprocess.run(
            ["cc", "-O3", "-march=native", "-ffp-contract=fast", "-shared",
             "-fPIC", "-pthread", "-fno-tree-loop-distribute-patterns", "-o",
             target, source], check=True)
        library = ctypes.CDLL(str(target))
    library.time_loop.restype = ctypes.c_double
    return library


class Calibration:
    """Rates of loops on this machine, each measured when it is first asked for.
    Thread i runs on cores[i], by default the cores of this process."""

    def __init__(self, threads, cores=None):
        self.threads = threads
        self.cores = sorted(cores or os.sched_getaffinity(0))[:threads]
        if len(self.cores) < threads:
            raise ValueError(f"{threads} threads on {len(self.cores)} cores")
        self.library = _build()
        self.pinned = True
        self.problems = {}  # of _rates: what is wrong with it
        self._buffers = []  # for each thread a source and a target
        # By (loop, bytes read, bytes written) of each thread: units per second
        # of all; None where it failed the check.
        self._rates = {}
        self._witness_repeats = None

    def _flops_of_a_repeat(self):
        return 24 * self.library.vector_floats()

    def _units(self, loop, read, written):
        """Returns the flops, exponentials or bytes of a repeat of `loop`."""
        if loop == "multiply_add":
            return self._flops_of_a_repeat()
        return written // 4 if loop == "exponential" else read + written

    def rate(self, loop, read=0, written=0):
        """Returns units per second of all threads, each of which runs `loop` on
        so many bytes again and again; None if the rate failed the check."""
        key = (loop, read, written)
        if key not in self._rates:
            self._measure(key)
        return self._rates[key]

    def _measure(self, key):
        """Measures a rate, or measures it again."""
        units = self._units(*key)
        rate, problem = checked_rate(
            lambda threads: self._rate(threads, units * threads, *key),
            self.threads, self._rates.get(key) or 0.0)
        self._rates[key] = rate
        self.problems.pop(key, None)
        if problem:
            self.problems[key] = problem

    @property
    def peak_flops(self):
        return self.rate("multiply_add")

    @property
    def transcendentals(self):
        return self.rate("exponential", EXPONENTIAL_BYTES, EXPONENTIAL_BYTES)

    def witness(self):
        """Returns the rate of multiply-adds now, as a share of the peak. Other
        processes, the host and lower clocks reduce it; the threads do not, as
        each has a core of its own."""
        if not self.peak_flops:
            return None
        if self._witness_repeats is None:
            each = self.peak_flops / self.threads / self._flops_of_a_repeat()
            self._witness_repeats = max(1, round(each * WITNESS_SECONDS))
        seconds = self._seconds("multiply_add", self.threads, 0, 0,
                                self._witness_repeats, slices=1)
        return (self._flops_of_a_repeat() * self.threads *
                self._witness_repeats / seconds / self.peak_flops)

    def _arrays(self, threads, read, written):
        """Returns pointers to arrays of at least so many bytes, one array for
        each thread: the sources and the targets."""
        least = max(read, written, LEAST_BYTES)
        if (len(self._buffers) < threads or
                self._buffers[0][0].nbytes < least):
            self._buffers = []  # the smaller ones are free first
            self._buffers = [[peers.aligned_empty((least // 4,), i)
                              for i in range(2)] for _ in range(self.threads)]
            for buffer in (b for both in self._buffers for b in both):
                buffer[:] = 0.5
        return [(ctypes.c_void_p * threads)(
            *[both[i].ctypes.data for both in self._buffers[:threads]])
            for i in range(2)]

    def _seconds(self, loop, threads, read, written, repeats, slices=SLICES):
        """Returns the time of the shortest of `slices` of so many repeats."""
        sources, targets = self._arrays(threads, read, written)
        pinned = ctypes.c_int32()
        seconds = self.library.time_loop(
            getattr(self.library, loop), ctypes.c_int32(threads),
            (ctypes.c_int32 * threads)(*self.cores[:threads]), sources,
            targets, ctypes.c_int64(read), ctypes.c_int64(written),
            ctypes.c_int64(repeats), ctypes.c_int32(slices),
            ctypes.byref(pinned))
        if seconds < 0:
            raise RuntimeError(f"{threads} threads could not be started")
        self.pinned = self.pinned and pinned.value == threads
        return seconds

    def _rate(self, threads, units, *key):
        """Returns `units`, the work of a repeat, over its time."""
        repeats = 1
        while True:
            took = self._seconds(key[0], threads, *key[1:], repeats, slices=3)
            if took >= SLICE_SECONDS / 4:
                break
            repeats *= 4
        repeats = max(1, math.ceil(repeats * SLICE_SECONDS / took))
        return best_of_samples(lambda: units * repeats / self._seconds(
            key[0], threads, *key[1:], repeats))

    def _memory_loops(self, read, written):
        """Returns ways to read and write so many bytes in total. A way is a
        list of parts: their bytes, and the keys of loops that move them."""
        def each(total):
            size = -(-int(total) // self.threads)
            return min(max(size, LEAST_BYTES), MOST_BYTES) // 64 * 64

        # Sizes that are near each other share a measurement; all parts of a sum
        # touch as many bytes as the kernel, so that they are at its level.
        whole, both = read + written, min(read, written)
        near = 2**(round(4 * math.log2(max(whole, 1))) / 4)
        half, all_of_it = each(near / 2), each(near)
        parts = [(2 * both, [(loop, half, half)
                             for loop in ("copy_memory", "copy_by_library")])]
        if read > both:
            parts.append((read - both, [("read_memory", all_of_it, 0)]))
        if written > both:
            parts.append((written - both,
                          [(loop, 0, all_of_it)
                           for loop in ("write_memory", "write_by_library")]))
        mixed = [(whole, [("mixed_memory", each(read), each(written))])]
        return [parts, mixed]

    def memory_seconds(self, read, written):
        """Returns the least time in which loops read and write so many bytes in
        total; None if all failed the check. Their arrays are as large as the
        kernel's, so what fits a cache is at the cache's speed."""
        def seconds(amount, keys):
            rate = max(self.rate(*key) or 0.0 for key in keys)
            return amount / rate if rate else math.inf

        least = min(sum(seconds(*part) for part in parts)
                    for parts in self._memory_loops(read, written))
        return None if math.isinf(least) else least

    def _bounds(self, kernel):
        """Returns {name: seconds} of a kernel, None where there is no rate."""
        bounds = {"memory": self.memory_seconds(kernel.bytes_in(),
                                                kernel.bytes_out())}
        for amount, rate, name in (
                (kernel.flops, self.peak_flops, "flops"),
                (kernel.transcendentals, self.transcendentals,
                 "transcendentals")):
            if amount:
                bounds[name] = rate and amount / rate
        return bounds

    def _measure_again(self, kernel, bound):
        if bound == "flops":
            return self._measure(("multiply_add", 0, 0))
        if bound == "transcendentals":
            return self._measure(("exponential", EXPONENTIAL_BYTES,
                                  EXPONENTIAL_BYTES))
        for parts in self._memory_loops(kernel.bytes_in(), kernel.bytes_out()):
            for _, keys in parts:
                for key in keys:
                    self._measure(key)

    def roofline(self, kernel, least_seconds=math.inf):
        """Returns the largest of three bounds, (seconds, "memory" | "flops" |
        "transcendentals"); None if one failed its check. Memory: `bytes_in`
        read and `bytes_out` written once. If the kernel took only
        `least_seconds`, less than the bound, the rate of the bound is measured
        again."""
        for remaining in reversed(range(TRIES + 1)):
            bounds = self._bounds(kernel)
            if None in bounds.values():
                return None
            name = max(bounds, key=bounds.get)
            if bounds[name] <= least_seconds or not remaining:
                return bounds[name], name
            self._measure_again(kernel, name)

    def report(self):
        return {"peak_flops": self.peak_flops,
                "transcendentals_per_second": self.transcendentals,
                "vector_floats": self.library.vector_floats(),
                "pinned": self.pinned,
                "problems": [f"{' '.join(map(str, key))}: {problem}"
                             for key, problem in self.problems.items()],
                "rates": [{"loop": loop, "bytes_read": read,
                           "bytes_written": written, "units_per_second": rate}
                          for (loop, read, written), rate
                          in sorted(self._rates.items())]}
