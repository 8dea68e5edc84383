"""Collects the figures of all rounds and prints them as one table, on the terminal and in RESULTS.md."""
import os
import re
import statistics

import drawing
from running import key
from targets import target

HEAD = """# Side by side

The same kernels with pgas, with NVSHMEM, and by hand; NCCL for collectives on a stream. This file is written by
`tests/perf/side_by_side/compare.py`, never by hand: [docs/side-by-side.md](../../docs/side-by-side.md) says how to run it and what
the rows are. Figures are medians over the rounds, of which each is the median of several runs; the programs took turns on the
same GPUs. A ratio above 1 means that pgas is ahead. "direct" is pgas compiled with PGAS_NVSHMEM_DIRECT; targets are those of pgas
without it. Data were checked after the timed runs.
"""


class Line:
    """A row with the figures of all backends."""

    def __init__(self, row):
        self.row = row
        self.values = {}  # the figures of the rounds, by backend
        self.wrong = set()  # backends that had wrong data or did not finish the row

    @property
    def higher_is_better(self):
        return self.row["better"] == "higher"

    def best(self, *backends):
        """Returns the best median among these backends, or None."""
        found = [statistics.median(self.values[name]) for name in backends if name in self.values]
        return (max if self.higher_is_better else min)(found) if found else None

    def ahead(self, of, ours="pgas"):
        """Returns how many times better than the figure `of` pgas is, or None."""
        ours = self.best(ours)
        if ours is None or of is None or ours <= 0 or of <= 0:
            return None
        return ours / of if self.higher_is_better else of / ours

    def spread(self):
        """Returns the relative spread over the rounds, (max - min) / median, of pgas or of NVSHMEM, whichever is
        larger."""
        ranges = [(max(v) - min(v)) / statistics.median(v) for name, v in self.values.items()
                  if name in ("pgas", "nvshmem") and len(v) > 1 and statistics.median(v) > 0]
        return max(ranges, default=None)

    def wanted(self, pes):
        """Returns the target of this row besides being faster than NVSHMEM, or None."""
        return target(self.row, pes, self.best("raw"), self.best("nvshmem", "nvshmem-inlined"), self.higher_is_better)

    def met(self, pes):
        """Returns "yes" if pgas reaches the targets of this row, and otherwise the targets that it misses."""
        ours, wanted = self.best("pgas"), self.wanted(pes)
        if "pgas" in self.wrong or ours is None:
            return "FAIL"
        missing = []
        if wanted is not None and (ours < wanted if self.higher_is_better else ours > wanted):
            missing.append("target")
        ratio = self.ahead(self.best("nvshmem", "nvshmem-inlined"))
        if ratio is not None and ratio < 1:
            missing.append("NVSHMEM")
        return "no: " + ", ".join(missing) if missing else "yes"


