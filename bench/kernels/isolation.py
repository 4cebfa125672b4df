"""Runs pieces of work one after the other in a process of its own, so that one
that crashes or does not end costs its own row and no other.

The process is started anew after such a piece only: it loads its libraries
once. It inherits the environment and the cores of its parent. A piece says
which phase of its work begins, so that a failure names the phase in which it
came, and long phases are reported while they last.
"""

import dataclasses
import multiprocessing
import signal
import sys
import time

# A phase that takes so long is reported, and again each time that it took twice
# as long.
TOLD_SECONDS = 15


class Failed(Exception):
    """The process ended, or did not answer in time. `phase`: the one in which
    that happened, None if the work names none."""

    def __init__(self, message, phase=None):
        super().__init__(message)
        self.phase = phase


@dataclasses.dataclass(frozen=True)
class Begin:
    """A message of the process: a phase begins."""
    phase: str


def _serve(connection, make_worker, options):
    worker = make_worker(options)
    connection.send(None)
    while True:
        item = connection.recv()
        if item is None:
            return
        connection.send(worker(item, lambda phase: connection.send(
            Begin(phase))))


def tell(phase, seconds):
    print(f"  {phase}: {seconds:.0f} s so far", file=sys.stderr)


class Phases:
    """The phases of one item and what they took; `clock` in seconds."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self.start = clock()
        self.current = None
        self._since, self._told = self.start, TOLD_SECONDS
        self._seconds = {}

    def begin(self, phase):
        self.end()
        self.current, self._told = phase, TOLD_SECONDS

    def end(self):
        now = self._clock()
        if self.current is not None:
            self._seconds[self.current] = (
                self._seconds.get(self.current, 0) + now - self._since)
        self.current, self._since = None, now

    @property
    def seconds(self):
        """By phase, the current one included."""
        if self.current is None:
            return dict(self._seconds)
        return self._seconds | {self.current: self._seconds.get(
            self.current, 0) + self._clock() - self._since}

    def left(self, limit, limits):
        """Seconds until the item, or its phase, exceeds its limit, and which
        limit that is."""
        now = self._clock()
        return min((self.start + limit - now, limit),
                   (self._since + limits[self.current] - now,
                    limits[self.current])
                   if self.current in limits else (float("inf"), limit))

    def until_told(self):
        if self.current is None:
            return float("inf")
        return self._since + self._told - self._clock()

    def tell(self, teller):
        teller(self.current, self._clock() - self._since)
        self._told *= 2

    def describe(self):
        """": XLA compiles (570 s), after Hone compiles (3 s)"; empty without
        phases."""
        times = {phase: f"{phase} ({seconds:.0f} s)"
                 for phase, seconds in self.seconds.items()}
        last = times.pop(self.current, None)
        if last is None:
            return ""
        return f": {last}" + (f", after {', '.join(times.values())}"
                              if times else "")


class Worker:
    """`make_worker(options)`, a function of a module, returns a function of one
    item and of `begin`, which it calls with the name of each phase; it and the
    items travel by pickle. `limits`: seconds for phases by name, beside those
    for the whole item. `teller`: gets the name and the seconds of a phase that
    takes long."""

    # Loading libraries and what else make_worker does.
    START_SECONDS = 120

    def __init__(self, make_worker, options, limit_seconds, limits=None,
                 teller=tell):
        self._make_worker, self._options = make_worker, options
        self._limit, self._limits = limit_seconds, limits or {}
        self._teller = teller
        self._process = None
        # What the phases of the last item took.
        self.seconds = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def __call__(self, item):
        """Returns the worker's answer. Raises Failed."""
        if self._process is None:
            self._start()
        self._connection.send(item)
        return self._receive(self._limit)

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(other, self._make_worker, self._options),
            daemon=True)
        self._process.start()
        other.close()
        self._receive(self.START_SECONDS)

    def _receive(self, seconds):
        phases = Phases()
        try:
            while True:
                left, limit = phases.left(seconds, self._limits)
                if left <= 0:
                    break
                if self._connection.poll(min(left, phases.until_told())):
                    message = self._connection.recv()
                    if not isinstance(message, Begin):
                        phases.end()
                        return message
                    phases.begin(message.phase)
                elif phases.until_told() <= 0:
                    phases.tell(self._teller)
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._stop()
            end = (f"by {signal.Signals(-code).name}" if code < 0 else
                   f"with status {code}")
            raise Failed(f"the process ended {end}{phases.describe()}",
                         phases.current) from None
        finally:
            self.seconds = phases.seconds
        self._stop()
        raise Failed(f"no result within {limit:g} s{phases.describe()}",
                     phases.current)

    def _stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None
