"""Lines, axes and diagrams as SVG."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1f6fb4", "#e07b00", "#2a9d4a", "#b03a78", "#777777", "#7a5cc0", "#b8860b", "#00838f")
PANEL_WIDTH, PANEL_HEIGHT, PANELS_IN_A_ROW = 420, 300, 2


def text(x, y, words, anchor="start", size=11, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def line(x1, y1, x2, y2, colour="#ddd", width=1.0, dashes=""):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def document(width, height, drawn):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif">',
                      f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>', *drawn, "</svg>"]) + "\n"


class LogAxis:
    """Maps values to positions between two pixels, on a scale from one power of the base to another."""

    def __init__(self, values, start, end, base):
        self.first = math.floor(math.log(min(values), base) + 1e-9)
        self.last = max(math.ceil(math.log(max(values), base) - 1e-9), self.first + 1)
        self.start, self.end, self.base = start, end, base

    def at(self, value):
        return self.start + (math.log(value, self.base) - self.first) / (self.last - self.first) * (self.end - self.start)

    def marks(self):
        return [float(self.base) ** power for power in range(self.first, self.last + 1, (self.last - self.first) // 8 + 1)]


def panel(title, curves, x, y, across_name, name_of=lambda value: f"{value:g}", up_base=10, ideal=None):
    """Draws one diagram. *curves*: lists of (number, figure) by name; *ideal*: a further curve, the upper limit of all
    others."""
    curves = {name: [point for point in curve if point[1] > 0] for name, curve in curves.items()}
    curves = {name: sorted(curve) for name, curve in curves.items() if curve}
    if not curves:
        return []
    points = [point for curve in curves.values() for point in curve] + (ideal or [])
    across = LogAxis([p[0] for p in points], x + 50, x + PANEL_WIDTH - 130, 2)
    up = LogAxis([p[1] for p in points], y + PANEL_HEIGHT - 50, y + 34, up_base)
    drawn = [text(x + 10, y + 18, title, size=12), text((across.start + across.end) / 2, y + PANEL_HEIGHT - 14, across_name, "middle")]
    for mark in up.marks():
        drawn += [line(across.start, up.at(mark), across.end, up.at(mark)), text(x + 46, up.at(mark) + 4, f"{mark:.3g}", "end", 10)]
    free_from = across.start - 1
    for value in sorted({p[0] for p in points}):
        if across.at(value) >= free_from:
            free_from = across.at(value) + 40
            drawn.append(text(across.at(value), y + PANEL_HEIGHT - 32, name_of(value), "middle", 9))
    if ideal:
        drawn.append(line(*(part for p in (ideal[0], ideal[-1]) for part in (across.at(p[0]), up.at(p[1]))), "#999", 1.2, "4 3"))
    for i, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        way = " ".join(f"{across.at(value):.1f},{up.at(figure):.1f}" for value, figure in curve)
        drawn.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        drawn += [f'<circle cx="{across.at(value):.1f}" cy="{up.at(figure):.1f}" r="2.5" fill="{colour}"/>' for value, figure in curve]
        drawn.append(text(across.end + 10, y + 40 + 15 * i, name, size=10, colour=colour))
    return drawn


def sheet(title, panels):
    """Arranges diagrams in rows. *panels*: functions that draw a diagram at a given position."""
    drawn, count = [text(14, 22, title, size=14)], 0
    for make in panels:
        drawing = make(count % PANELS_IN_A_ROW * PANEL_WIDTH, 34 + count // PANELS_IN_A_ROW * PANEL_HEIGHT)
        drawn += drawing
        count += bool(drawing)
    height = 44 + -(-count // PANELS_IN_A_ROW) * PANEL_HEIGHT
    return document(PANEL_WIDTH * PANELS_IN_A_ROW, height, drawn) if count else ""
