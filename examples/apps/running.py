"""Starts one case by a launcher, and reads the lines of comma-separated values that its program prints."""
import os
import re
import shlex
import shutil
import signal
import subprocess
from typing import NamedTuple

import cases

HEADER = re.compile(r"[A-Za-z]\w*(,[A-Za-z]\w*)+")


class Refused(Exception):
    """The request can't be run; the text says why."""


class Outcome(NamedTuple):
    """What one start has brought."""
    command: str
    rows: list    # by name of column
    problem: str  # empty: no problem
    output: str   # its end, if there is a problem


class Launchers:
    """Where programs are, and what starts them."""

    def __init__(self, build, heap, launcher, limit):
        self.build, self.heap, self.limit = build, heap, limit
        self.environment = dict(os.environ, PGAS_HEAP=heap)
        self.cores = len(os.sched_getaffinity(0))
        words = shlex.split(launcher)
        if not words:
            raise Refused("--launcher is empty: pgasrun, or mpirun with its options")
        by_mpi = os.path.basename(words[0]) in ("mpirun", "mpiexec")
        if words[0] == "pgasrun" and os.path.exists(os.path.join(build, "bin", "pgasrun")):
            words[0] = os.path.join(build, "bin", "pgasrun")
        if shutil.which(words[0]) is None:
            raise Refused(f"the launcher {words[0]} is not there: build pgasrun in {build}, install Open MPI, or name another by --launcher")
        mpirun = words if by_mpi else ["mpirun"]
        found = shutil.which(mpirun[0]) is not None
        version = [mpirun[0], "--version"]
        self.open_mpi = found and "Open MPI" in subprocess.run(version, capture_output=True, text=True, check=False).stdout
        self.words = {"pgas": words, "mpi": mpirun if found else None}
        self.by_mpirun = {"pgas": by_mpi, "mpi": True}

    def program(self, application, by):
        """Its path, whether it is there or not."""
        name = application + ("_mpi" if by == "mpi" else "_cuda" if self.heap == "cuda" else "")
        return os.path.join(self.build, "examples", name)

    def without_mpi(self, applications):
        """Why nothing can be compared with MPI; empty if it can."""
        beside = [name for name in cases.BESIDE_MPI if name in applications]
        if self.heap == "cuda":
            return "its programs compute on the host"
        if self.words["mpi"] is None:
            return "there is no mpirun"
        missing = [name for name in beside if not os.path.exists(self.program(name, "mpi"))]
        return f"{self.program(missing[0], 'mpi')} is not built" if missing else ""

    def command(self, case):
        words = list(self.words[case.by])
        if self.by_mpirun[case.by] and self.open_mpi:
            words += ["--allow-run-as-root"] if os.geteuid() == 0 else []
            words += ["--oversubscribe"] if case.pes > self.cores else []
        return [*words, "-n", str(case.pes), self.program(case.application, case.by), *case.arguments]

    def start(self, case, more=()):
        """Runs a case. *more*: further words of its program."""
        command = [*self.command(case), *more, "--csv"]
        shown = shlex.join(command)
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", env=self.environment, start_new_session=True)
        late = False
        try:
            printed, said = job.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if job.poll() is None:  # also if the user has interrupted this script
                os.killpg(job.pid, signal.SIGKILL)
        if late:
            printed, said = job.communicate()
        rows = read_rows(printed)
        problem = (f"not ended after {self.limit} s" if late else
                   "its check failed" if job.returncode == 1 and rows else
                   f"exit status {job.returncode}" if job.returncode != 0 else
                   "no line of figures" if not rows else "")
        return Outcome(shown, rows, problem, (printed + said)[-2000:] if problem else "")


def read_rows(printed):
    """The lines after the header, each a dictionary of texts."""
    names, rows = [], []
    for line in printed.splitlines():
        if not names and HEADER.fullmatch(line):
            names = line.split(",")
        elif names and line.count(",") == len(names) - 1:
            rows.append(dict(zip(names, line.split(","))))
    return rows


def gpus():
    """How many GPUs there are; 0 where nobody can say."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def shares_gpus():
    """Whether MPS runs, under which PEs of one GPU run at the same time."""
    folder = os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
    return os.path.exists(os.path.join(folder, "control"))
