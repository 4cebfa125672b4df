#!/usr/bin/env python3
"""Runs a command as systemd would run the program of a unit: emulated, as there
is no systemd in a test.

Usage: enter_unit.py UNIT STATE [COMMAND...]    default: its ExecStart=

In a mount namespace of its own. STATE stands for the folders of StateDirectory=.
Each directive of [Service] is done here, or named in NOT_DONE with what covers
it instead; another one is an error.
"""

import ctypes
import os
import pathlib
import shlex
import subprocess
import sys

import system_call_filter

PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, PR_CAPBSET_DROP = 38, 65, 24
LAST_CAPABILITY = 40
# Of the range that DynamicUser= takes them from.
DYNAMIC_USERS = {"hone.service": 61200, "hone-worker.service": 61201}

# units_test.py has `systemd-analyze verify` and `security` read these.
NOT_DONE = {
    "KillMode", "Restart", "RestartSec", "TimeoutStopSec",  # systemd's own work
    "IPAddressAllow", "IPAddressDeny", "MemoryMax",  # need a cgroup
    "PrivateDevices", "PrivateUsers", "ProtectHostname", "ProcSubset",
    "RemoveIPC",  # nothing of them is used
    "ProtectProc",  # needs a /proc of its own
    # Without capabilities and under another user, these calls fail anyway.
    "ProtectClock", "ProtectKernelLogs", "ProtectKernelModules",
    "SystemCallArchitectures",  # the programs have one
}
DONE = {
    "AmbientCapabilities", "CapabilityBoundingSet", "DynamicUser",
    "Environment", "ExecStart", "LockPersonality", "MemoryDenyWriteExecute",
    "NoNewPrivileges", "PrivateTmp", "ProtectControlGroups", "ProtectHome",
    "ProtectKernelTunables", "ProtectSystem", "RestrictAddressFamilies",
    "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID",
    "StateDirectory", "StateDirectoryMode", "SystemCallErrorNumber",
    "SystemCallFilter", "Type", "UMask",
}

RESTRICTIONS = {
    "LockPersonality": system_call_filter.lock_personality,
    "MemoryDenyWriteExecute": system_call_filter.deny_write_execute,
    "RestrictNamespaces": system_call_filter.restrict_namespaces,
    "RestrictRealtime": system_call_filter.restrict_realtime,
    "RestrictSUIDSGID": system_call_filter.restrict_set_user_id,
}

libc = ctypes.CDLL(None, use_errno=True)


def prctl(*arguments):
    padded = [*arguments, 0, 0, 0, 0][:5]
    return libc.prctl(*map(ctypes.c_ulong, padded)) == 0


def service_of(unit):
    """The lines of [Service], in lists by directive."""
    lines, section = {}, None
    for line in unit.read_text().splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            lines.setdefault(name, []).append(value)
    return lines


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def protect_files(service, state):
    """The directives on files; those that are absent protect nothing."""
    def says(name, value="yes"):
        return service.get(name) == [value]

    mount("--make-rprivate", "/")
    if says("ProtectHome"):
        for folder in ("/home", "/root"):
            mount("-t", "tmpfs", "-o", "mode=000,ro", "tmpfs", folder)
    if "StateDirectory" in service:
        mount("--bind", state, state)
    if says("ProtectSystem", "strict"):
        lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        for target in dict.fromkeys(line.split()[4] for line in lines):
            stays = target == "/proc" or target.startswith(("/proc/", "/dev"))
            if not stays and not (target == str(state) and
                                  "StateDirectory" in service):
                # What others have mounted below may refuse: / must not.
                subprocess.run(["mount", "-o", "remount,bind,ro", target],
                               stderr=subprocess.DEVNULL, check=target == "/")
    if says("ProtectKernelTunables"):
        mount("--bind", "/proc/sys", "/proc/sys")
        mount("-o", "remount,bind,ro", "/proc/sys")
    if says("PrivateTmp"):
        for folder in ("/tmp", "/var/tmp"):
            mount("-t", "tmpfs", "-o", "mode=1777,nosuid,nodev", "tmpfs",
                  folder)


def has_users():
    """False in the namespace of a test that was started without root."""
    return int(pathlib.Path("/proc/self/uid_map").read_text().split()[2]) > 1


def become(user):
    """DynamicUser= and no capabilities."""
    for capability in range(LAST_CAPABILITY + 1):
        prctl(PR_CAPBSET_DROP, capability)
    if has_users():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def main():
    unit, state = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    service = service_of(unit)
    unknown = set(service) - DONE - NOT_DONE
    if unknown:
        sys.exit(f"{unit.name}: neither emulated nor named in NOT_DONE: "
                 f"{', '.join(sorted(unknown))}")
    user = DYNAMIC_USERS[unit.name]
    if "StateDirectory" in service:
        state.mkdir(exist_ok=True)
        state.chmod(int(service["StateDirectoryMode"][0], 8))
        if has_users():
            os.chown(state, user, user)
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    if service.get("Type") == ["notify"]:
        environment["NOTIFY_SOCKET"] = os.environ.get("NOTIFY_SOCKET", "")
    for value in service.get("Environment", []):
        environment |= dict(pair.split("=", 1) for pair in value.split())
    filters = [restrict() for name, restrict in RESTRICTIONS.items()
               if service.get(name) == ["yes"]]
    if families := service.get("RestrictAddressFamilies"):
        filters.append(
            system_call_filter.restrict_families(families[0].split()))
    denies = service.get("MemoryDenyWriteExecute") == ["yes"]
    filters.append(system_call_filter.allow_only(service["SystemCallFilter"]))
    protect_files(service, state)
    os.umask(int(service.get("UMask", ["022"])[0], 8))
    os.chdir("/")
    if service.get("DynamicUser") == ["yes"]:
        become(user)
    # systemd sets it with filters and without CAP_SYS_ADMIN anyway.
    if not prctl(PR_SET_NO_NEW_PRIVS, 1):
        sys.exit("no PR_SET_NO_NEW_PRIVS")
    # Before Linux 6.3 there is the filter only.
    if denies and not prctl(PR_SET_MDWE, 1) and \
            ctypes.get_errno() not in (0, 22):
        sys.exit("no PR_SET_MDWE")
    command = sys.argv[3:] or shlex.split(service["ExecStart"][0])
    for rules in filters:
        rules.load()
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    main()
