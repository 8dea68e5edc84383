"""Draws the geometry of the halo of 20_stencil3d: the points that a PE sends in each direction, their location in
memory, and their destination."""
from svg import document, line, text

KINDS = {0: ("#e8e8e8", "this PE's points"), 1: ("#7fb2e0", "face"), 2: ("#f0a44a", "edge"), 3: ("#6fbf73", "corner")}
SEGMENTS = {-1: (0, 0.35), 0: (0.75, 2.75), 1: (3.15, 3.5)}  # positions along each axis, with gaps between the parts
UNIT = 58


def shade(colour, part):
    return "#" + "".join(f"{int(int(colour[i:i + 2], 16) * part):02x}" for i in (1, 3, 5))


def project(x, y, z):
    """Projects a point: x to the right and down, y to the left and down, z upwards."""
    return 235 + (x - y) * 0.87 * UNIT, 275 + ((x + y) * 0.5 - z) * UNIT


def solid(way):
    """Draws a box, seen from the side of large x, y and z, so that three faces are visible."""
    (x0, x1), (y0, y1), (z0, z1) = (SEGMENTS[step] for step in way)
    colour = KINDS[sum(map(abs, way))][0]
    faces = (((x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)), ((x1, y0, z0), (x1, y1, z0), (x1, y1, z1), (x1, y0, z1)),
             ((x0, y1, z0), (x1, y1, z0), (x1, y1, z1), (x0, y1, z1)))
    drawn = []
    for face, part in zip(faces, (1, 0.78, 0.88)):
        points = " ".join("{:.1f},{:.1f}".format(*project(*corner)) for corner in face)
        drawn.append(f'<polygon points="{points}" fill="{shade(colour, part)}" fill-opacity="0.9" stroke="#444" stroke-width="0.8"/>')
    return drawn


def label(point, words, dx, dy):
    """Writes words near a point, with a line to the point."""
    x, y = project(*point)
    return [line(x, y, x + dx, y + dy, "#444", 0.8), text(x + dx + 3, y + dy + 4, words)]


def exploded():
    ways = [(x, y, z) for x in SEGMENTS for y in SEGMENTS for z in SEGMENTS]
    drawn = [part for way in sorted(ways, key=sum) for part in solid(way)]
    middle = 1.75
    drawn += label((middle, middle, 3.5), "face +z: nx ny points", 96, -118)
    drawn += label((3.5, middle, middle), "face +x: ny nz points", 105, -45)
    drawn += label((3.5, middle, 3.5), "edge: ny points", 78, -70)
    drawn += label((3.5, 0.2, 3.5), "corner: 1 point", 30, 48)
    drawn += label((middle, 3.5, middle), "face +y: nx nz points", 1, 165)
    return drawn


PLANES, ROWS, COLUMNS, CELL = 3, 5, 8, 9
LAYOUTS = (
    ("face +z: rows of one plane", ("ny pieces of nx points,", "a pitch apart: one ibput"), lambda x, y, z: z == PLANES - 1),
    ("face +y: one row of each plane", ("nz pieces of nx points,", "a plane apart: one ibput"), lambda x, y, z: y == ROWS - 1),
    ("face +x: one point of each row", ("ny nz single points,", "a pitch apart: nz iputs"), lambda x, y, z: x == COLUMNS - 1),
)


def memory(top):
    """Draws the three kinds of faces in the memory of a grid: planes beside each other, with their rows below each
    other."""
    left = 560
    drawn = [text(left, top, "How they lie in memory (x fastest, then y, then z)", size=13)]
    for i, (name, pieces, sent) in enumerate(LAYOUTS):
        y0 = top + 20 + i * (ROWS * CELL + 44)
        drawn.append(text(left, y0 + 6, name))
        drawn += [text(left + 258, y0 + 32 + 16 * n, words) for n, words in enumerate(pieces)]
        for z in range(PLANES):
            for y in range(ROWS):
                for x in range(COLUMNS):
                    colour = KINDS[1][0] if sent(x, y, z) else KINDS[0][0]
                    at = left + z * (COLUMNS * CELL + 14) + x * CELL
                    drawn.append(f'<rect x="{at}" y="{y0 + 14 + y * CELL}" width="{CELL}" height="{CELL}" fill="{colour}" '
                                 'stroke="#999" stroke-width="0.5"/>')
    return drawn


def numbers(top):
    """Draws the numbers of the directions: three layers of 3 x 3."""
    left, size = 560, 30
    drawn = [text(left, top, "Message d adds to word 26 - d of the neighbour's `arrived`", size=13)]
    for layer, z in enumerate((-1, 0, 1)):
        x0 = left + layer * (3 * size + 22)
        drawn.append(text(x0, top + 20, f"z {'+' if z > 0 else '-'} 1" if z else "z"))
        for y in (-1, 0, 1):
            for x in (-1, 0, 1):
                number, kind = x + 1 + 3 * (y + 1) + 9 * (z + 1), abs(x) + abs(y) + abs(z)
                at_x, at_y = x0 + (x + 1) * size, top + 28 + (y + 1) * size
                drawn.append(f'<rect x="{at_x}" y="{at_y}" width="{size}" height="{size}" fill="{KINDS[kind][0]}" stroke="#666"/>')
                drawn.append(text(at_x + size / 2, at_y + 19, str(number) if kind else "-", "middle"))
    drawn.append(text(left, top + 138, "x to the right, y downwards. 7 points send the 6 faces, 27 points all 26."))
    return drawn


def picture():
    drawn = [text(20, 28, "The halo exchange of 20_stencil3d: one message and one signal for each direction", size=15),
             *exploded(), *memory(70), *numbers(370)]
    for i, (colour, name) in enumerate(KINDS.values()):
        drawn += [f'<rect x="{20 + 120 * i}" y="514" width="14" height="14" fill="{colour}" stroke="#444"/>', text(40 + 120 * i, 525, name)]
    return document(960, 540, drawn)
