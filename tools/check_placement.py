#!/usr/bin/env python3
"""Checks a placement: recomputes its cost and memory from their definitions.

Usage: check_placement.py GRAPH RESULT [--cluster TOML] [--json] [--bounds]

GRAPH is what `hone graph` writes: operators, which need a cluster, or latencies
in the dnn-partitioning format. RESULT is what `hone tune --json` prints, or a
decision of it. Exit status: 0 for a valid placement whose claims agree to 1e-9,
1 for another one, 2 for bad usage or input. Shares no code with the simulator.

Step time, of operators
- A fused node is computed in the kernels of all its users. Any other node is
  the root of a kernel: it, and the fused nodes that it reads directly or
  through others. What a kernel costs: kernel_cost. Its seconds: launch +
  max(flops / peak, bytes / bandwidth), 0 if it has neither; those of a
  transfer: latency + bytes / bandwidth.
- A kernel is ready once its inputs are on its device. An idle device starts the
  ready kernel of the highest priority, ties by node. A kernel without time runs
  at once, beside others. A finished kernel sends its result to each other
  device with a reader, in the order of devices, as many bytes as the most that
  a node there reads, through a queue per ordered pair of devices.
- At one time: kernels finish, by root, then transfers arrive, by root and
  device, as long as there are any; then idle devices start kernels.
- Memory: the weights of a device's kernels, once; results from the start of
  their kernel to the last reader there and the last transfer out; copies from
  the start of their transfer to the last reader there. Results of the program
  and those without readers stay to the end of the step. What is held for no
  time does not count.

Max load, of latencies
- Load of a CPU core: the cpuLatency of its nodes. Of an accelerator: the
  fpgaLatency of its nodes, the cost of each of them that another device reads,
  and the cost of each node elsewhere that it reads.
- Valid: sizes fit, nodes are supported, color classes stay together.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
import tomllib
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from checked_input import (
    MEMORY, RESULT, Arc, InputError, OneLineParser, Reader, any_object, array,
    differences, find_assignment, flag, index_edges, integer, number,
    print_report, read_file, record, shown, string, topological_ranks)

MAX_STEP_DEVICES = 64

# The limits of graphs/step/fusion_rules.h, and its opcodes.
MAX_MEMBERS, MAX_INPUTS, MAX_KERNELS = 48, 48, 8
SIGNIFICANT_REDUCTION, CHEAP_BYTES = 16, 16
FREE = {"parameter", "reshape"}
MAY_FUSE = set("""
    abs add and atan2 bitcast-convert cbrt ceil clamp compare complex convert
    copy cosine count-leading-zeros divide erf exponential exponential-minus-one
    floor imag is-finite log log-plus-one logistic map maximum minimum multiply
    negate not or popcnt power real reduce-precision remainder round-nearest-afz
    round-nearest-even rsqrt select shift-left shift-right-arithmetic
    shift-right-logical sign sine sqrt subtract tan tanh xor
    broadcast concatenate dynamic-slice gather iota pad reshape reverse slice
    transpose""".split())
MAY_READ_FUSED = MAY_FUSE | {"reduce", "dynamic-update-slice", "reduce-window"}

Held = tuple[float, float, float]  # begin, end, bytes


@dataclass
class OpNode:
    id: int
    opcode: str
    flops: float
    bytes: float
    output_bytes: float
    parameter_bytes: float
    is_output: bool = False
    reads: dict[int, float] = field(default_factory=dict)  # bytes of nodes
    is_read: bool = False
    rank: int = 0  # topological
    written: float = 0  # bytes
    share: float = 1  # the part of its operands that it reads
    private_reads: float = 0  # bytes that are of no node's result
    may_fuse: bool = False


OP_GRAPH = record({
    "nodes": array(record(
        {"id": integer(), "opcode": string, "flops": number(),
         "bytes": number(), "output_bytes": MEMORY,
         "parameter_bytes": MEMORY}, {"is_output": flag})),
    "edges": array(record(
        {"from": integer(), "to": integer(), "bytes": MEMORY}))})


def read_op_graph(document: Any) -> list[OpNode]:
    root = OP_GRAPH(document, "")
    arcs = index_edges(root["nodes"], root["edges"], ("from", "to"), "bytes")
    nodes = [OpNode(**node) for node in root["nodes"]]
    for (source, target), bytes_ in arcs.items():
        nodes[target].reads[source] = bytes_
        nodes[source].is_read = True
    ranks = topological_ranks(arcs, [node.id for node in nodes])
    for node, rank in zip(nodes, ranks):
        node.rank = rank
        node.written = min(node.output_bytes, node.bytes)
        reads = node.bytes - node.written
        operands = sum(node.reads.values())
        node.share = min(1.0, reads / operands) if operands > 0 else 1.0
        node.private_reads = max(0.0, reads - operands)
        node.may_fuse = node.opcode in MAY_FUSE or (
            node.opcode == "reduce" and operands + node.private_reads
            < SIGNIFICANT_REDUCTION * node.output_bytes)
    return nodes


@dataclass
class DeviceNode:
    id: int
    fpgaLatency: float
    cpuLatency: float
    size: float
    supportedOnFpga: bool
    colorClass: int | None = None
    cost: float = 0.0
    readers: list[int] = field(default_factory=list)


DEVICE_GRAPH = record({
    "maxFPGAs": integer(0, 1 << 20), "maxCPUs": integer(0, 1 << 20),
    "maxSizePerFPGA": number(),
    "nodes": array(record(
        {"id": integer(), "fpgaLatency": number(), "cpuLatency": number(),
         "size": MEMORY, "supportedOnFpga": flag},
        {"colorClass": integer()})),
    "edges": array(record(
        {"sourceId": integer(), "destId": integer(), "cost": number()}))})


def read_device_graph(document: Any) -> dict[str, Any]:
    root = DEVICE_GRAPH(document, "")
    arcs = index_edges(root["nodes"], root["edges"], ("sourceId", "destId"),
                       "cost")
    nodes = [DeviceNode(**node) for node in root["nodes"]]
    topological_ranks(arcs, [node.id for node in nodes])
    for i, ((source, target), cost) in enumerate(arcs.items()):
        node = nodes[source]
        if node.readers and node.cost != cost:
            raise InputError(f"edges[{i}].cost is not that of the node's other "
                             "edges")
        node.cost = cost
        node.readers.append(target)
    devices = root["maxFPGAs"] + root["maxCPUs"]
    return root | {"nodes": nodes, "devices": devices}


def read_graph(text: bytes) -> list[OpNode] | dict[str, Any]:
    document = any_object(json.loads(text), "")
    is_step = "maxFPGAs" not in document
    return read_op_graph(document) if is_step else read_device_graph(document)


@dataclass
class Link:
    bytes_per_second: float
    latency_seconds: float


@dataclass
class Kind:
    count: int
    flops_per_second: float
    bytes_per_second: float
    launch_seconds: float
    memory_bytes: float = math.inf
    host: int = 0
    link: Link | None = None

    def seconds(self, flops: float, bytes_: float) -> float:
        if flops == 0 and bytes_ == 0:
            return 0.0
        return self.launch_seconds + max(flops / self.flops_per_second,
                                         bytes_ / self.bytes_per_second)


@dataclass
class Cluster:
    devices: list[Kind]  # one object for all devices of a kind
    link: Link
    network: Link

    def transfer_seconds(self, a: int, b: int, bytes_: float) -> float:
        first, second = self.devices[a], self.devices[b]
        link = self.network if first.host != second.host else self.link
        if first is second and first.link is not None:
            link = first.link
        return link.latency_seconds + bytes_ / link.bytes_per_second


RATE = number(1, 1e30)
SECONDS = number(0, 3600)
LINK = record({"bytes_per_second": RATE, "latency_seconds": SECONDS}, make=Link)
CPU = {"count": integer(1, MAX_STEP_DEVICES), "flops_per_second": RATE,
       "bytes_per_second": RATE, "launch_seconds": SECONDS}


def kinds(required: dict[str, Reader]) -> Reader:
    """Reads a table or an array of them."""
    kind = record(required, {"host": integer(0, 1 << 20), "link": LINK}, Kind)
    return lambda value, place: (array(kind)(value, place) if isinstance(
        value, list) else [kind(value, place)])


CLUSTER = record({"link": LINK},
                 {"accelerators": kinds(CPU | {"memory_bytes": RATE}),
                  "cpus": kinds(CPU), "network": LINK}, make=dict)


def read_cluster(text: bytes) -> Cluster:
    root = CLUSTER(tomllib.loads(text.decode()), "")
    devices = [kind for name in ("accelerators", "cpus")
               for kind in root.get(name, []) for _ in range(kind.count)]
    if not 1 <= len(devices) <= MAX_STEP_DEVICES:
        raise InputError(f"{len(devices)} devices, expected 1 to 64")
    if "network" not in root and len({kind.host for kind in devices}) > 1:
        raise InputError("network is missing, as there are several hosts")
    return Cluster(devices, root["link"], root.get("network", root["link"]))


def read_result(text: bytes, nodes: int, devices: int,
                is_step: bool) -> dict[str, Any]:
    """Returns the fields of a decision and of its record."""
    decision, place = find_assignment(any_object(json.loads(text), ""))
    other = "loads" if is_step else "step_seconds"
    if other in decision:
        raise InputError(f"{other} is a claim about another kind of graph")
    loads = {"loads": array(RESULT, devices)}
    step = {"priorities": array(integer(), nodes),
            "fused": array(integer(0, nodes - 1)), "unit": string,
            "step_seconds": RESULT, "peak_bytes": array(RESULT, devices)}
    result = {"fused": [], "priorities": [0] * nodes} | record(
        {"assignment": array(integer(), nodes)},
        {"cost": RESULT} | (step if is_step else loads))(decision, place)
    fused = set(result["fused"])
    if len(fused) < len(result["fused"]) or len(fused) == nodes:
        raise InputError("fused has a node twice, or all nodes")
    if result.get("unit", "ms") != "ms":
        raise InputError(f"unit is {shown(result['unit'])}, expected ms")
    for i, device in enumerate(result["assignment"]):
        if i not in fused:
            integer(0, devices - 1)(device, f"assignment[{i}]")
    return result


@dataclass
class Kernel:
    root: int
    members: list[int]  # the root first, each after the members that read it
    flops: float
    bytes: float
    reads: dict[int, float]  # of each root that is read, the largest edge
    users: list[int] = field(default_factory=list)  # numbers of kernels


def members_of(nodes: list[OpNode], root: int, fused: set[int]) -> list[int]:
    """Returns the members of a kernel; if there are too many, some of them."""
    members = {root}
    stack = [root]
    while stack and len(members) <= MAX_MEMBERS:
        for source in nodes[stack.pop()].reads:
            if source in fused and source not in members:
                members.add(source)
                stack.append(source)
    return sorted(members, key=lambda node: -nodes[node].rank)


def kernel_cost(nodes: list[OpNode], members: list[int],
                fused: set[int]) -> tuple[float, float]:
    """Returns flops, of each member times how often its elements are used, and
    bytes: the root's result, what members read besides results, and of each
    other kernel the most that a member reads. A broadcast uses elements often,
    at most 1e18 times, who reads a share of its operands as much less."""
    root = nodes[members[0]]
    if len(members) == 1:
        return (0.0, 0.0) if root.opcode in FREE else (root.flops, root.bytes)
    use: dict[int, float] = defaultdict(float, {members[0]: 1.0})  # how often
    read: dict[int, float] = defaultdict(float)  # of other kernels
    flops, bytes_ = 0.0, root.written
    for index in members:
        member = nodes[index]
        flops += member.flops * use[index]
        bytes_ += member.private_reads * min(1.0, use[index])
        for source, edge_bytes in member.reads.items():
            if source not in fused:
                read[source] = max(read[source], edge_bytes * member.share
                                   * min(1.0, use[index]))
            elif member.opcode == "broadcast" and edge_bytes > 0:
                times = max(1.0, member.output_bytes / edge_bytes)
                use[source] = max(use[source], min(1e18, use[index] * times))
            else:
                use[source] = max(use[source], use[index] * member.share)
    return flops, bytes_ + sum(read[source] for source in sorted(read))


def make_kernels(nodes: list[OpNode], fused: set[int]) -> list[Kernel]:
    """Returns the kernels in the order of their roots."""
    kernels = []
    for root in sorted(set(range(len(nodes))) - fused):
        members = members_of(nodes, root, fused)
        flops, bytes_ = kernel_cost(nodes, members, fused)
        if not flops + bytes_ < 1e200:
            raise InputError(f"the kernel of nodes[{root}] is too large")
        reads: dict[int, float] = defaultdict(float)
        for member in members:
            for source, edge_bytes in nodes[member].reads.items():
                if source not in fused:
                    reads[source] = max(reads[source], edge_bytes)
        kernels.append(Kernel(root, members, flops, bytes_, reads))
    number_of = {kernel.root: i for i, kernel in enumerate(kernels)}
    for i, kernel in enumerate(kernels):
        for source in kernel.reads:
            kernels[number_of[source]].users.append(i)
    return kernels


def fusion_findings(nodes: list[OpNode], fused: set[int],
                    kernels: list[Kernel]) -> Iterator[str]:
    for i in sorted(fused):
        if not nodes[i].may_fuse:
            yield f"node {i} is fused, but {shown(nodes[i].opcode)} may not"
        if nodes[i].is_output:
            yield f"node {i} is fused, but a result of the program"
        if not nodes[i].is_read:
            yield f"node {i} is fused, but has no user"
    uses: dict[int, int] = defaultdict(int)
    for kernel in kernels:
        for member in kernel.members[1:]:
            uses[member] += 1
        size = len(kernel.members)
        if size > 1 and nodes[kernel.root].opcode not in MAY_READ_FUSED:
            yield f"node {kernel.root} may not read fused nodes"
        if size > MAX_MEMBERS:
            yield f"node {kernel.root}: over {MAX_MEMBERS} nodes in its kernel"
        elif size > 1 and len(kernel.reads) > MAX_INPUTS:
            yield f"node {kernel.root}: over {MAX_INPUTS} inputs of its kernel"
    for i, count in sorted(uses.items()):
        costs = (nodes[i].reads or nodes[i].flops > 0
                 or nodes[i].parameter_bytes > CHEAP_BYTES)
        if count > MAX_KERNELS and costs:
            yield f"node {i} is in {count} kernels, over {MAX_KERNELS}"


@dataclass
class Delivery:
    """A result that another device reads."""
    bytes: float = 0.0
    users: list[int] = field(default_factory=list)  # kernels
    begin: float = math.nan
    end: float = math.nan


class Step:
    """One step, simulated: when kernels and transfers begin and end."""

    def __init__(self, cluster: Cluster, kernels: list[Kernel],
                 devices: list[int], priorities: list[int]) -> None:
        self.cluster, self.kernels = cluster, kernels
        self.devices, self.priorities = devices, priorities  # of kernels
        self.begin = [math.nan] * len(kernels)
        self.end = [math.nan] * len(kernels)
        self.local_users: list[list[int]] = [[] for _ in kernels]
        self.deliveries: list[dict[int, Delivery]] = []  # by device, ascending
        for i in range(len(kernels)):
            self._plan_deliveries(i)
        self._times = [cluster.devices[device].seconds(k.flops, k.bytes)
                       for k, device in zip(kernels, devices)]
        self._waits = [len(kernel.reads) for kernel in kernels]
        # (time, is it an arrival, kernel, device that it arrives at)
        self._events: list[tuple[float, bool, int, int]] = []
        self._ready: list[list[tuple[int, int]]] = [[] for _ in cluster.devices]
        self._running: list[int | None] = [None] * len(cluster.devices)
        # Kernels by pair of devices; the result of the first is on its way.
        self._channels: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        self._run()
        self.seconds = max(self.end)

    def _plan_deliveries(self, kernel: int) -> None:
        deliveries: dict[int, Delivery] = defaultdict(Delivery)
        for user in self.kernels[kernel].users:
            if self.devices[user] == self.devices[kernel]:
                self.local_users[kernel].append(user)
                continue
            delivery = deliveries[self.devices[user]]
            bytes_ = self.kernels[user].reads[self.kernels[kernel].root]
            delivery.bytes = max(delivery.bytes, bytes_)
            delivery.users.append(user)
        self.deliveries.append(dict(sorted(deliveries.items())))

    def _run(self) -> None:
        for kernel, waits in enumerate(self._waits):
            if waits == 0:
                self._make_ready(kernel, 0.0)
        now = 0.0
        while True:
            while self._events and self._events[0][0] == now:
                _, is_arrival, kernel, device = heapq.heappop(self._events)
                if is_arrival:
                    self._arrive(kernel, device, now)
                else:
                    self._finish(kernel, now)
            self._start_idle(now)
            if not self._events:
                break
            now = self._events[0][0]

    def _make_ready(self, kernel: int, now: float) -> None:
        if self._times[kernel] == 0:
            self.begin[kernel] = now
            heapq.heappush(self._events, (now, False, kernel, 0))
        else:
            heapq.heappush(self._ready[self.devices[kernel]],
                           (-self.priorities[kernel], kernel))

    def _start_idle(self, now: float) -> None:
        for device, ready in enumerate(self._ready):
            if self._running[device] is None and ready:
                kernel = heapq.heappop(ready)[1]
                self._running[device] = kernel
                self.begin[kernel] = now
                heapq.heappush(self._events, (now + self._times[kernel],
                                              False, kernel, 0))

    def _receive(self, users: list[int], now: float) -> None:
        for user in users:
            self._waits[user] -= 1
            if self._waits[user] == 0:
                self._make_ready(user, now)

    def _finish(self, kernel: int, now: float) -> None:
        self.end[kernel] = now
        device = self.devices[kernel]
        if self._running[device] == kernel:
            self._running[device] = None
        self._receive(self.local_users[kernel], now)
        for to in self.deliveries[kernel]:
            channel = self._channels[device, to]
            channel.append(kernel)
            if len(channel) == 1:
                self._send(kernel, to, now)

    def _send(self, kernel: int, to: int, now: float) -> None:
        delivery = self.deliveries[kernel][to]
        delivery.begin = now
        seconds = self.cluster.transfer_seconds(self.devices[kernel], to,
                                                delivery.bytes)
        heapq.heappush(self._events, (now + seconds, True, kernel, to))

    def _arrive(self, kernel: int, to: int, now: float) -> None:
        delivery = self.deliveries[kernel][to]
        delivery.end = now
        channel = self._channels[self.devices[kernel], to]
        channel.popleft()
        if channel:
            self._send(channel[0], to, now)
        self._receive(delivery.users, now)


def peak_memory(nodes: list[OpNode], step: Step) -> list[float]:
    """Returns the most bytes in use on each device."""
    weights: list[dict[int, float]] = [{} for _ in step.cluster.devices]
    held: list[list[Held]] = [[] for _ in step.cluster.devices]
    for i, kernel in enumerate(step.kernels):
        device = step.devices[i]
        for member in kernel.members:
            weights[device][member] = nodes[member].parameter_bytes
        ends = [step.end[user] for user in step.local_users[i]]
        for to, delivery in step.deliveries[i].items():
            ends.append(delivery.end)
            last = max(step.end[user] for user in delivery.users)
            held[to].append((delivery.begin, last, delivery.bytes))
        root = nodes[kernel.root]
        end = step.seconds if root.is_output or not ends else max(ends)
        if root.opcode != "parameter":
            held[device].append((step.begin[i], end, root.output_bytes))
    return [math.fsum(own.values()) + most_held(intervals)
            for own, intervals in zip(weights, held)]


def most_held(intervals: list[Held]) -> float:
    """Returns the largest sum of bytes over a time that is longer than 0."""
    changes: dict[float, float] = defaultdict(float)
    for begin, end, bytes_ in intervals:
        if begin < end:
            changes[begin] += bytes_
            changes[end] -= bytes_
    most = now = 0.0
    for time in sorted(changes):
        now += changes[time]
        most = max(most, now)
    return most


def lower_bounds(cluster: Cluster, nodes: list[OpNode],
                 kernels: list[Kernel]) -> dict[str, float]:
    """Bounds of the seconds of a step of these kernels, wherever they are."""
    finish: dict[int, float] = {}  # of roots
    work = 0.0
    for kernel in sorted(kernels, key=lambda kernel: nodes[kernel.root].rank):
        least = min(kind.seconds(kernel.flops, kernel.bytes)
                    for kind in cluster.devices)
        work += least
        finish[kernel.root] = least + max(
            (finish[source] for source in kernel.reads), default=0.0)
    return {"critical_path": max(finish.values()),
            "work": work / len(cluster.devices)}


def check_step(nodes: list[OpNode], result: dict[str, Any],
               cluster: Cluster, with_bounds: bool) -> dict[str, Any]:
    """Returns what --json prints."""
    fused = set(result["fused"])
    kernels = make_kernels(nodes, fused)
    found = list(fusion_findings(nodes, fused, kernels))
    if any(len(kernel.members) > MAX_MEMBERS for kernel in kernels):
        return {"valid": False, "step_seconds": None, "peak_bytes": None,
                "violations": found}  # Members are missing.
    step = Step(cluster, kernels,
                [result["assignment"][kernel.root] for kernel in kernels],
                [result["priorities"][kernel.root] for kernel in kernels])
    peaks = peak_memory(nodes, step)
    for i, (peak, kind) in enumerate(zip(peaks, cluster.devices)):
        if peak > kind.memory_bytes:
            found.append(f"device {i} needs {peak!r} bytes, more than it has")
    found += differences(result, {"cost": [step.seconds * 1e3],
                                  "step_seconds": [step.seconds],
                                  "peak_bytes": peaks})
    bounds = ({"lower_bounds": lower_bounds(cluster, nodes, kernels)}
              if with_bounds else {})
    return {"valid": not found, "step_seconds": step.seconds,
            "peak_bytes": peaks, "violations": found} | bounds


def device_loads(graph: dict[str, Any], assignment: list[int]) -> list[float]:
    accelerators = graph["maxFPGAs"]
    terms: list[list[float]] = [[] for _ in range(graph["devices"])]
    for node, device in zip(graph["nodes"], assignment):
        elsewhere = {assignment[reader] for reader in node.readers} - {device}
        terms[device].append(node.fpgaLatency if device < accelerators
                             else node.cpuLatency)
        for end in elsewhere and elsewhere | {device}:
            if end < accelerators:
                terms[end].append(node.cost)
    return [math.fsum(of_device) for of_device in terms]


def constraint_findings(graph: dict[str, Any],
                        assignment: list[int]) -> Iterator[str]:
    sizes: list[list[float]] = [[] for _ in range(graph["maxFPGAs"])]
    homes: dict[int | None, int] = {}  # of color classes
    for i, (node, device) in enumerate(zip(graph["nodes"], assignment)):
        if device < len(sizes):
            sizes[device].append(node.size)
            if not node.supportedOnFpga:
                yield f"node {i} is on accelerator {device}, but unsupported"
        home = homes.setdefault(node.colorClass, device)
        if node.colorClass is not None and home != device:
            yield f"node {i} is on {device}, its color class on {home}"
    for device, of_device in enumerate(sizes):
        size, limit = math.fsum(of_device), graph["maxSizePerFPGA"]
        if size > limit * (1 + 1e-12):  # rounding in sums
            yield f"device {device} needs {size!r} bytes, more than it has"


def check_max_load(graph: dict[str, Any],
                   result: dict[str, Any]) -> dict[str, Any]:
    """Returns what --json prints."""
    loads = device_loads(graph, result["assignment"])
    found = list(constraint_findings(graph, result["assignment"]))
    found += differences(result, {"cost": [max(loads)], "loads": loads})
    return {"valid": not found, "max_load": max(loads), "loads": loads,
            "violations": found}


def check(arguments: argparse.Namespace) -> dict[str, Any]:
    graph = read_file(arguments.graph, read_graph)
    if isinstance(graph, dict):
        if arguments.cluster is not None:
            raise InputError("--cluster is for operators, GRAPH has latencies")
        return check_max_load(graph, read_file(
            arguments.result, lambda text: read_result(
                text, len(graph["nodes"]), graph["devices"], is_step=False)))
    if arguments.cluster is None:
        raise InputError("--cluster is missing, GRAPH has operators")
    cluster = read_file(arguments.cluster, read_cluster)
    result = read_file(arguments.result, lambda text: read_result(
        text, len(graph), len(cluster.devices), is_step=True))
    return check_step(graph, result, cluster, arguments.bounds)


def main() -> int:
    parser = OneLineParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="of `hone graph`")
    parser.add_argument("result", help="of `hone tune --json`, or a decision")
    parser.add_argument("--cluster", help="TOML file, for operators")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--bounds", action="store_true", help="of step time")
    try:
        arguments = parser.parse_args()
        report = check(arguments)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report)) if arguments.json else print_report(report)
    return 0 if report["valid"] else 1


if __name__ == "__main__":
    sys.exit(main())
