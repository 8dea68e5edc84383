"""Collects the figures of all rounds by case, and compares them."""
import statistics
import subprocess
from typing import NamedTuple


class Key(NamedTuple):
    """Identifies the same measurement in different rounds."""
    application: str
    by: str
    scaling: str
    share: str
    variant: str
    size: str
    division: str
    pes: int
    unit: str


def problem_of(application, variant):
    """Returns the part of a variant that the MPI program also has."""
    return variant.split(",")[0] if application == "20_stencil3d" else ""


class Figures:
    def __init__(self):
        self.figures, self.more = {}, {}

    def add(self, case, one, row):
        """Adds the values that a reader of cases.py has found in a row. Returns a text with the figure."""
        variant, size, division, unit, figure, _ = one
        key = Key(case.application, case.by, case.scaling, case.share, variant, size, division, case.pes, unit)
        self.figures.setdefault(key, []).append(float(figure))
        self.more[key] = row
        return f"{variant or size} {float(figure):.4g} {unit}"

    def results(self):
        """Returns the list for JSON."""
        medians = {key: statistics.median(each) for key, each in self.figures.items()}
        return [self.result(key, medians) for key in self.figures]

    def result(self, key, medians):
        figures, median = self.figures[key], medians[key]
        alone = self.alone(key, medians)
        mpi = [value for other, value in medians.items()
               if other.by == "mpi" and key.by == "pgas" and other._replace(by="", variant="") == key._replace(by="", variant="")
               and problem_of(key.application, other.variant) == problem_of(key.application, key.variant)]
        return {**key._asdict(), "figures": figures, "median": median, "lowest": min(figures), "highest": max(figures),
                "spread": (max(figures) - min(figures)) / median if median else 0,
                "alone": alone, "gain": alone / median if alone and median else None,
                "to_mpi": min(mpi) / median if mpi and median else None, "more": self.more[key]}

    @staticmethod
    def alone(key, medians):
        """Returns the time of one PE, with the same problem (strong) or with one PE's share of the problem (weak)."""
        if key.scaling == "sizes":
            return None
        for other, value in medians.items():
            if other.pes != 1 or other[:2] != key[:2] or other.variant != key.variant:
                continue
            same_share = key.share in (other.share, other.size if other.scaling == "strong" else other.share)
            if same_share if key.scaling == "weak" else (other.scaling, other.size) == ("strong", key.size):
                return value
        return None


def machine(heap):
    """Returns a description of the GPUs or CPUs."""
    if heap == "cuda":
        asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        try:
            found = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout.split("\n")
        except (OSError, subprocess.SubprocessError):
            return "GPUs"
        lines = [line for line in found if line]
        return f"{len(lines)} x {lines[0]}" if lines else "GPUs"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{len(models)} x {models[0]}" if models else "CPUs"
