"""Writes the results as text, as comma-separated values, and as tables by application in Markdown."""
COLUMNS = ("application", "by", "scaling", "share", "variant", "size", "division", "pes", "median", "unit", "spread", "gain", "to_mpi")


def number(value):
    """Returns a number with three digits; an empty text for None."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def cells(each):
    """Returns a line of the table of all results."""
    shown = {**each, "median": number(each["median"]), "spread": percent(each["spread"]), "gain": number(each["gain"]),
             "to_mpi": number(each["to_mpi"])}
    return [str(shown[name]) for name in COLUMNS]


def as_text(all_):
    rows = [COLUMNS, *(cells(each) for each in all_["results"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    return "".join("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() + "\n" for row in rows)


def as_csv(all_):
    """Writes numbers with all digits. Quotation marks surround texts that contain a comma."""
    def word(value):
        shown = "" if value is None else str(value)
        return f'"{shown}"' if "," in shown else shown
    names = (*COLUMNS[:9], "lowest", "highest", *COLUMNS[9:])
    return "".join(",".join(row) + "\n" for row in [names, *([word(each[name]) for name in names] for each in all_["results"])])


# ---- Markdown -------------------------------------------------------------------------------------------------------


def table(head, rows, words=1):
    """Makes a table. The first *words* columns contain words, and the other columns contain figures."""
    lines = [head, ["---" if i < words or name == "why" else "---:" for i, name in enumerate(head)], *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""] if rows else []


def groups(results, *names):
    """Groups results that have equal values of these members, in the order of each group's first result."""
    found = {}
    for each in results:
        found.setdefault(tuple(each[name] for name in names), []).append(each)
    return found.items()


def of(all_, application, *scaling):
    return [each for each in all_["results"] if each["application"] == application and (not scaling or each["scaling"] in scaling)]


def pes_head(pes):
    return [f"{n} PE" if n == 1 else f"{n} PEs" for n in pes]


def by_pes(members, pes):
    """Returns the medians by number of PEs; for the most PEs also the gain and the comparison with MPI; and the
    largest spread."""
    found = {each["pes"]: each for each in members}
    last = found[max(found)]
    medians = {1: last["alone"], **{n: each["median"] for n, each in found.items()}}
    return [*(number(medians.get(n)) for n in pes), number(last["gain"]), number(last["to_mpi"]),
            percent(max(each["spread"] for each in members))]


def scaling_table(all_, application, scaling):
    """Makes a table with a line for each problem and variant, and a column for each number of PEs."""
    by = "share" if scaling == "weak" else "size"
    head = ["each PE" if scaling == "weak" else "problem", "variant", *pes_head(all_["pes"]),
            "efficiency" if scaling == "weak" else "times one PE", "times MPI", "spread"]
    rows = [[problem, variant or "-", *by_pes(members, all_["pes"])]
            for (problem, variant), members in groups(of(all_, application, scaling), by, "variant")]
    return table(head, rows, 2)


WHY = {
    0: "each point lies in a row of its own: `iput` and `remote` store 4 bytes into each line of the neighbour, `pack` sends full ones",
    1: "a row of each plane: all ways store full lines, and `pack` copies them twice more",
    2: "whole planes: all ways store full lines, and `pack` copies them twice more",
}


def division_table(all_):
    """Makes a table of faces by division, with the fastest way and the reason for it."""
    rows = []
    for (division, size), members in groups(of(all_, "20_stencil3d", "division"), "division", "size"):
        ways = {each["variant"].split(", ")[-1]: each for each in members}
        mine = {way: each["median"] for way, each in ways.items() if way != "MPI"}
        cut = next((i for i, n in enumerate(division.split(" x ")) if n != "1"), 2)
        best = min(mine, key=mine.get)
        spread = max(each["spread"] for each in members)
        others = sorted(mine.values())
        clear = len(others) < 2 or others[1] / others[0] - 1 > spread
        rows.append([size, division, *(number(mine.get(way)) for way in ("pack", "iput", "remote")),
                     number(ways["MPI"]["median"]) if "MPI" in ways else "", best if clear else f"{best}, within the spread",
                     percent(spread), WHY[cut]])
    return table(["grid", "PEs on x, y, z", "pack", "iput", "remote", "MPI", "fastest", "spread", "why"], rows, 2)


