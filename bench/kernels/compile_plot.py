"""Draws compile times by the number of instructions, as SVG.

Both axes are logarithmic, with lines at powers of ten and the sizes of steps.
"""

import math
from xml.sax.saxutils import escape

# The colors can be read on white and on black.
SIDES = (("hone", "Hone", "#2e8b57"), ("xla", "XLA:CPU", "#b8681c"))
GRAY = "#767676"
WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 20, 56


def _text(x, y, content, color=GRAY, anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" '
            f'text-anchor="{anchor}">{escape(content)}</text>')


class _Axis:
    """Maps values to positions by their logarithms."""

    def __init__(self, values, start, end):
        low, high = math.log(min(values)), math.log(max(values))
        spread = high - low or 1.0
        self.at = lambda value: start + (end - start) * (
            (math.log(value) - low) / spread)


def _grid(x, y, sizes, times):
    parts = []
    for size in sizes:
        at = x.at(size)
        parts += [f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" '
                  f'stroke="{GRAY}" stroke-opacity="0.25"/>',
                  _text(at, HEIGHT - BOTTOM + 20, f"{size:,}",
                        anchor="middle")]
    power = 10.0**math.floor(math.log10(times[0]))
    while power <= times[-1]:
        at = y.at(power)
        parts += [f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" '
                  f'stroke="{GRAY}" stroke-opacity="0.25"/>',
                  _text(LEFT - 8, at + 4, f"{power:g} s", anchor="end")]
        power *= 10
    return parts


def draw(rows):
    """Returns the figure of the rows of compile_times.py. Raises ValueError if
    none has a time."""
    points = {side: [(row["instructions"], row[side]["seconds"])
                     for row in rows if "seconds" in row[side]]
              for side, _, _ in SIDES}
    times = sorted(t for line in points.values() for _, t in line)
    if not times:
        raise ValueError("no step was compiled")
    sizes = sorted({row["instructions"] for row in rows})
    limits = [10.0**math.floor(math.log10(times[0])), times[-1] * 1.1]
    x = _Axis(sizes, LEFT, WIDTH - RIGHT)
    y = _Axis(limits, HEIGHT - BOTTOM, TOP)
    parts = _grid(x, y, sizes, times)
    for side, name, color in SIDES:
        if not points[side]:
            continue
        at = [(x.at(n), y.at(t)) for n, t in points[side]]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
        parts.append(f'<polyline points="{line}" fill="none" '
                     f'stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>'
                  for a, b in at]
        label = f"{name}, {points[side][-1][1]:.1f} s"
        parts.append(_text(at[-1][0] + 10, at[-1][1] + 4, label, color))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12,
                       "instructions of the training step", anchor="middle"))
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
         f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
         'font-family="sans-serif" font-size="13">',
         "<title>Compile times by the number of instructions</title>",
         *parts, "</svg>", ""])
