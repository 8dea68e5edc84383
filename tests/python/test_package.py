"""Tests the installed package: its contents, its dependencies, and the effects of the import."""

import os
import pathlib
import re
import subprocess
import sys
import sysconfig

import pytest

import pgas
from conftest import environment, run

PACKAGE = pathlib.Path(pgas.__file__).parent
SCRIPTS = pathlib.Path(sys.executable).parent


def needed(file):
    """Returns the names of the libraries that a file needs."""
    done = subprocess.run(["ldd", file], capture_output=True, text=True, check=True)
    assert "not found" not in done.stdout, done.stdout
    return {line.split()[0].split("/")[-1] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("file", [*sorted(PACKAGE.glob("_core*.so")), *sorted((PACKAGE / "lib").glob("lib*.so.*")),
                                  *sorted((PACKAGE / "bin").iterdir())], ids=lambda file: file.name)
def test_nothing_of_cuda_ucx_or_pmix_is_linked(file):
    allowed = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libstdc++.", "libgcc_s.", "ld-linux", "linux-vdso", "libfmt.", "libpgas.")
    assert not [name for name in needed(file) if not name.startswith(allowed)]


def test_nothing_of_them_is_bundled():
    names = {file.name for file in PACKAGE.rglob("*") if file.is_file() and ".so" in file.name}
    assert {name.split(".so")[0].split(".")[0] for name in names} <= {"_core", "libpgas", "libfmt"}
    if sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED"):  # this Python has no stable ABI
        assert "_core.abi3.so" in names


def test_the_library_takes_nothing_of_the_extension_nor_anybody_of_both():
    """The code of a template of the standard library differs between compilers. A library must therefore not bind to
    another library's copy."""
    job = run([sys.executable, "-c", "import numpy, pgas._core"], LD_DEBUG="bindings", LD_BIND_NOW="1")
    bound = re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\w+)'", job.err)
    names = [(os.path.basename(user), os.path.basename(of), symbol) for user, of, symbol in bound]
    assert any(user.startswith("_core.") and of.startswith("libpgas.") for user, of, _ in names)
    ours = ("_core.abi3", "_core.cpython", "libpgas.")
    wrong = [one for one in names if one[1].startswith(ours) and not one[0].startswith(ours)]
    wrong += [one for one in names if one[0].startswith("libpgas.") and one[1].startswith("_core.")]
    assert not wrong, wrong


def test_importing_joins_nothing_and_touches_no_gpu():
    run([sys.executable, "-c", """
import os, sys, threading
import pgas
maps = open("/proc/self/maps").read()
assert "libcuda" not in maps and "libucp" not in maps and "libpmix" not in maps
assert not {"numpy", "torch", "cupy", "jax", "triton"} & set(sys.modules), set(sys.modules)
assert len(os.listdir("/proc/self/task")) == 1
assert not [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 3]
"""]).check()


def test_versions_are_shown_and_name_the_library():
    job = run([sys.executable, "-c", "import pgas; pgas.show_versions()"]).check()
    assert f"pgas      {pgas.__version__} (" in job.out and "numpy " in job.out and str(PACKAGE / "lib") in job.out


def test_headers_library_and_cmake_package_are_found():
    assert pathlib.Path(pgas.include_dirs()[0], "pgas/device.hpp").exists()
    assert pathlib.Path(pgas.cmake_dir(), "pgas-config.cmake").exists()
    flags = run([SCRIPTS / "pgas-config", "--cflags", "--libs"]).check().out
    assert f"-I{pgas.include_dirs()[0]}" in flags and f"-L{pgas.library_dir()}" in flags
    assert run([SCRIPTS / "pgas-config", "--version"]).check().out.strip() == pgas.__version__
    assert run([SCRIPTS / "pgas-config"]).status == 2
    from importlib.metadata import entry_points

    assert [entry.value for entry in entry_points(group="cmake.prefix") if entry.name == "pgas"] == ["pgas"]


def test_the_programs_run():
    assert "pgasrun" in run([SCRIPTS / "pgasrun", "--help"]).check().out
    assert pgas.__version__ in run([SCRIPTS / "pgas-info"]).check().out
    for program in ("pgas-doctor", "pgas-why", "pgas-trace"):
        assert run([SCRIPTS / program, "--version"]).check().out.strip() == f"{program} (pgas) {pgas.__version__}"
    job = run([SCRIPTS / "pgasrun", "-n", "2", SCRIPTS / "pgas-perf", "--help"]).check()
    assert job.out


