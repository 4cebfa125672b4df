"""Calls shared objects that `hone` exported, by their C interface."""

import ctypes
import pathlib
import re


def load_entry(path):
    """Returns the function that the shared object `path` is named after, which
    takes a context, arguments and results."""
    library = ctypes.CDLL(str(path))
    name = re.sub(r"[^A-Za-z0-9]", "_", pathlib.Path(path).stem)
    # The longer name is for what C has already, which lookups find too.
    if hasattr(library, f"kernel_{name}"):
        name = f"kernel_{name}"
    entry = getattr(library, name)
    entry.restype = ctypes.c_int32
    entry.error_message = getattr(library, f"{name}_error_message", None)
    if entry.error_message:
        entry.error_message.restype = ctypes.c_char_p
    return entry


def bind(entry, arguments, results):
    """Returns a call without arguments. It raises RuntimeError with the entry's
    message if the entry returns an error."""
    def call():
        code = entry(None, arguments, results)
        if code:
            raise RuntimeError(f"error {code}: {_message(entry)}")
    return call


def _message(entry):
    error_message = getattr(entry, "error_message", None)
    return error_message().decode() if error_message else "no message"
