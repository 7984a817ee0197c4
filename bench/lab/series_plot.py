# SPDX-License-Identifier: BSD-3-Clause
"""Line charts as SVG text: panels above each other that share the x axis."""

import dataclasses
import math

from plot import svg_text

WIDTH, LEFT, RIGHT, TOP, PANEL, GAP = 860, 70, 150, 50, 150, 34
COLOURS = ("#2a6f97", "#e09f3e", "#6a994e", "#b00020", "#6d597a", "#9c6644", "#444444")


@dataclasses.dataclass
class Panel:
    """One chart: its lines by name, each a list of (x, y). `limits` are horizontal lines by name."""

    title: str
    lines: dict[str, list[tuple[float, float]]]
    log: bool = False
    limits: dict[str, float] = dataclasses.field(default_factory=dict)


def _steps(least: float, most: float, log: bool) -> list[float]:
    """The values that the axis names."""
    if log:
        return [10.0 ** power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]
    step = 10.0 ** math.floor(math.log10(max(most - least, 1e-9)))
    step *= next(factor for factor in (0.2, 0.5, 1, 2) if (most - least) / (step * factor) <= 6)
    return [step * number for number in range(math.ceil(least / step), math.floor(most / step) + 1)]


class _Scale:
    """From values to pixels."""

    def __init__(self, values: list[float], first: float, last: float, log: bool, from_zero: bool):
        positive = [value for value in values if value > 0] or [1.0]
        self.log = log
        self.least = min(positive) if log else 0.0 if from_zero else min(values, default=0.0)
        self.most = max(max(values, default=1.0), self.least * 1.01, 1e-9)
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        if self.log:
            value, least, most = (math.log10(max(v, self.least)) for v in (value, self.least, self.most))
        else:
            least, most = self.least, self.most
        return self.first + (self.last - self.first) * (value - least) / (most - least)

    def steps(self) -> list[float]:
        """The values that the axis names."""
        return [step for step in _steps(self.least, self.most, self.log) if self.least <= step <= self.most]


def _panel(panel: Panel, x_scale: _Scale, top: float) -> list[str]:
    values = [y for line in panel.lines.values() for _, y in line] + list(panel.limits.values())
    scale = _Scale(values, top + PANEL, top, panel.log, from_zero=True)
    shapes = [svg_text(LEFT, top - 6, panel.title, size=12)]
    across = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" '
    for step in scale.steps():
        y = scale(step)
        shapes += [f'{across} y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                   svg_text(LEFT - 6, y + 4, f"{step:g}", "end", 10)]
    for name, limit in panel.limits.items():
        y = scale(limit)
        shapes += [f'{across} y1="{y:.1f}" y2="{y:.1f}" stroke="#b00020" stroke-dasharray="5 4"/>',
                   svg_text(WIDTH - RIGHT - 4, y - 4, name, "end", 10)]
    for index, (name, line) in enumerate(panel.lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        points = " ".join(f"{x_scale(x):.1f},{scale(y):.1f}" for x, y in line)
        shapes += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>',
                   f'<rect x="{WIDTH - RIGHT + 8}" y="{top + 15 * index}" width="10" height="10" fill="{colour}"/>',
                   svg_text(WIDTH - RIGHT + 23, top + 15 * index + 9, name)]
    return shapes


def draw_lines(title: str, x_title: str, panels: list[Panel], log_x: bool = False) -> str:
    """The panels as one SVG document."""
    height = TOP + (PANEL + GAP) * len(panels) + 20
    xs = [x for panel in panels for line in panel.lines.values() for x, _ in line]
    x_scale = _Scale(xs, LEFT, WIDTH - RIGHT, log_x, from_zero=False)
    shapes = [svg_text(LEFT, 22, title, size=15)]
    for index, panel in enumerate(panels):
        shapes += _panel(panel, x_scale, TOP + (PANEL + GAP) * index)
    for x in sorted(set(xs)) if log_x else x_scale.steps():
        shapes.append(svg_text(x_scale(x), height - 32, f"{x:g}", "middle", 10))
    shapes.append(svg_text((LEFT + WIDTH - RIGHT) / 2, height - 14, x_title, "middle"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif">'
            '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(shapes) + "\n</svg>\n")
