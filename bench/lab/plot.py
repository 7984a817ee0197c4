# SPDX-License-Identifier: BSD-3-Clause
"""A bar chart as SVG text: each row's share of redis-server's throughput, its floor as a tick."""

from xml.sax.saxutils import escape

BAR = 16
ROW_GAP = 14
LEFT = 120
TOP = 60
SCALE = 420  # pixels for a share of 1
COLOURS = ("#2a6f97", "#e09f3e", "#6a994e", "#9c6644")


def svg_text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    """Text at a point of an SVG document."""
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}">'
            f"{escape(text)}</text>")


def _bar(y: float, result: dict, colour: str, end: float) -> list[str]:
    length = min(result["share"], end) * SCALE
    label = f"{result['share']:.2f}  ({result['cairn']['throughput'] / 1000:.0f}k/s)"
    shapes = [f'<rect x="{LEFT}" y="{y:.0f}" width="{length:.0f}" height="{BAR - 2}" '
              f'fill="{colour}"/>', svg_text(LEFT + length + 5, y + BAR - 5, label, size=10)]
    if result["floor"] is not None:
        x = LEFT + result["floor"] * SCALE
        shapes.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{y - 1:.0f}" y2="{y + BAR - 1:.0f}" '
                      'stroke="#b00020" stroke-width="2"/>')
    return shapes


def draw_shares(results: list[dict], machine: dict) -> str:
    """The chart of `bench/compare`: a group of bars per row, one bar per pipeline depth."""
    pipelines = sorted({result["pipeline"] for result in results})
    names = list(dict.fromkeys(result["row"] for result in results))
    group = BAR * len(pipelines) + ROW_GAP
    end = min(2.0, max(1.0, *(result["share"] for result in results), 1.0)) + 0.05
    width = LEFT + end * SCALE + 110
    height = TOP + group * len(names) + 20
    shapes = [svg_text(LEFT, 20, f"Throughput of {machine['cairn']} as a share of {machine['redis']}",
                    size=15)]
    for index, pipeline in enumerate(pipelines):
        shapes += [f'<rect x="{LEFT + 90 * index}" y="30" width="12" height="12" '
                   f'fill="{COLOURS[index % len(COLOURS)]}"/>',
                   svg_text(LEFT + 90 * index + 17, 41, f"-P {pipeline}")]
    shapes.append(svg_text(LEFT + 90 * len(pipelines), 41, "red: the floor"))
    for share in (0.25, 0.5, 0.75, 1.0):
        x = LEFT + share * SCALE
        shapes += [f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{TOP}" y2="{height - 15:.0f}" '
                   f'stroke="#{"444" if share == 1.0 else "ccc"}"/>',
                   svg_text(x, height - 3, f"{share:g}", "middle", 10)]
    for result in results:
        y = TOP + group * names.index(result["row"]) + BAR * pipelines.index(result["pipeline"])
        shapes += _bar(y, result, COLOURS[pipelines.index(result["pipeline"]) % len(COLOURS)], end)
    for index, name in enumerate(names):
        middle = TOP + group * index + BAR * len(pipelines) / 2 + 3
        shapes.append(svg_text(LEFT - 8, middle, name, "end"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(shapes) + "\n</svg>\n")
