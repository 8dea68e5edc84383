"""Runs the commands of the pages in docs, of SECURITY.md and of CONTRIBUTING.md that test_blocks.py and test_pages.py leave
out, and compares the output that these pages show with the output of programs.

BLOCKS lists every block of these pages. Commands that need GPUs, several hosts or minutes are in other tests, which BLOCKS
names. In these tests mpirun, srun and torchrun start at most four PEs on this host, and pgas-perf measures for a short
time.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest
from test_blocks import BIN, BLOCKS as OTHERS, BUILD, DOCS, ROOT, in_shell, texts, usage
from test_pages import BLOCKS as PYTHON, blocks, build, environment, run  # noqa: F401


class Runs:
    """The commands of the block run in a shell. `then` is a command behind them, and `words` are in the output."""

    def __init__(self, *words, then=""):
        self.words, self.then = words, then


class Elsewhere:
    """Another test runs the commands: its file, and words of this file that show how."""

    def __init__(self, file, *words):
        self.file, self.words = file, words


class NotRun:
    """No test runs the commands. `words` are the words of the page that say so."""

    def __init__(self, words):
        self.words = words


# The blocks of each page, in order. An entry that is a text is the name of the test below that runs the block.
BLOCKS = {
    "CONTRIBUTING.md": ["doc_block"],
    "SECURITY.md": [Runs("hello from PE 1", then="pgasrun -n 2 ./app")],
    "docs/applications.md": [Elsewhere("tests/perf/apps_test.py", '"--only"', '"--pes"', '"--json"', '"--svg"', '"--read"', '"--markdown"')],
    "docs/compiled-code.md": [Elsewhere("tests/codegen/CMakeLists.txt", "check.py", "sizes", "--nvcc", "--include", "--arch", "--cuobjdump")],
    "docs/debugging.md": ["hang", "hang"],
    "docs/doctor.md": [Runs("1 PE on 1 host", "4 PEs on 1 host", "report.json"), "doctor_row"],
    "docs/hosts.md": [Runs("hello from PE 3", "load and store")],
    "docs/install.md": [
        Elsewhere("tests/packages/release_test.py", '"cmake", "-S"', "-DPGAS_BUILD_TESTS=OFF", "-DPGAS_BUILD_EXAMPLES=OFF"),
        Elsewhere("tests/packages/deb_test.sh", "apt-get", "libpgas-dev_*.deb"),
        Elsewhere("tests/packages/deb_test.sh", "--compile-inside", "packaging/deb.sh"),
        Elsewhere("tests/packages/wheel_test.sh", "packaging/wheels.sh", "--arch", "PYTHONS"),
        "installed",
        Elsewhere("tests/packages/parent/CMakeLists.txt", "include(FetchContent)", "FetchContent_Declare(pgas URL ${", "FetchContent_MakeAvailable(pgas)",
                  "target_link_libraries(halo PRIVATE pgas::pgas)"),
        NotRun("| file in `packaging` | checked | not run |"),
    ],
    "docs/metrics.md": [Elsewhere("tests/multi_pe/metrics_test.py", '[INFO, "--serve", where]', "pgas_operations_total"), "scrape_configs",
                        Elsewhere("tests/multi_pe/metrics_test.py", '[INFO, "--stats"')],
    "docs/openshmem.md": ["mistake"],
    "docs/perf-map.md": [Runs("bandwidth", "map.html")],
    "docs/performance.md": [Runs("put_bw", "bandwidth")],
    "docs/pgas-perf.md": [Runs("put_bw", "atomic"), Runs("put_bw", "bw.png")],
    "docs/platforms.md": [
        Elsewhere("tests/platforms/CMakeLists.txt", "foreach(part headers library)", "compile_${part}.py ${PROJECT_SOURCE_DIR} --toolkits", "--download"),
        Elsewhere("tests/platforms/CMakeLists.txt", "host_compilers.py ${PROJECT_SOURCE_DIR}"),
        Elsewhere("tests/platforms/CMakeLists.txt", "foreach(part headers library)"),
        Elsewhere("tests/platforms/aarch64.sh", "-DPGAS_KERNEL_TOOLKIT=", "cuda_wheels.py"),
        Elsewhere("tests/platforms/CMakeLists.txt", "aarch64.sh"),
    ],
    "docs/security.md": [Runs("hello from PE 1")],
    "docs/side-by-side.md": [Elsewhere("tests/perf/side_by_side/compare_test.py", "compare.py"), Elsewhere("tests/python/on_gpu.sh", "nvidia-cuda-mps-control -d")],
    "docs/trace.md": [Runs("t.pftrace: 4 PEs", "Time in waits")],
}
MAY_FAIL = {"pgas-doctor": 1, "--compare": 3}  # a machine may have problems, and a loaded one becomes slower

LAUNCHER = """#!/bin/sh
n=1
while :; do
  case $1 in -n) n=$2; shift 2 ;; --host | -N) shift 2 ;; --mpi=*) shift ;; *) break ;; esac
