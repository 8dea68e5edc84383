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
    """The request is impossible. The text gives the reason."""


class Outcome(NamedTuple):
    """The result of one run of a program."""
    command: str
    rows: list    # dictionaries from names of columns to texts
    problem: str  # empty if the run succeeded
    output: str   # the end of the output, if the run failed


class Launchers:
    """Finds the programs, and starts them by a launcher."""

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
        """Returns the path of a program, even if the program does not exist."""
        name = application + ("_mpi" if by == "mpi" else "_cuda" if self.heap == "cuda" else "")
        return os.path.join(self.build, "examples", name)

    def without_mpi(self, applications):
        """Returns the reason why results cannot be compared with MPI; empty if they can."""
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
        """Runs a case. *more*: further arguments of the program."""
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
            if job.poll() is None:  # also true if the user has interrupted this script
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
    """Returns the lines after the header, each as a dictionary of texts."""
    names, rows = [], []
    for line in printed.splitlines():
        if not names and HEADER.fullmatch(line):
            names = line.split(",")
        elif names and line.count(",") == len(names) - 1:
            rows.append(dict(zip(names, line.split(","))))
    return rows


def gpus():
    """Returns the number of GPUs; 0 if it is unknown."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def shares_gpus():
    """Returns whether MPS runs. With MPS, several PEs of one GPU run at the same time."""
    folder = os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
    return os.path.exists(os.path.join(folder, "control"))
