"""What takes the cores from the functions that are timed, round by round.

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
    """Of clocks that go on: seconds, of this process on all cores, and of
    `cores` without work."""
    wall: float
    process: float
    idle: float


def idle_seconds(stat, cores):
    """Of `cores`, in the text of /proc/stat: without work, or waiting for a
    disk meanwhile."""
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
    """Of a sample on one core."""
    return max(0.0, 1 - process / wall)


def share_of_others(before, after, cores):
    """Of all cores between two readings, less what ticks leave open."""
    total = (after.wall - before.wall) * cores
    others = (total - (after.process - before.process) -
              (after.idle - before.idle) - TICK_SECONDS * cores)
    return max(0.0, others / total)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Of one round."""
    most_lost: float  # the largest lost_share of its samples
    others: float  # share_of_others
    witness: float | None  # a share of the peak; None where there is none


def judge(evidence, threads):
    """Why a round is disturbed, in a word, or None."""
    if threads == 1 and evidence.most_lost > MOST_LOST:
        return "preempted"
    if threads > 1 and evidence.others > MOST_LOST_BY_ALL:
        return "others"
    if evidence.witness is not None and evidence.witness < LEAST_PEAK:
        return "slow"
    return None


def preemptions():
    """Of all threads of this process so far, by its own threads too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
