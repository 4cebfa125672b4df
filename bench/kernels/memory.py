"""Memory of arguments and results for what is compared and timed.

Arguments and expected results lie in pages that are read-only once they are
filled: a kernel that writes to them is ended by the system and does not spoil
the comparison. Results hold NaNs, or the like of integers, before a run that is
checked, so that what a kernel leaves out shows.
"""

import ctypes
import mmap

import numpy as np

HUGE_PAGE = 2 << 20
CACHE_LINE = 64
# Two arrays of a kernel at the same place of their pages would fight for the
# same sets of a cache.
LINES_APART = 17

_libc = ctypes.CDLL(None, use_errno=True)


def empty(shape, dtype, lines=0, huge=True):
    """Returns an array in pages of its own, `lines` cache lines behind a
    boundary of HUGE_PAGE; `huge` false: in pages of the usual size."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    offset = lines * CACHE_LINE
    pages = mmap.mmap(-1, count * dtype.itemsize + HUGE_PAGE + offset)
    try:
        pages.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
    except OSError:  # a kernel without huge pages has the usual ones
        pass
    memory = np.frombuffer(pages, np.uint8)
    start = -memory.ctypes.data % HUGE_PAGE + offset
    return memory[start:start + count * dtype.itemsize].view(dtype).reshape(
        shape)


def protect(array):
    """Makes the pages of an array of `empty` read-only."""
    pages = array
    while not isinstance(pages, mmap.mmap):
        pages = pages.base if isinstance(pages, np.ndarray) else pages.obj
    address = np.frombuffer(pages, np.uint8).ctypes.data
    if _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(pages)),
                      mmap.PROT_READ):
        raise OSError(ctypes.get_errno(), "mprotect")
    return array


def place(values, index, huge=True, lines=None):
    """Returns a read-only copy of an array, the argument `index` of a kernel:
    at the same place in every run, unless `lines` says which."""
    array = empty(values.shape, values.dtype,
                  index * LINES_APART if lines is None else lines, huge)
    array[...] = values
    return protect(array)


def poison(array):
    """Fills a result with what no kernel of the benches computes."""
    if array.dtype.kind in "iu":
        array[...] = np.iinfo(array.dtype).max
    elif array.dtype.kind == "b":
        array.view(np.uint8)[...] = 0xA5
    else:
        array[...] = np.nan
    return array
