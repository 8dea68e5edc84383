"""The command lines that apps.py runs: each application with its sizes, variants, divisions and numbers of PEs."""
from typing import NamedTuple

GRIDS = ("20_stencil3d", "21_persistent", "22_cg")
APPLICATIONS = (*GRIDS, "23_particles", "24_moe", "25_allreduce")
BESIDE_MPI = ("20_stencil3d", "22_cg")
FACES = ("pack", "iput", "remote")
AXES = "xyz"


class Case(NamedTuple):
    """One command line, without the launcher."""
    application: str
    by: str       # pgas or mpi
    scaling: str  # strong, weak: fixed problem in total, for each PE; division: of the grid; sizes: of the data
    pes: int
    share: str    # weak: the size of a PE's problem; otherwise empty
    arguments: tuple


class Plan(NamedTuple):
    """The sizes of a run."""
    grids: tuple           # edges of the cubes of applications 20 and 22
    small_grids: tuple     # the same for application 21
    updates: float         # total updates of points by all iterations of applications 20 and 21
    least_iterations: int
    solves: int            # number of solutions in a run of application 22
    particles: int
    steps: int
    layer: tuple           # options of application 24
    tokens: tuple          # low latency: tokens of each PE
    many_tokens: int       # throughput: tokens of each PE
    most_kib: int          # largest message of application 25
    calls: int


HOST = Plan((32, 64, 128), (16, 32, 64), 4e7, 20, 2, 400000, 50, ("--hidden", "1024", "--experts", "32", "--rounds", "10"), (1, 16, 64), 64,
            2048, 30)
CUDA = Plan((64, 128, 256, 512), (32, 64, 128), 2e10, 200, 3, 4000000, 100, ("--hidden", "7168", "--experts", "256", "--rounds", "30"),
            (1, 16, 128), 4096, 8192, 99)
QUICK = Plan((12,), (8,), 0, 4, 1, 400, 5, ("--hidden", "128", "--experts", "8", "--topk", "2", "--rounds", "3"), (2,), 4, 16, 3)


def cube(n, times=(1, 1, 1)):
    return tuple(n * each for each in times)


def text(numbers, between=" x "):
    return between.join(str(each) for each in numbers)


