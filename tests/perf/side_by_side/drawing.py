"""Draws the results as an SVG picture: a bar for each row, which shows how many times better than NVSHMEM pgas is, and
curves for rows with several sizes."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples/apps"))
from svg import COLOURS, PANEL_HEIGHT, PANEL_WIDTH, PANELS_IN_A_ROW, LogAxis, document, line, panel, text  # noqa: E402

NAMES = {"pgas": "pgas", "nvshmem": "NVSHMEM", "raw": "by hand", "nccl": "NCCL"}
WIDTH, LINE = PANEL_WIDTH * PANELS_IN_A_ROW, 15


def bars(rows, top):
    """Draws a bar for each row. Bars start at 1 and go to the right if pgas is better. `rows` are (label, ratio)."""
    left = 330
    axis = LogAxis([0.5, 2, *(ratio for _, ratio in rows)], left, WIDTH - 60, 2)
    bottom = top + 24 + LINE * len(rows)
    drawn = [text(left, top, "times better than NVSHMEM", size=13)]
    for mark in axis.marks():
        drawn += [line(axis.at(mark), top + 18, axis.at(mark), bottom), text(axis.at(mark), top + 15, f"{mark:g}", "middle", 10)]
    for i, (label, ratio) in enumerate(rows):
        y = top + 24 + LINE * i
        begin, end = sorted((axis.at(1), axis.at(ratio)))
        colour = COLOURS[0 if ratio >= 1 else 1]
        drawn.append(f'<rect x="{begin:.1f}" y="{y:.1f}" width="{end - begin:.1f}" height="{LINE - 4}" fill="{colour}"/>')
        drawn.append(text(left - 8, y + 9, label, "end"))
        drawn.append(text(end + 4, y + 9, f"{ratio:.2f}", size=10))
    drawn.append(line(axis.at(1), top + 18, axis.at(1), bottom, "#222"))
    return drawn, bottom


def picture(title, ratios, diagrams, name_of_size):
    """Returns the SVG document.

    ratios    (label, times better than NVSHMEM) of each row
    diagrams  (title, unit, {backend: [(bytes, figure)]}) of each group of rows
    """
    drawn, y = [text(20, 24, title, size=15)], 50
    if ratios:
        drawing, y = bars(ratios, y)
        drawn += drawing
    y += 30
    for i, (name, unit, curves) in enumerate(diagrams):
        curves = {NAMES[backend]: curves[backend] for backend in NAMES if backend in curves}
        drawn += panel(f"{name}, {unit}", curves, i % PANELS_IN_A_ROW * PANEL_WIDTH, y + i // PANELS_IN_A_ROW * PANEL_HEIGHT,
                       "bytes", name_of_size)
    return document(WIDTH, y + -(-len(diagrams) // PANELS_IN_A_ROW) * PANEL_HEIGHT, drawn)
