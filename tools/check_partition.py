#!/usr/bin/env python3
"""Checks a partition: its rules and its loads, from their definitions.

Usage: check_partition.py GRAPH RESULT --package TOML [--json]

GRAPH is what `hone graph` writes: operators, or latencies in the
dnn-partitioning format. RESULT is what `hone tune --json` prints, or a decision
of it. Exit status: 0 for a valid partition whose claims agree to 1e-9, 1 for
another one, 2 for bad usage or input. Shares no code with Hone.

- Sources have a copy on each chip with a node that reads them, directly or
  through other sources, and send nothing: of operators, parameters, constants
  and iota without operands; and of those that are read and read nothing but
  sources,
  broadcasts, reshapes, and what takes, with all that it is made of, as often as
  it is read, at most SOURCE_WORK of a chip's share of all work and has weights
  of at most SOURCE_MEMORY of its memory. Of latencies,
  nodes that read nothing and take no time. The assignment says where their
  first copy is.
- Data flows to equal or higher chips. The chips that have other nodes are
  0 ... m. If data of chip a goes to chip c, it reaches c in no other way
  (triangle rule). Weights and copies of sources fit in the memory of a chip.
- Milliseconds of a node: the larger of flops / flops_per_second and bytes /
  bytes_per_second of a chip; of its transfer: the most bytes that a node reads
  of it / bytes_per_second of the link. Of latencies: fpgaLatency, and the cost
  of its edges; memory is maxSizePerFPGA.
- Load of a chip: compute, its nodes and copies; inbound, transfers of nodes elsewhere that
  its nodes read; outbound, transfers of its nodes that are read elsewhere. Each
  counts once.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from checked_input import (
    MEMORY, RESULT, InputError, OneLineParser, any_object, array, differences,
    find_assignment, flag, index_edges, integer, number, print_report,
    read_file, record, string, topological_ranks)

BARE_SOURCES = {"parameter", "constant", "iota"}
FREE_OF_SOURCES = {"broadcast", "reshape"}
SOURCE_WORK, SOURCE_MEMORY = 0.05, 0.01

RATE = number(1, 1e30)
PACKAGE = record({
    "chips": record({
        "count": integer(1, 64), "flops_per_second": RATE,
        "bytes_per_second": RATE, "memory_bytes": number(1, 1e15),
        "op_seconds": number(0, 3600), "spill_bytes_per_second": RATE},
        make=dict),
    "link": record({
        "bytes_per_second": RATE, "latency_seconds": number(0, 3600)},
        make=dict)}, make=dict)

OPERATORS = record({
    "nodes": array(record(
        {"id": integer(), "opcode": string, "flops": number(),
         "bytes": number(), "output_bytes": MEMORY,
         "parameter_bytes": MEMORY})),
    "edges": array(record(
        {"from": integer(), "to": integer(), "bytes": MEMORY}))})
LATENCIES = record({
    "maxSizePerFPGA": number(),
    "nodes": array(record(
        {"id": integer(), "fpgaLatency": number(), "size": MEMORY,
         "supportedOnFpga": flag}, {"colorClass": integer(0)})),
    "edges": array(record(
        {"sourceId": integer(), "destId": integer(), "cost": number()}))})


@dataclass
class Node:
    time: float
    transfer: float
    resident: float
    is_source: bool = False
    reads: list[int] = field(default_factory=list)


@dataclass
class Graph:
    nodes: list[Node]
    chips: int
    memory: float


def order_of(arcs: dict[tuple[int, int], float], ids: list[int]) -> list[int]:
    ranks = topological_ranks(arcs, ids)
    return sorted(range(len(ids)), key=ranks.__getitem__)


def graph_of_operators(document: Any, package: dict[str, Any]) -> Graph:
    root = OPERATORS(document, "")
    fields = root["nodes"]
    arcs = index_edges(fields, root["edges"], ("from", "to"), "bytes")
    chip, link = package["chips"], package["link"]
    nodes = [Node(1e3 * max(f["flops"] / chip["flops_per_second"],
                            f["bytes"] / chip["bytes_per_second"]),
                  0.0, f["parameter_bytes"]) for f in fields]
    for (source, target), bytes_ in arcs.items():
        nodes[target].reads.append(source)
        nodes[source].transfer = max(nodes[source].transfer,
                                     1e3 * bytes_ / link["bytes_per_second"])
    share = math.fsum(node.time for node in nodes) / chip["count"]
    made_in = [0.0] * len(nodes)
    is_read = {source for source, _ in arcs}
    for i in order_of(arcs, [f["id"] for f in fields]):
        node, opcode = nodes[i], fields[i]["opcode"]
        made_in[i] = node.time + sum(made_in[read] for read in node.reads)
        node.is_source = all(nodes[read].is_source for read in node.reads) and (
            opcode in BARE_SOURCES and not node.reads
            or i in is_read and (
                opcode in FREE_OF_SOURCES
                or made_in[i] <= SOURCE_WORK * share
                and node.resident <= SOURCE_MEMORY * chip["memory_bytes"]))
    return Graph(nodes, chip["count"], chip["memory_bytes"])


def graph_of_latencies(document: Any, package: dict[str, Any]) -> Graph:
    root = LATENCIES(document, "")
    fields = root["nodes"]
    classes: set[int] = set()
    for i, f in enumerate(fields):
        color = f.get("colorClass", -1 - i)
        if color in classes or not f["supportedOnFpga"]:
            raise InputError(f"nodes[{i}] shares its color class or is not "
                             "supported on accelerators")
        classes.add(color)
    arcs = index_edges(fields, root["edges"], ("sourceId", "destId"), "cost")
    order_of(arcs, [f["id"] for f in fields])
    nodes = [Node(f["fpgaLatency"], 0.0, f["size"]) for f in fields]
    for (source, target), cost in arcs.items():
        nodes[target].reads.append(source)
        nodes[source].transfer = cost
    for node in nodes:
        node.is_source = not node.reads and node.time == 0
    return Graph(nodes, package["chips"]["count"], root["maxSizePerFPGA"])


def read_graph(text: bytes, package: dict[str, Any]) -> Graph:
    document = any_object(json.loads(text), "")
    make = graph_of_latencies if "maxFPGAs" in document else graph_of_operators
    return make(document, package)


def crossings(graph: Graph, chips: list[int]) -> Iterator[tuple[int, int]]:
    """Yields pairs of nodes on different chips, of which the second reads."""
    for target, node in enumerate(graph.nodes):
        if node.is_source:
            continue
        for source in node.reads:
            if not graph.nodes[source].is_source and (
                    chips[source] != chips[target]):
                yield source, target


def way_findings(graph: Graph, chips: list[int]) -> Iterator[str]:
    direct: set[tuple[int, int]] = set()
    for source, target in crossings(graph, chips):
        if chips[source] > chips[target]:
            yield (f"node {target} on chip {chips[target]} reads node {source} "
                   f"on chip {chips[source]}")
        direct.add((chips[source], chips[target]))
    for a, c in sorted(direct):
        # Every other way begins with another chip.
        seen, front = {a}, [b for x, b in direct if x == a and b != c]
        while front:
            b = front.pop()
            if b == c:
                yield f"chip {a} sends to chip {c} directly and over others"
                break
            if b not in seen:
                seen.add(b)
                front += [y for x, y in direct if x == b]


def copies(graph: Graph, chips: list[int]) -> dict[int, set[int]]:
    """Returns the chips with a copy of each source."""
    found: dict[int, set[int]] = {
        i: set() for i, node in enumerate(graph.nodes) if node.is_source}
    for i, node in enumerate(graph.nodes):
        if node.is_source:
            continue
        front = list(node.reads)
        while front:
            read = front.pop()
            if graph.nodes[read].is_source:
                found[read].add(chips[i])
                front += graph.nodes[read].reads
    return found


def findings(graph: Graph, chips: list[int]) -> Iterator[str]:
    used = {chip for node, chip in zip(graph.nodes, chips)
            if not node.is_source}
    if used != set(range(len(used))):
        yield f"chips {sorted(used)} have nodes, expected no gap from 0"
    yield from way_findings(graph, chips)
    resident: list[list[float]] = [[] for _ in range(graph.chips)]
    for node, chip in zip(graph.nodes, chips):
        if not node.is_source:
            resident[chip].append(node.resident)
    for source, of_source in copies(graph, chips).items():
        for chip in of_source:
            resident[chip].append(graph.nodes[source].resident)
        if chips[source] != min(of_source, default=0):
            yield (f"source {source} is on chip {chips[source]}, its first "
                   f"copy on chip {min(of_source, default=0)}")
    for chip, of_chip in enumerate(resident):
        total = math.fsum(of_chip)
        if total > graph.memory * (1 + 1e-12):  # rounding in sums
            yield f"chip {chip} needs {total!r} bytes, more than it has"


def chip_loads(graph: Graph, chips: list[int]) -> list[dict[str, float]]:
    parts: list[dict[str, list[float]]] = [
        {"compute": [], "inbound": [], "outbound": []}
        for _ in range(graph.chips)]
    for source, of_source in copies(graph, chips).items():
        for chip in of_source:
            parts[chip]["compute"].append(graph.nodes[source].time)
    readers: dict[int, set[int]] = {}
    for source, target in crossings(graph, chips):
        readers.setdefault(source, set()).add(chips[target])
    for i, (node, chip) in enumerate(zip(graph.nodes, chips)):
        if node.is_source:
            continue
        parts[chip]["compute"].append(node.time)
        if i in readers:
            parts[chip]["outbound"].append(node.transfer)
            for reader in readers[i]:
                parts[reader]["inbound"].append(node.transfer)
    return [{name: math.fsum(terms) for name, terms in part.items()}
            for part in parts]


def read_result(text: bytes, graph: Graph) -> dict[str, Any]:
    decision, place = find_assignment(any_object(json.loads(text), ""))
    load = record({"compute": RESULT, "inbound": RESULT, "outbound": RESULT})
    return record(
        {"assignment": array(integer(0, graph.chips - 1), len(graph.nodes))},
        {"loads": array(load, graph.chips), "max_load": RESULT, "cost": RESULT,
         "objective": string})(decision, place)


def check(arguments: argparse.Namespace) -> dict[str, Any]:
    package = read_file(
        arguments.package,
        lambda text: PACKAGE(tomllib.loads(text.decode()), ""))
    graph = read_file(arguments.graph, lambda text: read_graph(text, package))
    result = read_file(arguments.result, lambda text: read_result(text, graph))
    chips = result["assignment"]
    loads = chip_loads(graph, chips)
    most = max(math.fsum(load.values()) for load in loads)
    found = list(findings(graph, chips))
    for name in ("compute", "inbound", "outbound"):
        claims = {name: [load[name] for load in result["loads"]]
                  } if "loads" in result else {}
        found += [f"loads, {text}" for text in differences(
            claims, {name: [load[name] for load in loads]})]
    # In simulation, the cost is another one.
    values = {"max_load": [most]}
    if result.get("objective", "max-load") == "max-load":
        values["cost"] = [most]
    found += differences(result, values)
    return {"valid": not found, "max_load": most, "loads": loads,
            "violations": found}


def main() -> int:
    parser = OneLineParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="of `hone graph`")
    parser.add_argument("result", help="of `hone tune --json`, or a decision")
    parser.add_argument("--package", required=True, help="TOML file")
    parser.add_argument("--json", action="store_true")
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
