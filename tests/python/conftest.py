"""Starts programs on several PEs, on the host heap unless a test is for GPUs."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

SLOWER = 5 if "TSAN_OPTIONS" in os.environ else 1  # the thread sanitizer slows programs down
PROGRAMS = pathlib.Path(__file__).resolve().parent / "pe"


class Job:
    """The output and the exit status of a job."""

    def __init__(self, done: subprocess.CompletedProcess, seconds: float):
        self.status, self.out, self.err, self.seconds = done.returncode, done.stdout, done.stderr, seconds

    def check(self) -> "Job":
        assert self.status == 0, f"status {self.status}\n{self.out}\n{self.err}"
        assert "warn:" not in self.err and "error:" not in self.err, self.err
        return self


def environment(**changes):
    # Without PYTHONUNBUFFERED each line is written by one call, so the lines of several PEs are not mixed.
    made = {**os.environ, "PGAS_HEAP": "host", "PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": None, **changes}
    return {name: value for name, value in made.items() if value is not None}


def run(command, *, timeout=60, **changes) -> Job:
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout,
                          env=environment(**changes))
    return Job(done, time.monotonic() - begin)


def needs_interpreter_of_triton():
    """Skips the test if Triton's interpreter cannot be used: Triton is missing, or its interpreter does not support
    this NumPy."""
    import numpy

    triton = pytest.importorskip("triton", minversion="3.6")
    of = [tuple(map(int, module.__version__.split(".")[:2])) for module in (numpy, triton)]
    if of[0] >= (2, 4) and of[1] < (3, 9):
        pytest.skip("this Triton's interpreter needs NumPy below 2.4")


def launcher(n):
    beside = pathlib.Path(sys.executable).parent / "pgasrun"
    return [os.environ.get("PGASRUN") or (beside if beside.exists() else "pgasrun"), "-n", n, sys.executable]


@pytest.fixture
def launch():
    """Returns launch(n, PROGRAM, ...), which runs a program of pe/, or code, on n PEs."""

    def start(n, program, *arguments, **options) -> Job:
        code = [PROGRAMS / program] if program.endswith(".py") else ["-c", program]
        return run([*launcher(n), *code, *arguments], **options)

    return start


@pytest.fixture(scope="module")
def world():
    """A world of one PE, in this process."""
    import pgas

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGAS_BOOTSTRAP", "singleton")
        joined = pgas.join(heap="host")
    with joined:
        yield joined