def boxes(n):
    """Divides n PEs into the box with the smallest surface. Of equal surfaces, the slowest axis is divided first."""
    divisions = [(n // z // y, y, z) for z in range(1, n + 1) if n % z == 0 for y in range(1, n // z + 1) if n // z % y == 0]
    return min(divisions, key=lambda d: (sum(d), -d[2], -d[1]))


def on_axis(n, axis):
    return tuple(n if i == axis else 1 for i in range(3))


def iterations(plan, size, points):
    """The number of iterations with the plan's number of updates. A point of the 27-point stencil counts as four
    points of the 7-point stencil."""
    volume = size[0] * size[1] * size[2] * (4 if points == 27 else 1)
    return int(min(max(plan.updates / volume, plan.least_iterations), 1000)) // 2 * 2  # even, as graphs require


def stencil(plan, size, pes, points, division=None):
    cut = ("--pes", text(division, ",")) if division else ()
    return ("--size", text(size, ","), "--points", str(points), "--iterations", str(iterations(plan, size, points)), *cut)


def impossible(asked, plan):
    """Returns the part of the request that no program can do; empty if every part is possible."""
    most = max(asked.pes)
    if min(asked.pes) < 1:
        return f"--pes {text(asked.pes, ',')}: there are no worlds of {min(asked.pes)} PEs"
    grids = [n for n in (*plan.grids, *plan.small_grids) if n < most and any(each in asked.only for each in GRIDS)]
    if grids:
        return f"a grid of {text(cube(grids[0]))} points has less than one layer for each of {most} PEs: take fewer PEs or larger --grids"
    if "24_moe" in asked.only and most > (experts := int(plan.layer[plan.layer.index("--experts") + 1])):
        return f"24_moe has {experts} experts here, too few for {most} PEs: take fewer PEs, or leave it out by --only"
    return ""


def of_stencil(asked, plan):
    for n in plan.grids:
        for points in asked.points:
            for pes in asked.pes:
                words = stencil(plan, cube(n), pes, points)
                for faces in asked.faces:
                    yield Case("20_stencil3d", "pgas", "strong", pes, "", (*words, "--faces", faces))
                yield Case("20_stencil3d", "mpi", "strong", pes, "", words)
    middle = plan.grids[len(plan.grids) // 2]
    for points in asked.points:
        for pes in asked.pes[1:]:  # the loop above has run this size on one PE
            division = boxes(pes)
            words = stencil(plan, cube(middle, division), pes, points, division)
            for faces in asked.faces:
                yield Case("20_stencil3d", "pgas", "weak", pes, text(cube(middle)), (*words, "--faces", faces))
            yield Case("20_stencil3d", "mpi", "weak", pes, text(cube(middle)), words)
    most = max(asked.pes)
    for axis in range(3 if most > 1 else 0):
        words = stencil(plan, cube(middle), most, asked.points[0], on_axis(most, axis))
        for faces in asked.faces:
            yield Case("20_stencil3d", "pgas", "division", most, "", (*words, "--faces", faces))
        yield Case("20_stencil3d", "mpi", "division", most, "", words)


def of_persistent(asked, plan):
    for n in plan.small_grids:
        for pes in asked.pes:
            yield Case("21_persistent", "pgas", "strong", pes, "", (*stencil(plan, cube(n), pes, 7), "--rounds", "1"))


def of_cg(asked, plan):
    middle = plan.grids[len(plan.grids) // 2]
    runs = [("strong", "", cube(n), pes, ()) for n in plan.grids for pes in asked.pes]
    runs += [("weak", text(cube(middle)), cube(middle, boxes(pes)), pes, ("--pes", text(boxes(pes), ","))) for pes in asked.pes[1:]]
    for scaling, share, size, pes, division in runs:
        words = ("--size", text(size, ","), "--rounds", str(plan.solves), *division)
        yield Case("22_cg", "pgas", scaling, pes, share, (*words, "--method", "both"))
        for method in ("standard", "pipelined"):
            yield Case("22_cg", "mpi", scaling, pes, share, (*words, "--method", method))


def of_particles(asked, plan):
    for scaling in ("strong", "weak"):
        for pes in asked.pes:
            each = plan.particles // max(asked.pes)
            number = plan.particles if scaling == "strong" else each * pes
            yield Case("23_particles", "pgas", scaling, pes, f"{each} particles" if scaling == "weak" else "",
                       ("--particles", str(number), "--steps", str(plan.steps)))


def of_experts(asked, plan):
    for pes in asked.pes:
        for tokens in plan.tokens:
            yield Case("24_moe", "pgas", "weak", pes, f"{tokens} tokens",
                       (*plan.layer, "--variant", "low-latency", "--tokens", str(tokens)))
        yield Case("24_moe", "pgas", "weak", pes, f"{plan.many_tokens} tokens",
                   (*plan.layer, "--variant", "throughput", "--tokens", str(plan.many_tokens)))


def of_all_reduce(asked, plan):
    for pes in asked.pes:
        if pes > 1 or max(asked.pes) == 1:
            yield Case("25_allreduce", "pgas", "sizes", pes, "", ("--format", "bf16", "--from", "8", "--to", str(plan.most_kib), "--factor",
                                                                  "4", "--calls", str(plan.calls)))


MAKERS = dict(zip(APPLICATIONS, (of_stencil, of_persistent, of_cg, of_particles, of_experts, of_all_reduce)))


def listed(asked, plan, with_mpi):
    """Returns all cases of the request. Cases that are compared with each other are adjacent."""
    return [case for name in APPLICATIONS if name in asked.only for case in MAKERS[name](asked, plan)
            if case.by == "pgas" or with_mpi]


# ---- the columns of --csv -------------------------------------------------------------------------------------------


def of_grid(row):
    return text((row["nx"], row["ny"], row["nz"])), text(row[name] for name in ("px", "py", "pz")) if "px" in row else ""


def read_stencil(case, row):
    way = row["faces"] if case.by == "pgas" else "MPI"
    yield (f"{row['points']} points, {way}", *of_grid(row), "us per iteration", row["us_per_iteration"], row["different"] == "0")


def read_persistent(_, row):
    yield row["way"], *of_grid(row), "us per iteration", row["us_per_iteration"], row["different"] == "0"


def read_cg(case, row):
    right = float(row["rms_error"]) <= float(row["allowed"]) and row.get("repeatable", "1") == "1"
    yield row["way"] if case.by == "pgas" else f"MPI, {row['way']}", *of_grid(row), "us per iteration", row["us_per_iteration"], right


def read_particles(_, row):
    yield "", f"{row['particles']} particles", "", "us per step", row["us_per_step"], row["right"] == "1"


def read_experts(_, row):
    yield f"{row['variant']}, {row['format']}", f"{row['tokens']} tokens", "", "us per round", row["whole_us"], row["wrong"] == "0"


def read_all_reduce(_, row):
    for way, column in (("one-shot", "one_shot_us"), ("two-shot", "two_shot_us"), ("graph", "graph_us"), ("library", "library_us")):
        if float(row[column]) > 0:  # 0: the variant was not run
            yield way, f"{row['bytes']} bytes", "", "us per call", row[column], row["wrong"] == "0"


READERS = dict(zip(APPLICATIONS, (read_stencil, read_persistent, read_cg, read_particles, read_experts, read_all_reduce)))
