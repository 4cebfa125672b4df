#!/usr/bin/env python3
"""Draws how the costs of step problems grow with the graph.

Usage: bench/placement/plot_growth.py RESULT -o FIGURE.svg

RESULT is what `hone bench placement --tables step-scale --json` prints. Both
axes are logarithmic; each cost is shown relative to that of the smallest graph,
beside a dashed line that grows as n log n. The number in parentheses is the
growth of a cost divided by that of n log n, from the smallest graph to the
largest.
"""

import argparse
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

# Field of a row, name, color and how to write a value. The colors can be read
# on white and on black.
QUANTITIES = (
    ("known_methods_seconds", "known methods", "#3b7dd8",
     lambda v: f"{v:.2f} s"),
    ("simulation_unfused_ms", "a simulation, unfused", "#b8681c",
     lambda v: f"{v:.1f} ms"),
    ("simulation_ms", "a simulation", "#2e8b57", lambda v: f"{v:.2f} ms"),
    ("change_ms", "a change", "#d0484a", lambda v: f"{v:.2f} ms"),
    ("policy_seconds", "policy, all nodes", "#9a5fd0", lambda v: f"{v:.2f} s"),
    ("memory_bytes", "memory", "#12869a", lambda v: f"{v / 2**20:.0f} MiB"),
)
GRAY = "#767676"
WIDTH, HEIGHT = 900, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 280, 20, 56
LINE_HEIGHT = 18


class Axes:
    """Positions of points of two logarithmic axes."""

    def __init__(self, x_range, y_range):
        self.x_range, self.y_range = x_range, y_range

    @staticmethod
    def _share(value, limits):
        low, high = map(math.log, limits)
        return (math.log(value) - low) / (high - low)

    def x(self, value):
        return LEFT + self._share(value, self.x_range) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return (HEIGHT - BOTTOM -
                self._share(value, self.y_range) * (HEIGHT - TOP - BOTTOM))

    def line(self, points, color, extra=""):
        at = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return (f'<polyline points="{at}" fill="none" stroke="{color}" '
                f'stroke-width="2"{extra}/>')


def text(x, y, content, color=GRAY, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" '
            f'text-anchor="{anchor}"{extra}>{escape(content)}</text>')


def grid(axes, sizes):
    """Lines and labels at the sizes and at powers of ten."""
    parts = []
    bottom = HEIGHT - BOTTOM
    for n in sizes:
        x = axes.x(n)
        parts += [f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{GRAY}" '
                  'stroke-opacity="0.25"/>',
                  text(x, bottom + 20, f"{n:,}", anchor="middle")]
    power = 1
    while power <= axes.y_range[1]:
        y = axes.y(power)
        parts += [f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRAY}" '
                  'stroke-opacity="0.25"/>',
                  text(LEFT - 8, y + 4, f"{power}×", anchor="end")]
        power *= 10
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12,
                      "nodes of the graph", anchor="middle"))
    middle = (TOP + bottom) / 2
    parts.append(text(18, middle, "cost, relative to the smallest graph",
                      anchor="middle",
                      extra=f' transform="rotate(-90 18 {middle:.1f})"'))
    return parts


def spread(heights):
    """The heights, moved apart so that lines of text do not overlap."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = dict.fromkeys(order, 0.0)
    least = TOP
    for i in order:
        placed[i] = max(heights[i], least)
        least = placed[i] + LINE_HEIGHT
    most = HEIGHT - BOTTOM
    for i in reversed(order):
        placed[i] = min(placed[i], most)
        most = placed[i] - LINE_HEIGHT
    return [placed[i] for i in range(len(heights))]


def draw(table):
    """The figure of the table `step-scale`, as SVG."""
    rows = sorted(table["sizes"], key=lambda row: row["nodes"])
    sizes = [row["nodes"] for row in rows]
    first, last = sizes[0], sizes[-1]
    guide = [(n, n * math.log(n) / (first * math.log(first))) for n in sizes]
    lines = [("n log n", GRAY, guide, ' stroke-dasharray="6 5"')]
    for field, name, color, show in QUANTITIES:
        points = [(row["nodes"], row[field] / rows[0][field]) for row in rows]
        label = f"{name}, {show(rows[-1][field])} ({table['growth'][field]:.2f})"
        lines.append((label, color, points, ""))
    values = [y for _, _, points, _ in lines for _, y in points]
    axes = Axes((first, last), (min(values), max(values) * 1.15))
    parts = grid(axes, sizes)
    ends = [axes.y(points[-1][1]) for _, _, points, _ in lines]
    for (label, color, points, extra), end, height in zip(lines, ends,
                                                          spread(ends)):
        parts.append(axes.line(points, color, extra))
        right = WIDTH - RIGHT
        parts.append(f'<path d="M{right + 2} {end:.1f}L{right + 16} '
                     f'{height:.1f}" stroke="{color}" stroke-opacity="0.6"/>')
        parts.append(text(right + 20, height + 4, label, color))
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
         f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
         'font-family="sans-serif" font-size="13">',
         "<title>Costs of step problems by the size of the graph</title>",
         *parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", type=pathlib.Path,
                        help="JSON of hone bench placement --tables step-scale")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        table = json.loads(arguments.result.read_text())["step-scale"]
        sizes = {row["nodes"] for row in table["sizes"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{arguments.result}: {error!r}, expected the JSON of "
                 "hone bench placement --tables step-scale")
    if len(sizes) < 2:
        sys.exit(f"{arguments.result} has {len(sizes)} sizes of graphs, "
                 "expected at least 2")
    arguments.output.write_text(draw(table))


if __name__ == "__main__":
    main()
