#!/usr/bin/env python3
"""Draws a part of a merged trace as SVG: a row for each track of kernels, arrows from signals to the waits that they ended.

Usage: draw_trace.py MERGED OUT.svg [--from MS] [--ms MS]   (by default three milliseconds from the first signal on)
"""
import argparse
from xml.sax.saxutils import escape

import perfetto_file

WIDTH, LEFT, TOP, ROW, BAR, GAP = 1000, 150, 34, 14, 10, 8
COLOURS = {"signal": "#c2410c", "wait": "#94a3b8", "put": "#2563eb", "get": "#0891b2", "atomic": "#7c3aed", "collective": "#15803d", "call": "#a16207"}


def rows_of(trace: perfetto_file.Trace, kernels: list) -> dict:
    """The height of each track that has events, PEs apart."""
    used = {(event.pe, event.track) for event in kernels}
    heights, y = {}, TOP
    for pe in sorted(trace.tracks):
        for track in trace.tracks[pe]:
            if (pe, track) in used:
                heights[pe, track] = y
                y += ROW
        y += GAP
    return heights


def draw(trace: perfetto_file.Trace, begin: int, end: int) -> str:
    kernels = [event for event in trace.events if event.facts.get("by") == "kernel" and event.end > begin and event.begin < end]
    heights = rows_of(trace, kernels)
    height = max(heights.values()) + ROW + GAP

    def x(time: int) -> float:
        return LEFT + (WIDTH - LEFT - 30) * (min(max(time, begin), end) - begin) / (end - begin)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="10">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           '<defs><marker id="head" markerWidth="5" markerHeight="5" refX="4" refY="2.5" orient="auto"><path d="M0 0L5 2.5L0 5z" fill="#c2410c"/></marker></defs>']
    for tenth in range(0, 11, 2):
        at = begin + (end - begin) * tenth // 10
        out.append(f'<path d="M{x(at):.1f} {TOP - 6}V{height}" stroke="#e2e8f0"/><text x="{x(at):.1f}" y="{TOP - 10}" text-anchor="middle" '
                   f'fill="#475569">{(at - begin) / 1e3:.0f} us</text>')
    for (pe, track), y in heights.items():
        block = track.removeprefix("kernels, ").replace(" thread 0", "")
        out.append(f'<text x="{LEFT - 8}" y="{y + BAR - 1}" text-anchor="end" fill="#334155">PE {pe}, {escape(block)}</text>')
    for event in kernels:
        y = heights[event.pe, event.track]
        out.append(f'<rect x="{x(event.begin):.1f}" y="{y}" width="{max(x(event.end) - x(event.begin), 1):.1f}" height="{BAR}" '
                   f'fill="{COLOURS[event.category]}"><title>{escape(event.name)}, {(event.end - event.begin) / 1e3:.2f} us</title></rect>')
    ends = {number: event for event in kernels for number in event.ends}
    for event in kernels:
        for number in event.flows:
            if number in ends:
                to = ends[number]
                out.append(f'<path d="M{x(event.begin):.1f} {heights[event.pe, event.track] + BAR / 2}L{x(to.end):.1f} '
                           f'{heights[to.pe, to.track] + BAR / 2}" stroke="#c2410c" stroke-width=".7" marker-end="url(#head)"/>')
    at = LEFT
    for category in sorted({event.category for event in kernels}):
        out.append(f'<rect x="{at}" y="4" width="10" height="10" fill="{COLOURS[category]}"/><text x="{at + 14}" y="13">{category}</text>')
        at += 80
    return "\n".join(out + ["</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("merged")
    parser.add_argument("out")
    parser.add_argument("--from", dest="begin", type=float, help="milliseconds after the first signal of a kernel")
    parser.add_argument("--ms", type=float, default=3)
    given = parser.parse_args()
    trace = perfetto_file.read(given.merged)
    signals = [event.begin for event in trace.events if event.category == "signal" and event.facts.get("by") == "kernel"]
    if not signals:
        raise SystemExit(f"{given.merged}: no signal of a kernel is in it; compile the program with -DPGAS_TRACE")
    begin = min(signals) + int((given.begin or 0) * 1e6)
    with open(given.out, "w", encoding="utf-8") as file:
        file.write(draw(trace, begin, begin + int(given.ms * 1e6)))


if __name__ == "__main__":
    main()
