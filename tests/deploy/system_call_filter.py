"""The filters of system calls that systemd 252 loads for a unit, by libseccomp."""

import ctypes
import errno
import itertools
import re
import socket
import subprocess

ALLOW = 0x7FFF0000
EQUAL, GREATER, MASKED_EQUAL = 4, 6, 7
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000
# New namespaces: time, mount, cgroup, uts, ipc, user, pid, net.
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000,
              0x20000000, 0x40000000)


def fails(error):
    return 0x00050000 | error


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    def __init__(self, default=ALLOW):
        self._library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(default))

    def add(self, action, call, *comparisons):
        """Comparisons are (argument, operator, a, b)."""
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number == -1:
            return
        array = (Comparison * len(comparisons))(*comparisons)
        result = self._library.seccomp_rule_add_array(
            self._context, action, number, len(comparisons), array)
        # Other processors have calls that this one lacks.
        if result not in (0, -errno.EDOM, -errno.EINVAL, -errno.EACCES):
            raise OSError(-result, call)

    def load(self):
        result = self._library.seccomp_load(self._context)
        if result != 0:
            raise OSError(-result, "seccomp_load")


def deny_write_execute():
    rules = Filter()
    both = PROT_WRITE | PROT_EXEC
    rules.add(fails(errno.EPERM), "mmap", (2, MASKED_EQUAL, both, both))
    for call in ("mprotect", "pkey_mprotect"):
        rules.add(fails(errno.EPERM), call,
                  (2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
    rules.add(fails(errno.EPERM), "shmat",
              (2, MASKED_EQUAL, SHM_EXEC, SHM_EXEC))
    return rules


def restrict_families(names):
    rules = Filter()
    allowed = {int(getattr(socket, name)) for name in names}
    refused = fails(errno.EAFNOSUPPORT)
    for family in set(range(64)) - allowed:
        rules.add(refused, "socket", (0, EQUAL, family, 0))
    rules.add(refused, "socket", (0, GREATER, 63, 0))
    return rules


def restrict_namespaces():
    rules = Filter()
    for flag, call in itertools.product(NAMESPACES, ("clone", "unshare")):
        rules.add(fails(errno.EPERM), call, (0, MASKED_EQUAL, flag, flag))
    rules.add(fails(errno.EPERM), "setns")
    rules.add(fails(errno.ENOSYS), "clone3")
    return rules


def lock_personality():
    rules = Filter()
    rules.add(fails(errno.EPERM), "personality", (0, GREATER, 0, 0))
    return rules


def restrict_realtime():
    rules = Filter()
    for policy in (1, 2, 6):
        rules.add(fails(errno.EPERM), "sched_setscheduler",
                  (1, EQUAL, policy, 0))
    return rules


def restrict_set_user_id():
    rules = Filter()
    for call, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2),
                       ("mkdir", 1), ("mkdirat", 2)):
        for bit in (0o4000, 0o2000):
            rules.add(fails(errno.EPERM), call, (mode, MASKED_EQUAL, bit, bit))
    return rules


def calls_in(names):
    """Expands sets of calls as this machine's systemd has them."""
    calls, waiting, seen = set(), list(names), set()
    while waiting:
        name = waiting.pop()
        if not name.startswith("@"):
            calls.add(name)
        elif name not in seen:
            seen.add(name)
            listed = subprocess.run(
                ["systemd-analyze", "syscall-filter", name], check=True,
                capture_output=True, text=True).stdout
            waiting += re.findall(r"^ +([@\w-]+)$", listed, re.M)
    return calls


def allow_only(lines):
    """SystemCallFilter= with its first line a list of what is allowed."""
    allowed = calls_in(["@default"])
    for line in lines:
        names = calls_in(line.removeprefix("~").split())
        allowed = allowed - names if line.startswith("~") else allowed | names
    rules = Filter(fails(errno.EPERM))
    for call in sorted(allowed):
        rules.add(ALLOW, call)
    return rules
