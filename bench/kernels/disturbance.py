"""Tells, round by round, whether something else took the cores from the
functions that are timed.

A round is judged as a whole, by the same rules whatever it times:

- One thread: while a sample is taken some thread of this process wants the
  core all the time, so what the process did not get of it (the time by the
  clock less the time on a core) went to others. A round with a sample that
  lost more than MOST_LOST is disturbed.
- Several threads: they may wait for each other, so time off the cores says
  nothing by itself. What the cores did over the round in neither this process
  nor idleness (/proc/stat; stolen time is part of it) went to others. Idleness
  is counted in ticks; a tick for each core is allowed for, beyond which a
  share of MOST_LOST_BY_ALL disturbs the round.
- Either: the witness, a loop of multiply-adds on every core for WITNESS_SECONDS
  (calibration.py) at the end of each round, was below LEAST_PEAK of its peak:
  a clock that fell, or a host that has other guests.
"""

import dataclasses
import os
import pathlib
import resource
import time

MOST_LOST = 0.02
MOST_LOST_BY_ALL = 0.05
LEAST_PEAK = 0.85
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
STAT = pathlib.Path("/proc/stat")


@dataclasses.dataclass(frozen=True)
class Reading:
    """Clocks: seconds since some time, seconds of this process on any core, and
    seconds without work of the cores."""
    wall: float
    process: float
    idle: float


def idle_seconds(stat, cores):
    """Returns the time that `cores` were without work, be it waiting for a
    disk, from the text of /proc/stat."""
    names = {f"cpu{core}" for core in cores}
    ticks = sum(int(fields[4]) + int(fields[5])
                for fields in map(str.split, stat.splitlines())
                if fields and fields[0] in names)
    return ticks * TICK_SECONDS


def read(cores):
    stat = STAT.read_text() if STAT.exists() else ""
    return Reading(time.perf_counter(), time.process_time(),
                   idle_seconds(stat, cores))


def lost_share(wall, process):
    """Returns the share of a sample in which the process had no core."""
    return max(0.0, 1 - process / wall)


def share_of_others(before, after, cores):
    """Returns the share of all cores that other processes, or the host, had
    between two readings; what the length of ticks leaves open is not theirs."""
    total = (after.wall - before.wall) * cores
    others = (total - (after.process - before.process) -
              (after.idle - before.idle) - TICK_SECONDS * cores)
    return max(0.0, others / total)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Measurements of a round that say whether it was disturbed."""
    most_lost: float  # the largest lost_share of its samples
    others: float  # share_of_others
    witness: float | None  # a share of the peak; None where there is none


def judge(evidence, threads):
    """Returns the reason why a round is disturbed, in a word, or None."""
    if threads == 1 and evidence.most_lost > MOST_LOST:
        return "preempted"
    if threads > 1 and evidence.others > MOST_LOST_BY_ALL:
        return "others"
    if evidence.witness is not None and evidence.witness < LEAST_PEAK:
        return "slow"
    return None


def preemptions():
    """Counts the preemptions of all threads of this process so far, those by
    its own threads included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