done
[ $n -le 4 ] || n=4
exec {bin}/pgasrun -n $n "$@"
"""
# The variables of torchrun, for two processes of ./app.
TORCHRUN = """#!/bin/sh
for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={port} ./app &
done
wait
"""
PERF = """#!/bin/sh
case " $* " in
  " map "*) set -- "$@" -e 64K -r 1 --ms 0.2 ;;
  *" -e "*) set -- "$@" -r 2 --ms 0.1 ;;
  *) set -- "$@" -e 512 -f 64 -r 2 --ms 0.1 ;;
esac
exec {bin}/pgas-perf "$@"
"""
# Debian's Python has matplotlib, as in the test `tools.plot`.
PLOT = """#!/bin/sh
exec /usr/bin/python3 -B {root}/src/tools/pgas-plot/pgas_plot.py "$@"
"""


def kinds(kind):
    return [pytest.param(page, number, id=f"{page}-{number}") for page, tests in BLOCKS.items() for number, test in enumerate(tests) if isinstance(test, kind)]


def text_of(page, number):
    return blocks(page)[number][1]


def block_of(name):
    page, number = next((page, tests.index(name)) for page, tests in BLOCKS.items() if name in tests)
    return text_of(page, number)


def test_every_block_is_known_here():
    folders = ("docs/*", "*", "python/*", "examples/*", "bootstrap/*", "include/**/*", "tests/perf/*")
    pages = {page.relative_to(ROOT).as_posix() for folder in folders for page in ROOT.glob(f"{folder}.md")}
    pages -= PYTHON.keys() | {f"docs/{page}" for page in OTHERS}
    assert {page: len(found) for page in sorted(pages) if (found := blocks(page))} == {page: len(tests) for page, tests in BLOCKS.items()}


@pytest.mark.parametrize("page, number", kinds(Elsewhere))
def test_another_test_runs_it(page, number):
    test = BLOCKS[page][number]
    text = (ROOT / test.file).read_text()
    assert [words for words in test.words if words not in text] == []


@pytest.mark.parametrize("page, number", kinds(NotRun))
def test_the_page_says_that_it_is_not_run(page, number):
    behind = (ROOT / page).read_text().split(text_of(page, number))[1]
    assert BLOCKS[page][number].words in behind.split("\n## ")[0]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The program of docs/start/cpp.md, compiled with the wheel."""
    compiler = os.environ.get("TEST_CXX") or shutil.which("c++")
    if not compiler:
        pytest.skip("no compiler of C++")
    made = tmp_path_factory.mktemp("app")
    (made / "app.cpp").write_text(texts("start/cpp.md")[1])
    flags = run([BIN / "pgas-config", "--cflags", "--libs"]).check().out.split()
    run([compiler, "-std=c++20", made / "app.cpp", "-o", made / "app", *flags], timeout=200).check()
    return made / "app"


