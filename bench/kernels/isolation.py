"""Runs pieces of work one after the other in a process of its own, so that one
that crashes or does not end costs its own row and no other.

The process is started anew after such a piece only: it loads its libraries
once. It inherits the environment and the cores of its parent.
"""

import multiprocessing
import signal


class Failed(Exception):
    """The process ended, or did not answer in time."""


def _serve(connection, make_worker, options):
    worker = make_worker(options)
    connection.send(None)
    while True:
        item = connection.recv()
        if item is None:
            return
        connection.send(worker(item))


class Worker:
    """`make_worker(options)`, a function of a module, returns a function of one
    item; it and the items travel by pickle."""

    # Loading libraries and what else make_worker does.
    START_SECONDS = 120

    def __init__(self, make_worker, options, limit_seconds):
        self._make_worker, self._options = make_worker, options
        self._limit = limit_seconds
        self._process = None

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
        try:
            if self._connection.poll(seconds):
                return self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._stop()
            raise Failed(f"the process ended by {signal.Signals(-code).name}"
                         if code < 0 else
                         f"the process ended with status {code}") from None
        self._stop()
        raise Failed(f"no result within {seconds:g} s")

    def _stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None
