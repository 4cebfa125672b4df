"""Checks and times one case of the sweep; see kernel_sweep.py."""

import dataclasses
import gc
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import jax
import ml_dtypes
import numpy as np
import torch

import interleaved
import memory
import peers
import sweep

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import xla_runner

jax.config.update("jax_cpu_enable_async_dispatch", False)

# A peer that is slower by this cannot be the fastest.
SLOW_PEER = 3
# Hone is not timed if it is slower than the fastest peer by this.
HOPELESS = 20
SCREENED_CALLS = 3
# Calls are not screened again beyond this.
SCREEN_SECONDS = 0.2
# Pairs of families whose results are allocated alike: the peers, and Hone.
ALLOCATED = (("torch", "compiled", "xla"), "hone+")
ALLOCATED_BY_NUMPY = (("numpy",), "hone numpy")
THERE = (("torch=", "numpy="), "hone")
EXPORT_SECONDS = 40


def to_torch(array):
    """A tensor in the memory of an array. PyTorch does not know NumPy's
    bfloat16."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_numpy(result):
    if isinstance(result, np.ndarray):
        return np.ascontiguousarray(result)
    result = result.contiguous()
    if result.dtype == torch.bfloat16:
        return result.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return result.numpy()


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


@dataclasses.dataclass(frozen=True)
class Peer:
    family: str
    name: str
    call: object
    results: object  # a function: calls, and returns arrays as JAX has them


def library_peers(family, expressions, inputs, convert):
    """The peers of a library's expressions, without and with memory for their
    results."""
    for expression in expressions:
        def make(call, name=expression.name, restore=expression.restore):
            def results():
                return [to_numpy(restore(r)) for r in as_list(call())]
            return name, call, results

        prepared = expression.prepare(*map(convert, inputs))

        def compute(compute=expression.compute, prepared=prepared):
            return compute(*prepared)

        yield Peer(family, *make(compute))
        if expression.into is not None:
            like = compute()
            result = (torch.empty_like(like) if isinstance(like, torch.Tensor)
                      else np.empty_like(like))

            def into(into=expression.into, result=result, prepared=prepared):
                into(result, *prepared)
                return result

            yield Peer(family + "=", *make(into))


def compiled_peers(expressions, inputs):
    """torch.compile of each expression, each with caches of its own."""
    for expression in expressions:
        prepared = expression.prepare(*map(to_torch, inputs))
        function = torch.compile(expression.compute, dynamic=False)

        def compute(function=function, prepared=prepared):
            return function(*prepared)

        def results(compute=compute, restore=expression.restore):
            return [to_numpy(restore(r)) for r in as_list(compute())]

        yield Peer("compiled", expression.name, compute, results)


def xla_peer(function, inputs):
    compiled = jax.jit(function)
    arguments = [jax.device_put(x) for x in inputs]

    def call():
        return jax.block_until_ready(compiled(*arguments))

    return Peer("xla", "jax.jit", call,
                lambda: [np.asarray(r) for r in jax.tree.leaves(call())])


def export(hone, hlo, threads, trials, seconds, folder):
    """Returns the shared object of a module, tuned with so many trials, if any.
    Raises RuntimeError, also if it takes more than `seconds`."""
    source, target = folder / "kernel.hlo", folder / "kernel.so"
    source.write_text(hlo)
    target.unlink(missing_ok=True)
    if trials:
        command = [hone, "tune", source, "--task", "module", "--local",
                   "--state", folder / "state", "--trials", str(trials)]
    else:
        command = [hone, "run", source, "--default"]
    try:
        result = subprocess.run(
            [*command, "--target", "cpu", "--threads", str(threads),
             "--export", target], capture_output=True, text=True,
            timeout=seconds)
    except subprocess.TimeoutExpired:
        what = "tuned" if trials else "compiled"
        raise RuntimeError(f"not {what} within {seconds} s") from None
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip() or
                           f"exit status {result.returncode}")
    return target


def mismatch(expected, actual):
    """Says how results differ by more than their tolerance; None if they do
    not."""
    difference = xla_runner.mismatch(expected, actual)
    if difference:
        return difference
    for i, (x, y) in enumerate(zip(expected, actual)):
        error = xla_runner.error(x, y)
        if not xla_runner.within_tolerance(error, x.dtype):
            return f"result {i} differs by {error:.2g}"
    return None


def is_nearer(function, inputs, expected, actual):
    """Returns true if each result of `actual` is right by what the function
    makes of inputs in float32 in place of bfloat16: within the tolerance of its
    type, and no farther than that of `expected`. Which of two roundings of a
    long sum is right XLA does not know."""
    wide = [x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x
            for x in inputs]
    if all(w is x for w, x in zip(wide, inputs)):
        return False
    precise = [np.asarray(r)
               for r in jax.tree.leaves(jax.jit(function)(*wide))]
    return all(xla_runner.within_tolerance(xla_runner.error(p, a), a.dtype) and
               xla_runner.error(p, a) <= xla_runner.error(p, x)
               for p, x, a in zip(precise, expected, actual))


class Hone:
    """An exported kernel on its inputs."""

    def __init__(self, path, inputs, like, threads, huge=True, lines=None):
        self.results = [
            memory.poison(memory.empty(
                a.shape, a.dtype, (len(inputs) + i) * memory.LINES_APART
                if lines is None else lines[i], huge))
            for i, a in enumerate(like)]
        self._entry = peers.load_entry(path, threads)
        self.call = peers.bind_entry(self._entry, inputs, self.results)
        self._inputs = inputs

    def allocating_call(self):
        types = {np.dtype(ml_dtypes.bfloat16): torch.bfloat16}
        specs = [(r.shape, types.get(r.dtype) or
                  getattr(torch, str(r.dtype))) for r in self.results]
        return peers.bind_allocating_entry(self._entry, self._inputs, specs)

    def numpy_allocating_call(self):
        return peers.bind_numpy_allocating_entry(
            self._entry, self._inputs,
            [(r.shape, r.dtype) for r in self.results])


def screen(call):
    """Returns the least time of some calls in seconds, but of one where that
    takes long."""
    best, total = float("inf"), 0.0
    for _ in range(SCREENED_CALLS):
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, total = min(best, took), total + took
        if total > SCREEN_SECONDS:
            break
    return best


class Runner:
    def __init__(self, seed, count, hone, threads, rounds, compiled, trials=0,
                 trial_seconds=0):
        torch.set_num_threads(threads)
        self._cases = sweep.make_cases(seed, count)
        self._seed, self._hone = seed, hone
        self._threads, self._rounds = threads, rounds
        self._compiled, self._trials = compiled, trials
        self._export_seconds = EXPORT_SECONDS + trials * trial_seconds

    def row(self, name, begin):
        """Returns the row of a case; sweep_table.py says what is in it.
        `begin`: of isolation.Worker."""
        case = self._cases[name]
        row = {"kernel": name, "kind": case.kind, "threads": self._threads}
        with tempfile.TemporaryDirectory() as folder:
            try:
                return row | self._examine(case, pathlib.Path(folder), begin)
            except RuntimeError as error:
                return row | {"failure": str(error)}

    def _examine(self, case, folder, begin):
        begin("peers are checked")
        rng = np.random.default_rng([self._seed, len(case.name)])
        values = [a.make(rng) for a in case.arguments]
        inputs = [memory.place(v, i) for i, v in enumerate(values)]
        xla = xla_peer(case.function, inputs)
        expected = [memory.place(r, i) for i, r in enumerate(xla.results())]
        others, wrong = self._right_peers(case, inputs, expected)
        begin("Hone compiles")
        path = export(self._hone, case.hlo(), self._threads, self._trials,
                      self._export_seconds, folder)
        begin("Hone is checked")
        hone = Hone(path, inputs, expected, self._threads)
        start = time.perf_counter()
        hone.call()
        first = time.perf_counter() - start
        self._require_equal(case, inputs, expected, hone.results, "")
        begin("times are taken")
        screened = {peer: screen(peer.call) for peer in (xla, *others)}
        row = {"wrong_peers": wrong,
               "screened_us": {f"{peer.family} {peer.name}": s * 1e6
                               for peer, s in screened.items()}}
        least = min(screened.values())
        if first > HOPELESS * least:
            again = min(first, screen(hone.call))
            if again > HOPELESS * least:
                us = {}
                for peer, seconds in screened.items():
                    us[peer.family] = min(us.get(peer.family, float("inf")),
                                          seconds * 1e6)
                return row | {"slow": least / again,
                              "us": us | {"hone": again * 1e6}}
        row |= self._measure(hone, screened)
        self._require_equal(case, inputs, expected, hone.results,
                            " after timing")
        begin("results are confirmed")
        elsewhere = self._elsewhere(case, path, values, expected, rng)
        return row | {"elsewhere_us": elsewhere * 1e6}

    def _right_peers(self, case, inputs, expected):
        candidates = [*library_peers("torch", case.torch, inputs, to_torch),
                      *library_peers("numpy", case.numpy, inputs, lambda x: x)]
        if self._compiled:
            candidates += compiled_peers(case.torch, inputs)
        wrong = {}
        for peer in candidates:
            difference = mismatch(expected, peer.results())
            if difference:
                wrong[f"{peer.family} {peer.name}"] = difference
        return [peer for peer in candidates
                if f"{peer.family} {peer.name}" not in wrong], wrong

    @staticmethod
    def _require_equal(case, inputs, expected, actual, when):
        difference = mismatch(expected, actual)
        if difference and not is_nearer(case.function, inputs, expected,
                                        actual):
            raise RuntimeError(f"WRONG{when}: {difference}")

    def _measure(self, hone, screened):
        chosen = {}
        for families, _ in (ALLOCATED, ALLOCATED_BY_NUMPY, THERE):
            these = [p for p in screened if p.family in families]
            if not these:
                continue
            least = min(screened[p] for p in these)
            for peer in sorted(these, key=screened.get):
                if screened[peer] <= SLOW_PEER * least:
                    chosen.setdefault(peer.family, peer)
        calls = {"hone": hone.call, "hone+": hone.allocating_call(),
                 **{family: peer.call for family, peer in chosen.items()}}
        if "numpy" in chosen:
            calls["hone numpy"] = hone.numpy_allocating_call()
        gc.collect()
        measured = interleaved.measure(calls, self._rounds, self._threads, 1)
        samples = measured.samples
        us = {family: statistics.median(s.seconds) * 1e6
              for family, s in samples.items()}
        ratios = {}
        for families, own in (ALLOCATED, ALLOCATED_BY_NUMPY, THERE):
            timed = [family for family in families if family in samples]
            if timed:
                peer = min(timed, key=us.get)
                ratios[own] = {"peer": peer, "hone": own,
                               "ratio": interleaved.ratio(
                                   samples[peer].seconds,
                                   samples[own].seconds)}
        return {"us": us, "ratios": ratios,
                "peers": {family: peer.name
                          for family, peer in chosen.items()},
                "best": min(ratios.values(), key=lambda r: r["ratio"][0]),
                "disturbed": measured.disturbed,
                "rounds_taken": measured.rounds_taken,
                "rounds_disturbed": measured.rounds_disturbed,
                "samples": {family: dataclasses.asdict(s)
                            for family, s in samples.items()}}

    def _elsewhere(self, case, path, values, expected, rng):
        """Confirms the results from small pages at random offsets. Returns the
        seconds of a call there."""
        lines = rng.integers(0, memory.HUGE_PAGE // memory.CACHE_LINE // 2,
                             len(values) + len(expected)).tolist()
        inputs = [memory.place(v, i, huge=False, lines=lines[i])
                  for i, v in enumerate(values)]
        hone = Hone(path, inputs, expected, self._threads, huge=False,
                    lines=lines[len(values):])
        hone.call()
        self._require_equal(case, inputs, expected, hone.results,
                            " from other pages")
        return screen(hone.call)
