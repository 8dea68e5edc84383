"""Draws the results as an SVG picture: a bar for each row, which shows how many times better than NVSHMEM pgas is, and
curves for rows with several sizes."""
import math
from xml.sax.saxutils import escape

COLOURS = {"pgas": "#1f6fb4", "nvshmem": "#e07b00", "raw": "#777777", "nccl": "#2a9d4a"}
NAMES = {"pgas": "pgas", "nvshmem": "NVSHMEM", "raw": "by hand", "nccl": "NCCL"}
WIDTH, LINE = 1000, 15
PANEL_WIDTH, PANEL_HEIGHT, PANELS_IN_A_ROW = 330, 230, 3


def text(x, y, words, anchor="start", size=11, colour="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>')


def line(x1, y1, x2, y2, colour="#ddd", width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


class LogAxis:
    """A logarithmic axis between two pixels."""

    def __init__(self, lowest, highest, start, end, base):
        self.first, self.last = math.floor(math.log(lowest, base) + 1e-9), math.ceil(math.log(highest, base) - 1e-9)
        self.last = max(self.last, self.first + 1)
        self.start, self.end, self.base = start, end, base

    def at(self, value):
        share = (math.log(value, self.base) - self.first) / (self.last - self.first)
        return self.start + share * (self.end - self.start)

    def marks(self):
        return [float(self.base) ** power for power in range(self.first, self.last + 1)]


def bars(rows, top):
    """Draws a bar for each row. Bars start at 1 and go to the right if pgas is better. `rows` are (label, ratio)."""
    left = 330
    axis = LogAxis(min(0.5, *(ratio for _, ratio in rows)), max(2, *(ratio for _, ratio in rows)), left, WIDTH - 60, 2)
    bottom = top + 24 + LINE * len(rows)
    drawn = [text(left, top, "times better than NVSHMEM", size=13)]
    for mark in axis.marks():
        drawn += [line(axis.at(mark), top + 18, axis.at(mark), bottom), text(axis.at(mark), top + 15, f"{mark:g}", "middle", 10)]
    for i, (label, ratio) in enumerate(rows):
        y = top + 24 + LINE * i
        begin, end = sorted((axis.at(1), axis.at(ratio)))
        colour = COLOURS["pgas"] if ratio >= 1 else COLOURS["nvshmem"]
        drawn.append(f'<rect x="{begin:.1f}" y="{y:.1f}" width="{end - begin:.1f}" height="{LINE - 4}" fill="{colour}"/>')
        drawn.append(text(left - 8, y + 9, label, "end"))
        drawn.append(text(end + 4, y + 9, f"{ratio:.2f}", size=10))
    drawn.append(line(axis.at(1), top + 18, axis.at(1), bottom, "#222"))
    return drawn, bottom


def panel(title, unit, curves, x, y, name_of_size):
    """Draws one diagram. `curves` are lists of (bytes, figure) by backend."""
    points = [point for curve in curves.values() for point in curve]
    across = LogAxis(min(p[0] for p in points), max(p[0] for p in points), x + 46, x + PANEL_WIDTH - 14, 2)
    up = LogAxis(min(p[1] for p in points), max(p[1] for p in points), y + PANEL_HEIGHT - 40, y + 34, 10)
    drawn = [text(x + 46, y + 14, f"{title}, {unit}", size=12)]
    for mark in up.marks():
        drawn += [line(across.start, up.at(mark), across.end, up.at(mark)), text(x + 42, up.at(mark) + 4, f"{mark:g}", "end", 10)]
    free_from = across.start - 1
    for size in sorted({p[0] for p in points}):
        if across.at(size) < free_from:
            continue
        free_from = across.at(size) + 30
        drawn.append(text(across.at(size), y + PANEL_HEIGHT - 26, name_of_size(size), "middle", 8))
    for i, (backend, curve) in enumerate(curves.items()):
        way = " ".join(f"{across.at(size):.1f},{up.at(figure):.1f}" for size, figure in sorted(curve))
        drawn.append(f'<polyline points="{way}" fill="none" stroke="{COLOURS[backend]}" stroke-width="1.6"/>')
        drawn.append(text(x + 46 + 66 * i, y + PANEL_HEIGHT - 8, NAMES[backend], size=10, colour=COLOURS[backend]))
    return drawn


def picture(title, ratios, diagrams, name_of_size):
    """Returns the SVG document.

    ratios    (label, times better than NVSHMEM) of each row
    diagrams  (title, unit, {backend: [(bytes, figure)]}) of each group of rows
    """
    drawn, y = [text(20, 24, title, size=15)], 50
    if ratios:
        made, y = bars(ratios, y)
        drawn += made
    y += 30
    for i, (name, unit, curves) in enumerate(diagrams):
        drawn += panel(name, unit, curves, 10 + i % PANELS_IN_A_ROW * PANEL_WIDTH,
                       y + i // PANELS_IN_A_ROW * PANEL_HEIGHT, name_of_size)
    height = y + -(-len(diagrams) // PANELS_IN_A_ROW) * PANEL_HEIGHT
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" font-family="sans-serif">',
                      f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>', *drawn, "</svg>"]) + "\n"