def persistent_table(all_):
    rows = []
    for (size, pes), members in groups(of(all_, "21_persistent"), "size", "pes"):
        ways = {each["variant"]: each["median"] for each in members}
        host, kernel = ways["host-driven"], ways["persistent"]
        rows.append([size, str(pes), number(host), number(kernel), number(ways.get("graph")), number(host - kernel), number(host / kernel),
                     percent(max(each["spread"] for each in members))])
    return table(["grid", "PEs", "host-driven", "persistent", "graph", "persistent saves", "times as fast", "spread"], rows)


def particle_rows(all_):
    rows = []
    for each in of(all_, "23_particles"):
        more = each["more"]
        rows.append([each["scaling"], each["size"], str(each["pes"]), number(each["median"]), number(float(more["Mparticles_per_s"])),
                     number(float(more["sent_per_step"])), more["late"], more["imbalance"], number(each["gain"]), percent(each["spread"])])
    return table(["scaling", "particles", "PEs", "us per step", "millions / s", "sent in a step", "late", "imbalance", "times one PE",
                  "spread"], rows, 2)


def expert_rows(all_):
    rows = []
    for each in of(all_, "24_moe"):
        more = each["more"]
        rows.append([each["variant"], each["size"], str(each["pes"]), number(float(more["dispatch_us"])), number(float(more["combine_us"])),
                     number(each["median"]), number(float(more["dispatch_GB_per_s"])), number(float(more["combine_GB_per_s"])),
                     more["blocks"], percent(each["spread"])])
    return table(["variant", "each PE", "PEs", "dispatch us", "combine us", "round us", "dispatch GB/s", "combine GB/s", "blocks", "spread"],
                 rows, 2)


def all_reduce_rows(all_):
    rows = []
    for (size, pes), members in groups(of(all_, "25_allreduce"), "size", "pes"):
        ways = {each["variant"]: each["median"] for each in members}
        chosen = members[0]["more"]["chosen"]
        mine = ways[chosen]
        rows.append([f"{int(size.split()[0]) / 1024:g} KiB", str(pes), chosen, *(number(ways.get(way)) for way in
                     ("one-shot", "two-shot", "graph", "library")), number(ways["library"] / mine) if "library" in ways else "",
                     percent(max(each["spread"] for each in members))])
    return table(["data", "PEs", "chosen", "one-shot", "two-shot", "in a graph", "library + kernel", "times the library", "spread"], rows)


def as_markdown(all_):
    """Returns all tables, each after its title."""
    parts = [("Strong scaling of the stencil, us per iteration", scaling_table(all_, "20_stencil3d", "strong")),
             ("Weak scaling of the stencil, us per iteration", scaling_table(all_, "20_stencil3d", "weak")),
             ("Faces and division, us per iteration", division_table(all_)),
             ("Without the host, us per iteration", persistent_table(all_)),
             ("Conjugate gradients, strong scaling, us per iteration", scaling_table(all_, "22_cg", "strong")),
             ("Conjugate gradients, weak scaling, us per iteration", scaling_table(all_, "22_cg", "weak")),
             ("Particles", particle_rows(all_)), ("Mixture of experts", expert_rows(all_)),
             ("All-reduce, us of a call", all_reduce_rows(all_))]
    lines = [f"{all_['machine']}, {all_['heap']} heap, {all_['launcher']}, {all_['date']}, rounds: {all_['rounds']}"
             + (f"; without MPI: {all_['mpi']}" if all_["mpi"] else "") + ".", ""]
    for name, made in parts:
        lines += [f"**{name}**", "", *made] if made else []
    return "\n".join(lines)