class Results:
    """The rows in the order in which the programs print them."""

    def __init__(self, pes):
        self.pes = pes
        self.lines = {}
        self.failures = []  # (backend, row or None, reason)

    def _line(self, row):
        # A row that began and never ended does not tell whether lower or higher figures are better. The value "lower"
        # has no effect, because the row has no figures.
        return self.lines.setdefault(key(row), Line({"unit": "", "better": "lower", **row}))

    def add(self, backend, rows, failures):
        for row in rows:
            line = self._line(row)
            line.row = row
            line.values.setdefault(backend, []).append(row["value"])
            if not row["checked"]:
                line.wrong.add(backend)
                self.failures.append((backend, row, f"{row['wrong']} words are wrong"))
        for row, why in failures:
            if row is not None:
                self._line(row).wrong.add(backend)
            self.failures.append((backend, row, why))

    def table(self):
        """Returns the table as lists of words. The first list is the head."""
        every = [["row", "size", "by", "unit", "pgas", "direct", "NVSHMEM", "raw", "NCCL", "to NVSHMEM", "of raw", "direct of raw",
                  "to NCCL", "target", "met", "spread"]]
        for line in self.lines.values():
            row, wanted = line.row, line.wanted(self.pes)
            theirs = line.best("nvshmem", "nvshmem-inlined")
            sign = "" if wanted is None else ("≥ " if line.higher_is_better else "≤ ")
            spread = line.spread()
            every.append([
                row["row"], size(row["bytes"]), shape(row), row["unit"], self.cell(line, "pgas"),
                self.cell(line, "pgas-direct"), self.cell(line, "nvshmem", "nvshmem-inlined"), self.cell(line, "raw"),
                self.cell(line, "nccl"), number(line.ahead(theirs)), percent(line.ahead(line.best("raw"))),
                percent(line.ahead(line.best("raw"), "pgas-direct")), number(line.ahead(line.best("nccl"))),
                sign + number(wanted), line.met(self.pes), percent(spread)])
        return every

    @staticmethod
    def cell(line, *backends):
        return "FAIL" if any(name in line.wrong for name in backends) else number(line.best(*backends))

    def text(self):
        """Returns the table for a terminal."""
        every = self.table()
        widths = [max(len(words[i]) for words in every) for i in range(len(every[0]))]
        return "\n".join("  ".join(word.ljust(width) for word, width in zip(words, widths)).rstrip() for words in every)

    def summary(self):
        ratios = [line.ahead(line.best("nvshmem", "nvshmem-inlined")) for line in self.lines.values()]
        known = [ratio for ratio in ratios if ratio is not None]
        targets = [line.met(self.pes) for line in self.lines.values() if line.wanted(self.pes) is not None]
        return (f"ahead of NVSHMEM in {sum(ratio >= 1 for ratio in known)} of {len(known)} rows; "
                f"{sum(met == 'yes' for met in targets)} of {len(targets)} targets met; {len(self.failures)} failures")

    def picture(self, facts):
        """Returns the results as an SVG document."""
        ratios, groups = [], {}
        for line in self.lines.values():
            row, ratio = line.row, line.ahead(line.best("nvshmem", "nvshmem-inlined"))
            if ratio is not None:
                ratios.append((" ".join(word for word in (row["row"], size(row["bytes"]), shape(row)) if word), ratio))
            figures = {"pgas": line.best("pgas"), "nvshmem": line.best("nvshmem", "nvshmem-inlined"), "raw": line.best("raw"),
                       "nccl": line.best("nccl")}
            curves = groups.setdefault((f"{row['row']} {shape(row)}", row["unit"]), {})
            for backend, figure in figures.items():
                if figure is not None and figure > 0 and row["bytes"] > 0:
                    curves.setdefault(backend, []).append((row["bytes"], figure))
        diagrams = [(name, unit, curves) for (name, unit), curves in groups.items()
                    if any(len(curve) > 2 for curve in curves.values())]
        return drawing.picture(f"{self.pes} PEs, {facts.get('machine', '')}, {facts.get('date', '')}", ratios, diagrams, size)

    def markdown(self, facts, picture):
        """Returns the section of RESULTS.md. `picture` is the name of the SVG file that the section shows."""
        every = self.table()
        lines = [f"## {self.pes} PEs", "", *(f"* {name}: {value}" for name, value in facts.items()), "", self.summary() + ".", "",
                 f"![How many times better than NVSHMEM, by row, and curves by size]({picture})", ""]
        for i, words in enumerate(every):
            lines.append("| " + " | ".join(words) + " |")
            if i == 0:
                lines.append("|" + " --- |" * len(words))
        if self.failures:
            lines += ["", "Failures:", ""]
            lines += ["* " + sentence(each) for each in self.failures]
        return "\n".join(lines) + "\n"


def size(count):
    if count == 0:
        return ""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def shape(row):
    if row["blocks"] == 0:
        return "host"
    return "thread" if row["threads"] == 1 else f"{row['blocks']} x {row['threads']}"


def number(value):
    if value is None:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def sentence(failure):
    backend, row, why = failure
    where = f" {row['row']} {size(row['bytes'])} {shape(row)}" if row else ""
    return f"{backend}{where}: {why}"


def write(path, results, facts):
    """Replaces the section of this number of PEs and its picture. Other sections do not change."""
    sections = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for part in re.split(r"^(?=## \d+ PEs$)", file.read(), flags=re.M)[1:]:
                sections[int(re.match(r"## (\d+)", part).group(1))] = part.strip() + "\n"
    picture = f"{os.path.splitext(path)[0]}.{results.pes}.svg"
    sections[results.pes] = results.markdown(facts, os.path.basename(picture))
    replace(picture, results.picture(facts))
    replace(path, "\n".join([HEAD, *(sections[pes] for pes in sorted(sections))]))


def replace(path, text):
    """Replaces a file atomically: a reader sees the old text or the new text as a whole."""
    unfinished = path + ".part"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(unfinished, path)
