#!/usr/bin/env python3
"""pgas-plot: draws the JSON documents of pgas-perf, pgas-perf map and pgas-trace events."""
from __future__ import annotations

import html
import io
import json
import math
import os
import sys
import textwrap
from typing import Any, Iterable, NoReturn

VERSION = "@PROJECT_VERSION@"
FORMATS = ("svg", "pdf", "png", "html")
SHELLS = ("bash", "zsh", "fish")
BEST, WORST, OUTLIER = "#2171b5", "#f7fbff", "#d1102a"
COLOURS = {"signal": "#c2410c", "wait": "#94a3b8", "put": "#2563eb", "get": "#0891b2", "atomic": "#7c3aed", "collective": "#15803d", "call": "#a16207"}
PANELS_IN_A_LINE = 3
MOST_PES_WITH_FIGURES = 20

SUMMARY = "draws the JSON documents of pgas-perf, pgas-perf map and pgas-trace events"
ARGUMENTS = (("FILE", "the document; - is standard input"),
             ("OUT", "the picture; its ending names the format: .svg, .pdf, .png, or .html for a map (default: FILE with the ending .svg)"))
OPTIONS = ((("-h", "--help"), "print this"), (("-V", "--version"), "print the version"))
PARAGRAPHS = ("A document of pgas-perf becomes curves over the sizes. A map becomes a square for each pair of PEs, or with the ending .html a page with "
              "pictures and tables that needs no other file. Events become a row for each track, with arrows from signals to waits.",
              "pgas-plot is a Python program and needs matplotlib.")
EXAMPLES = (("pgasrun -n 2 pgas-perf put_bw --json put.json && pgas-plot put.json", "bandwidth over the size, in put.svg"),
            ("pgas-plot map.json map.html", "a page of the document that pgas-perf map --save map.json wrote"),
            ("pgas-trace events --ms 0.8 t.pftrace | pgas-plot - t.png", "the first 0.8 ms of a trace"))
STATUSES = (("0", "the picture is written"), ("1", "a file cannot be read or written, has no document of pgas, or matplotlib is missing"),
            ("2", "the command line is wrong"))
VARIABLES = (("MPLCONFIGDIR", "the folder of matplotlib's settings and cache"),)
SEE_ALSO = ("pgas-perf", "pgas-perf-map", "pgas-trace")


class Refusal(Exception):
    """The error if the document or the machine does not allow a picture. The text has the reason and the remedy."""


def load_matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise Refusal(f"matplotlib is not installed for {sys.executable}: install it with `pip install matplotlib`, or "
                      "`apt install python3-matplotlib` for the Python of Debian and Ubuntu") from None
    matplotlib.use("Agg")
    # With these settings, text stays text in SVG files, and the same document gives the same bytes.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pgas", "font.size": 8, "axes.titlesize": 9, "text.parse_math": False})
    return matplotlib


def short_figure(value: float) -> str:
    """Returns the figure in at most four characters, because further digits are noise."""
    for unit in ("", "k", "M", "G"):
        if value < 999.5 or unit == "G":
            digits = 3 if value < 0.0995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f}{unit}" if unit == "" else f"{value:.{min(1, digits)}f}{unit}"
        value /= 1000
    raise AssertionError


def size_text(count: int) -> str:
    """Returns a size with the largest binary unit that divides it."""
    for unit in ("", "K", "M"):
        if count < 1024 or count % 1024:
            return f"{count}{unit}"
        count //= 1024
    return f"{count}G"