def test_the_doctor_examines_the_installed_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = run([SCRIPTS / "pgas-doctor"], timeout=120)
    said = "".join(job.out.split())  # a long path is continued in the next line
    assert f"{PACKAGE}/lib/libpgas.so" in said and "datacorrect" in said, job.out + job.err


def test_every_name_is_there_and_others_are_not():
    assert "open" not in pgas.__all__ and set(pgas._places) - {"open", "compile_options"} | {"Code", "Error"} == set(pgas.__all__)
    assert pgas.open is not open and callable(pgas.open)
    for name in pgas.__all__:
        assert getattr(pgas, name) is not None and name in dir(pgas)
    with pytest.raises(AttributeError):
        pgas.init


TYPED = """
import pgas
from pgas import *

def main() -> None:
    with pgas.join(heap="host") as world:
        x = world.zeros(3)
        pgas.share(pgas.shared_empty(3))
        team: Team = world.team
        number: int = team.n_pes - 1 - world.my_pe
        world.put(x, x, number, stream=pgas.CURRENT)
        print(pgas.__version__, pgas.Code.aborted, Timeline, join, Error, pgas.open)
    with open("/dev/null") as file:
        print(file.read())

if __name__ == "__main__":
    main()
"""


def test_a_typed_program_is_accepted(tmp_path):
    """Checks a typed program with mypy --strict, and with pyright if it is installed. Runs the program with warnings
    as errors."""
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    run([sys.executable, "-W", "error", "-X", "dev", program], PGAS_BOOTSTRAP="singleton").check()
    pytest.importorskip("mypy")
    job = run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-executable", sys.executable, program], timeout=200)
    assert job.status == 0, job.out + job.err
    pyright = SCRIPTS / "pyright"
    if pyright.exists():
        job = run([pyright, "--pythonpath", sys.executable, program], timeout=200)
        assert "0 errors" in job.out or "error:" not in job.out, job.out + job.err  # the tool may not find Node.js


@pytest.mark.skipif(not os.environ.get("TEST_CXX"), reason="TEST_CXX names no compiler")
def test_a_program_of_cxx_is_built_with_the_wheel(tmp_path):
    (tmp_path / "main.cpp").write_text("#include <pgas/pgas.hpp>\n#include <cstdio>\n"
                                       "int main() { auto world = pgas::world::join(); std::printf(\"%d\\n\", world.n_pes()); }\n")
    flags = run([SCRIPTS / "pgas-config", "--cflags", "--libs"]).check().out.split()
    run([os.environ["TEST_CXX"], tmp_path / "main.cpp", "-o", tmp_path / "main", *flags], timeout=120).check()
    assert run([SCRIPTS / "pgasrun", "-n", "2", tmp_path / "main"]).check().out == "2\n2\n"


def test_nanobind_reports_no_leak():
    """nanobind reports no leak at the end of a program that has used and dropped most of the package's objects."""
    job = run([sys.executable, "-c", """
import gc
import numpy as np
import pgas
from pgas import _core
_core.leak_warnings(True)
def main():
    with pgas.join() as world:
        x = world.zeros((3, 4))
        ones = np.ones((3, 4), "float32")
        for _ in range(100_000):
            world.put(x, ones, 0)
        team, stream = world.team.split(0), world.stream()
        world.all_reduce(x, stream=stream)
        stream.synchronize()
        shared = pgas.shared_empty(3)
        y = pgas.open(pgas.share(shared))
        line = pgas.Timeline()
        try:
            world.put(x, x, 5)
        except pgas.Error:
            pass
main()
gc.collect()
_core.release_errors()
"""]).check()
    assert "leaked" not in job.err and "nanobind" not in job.err, job.err


def test_a_sub_interpreter_is_refused():
    job = run([sys.executable, "-c", """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import pgas
made = interpreters.create()
try:
    failed = interpreters.run_string(made, "import pgas")
except Exception as wrong:
    failed = wrong
print("refused" if failed else "accepted")
"""])
    assert job.out == "refused\n", job.out + job.err


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not a free-threaded Python")
def test_a_free_threaded_python_takes_its_lock_back():
    job = run([sys.executable, "-W", "ignore", "-c", "import sys, pgas; print(sys._is_gil_enabled())"]).check()
    assert job.out == "True\n"