@pytest.fixture
def folder(app, tmp_path):
    """A folder with the program ./app, and with the launchers and programs that the commands find first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "app").symlink_to(app)
    (tmp_path / "first").mkdir()
    for name, script in {"mpirun": LAUNCHER, "srun": LAUNCHER, "torchrun": TORCHRUN, "pgas-perf": PERF, "pgas-plot": PLOT}.items():
        (tmp_path / "first" / name).write_text(script.format(bin=BIN, root=ROOT, port=port))
        (tmp_path / "first" / name).chmod(0o755)
    return tmp_path


def settings(folder):
    return {"PATH": f"{folder}/first:{BIN}:{os.environ['PATH']}", "HOME": str(folder)}


@pytest.mark.parametrize("page, number", kinds(Runs))
def test_commands(folder, page, number):
    test, text = BLOCKS[page][number], text_of(page, number)
    lines = text.splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    if "pgas-plot" in text and subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True).returncode != 0:
        pytest.skip("no matplotlib: apt-get install python3-matplotlib")
    (folder / ".pgas_secret").write_text("0123456789abcdef0123456789abcdef\n")
    script = "set -e\n"
    for line in [*lines, test.then]:
        may = [status for words, status in MAY_FAIL.items() if words in line]
        script += line.split("  #")[0].rstrip() + (f" || test $? = {may[0]}" if may else "") + "\n"
    job = in_shell(script, folder, **settings(folder))
    assert job.status == 0, script + job.out + job.err
    out = job.out + "\n".join(file.name for file in folder.iterdir())
    assert [words for words in test.words if words not in out] == [], job.out + job.err


def without_numbers(text):
    return re.sub(r"\d+(\.\d+)?", "0", re.sub(r"\b[0-9a-f]{16}\b", "JOB", re.sub(r" +", " ", text))).strip()


HANGS = """#include <pgas/pgas.hpp>
#include <chrono>
#include <thread>
int main() {
  auto world = pgas::world::join();
  world.barrier_all();
  if (world.my_pe() == 2) std::this_thread::sleep_for(std::chrono::seconds(600));
  world.barrier_all();
}
"""


def test_hang(build):  # noqa: F811
    """The page shows what pgas-why and the log print."""
    shown, warning = (text for _, text in blocks("docs/debugging.md"))
    answer, *output = shown.splitlines()
    with subprocess.Popen([BIN / "pgasrun", "-n", "4", build(HANGS, "hangs")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment(PGAS_WAIT_WARNING="2s")) as job:
        try:
            line = next(line for line in job.stderr if "barrier has waited" in line)
            why = run(answer.removeprefix("$ ").split(), PATH=f"{BIN}:{os.environ['PATH']}")
        finally:
            job.terminate()
    assert why.out.splitlines()[0] and without_numbers(why.out) == without_numbers("\n".join(output))
    assert without_numbers(warning.replace("\n", " ")) in without_numbers(line)


def test_doctor_row():
    """The page shows the row of a job with PGAS_P2P=0. The transports depend on the version of UCX."""

    def row(text):
        return re.sub(r"\([^)]*\)", "()", without_numbers(text.replace("\n", " ")))

    job = run([BIN / "pgasrun", "-n", "2", BIN / "pgas-doctor"], PGAS_P2P="0")
    assert row(block_of("doctor_row")) in row(job.out), job.out


def test_installed(tmp_path):
    """The lines of a CMake project, with the installation in the wheel."""
    package = run([BIN / "pgas-config", "--cmakedir"]).check().out.strip()
    found, linked = block_of("installed").splitlines()
    (tmp_path / "app.cpp").write_text(texts("start/cpp.md")[1])
    (tmp_path / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\n{found}\nadd_executable(app app.cpp)\n{linked}\n")
    job = in_shell(f"cmake -S . -B build -Dpgas_DIR={package} && cmake --build build && {BIN}/pgasrun -n 2 build/app", tmp_path)
    assert job.status == 0 and "hello from PE 1" in job.out, job.out + job.err


def test_scrape_configs():
    """What Prometheus reads: each target is a host and the port of the page's commands. The block has no other syntax."""
    text = block_of("scrape_configs")
    assert re.fullmatch(r"scrape_configs:\n  - job_name: \w+\n    static_configs:\n      - targets: \[(.*)\]  # .*\n", text)
    port = re.search(r"pgas-info --serve :(\d+)", text_of("docs/metrics.md", 0))[1]
    targets = re.findall(r'"(\w+):(\d+)"', text)
    assert len(targets) > 1 and {of for _, of in targets} == {port}
    assert re.search(r"`?pgas-info --serve 0\.0\.0\.0:(\d+)", text)[1] == port