def grid_of_axes(figure: Any, panels: int, columns: int) -> list[Any]:
    return [figure.add_subplot(-(-panels // columns), columns, number + 1) for number in range(panels)]


# ---- rows of pgas-perf ------------------------------------------------------------------------------------------------


def draw_rows(document: dict[str, Any]) -> Any:
    """Draws a panel for each row with several sizes: the median, and a bar from the lowest to the highest run."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in document["results"]:
        rows.setdefault(line["row"], []).append(line)
    rows = {name: lines for name, lines in rows.items() if len({line["bytes"] for line in lines}) > 1}
    if not rows:
        raise Refusal("no row of the document has several sizes: give pgas-perf a row such as put_bw, or a larger range of sizes")
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    columns = min(PANELS_IN_A_LINE, len(rows))
    figure = Figure(figsize=(3.8 * columns, 3 * -(-len(rows) // columns)), layout="constrained")
    for axes, (name, lines) in zip(grid_of_axes(figure, len(rows), columns), rows.items()):
        curves: dict[str, list[dict[str, Any]]] = {}
        for line in lines:
            curves.setdefault("host" if line["scope"] == "host" else f"{line['scope']} {line['blocks']}x{line['threads']}", []).append(line)
        for shape, points in curves.items():
            middle = [point["median"] for point in points]
            spread = [[point["median"] - point["lowest"] for point in points], [point["highest"] - point["median"] for point in points]]
            axes.errorbar([point["bytes"] for point in points], middle, yerr=spread, label=shape, marker=".", linewidth=1.2, elinewidth=0.8)
        sizes = sorted({line["bytes"] for line in lines})
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(sizes[:: -(-len(sizes) // 8)], [size_text(size) for size in sizes[:: -(-len(sizes) // 8)]])
        axes.set_title(f"{name}, {lines[0]['unit']}")
        axes.grid(color="#e4e4e4")
        axes.legend(fontsize=7)
    return figure


# ---- maps of pgas-perf map --------------------------------------------------------------------------------------------


def is_outlier(of: dict[str, Any], outliers: list[dict[str, Any]], source: int, target: int) -> bool:
    """Whether the pair is an outlier, or lies in a row or column that is an outlier."""
    return any(each["measure"] == of["measure"] and each["pattern"] == of["pattern"] and each["from"] in (None, source) and each["to"] in (None, target)
               for each in outliers)


def limits_of(figures: list[float], more_is_better: bool) -> tuple[float, float]:
    """Returns the ends of the scale. They are at least a factor of two apart, so that pairs that hardly differ look
    alike."""
    least, most = min(figures), max(figures)
    return (min(least, most / 2), most) if more_is_better else (least, max(most, 2 * least))


def draw_pairs(axes: Any, of: dict[str, Any], outliers: list[dict[str, Any]]) -> None:
    """Draws a square for each pair: the row is the source PE, the column the target PE. Equal steps of colour are equal
    factors, and dark is better."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.patches import Rectangle

    figures, n = of["figures"], len(of["figures"])
    axes.set_title(f"{of['measure']} {of['pattern']}, {of['unit']}")
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal", xlabel="to PE", ylabel="from PE")
    known = [figure for row in figures for figure in row if figure]
    if not known:
        return
    more = of["better"] == "more"
    norm = LogNorm(*limits_of(known, more))
    colours = LinearSegmentedColormap.from_list("pgas", (WORST, BEST) if more else (BEST, WORST))
    values = [[figure or math.nan for figure in row] for row in figures]
    picture = axes.imshow(values, norm=norm, cmap=colours, interpolation="nearest")
    axes.set_xticks(range(0, n, -(-n // 16)))
    axes.set_yticks(range(0, n, -(-n // 16)))
    scale = axes.figure.colorbar(picture, ax=axes, fraction=0.04, ticks=[norm.vmin, math.sqrt(norm.vmin * norm.vmax), norm.vmax], format="{x:.3g}")
    scale.minorticks_off()
    for source in range(n):
        for target in range(n):
            figure = figures[source][target]
            if figure is None:
                continue
            if is_outlier(of, outliers, source, target):
                axes.add_patch(Rectangle((target - 0.46, source - 0.46), 0.92, 0.92, fill=False, edgecolor=OUTLIER, linewidth=min(3, 24 / n)))
            if n <= MOST_PES_WITH_FIGURES and figure:
                good = norm(figure) if more else 1 - norm(figure)
                axes.text(target, source, short_figure(figure), ha="center", va="center", fontsize=min(8, 60 / n), color="white" if good > 0.55 else "#222")


def draw_map(document: dict[str, Any]) -> Any:
    maps = document["maps"]
    if not maps:
        raise Refusal("the document has no pair of PEs: run pgas-perf map on two PEs or more")
    from matplotlib.figure import Figure

    columns = min(PANELS_IN_A_LINE, len(maps))
    figure = Figure(figsize=(4.2 * columns, 0.4 + 3.8 * -(-len(maps) // columns)), layout="constrained")
    figure.suptitle(f"pgas-perf map: {document['title']}", fontsize=10 if columns > 1 else 7)
    for axes, of in zip(grid_of_axes(figure, len(maps), columns), maps):
        draw_pairs(axes, of, document["outliers"])
    return figure


def table(heads: list[str], rows: list[list[Any]]) -> str:
    def line(kind: str, cells: list[Any]) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape('-' if cell is None else cell if isinstance(cell, str) else format(cell, '.4g'))}</{kind}>"
                                for cell in cells) + "</tr>\n"
    return "<table>\n" + line("th", heads) + "".join(line("td", row) for row in rows) + "</table>\n"


def items(texts: list[str], if_none: str) -> str:
    return "<ul>\n" + "".join(f"<li>{html.escape(text)}</li>\n" for text in texts or [if_none]) + "</ul>\n"


def page_of(document: dict[str, Any], picture: str) -> str:
    """Returns a page that needs no other file and is well-formed XML. `picture` is SVG."""
    title = html.escape(f"pgas-perf map: {document['title']}")
    notes = [text for text in (document["note"], *document["remarks"]) if text]
    page = ('<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>'
            f"<title>{title}</title><style>body{{font-family:sans-serif;max-width:75em;margin:1em auto}}svg{{max-width:100%;height:auto}}"
            "td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}</style></head><body>\n"
            f"<h1>{title}</h1>\n" + items(notes, "no remarks"))
    page += "<h2>Outliers</h2>\n" + items([f"{each['measure']} {each['pattern']}: {each['text']}" for each in document["outliers"]], "none")
    if "comparison" in document:
        against = document["comparison"]
        slower = against["pairs"][: min(100, against["slower_pairs"])]
        page += f"<h2>Comparison</h2>\n<p>{against['slower_pairs']} of {len(against['pairs'])} figures are slower by more than " \
                f"{against['tolerance_percent']:.3g} %.</p>\n"
        page += table(["measure", "pattern", "from PE", "to PE", "before", "now", "slower by %"],
                      [[each[key] for key in ("measure", "pattern", "from", "to", "before", "now", "slower_percent")] for each in slower])
    page += "<h2>Maps</h2>\n" + picture[picture.index("<svg"):]
    page += "<h2>Summary</h2>\n" + table(
        ["measure", "pattern", "route", "pairs", "lowest", "median", "highest", "unit", "% of peak"],
        [[each[key] for key in ("measure", "pattern", "route", "pairs", "lowest", "median", "highest", "unit", "peak_percent")] for each in document["summary"]])
    page += "<h2>PEs</h2>\n" + table(["PE", "host", "device"], [[pe, each["host"], each["device"]] for pe, each in enumerate(document["pes"])])
    return page + f"<p>pgas {html.escape(document['pgas'])}, {document['seconds']:.1f} s</p>\n</body></html>\n"


# ---- events of pgas-trace ---------------------------------------------------------------------------------------------


def draw_events(document: dict[str, Any]) -> Any:
    """Draws a row for each track, a bar for each event, and an arrow from each signal to the end of the wait that the
    signal ended."""
    events = document["events"]
    if not events:
        raise Refusal("the document has no event: choose other times with --from and --ms of pgas-trace events, or other files")
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    begin, end = document["from_ns"], document["to_ns"]
    tracks = list(dict.fromkeys((event["pe"], event["track"]) for event in events))
    heights, height, last_pe = {}, 0.0, tracks[0][0]
    for pe, track in tracks:
        height += 0.6 * (pe != last_pe)  # a gap between PEs
        heights[pe, track], last_pe, height = height, pe, height + 1
    figure = Figure(figsize=(11, 0.8 + 0.17 * height), layout="constrained")
    axes = figure.add_subplot()

    def micros(time: int) -> float:
        return float(min(max(time, begin), end) - begin) / 1000

    shortest = (end - begin) / 1e6  # the shortest bar, so that an event without duration is visible
    for category in sorted({event["category"] for event in events}):
        of = [event for event in events if event["category"] == category]
        axes.barh([heights[event["pe"], event["track"]] for event in of],
                  [max(micros(event["end_ns"]) - micros(event["begin_ns"]), shortest) for event in of],
                  left=[micros(event["begin_ns"]) for event in of], height=0.7, color=COLOURS.get(category, "#475569"))
    for source, target in document["arrows"]:
        a, b = events[source], events[target]
        axes.annotate("", xy=(micros(b["end_ns"]), heights[b["pe"], b["track"]]), xytext=(micros(a["begin_ns"]), heights[a["pe"], a["track"]]),
                      arrowprops={"arrowstyle": "-|>", "color": COLOURS["signal"], "linewidth": 0.7, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0})
    axes.set(xlim=(0, (end - begin) / 1000), ylim=(height - 0.4, -0.6), xlabel="us")
    axes.set_yticks(list(heights.values()), [f"PE {pe}, {track.removeprefix('kernels, ').removesuffix(' thread 0')}" for pe, track in tracks], fontsize=6)
    axes.grid(axis="x", color="#e2e8f0")
    axes.set_axisbelow(True)
    categories = sorted({event["category"] for event in events})
    axes.legend(handles=[Patch(color=COLOURS.get(each, "#475569"), label=each) for each in categories], loc="lower left", bbox_to_anchor=(0, 1),
                ncol=len(categories), fontsize=7, frameon=False)
    return figure


# ---- the texts of the command -----------------------------------------------------------------------------------------


def help_text() -> str:
    """The text of --help, in lines of at most 100 columns, like those of the other tools."""
    def entry(word: str, meaning: str) -> str:
        head = f"  {word:<26}" if len(word) < 25 else f"  {word}\n{'':28}"
        return head + textwrap.fill(meaning, 72, break_on_hyphens=False).replace("\n", "\n" + 28 * " ") + "\n"

    sections: tuple[tuple[str, Iterable[tuple[str, str]]], ...] = (
        ("Arguments", ARGUMENTS), ("Options", [(", ".join(names), meaning) for names, meaning in OPTIONS]), ("Examples", EXAMPLES), ("Exit status", STATUSES))
    paragraphs = "".join("\n" + textwrap.fill(text, 100, break_on_hyphens=False) + "\n" for text in PARAGRAPHS)
    return f"pgas-plot: {SUMMARY}\n\nUsage: pgas-plot FILE [OUT]\n{paragraphs}" + "".join(
        f"\n{title}:\n" + "".join(entry(*each) for each in entries) for title, entries in sections)


def manual_page() -> str:
    """The text of --man: a page of section 1, in the macros of man(7)."""
    def escaped(text: str) -> str:
        special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", '"': "\\(dq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
        return ("\\&" if text.startswith(".") else "") + "".join(special.get(c, c) for c in text)

    def filled(text: str) -> str:
        return "".join(escaped(line) + "\n" for line in textwrap.wrap(text, 72, break_on_hyphens=False))

    def section(title: str, entries: Iterable[tuple[str, str]]) -> str:
        return f".SH {title}\n" + "".join(f".TP\n{head}\n{filled(meaning)}" for head, meaning in entries)

    def bold(text: str) -> str:
        return f"\\fB{escaped(text)}\\fR"

    options = [(f"\\fI{name}\\fR", meaning) for name, meaning in ARGUMENTS] + [(", ".join(map(bold, names)), meaning) for names, meaning in OPTIONS]
    page = f'.\\" Printed by pgas-plot --man.\n.TH PGAS\\-PLOT 1 "" "pgas {VERSION}" "pgas"\n.SH NAME\npgas\\-plot \\- {escaped(SUMMARY)}\n'
    page += f".SH SYNOPSIS\n{bold('pgas-plot')} FILE [OUT]\n.SH DESCRIPTION\n" + ".PP\n".join(map(filled, PARAGRAPHS)) + section("OPTIONS", options)
    for title, entries in (("EXIT STATUS", STATUSES), ("ENVIRONMENT", VARIABLES), ("EXAMPLES", EXAMPLES)):
        page += section(title, [(bold(word), meaning) for word, meaning in entries])
    return page + ".SH SEE ALSO\n" + ",\n".join(f".BR {escaped(name)} (1)" for name in SEE_ALSO) + "\n"


def completion(shell: str) -> str:
    """The text of --completion. Both arguments are files."""
    printed = f"# Printed by pgas-plot --completion {shell}.\n"
    if shell == "bash":
        names = " ".join(name for each, _ in OPTIONS for name in each)
        return printed + f"""\
_pgas_plot() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}}
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '{names}' -- "$cur")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}}
complete -F _pgas_plot pgas-plot
"""
    if shell == "zsh":
        lines = "".join(f"    '({' '.join(names)}){name}[{meaning}]' \\\n" for names, meaning in OPTIONS for name in names)
        files = " ".join(f"'{number}:{name}:_files'" for number, (name, _) in enumerate(ARGUMENTS, 1))
        return (f"#compdef pgas-plot\n{printed}_pgas_plot() {{\n  _arguments -s -S : \\\n{lines}    {files}\n}}\n"
                "if [[ $funcstack[1] == _pgas_plot ]]; then _pgas_plot \"$@\"; else compdef _pgas_plot pgas-plot; fi\n")
    return printed + "".join(f"complete -c pgas-plot -s {names[0][1:]} -l {names[1][2:]} -d '{meaning}'\n" for names, meaning in OPTIONS)


# ---- the command ------------------------------------------------------------------------------------------------------


DRAWERS = {"results": draw_rows, "maps": draw_map, "events": draw_events}


def printable(value: Any) -> Any:
    """Replaces control characters, which XML does not have. Names of hosts and devices come from other machines."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "?" for c in value)
    if isinstance(value, list):
        return [printable(each) for each in value]
    return {printable(key): printable(each) for key, each in value.items()} if isinstance(value, dict) else value


def read(name: str) -> dict[str, Any]:
    try:
        if name == "-":
            document = json.load(sys.stdin)
        else:
            with open(name, encoding="utf-8") as file:
                document = json.load(file)
    except OSError as why:
        raise Refusal(f"{name} cannot be read: {why.strerror}") from None
    except ValueError as why:
        raise Refusal(f"{name} is not JSON: {why}") from None
    if not isinstance(document, dict) or not DRAWERS.keys() & document.keys():
        raise Refusal(f"{name} is not a document of `pgas-perf --json`, `pgas-perf map --save` or `pgas-trace events`")
    return printable(document)  # type: ignore[no-any-return]


def picture_of(document: dict[str, Any], kind: str) -> bytes:
    """Returns the contents of the picture's file. `kind` is one of FORMATS."""
    load_matplotlib()
    if kind == "html" and "maps" not in document:
        raise Refusal("only a map can become an HTML page: name an .svg, .pdf or .png")
    try:
        figure = DRAWERS[next(key for key in DRAWERS if key in document)](document)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg" if kind == "html" else kind, dpi=150, **({} if kind == "png" else {"metadata": {
            "CreationDate" if kind == "pdf" else "Date": None}}))
        return page_of(document, buffer.getvalue().decode()).encode() if kind == "html" else buffer.getvalue()
    except (KeyError, TypeError, IndexError, AttributeError) as why:
        raise Refusal(f"the document lacks a member, or has another version's: {why!r}; use the pgas-plot of the pgas that wrote it") from None


def print_and_end(text: str) -> NoReturn:
    print(text, end="")
    sys.exit(0)


def parse(words: list[str]) -> tuple[str, str, str]:
    """Returns the names of the document and of the picture, and the format. Ends the program if there is nothing to
    draw."""
    if {"-h", "--help"} & set(words):
        print_and_end(help_text())
    if {"-V", "--version"} & set(words):
        print_and_end(f"pgas-plot (pgas) {VERSION}\n")
    if words == ["--man"]:
        print_and_end(manual_page())
    if words[:1] == ["--completion"]:
        shell = " ".join(words[1:]).removeprefix("=")
        if shell in SHELLS:
            print_and_end(completion(shell))
        print(f"pgas-plot: --completion: {shell or 'nothing'} not in {{{','.join(SHELLS)}}}\npgas-plot --help lists the options", file=sys.stderr)
        sys.exit(2)
    wrong = next((f"there is no option {word}" for word in words if word.startswith("-") and word != "-"), "")
    if not wrong and not 1 <= len(words) <= 2:
        wrong = "one document and one picture are named, not " + (" ".join(words) or "nothing")
    name, out = (*words, "", "")[:2]
    if not wrong and not out:
        out = os.path.splitext(name)[0] + ".svg"
        wrong = "the picture is named where the document is standard input" if name == "-" else ""
    kind = os.path.splitext(out)[1].removeprefix(".").lower()
    if not wrong and kind not in FORMATS:
        wrong = f"{out} does not end in .{', .'.join(FORMATS)}"
    if wrong:
        print(f"pgas-plot: {wrong}\npgas-plot --help lists the options", file=sys.stderr)
        sys.exit(2)
    return name, out, kind


def main() -> int:
    name, out, kind = parse(sys.argv[1:])
    try:
        picture = picture_of(read(name), kind)
        with open(out, "wb") as file:
            file.write(picture)
    except OSError as why:
        print(f"pgas-plot: {out} cannot be written: {why.strerror}", file=sys.stderr)
        return 1
    except Refusal as why:
        print(f"pgas-plot: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
