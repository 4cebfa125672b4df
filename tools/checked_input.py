"""Input and output of the programs that check decisions (check_*.py).

Readers take a JSON or TOML value and its place, and return what it means or
raise InputError, which names the place.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

TOLERANCE = 1e-9

Arc = tuple[int, int]
Reader = Callable[[Any, str], Any]


class InputError(Exception):
    """What cannot be checked, and where it is."""


def read_file(path: str, read: Callable[[bytes], Any]) -> Any:
    """Returns what `read` makes of a file; errors name the file."""
    try:
        return read(pathlib.Path(path).read_bytes())
    except (OSError, ValueError, RecursionError, InputError) as error:
        raise InputError(
            f"{path}: {getattr(error, 'strerror', error)}") from None


def shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def number(low: float = 0, high: float = 1e18, kind: type = float) -> Reader:
    def read(value: Any, place: str) -> Any:
        if ((isinstance(value, bool) and kind is not bool)
                or not isinstance(value, (int, kind))
                or not low <= value <= high):
            noun = "an integer" if kind is int else "a number"
            raise InputError(f"{place} is {shown(value)}, expected {noun} from "
                             f"{low} to {high}")
        return kind(value)
    return read


def integer(low: int = -1 << 63, high: int = (1 << 64) - 1) -> Reader:
    return number(low, high, int)


flag = number(0, 1, bool)
MEMORY, RESULT = number(0, 1e15), number(0, 1e100)


def string(value: Any, place: str) -> str:
    if isinstance(value, str):
        return value
    raise InputError(f"{place} is {shown(value)}, expected a string")


def array(element: Reader, size: int | None = None) -> Reader:
    def read(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise InputError(f"{place} is {shown(value)}, expected an array")
        if size is not None and len(value) != size:
            raise InputError(f"{place} has {len(value)} values, expected "
                             f"{size}")
        return [element(v, f"{place}[{i}]") for i, v in enumerate(value)]
    return read


def any_object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place or 'the document'} is {shown(value)}, "
                         "expected an object")
    return value


def record(required: dict[str, Reader],
           optional: dict[str, Reader] | None = None,
           make: Callable[..., Any] | None = None) -> Reader:
    """Reads fields of an object; with `make`, it may have no others."""
    readers = required | (optional or {})

    def read(value: Any, place: str) -> Any:
        dot = place + "." if place else ""
        for name in required:
            if name not in any_object(value, place):
                raise InputError(f"{dot}{name} is missing")
        for name in value if make else ():
            if name not in readers:
                raise InputError(f"{dot}{name} is unknown, expected "
                                 + ", ".join(readers))
        return (make or dict)(**{name: reader(value[name], dot + name)
                                 for name, reader in readers.items()
                                 if name in value})
    return read


def topological_ranks(arcs: Iterable[Arc], ids: list[int]) -> list[int]:
    """Returns places in the topological order that is the first by number."""
    readers: list[list[int]] = [[] for _ in ids]
    waits = [0] * len(ids)
    for source, target in arcs:
        readers[source].append(target)
        waits[target] += 1
    ready = [node for node, count in enumerate(waits) if count == 0]
    ranks: dict[int, int] = {}
    while ready:
        node = heapq.heappop(ready)
        ranks[node] = len(ranks)
        for reader in readers[node]:
            waits[reader] -= 1
            if waits[reader] == 0:
                heapq.heappush(ready, reader)
    if len(ranks) < len(ids):
        read = {arc[1]: arc[0] for arc in arcs if arc[0] not in ranks}
        node = next(iter(read))
        for _ in ids:  # against the edges, into a cycle
            node = read[node]
        raise InputError(f"edges make a cycle through the node {ids[node]}")
    return [ranks[node] for node in range(len(ids))]


def index_edges(nodes: list[dict[str, Any]], edges: list[dict[str, Any]],
                ends: tuple[str, str], weight: str) -> dict[Arc, float]:
    """Returns the weights of edges between positions of nodes."""
    if not nodes:
        raise InputError("nodes is empty, expected a node")
    position: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if position.setdefault(node["id"], i) != i:
            raise InputError(f"nodes[{i}].id {node['id']} is there twice")
    arcs: dict[Arc, float] = {}
    for i, edge in enumerate(edges):
        for name in ends:
            if edge[name] not in position:
                raise InputError(f"edges[{i}].{name} {edge[name]} is no node")
        arc = position[edge[ends[0]]], position[edge[ends[1]]]
        if arc in arcs:
            raise InputError(f"edges[{i}] is there twice")
        arcs[arc] = edge[weight]
    return arcs


def find_assignment(document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Returns the decision, with what else its task claims, and its place."""
    if "tasks" not in document:
        return document, ""
    found = []
    names = ("decision", "cost", "unit")  # the caller knows their types
    best = record({}, dict.fromkeys(names, lambda value, place: value))
    task = record({}, {"best": best, "assignment": array(integer())})
    for i, fields in enumerate(array(task)(document["tasks"], "tasks")):
        claims = fields.pop("best", {})
        value = claims.pop("decision", None)
        decision = value if isinstance(value, dict) else {}
        merged = decision | claims | fields
        if "assignment" in merged:
            found.append((merged, f"tasks[{i}]"))
            if (fields | decision)["assignment"] != merged["assignment"]:
                raise InputError(f"tasks[{i}] has two different assignments")
    if len(found) != 1:
        raise InputError(f"tasks has {len(found)} assignments, expected 1")
    return found[0]


def differences(claims: dict[str, Any],
                values: dict[str, list[float]]) -> Iterator[str]:
    for name in filter(claims.__contains__, values):
        is_list = isinstance(claims[name], list)
        claimed = claims[name] if is_list else [claims[name]]
        for i, (claim, value) in enumerate(zip(claimed, values[name])):
            if abs(claim - value) > TOLERANCE * max(claim, value):
                index = f"[{i}]" if is_list else ""
                yield f"{name}{index} is {claim!r}, expected {value!r}"


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see --help")


def print_report(report: dict[str, Any]) -> None:
    for violation in report["violations"]:
        print(violation)
    for name, value in report.items():
        if name not in ("valid", "violations"):
            print(f"{name}: {json.dumps(value)}")
    if report["valid"]:
        print("valid, and as claimed")