def test_mistake(tmp_path):
    """The page shows what the log prints if an OpenSHMEM program names a PE that does not exist."""
    compiler = BUILD / "bin/oshcc"
    if not compiler.exists():
        pytest.skip("OpenSHMEM's interface is not built")
    (tmp_path / "mistake.c").write_text("#include <shmem.h>\nstatic int x;\nint main(void) {\n  shmem_init();\n  shmem_int_put(&x, &x, 1, 7);\n  shmem_finalize();\n}\n")
    run([compiler, tmp_path / "mistake.c", "-o", tmp_path / "mistake"]).check()
    job = run([BIN / "pgasrun", "-n", "4", tmp_path / "mistake"])
    shown = block_of("mistake").split("error: ")[1].strip()
    assert job.status == 1 and f"error: {shown}" in job.err, job.err


def test_doc_block(tmp_path):
    """Doxygen knows all commands of the block."""
    if not shutil.which("doxygen"):
        pytest.skip("no doxygen")
    (tmp_path / "block.hpp").write_text(f"/// @file\n\n{block_of('doc_block')}int f(int name);\n")
    settings = f"INPUT={tmp_path}\nOUTPUT_DIRECTORY={tmp_path}\nGENERATE_LATEX=NO\nGENERATE_HTML=NO\nGENERATE_XML=YES\nWARN_AS_ERROR=YES\nQUIET=YES\n"
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


# ---- commands in sentences -------------------------------------------------------------------------------------------

# README.md's commands are in test_pages.py. The changelog names programs of earlier versions.
SENTENCES = sorted(page.relative_to(ROOT).as_posix() for page in [*DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
                   if "notes" not in page.parts)
PROGRAM = r"(?:\w+=\S+ )*(?:(?:mpirun|srun|pgasrun) (?:--host \S+ |--mpi=pmix |--overlap |--jobid \S+ |-n \w+ )*)?((?:pgas-\w+|pgasrun|\./run|(?:tests|examples|packaging|cmake)/\S+\.(?:py|sh)))(?: (.*))?"


@pytest.mark.parametrize("page", SENTENCES)
def test_commands_in_sentences(page):
    """The programs and their options exist."""
    text = re.sub(r"^ *```.*?^ *```$", "", (ROOT / page).read_text(), flags=re.M | re.S)
    for span in re.findall(r"`([^`]+)`", text):
        if not (found := re.fullmatch(PROGRAM, " ".join(span.split()))):
            continue
        name, words = found[1], (found[2] or "").split(" > ")[0].split(" | ")[0].split()
        program = next((place for place in (BUILD / "bin" / name, BIN / name, ROOT / name) if place.is_file()), None)
        if not program and not words:  # a thread, a package or a folder
            continue
        assert program, f"{page}: {span}: there is no {name}"
        known = (ROOT / "cmake/pgas-config.in").read_text() + usage(program, []) if name == "pgas-config" else ""
        if name == "./run" and words:
            known = run([program, "help"]).check().out
            assert re.search(rf"^  {words[0]}\b", known, re.M), f"{page}: {span}: there is no {words[0]}"
        options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        known = known or (usage(program, words) if options else "")
        assert [option for option in options if option not in known] == [], f"{page}: {span}"
