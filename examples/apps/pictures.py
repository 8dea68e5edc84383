"""Pictures of the results: scaling curves, time per iteration by variant and size, and the residuals of 22_cg."""
import csv

import cases
import halo_picture
from svg import panel, sheet

RESIDUALS = "residuals.csv"  # 22_cg writes this file


def gathered(results, by, x, y):
    """Returns the curves of (x, y). Results with the same value of *by* form a curve."""
    curves = {}
    for each in results:
        if y(each) is not None:
            curves.setdefault(by(each), []).append((x(each), y(each)))
    return curves


def points_of(result):
    """Returns "7 points" or "27 points" for results of the stencil; empty for other applications."""
    return result["variant"].split(", ")[0] if result["application"] == "20_stencil3d" else ""


def way_of(result):
    """The name of a curve."""
    return result["variant"].removeprefix(points_of(result) + ", ") or "pgas"


def edge(size):
    """Returns the cube root of the number of points of a grid."""
    a, b, c = (int(word) for word in size.split(" x "))
    return round((a * b * c) ** (1 / 3), 2)


def scaling(all_):
    """Draws strong and weak scaling: one diagram for each application and problem."""
    panels, pes = [], all_["pes"]
    for application in cases.APPLICATIONS:
        for kind in ("strong", "weak"):
            mine = [each for each in all_["results"] if each["application"] == application and each["scaling"] == kind]
            by = "share" if kind == "weak" else "size"
            problems = dict.fromkeys((each[by], points_of(each)) for each in mine)
            for problem, points in problems:
                def make(x, y, mine=mine, by=by, problem=problem, points=points, application=application, kind=kind):
                    some = [each for each in mine if (each[by], points_of(each)) == (problem, points)]
                    curves = gathered(some, way_of, lambda each: each["pes"],
                                      lambda each: each["gain"])
                    if kind == "weak":  # a single PE has efficiency 1
                        curves = {way: [(1, 1.0), *(point for point in curve if point[0] > 1)] for way, curve in curves.items()}
                    what = f"{application}, {problem}" + (f", {points}" if points else "")
                    ideal = [(n, n if kind == "strong" else 1) for n in pes] if len(pes) > 1 else None
                    name = f"{what}: {'times one PE' if kind == 'strong' else 'efficiency'}"
                    return panel(name, curves, x, y, "PEs", up_base=2, ideal=ideal)
                panels.append(make)
    return sheet("Strong scaling: times as fast as one PE. Weak scaling: efficiency. Dashed: no loss.", panels)


def variants(all_):
    """Draws the time by variant and size, for the largest number of PEs."""
    panels, most = [], max(all_["pes"])
    at_most = [each for each in all_["results"] if each["pes"] == most]
    for application in cases.GRIDS:
        mine = [each for each in at_most if each["application"] == application and each["scaling"] == "strong"]
        for points in dict.fromkeys(points_of(each) for each in mine):
            some = [each for each in mine if points_of(each) == points]
            curves = gathered(some, way_of, lambda each: edge(each["size"]), lambda each: each["median"])
            title = f"{application}{', ' if points else ''}{points}, {most} PEs: us per iteration"
            panels.append(lambda x, y, title=title, curves=curves: panel(title, curves, x, y, "edge of the cube"))
    for application, unit, name in (("24_moe", "us per round", "tokens of a PE"), ("25_allreduce", "us per call", "bytes of a PE")):
        curves = gathered([each for each in at_most if each["application"] == application], lambda each: each["variant"],
                          lambda each: int(each["size"].split()[0]), lambda each: each["median"])
        panels.append(lambda x, y, title=f"{application}, {most} PEs: {unit}", curves=curves, name=name: panel(title, curves, x, y, name))
    return sheet(f"Time by variant and size, {all_['heap']} heap", panels)


def residuals(path):
    """Draws the relative residuals from the file of 22_cg, from the first iteration on."""
    curves = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["iteration"] != "0":
                    curves.setdefault(row["way"], []).append((int(row["iteration"]), float(row["residual"])))
    return sheet("22_cg", [lambda x, y: panel("residual / right-hand side", curves, x, y, "iteration")])


def draw(all_, folder):
    """Writes scaling.svg, variants.svg and residuals.svg if there are figures for them, and halo.svg."""
    drawings = {"scaling": scaling(all_), "variants": variants(all_), "halo": halo_picture.picture(),
                "residuals": residuals(folder / RESIDUALS)}
    for name, drawing in drawings.items():
        if drawing:
            (folder / f"{name}.svg").write_text(drawing, encoding="utf-8")
