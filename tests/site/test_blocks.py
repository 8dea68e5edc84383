"""Compiles and runs the code blocks and commands of the pages in docs/start, guides, coming, concepts and reference, and
of docs/support.md. test_commands.py and tests/python/test_pages.py test the blocks of the other pages.

A block below a comment `<!-- from FILE -->` is a part of that file, which other tests compile and run. TEST_BUILD is the
folder of the build. The interpreter is the one of the environment with the wheel.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

from conftest import environment, run  # noqa: E402
from test_pages import blocks, build, in_shell, on_gpu  # noqa: E402, F401

DOCS = ROOT / "docs"
BIN = pathlib.Path(sys.executable).parent
BUILD = pathlib.Path(os.environ.get("TEST_BUILD", ROOT / "build/cpu"))

# The languages of the blocks of each page, in order. Each block has a test below.
BLOCKS = {
    "start/cpp.md": ["sh", "cpp", "sh", "", "cmake", "sh"],
    "start/python.md": ["sh", "python", "sh", ""],
    "guides/halo-exchange.md": ["cpp", "cpp"],
    "guides/moe.md": ["cpp", "cpp", "sh", ""],
    "guides/slurm.md": ["sh", "bash", "bash", "sh"],
    "guides/kubernetes.md": ["sh", "yaml", "sh"],
    "guides/profiling.md": ["sh"],
    "coming/nccl.md": ["cpp"],
    "coming/torch.md": ["python", "python"],
    "concepts/memory-model.md": [],
    "concepts/teams.md": ["cpp"],
    "concepts/streams.md": ["cpp"],
    "concepts/failure.md": ["cpp"],
    "reference/tools.md": ["sh", "sh"],
    "support.md": [],
    "index.md": [],
}


def texts(page):
    return [text for _, text in blocks(f"docs/{page}")]


def path(*folders):
    return ":".join([*map(str, folders), str(BIN), os.environ["PATH"]])


@pytest.fixture
def hello(build):  # noqa: F811
    """The program of docs/start/cpp.md, compiled with the wheel."""
    return build(texts("start/cpp.md")[1], "hello")


def pes(n, program, **changes):
    return run([BIN / "pgasrun", "-n", n, program], **changes).check().out


def test_every_block_is_known_here():
    new = [page.relative_to(DOCS).as_posix() for folder in ("start", "guides", "coming", "concepts", "reference") for page in (DOCS / folder).glob("*.md")]
    assert {*new, "support.md", "index.md"} == BLOCKS.keys()
    for page, languages in BLOCKS.items():
        assert [language for language, _ in blocks(f"docs/{page}")] == languages, page


def test_parts_of_files():
    """A block below the comment is a part of the file."""
    found = 0
    for page in BLOCKS:
        for file, text in re.findall(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S):
            assert text in (ROOT / file).read_text(), f"{page}: the block is not in {file}"
            found += 1
    assert found == 3


# ---- start -----------------------------------------------------------------------------------------------------------


def test_start_cpp(tmp_path):
    """Runs the commands with an installation of this build in place of `./run install`, in a separate home."""
    steps, program, compile_and_run, output, cmake, cmake_commands = texts("start/cpp.md")
    usage = run([ROOT / "run", "help"]).check().out
    for line in steps.splitlines():
        words = line.split("#")[0].split()
        assert words[0] == "./run" and re.search(rf"^  {words[1]}\b", usage, re.M), line
    assert "./run install ~/pgas" in steps
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path / "pgas"], capture_output=True, text=True)
    if "cannot find" in done.stderr or not shutil.which("pkg-config"):
        pytest.skip("needs pkg-config, and the target installable of the build")
    assert done.returncode == 0, done.stderr
    (tmp_path / "hello.cpp").write_text(program)
    home = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    job = in_shell(compile_and_run, tmp_path, **home)
    assert job.status == 0 and job.out == output, job.out + job.err

    # The project for the host, without the words and lines that the page says to remove.
    lines = cmake.splitlines()
    assert lines[1].endswith("LANGUAGES CXX CUDA)") and "CUDA" in lines[2] and "CUDA" in lines[3]
    (tmp_path / "CMakeLists.txt").write_text("\n".join([lines[0], lines[1].replace(" CUDA", ""), *lines[4:]]))
    job = in_shell(cmake_commands + "pgasrun -n 4 build/hello\n", tmp_path, **{**home, "PATH": f"{tmp_path}/pgas/bin:{home['PATH']}"})
    assert job.status == 0 and job.out.endswith(output), job.out + job.err
    cuda = pathlib.Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    if cuda.exists():
        shutil.rmtree(tmp_path / "build")
        (tmp_path / "CMakeLists.txt").write_text(cmake)
        job = in_shell(cmake_commands, tmp_path, **{**home, "PATH": f"{cuda.parent}:{home['PATH']}"})
        assert job.status == 0, job.out + job.err


def test_start_python(tmp_path):
    install, program, command, output = texts("start/python.md")
    known = blocks("docs/python.md")[0][1]  # python.setup tests these commands
    for line in install.splitlines():
        assert line.split("#")[0].strip() in known, line
    (tmp_path / "ring.py").write_text(program)
    (tmp_path / "env").symlink_to(BIN.parent)
    job = in_shell(command, tmp_path)
    assert job.status == 0 and sorted(job.out.splitlines()) == output.splitlines(), job.out + job.err


# ---- guides ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuda", [False, True])
def test_halo_exchange(build, cuda):  # noqa: F811
    """The values equal the values of one process. Compiles the program with nvcc, too, and runs it on GPUs if there are any."""
    import numpy

    program = build(texts("guides/halo-exchange.md")[0], "halo", cuda=cuda)
    for n in (1, 2, 4) if on_gpu() or not cuda else ():
        grid = numpy.zeros(1000 * n + 2, "float32")
        grid[0] = 1
        for _ in range(100):
            grid[1:-1] = numpy.float32(0.5) * (grid[:-2] + grid[2:])
        first = {pe: float(grid[1 + pe * 1000]) for pe in range(n)}
        assert {int(line.split()[1][:-1]): float(line.split()[2]) for line in pes(n, program, PGAS_HEAP="cuda" if cuda else "host").splitlines()} == pytest.approx(first, rel=1e-5)


def test_moe(tmp_path):
    command, output = texts("guides/moe.md")[2:]
    assert command.startswith("build/cpu/bin/pgasrun") and "`./run build cpu`" in (DOCS / "guides/moe.md").read_text()
    if not (BUILD / "examples/24_moe").exists():
        pytest.skip(f"{BUILD}/examples/24_moe is not built")
    job = in_shell(command.replace("build/cpu", str(BUILD)), tmp_path)
    assert job.status == 0 and job.out.endswith(output), job.out + job.err


def under_slurm(tmp_path, *options):
    """A folder with an srun that runs its command as four tasks of a Slurm of this host."""
    folder = tmp_path / "stub"
    folder.mkdir(exist_ok=True)
    real = ROOT / "tests/multi_pe/launchers/slurm.sh"
    # The script starts Slurm, and then calls srun itself, with PMIx and four tasks.
    known = " | ".join(("--mpi=pmix", "-n", "4"))
    (folder / "srun").write_text(f'#!/bin/bash\nwhile :; do case $1 in {known}) shift ;; *) break ;; esac; done\nPATH={os.environ["PATH"]} exec {real} "$@"\n')
    (folder / "srun").chmod(0o755)
    return folder


@pytest.mark.parametrize("step", ["srun", "batch", "address"])
def test_slurm(hello, tmp_path, step):
    """Runs the commands under a Slurm of this host. `address` joins by MASTER_ADDR although PMIx is there."""
    srun, batch, script, by_address = texts("guides/slurm.md")
    (tmp_path / "with_address.sh").write_text(script)
    (tmp_path / "batch.sh").write_text(batch)
    command = {"srun": srun, "batch": "bash batch.sh", "address": by_address}[step]
    job = in_shell(command, tmp_path, PATH=path(under_slurm(tmp_path)), PGAS_BOOTSTRAP="tcp" if step == "address" else None)
    if job.status == 77:
        pytest.skip(job.err.strip())
    assert job.status == 0 and job.out == texts("start/cpp.md")[3], job.out + job.err


def test_kubernetes(hello, tmp_path):
    """Starts the processes of the Job as its pods would start, on this host. No cluster is available to tests."""
    one_pod, manifest, secret = texts("guides/kubernetes.md")
    output = texts("start/cpp.md")[3]
    job = in_shell(one_pod, tmp_path, PATH=path())
    assert job.status == 0 and job.out == output
    command = re.search(r'command: \[sh, -c, "(.*)"\]', manifest)[1]
    variables = dict(re.findall(r'\{name: (\w+), value: "?([^"}]+)"?\}', manifest))
    n = int(re.search(r"completions: (\d+)", manifest)[1])
    assert variables["WORLD_SIZE"] == str(n) and variables["MASTER_ADDR"] == "hello-0.hello" and "name: PGAS_SECRET" in manifest
    assert re.match(r"kubectl create secret generic hello --from-literal=secret=\$\((.*)\)\n$", secret)[1] == "openssl rand -hex 16"
    variables |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29437", "PGAS_SECRET": "0123456789abcdef"}
    pods = [subprocess.Popen(["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment(JOB_COMPLETION_INDEX=str(pod), **variables)) for pod in range(n)]
    assert "".join(pod.communicate(timeout=60)[0] for pod in pods) == output


def test_profiling(hello, tmp_path):
    job = in_shell(texts("guides/profiling.md")[0].replace("\n", " && ").removesuffix(" && "), tmp_path, PATH=path())
    assert job.status == 0 and "4 PEs" in job.out and "Time in waits" in job.out, job.out + job.err


# ---- coming from -----------------------------------------------------------------------------------------------------


def test_nccl(build):  # noqa: F811
    assert pes(2, build(texts("coming/nccl.md")[0], "sum")) == "3\n3\n"


def test_tensor_in_another_process(tmp_path):
    exporter, importer = texts("coming/torch.md")
    (tmp_path / "importer.py").write_text(importer)
    with subprocess.Popen([sys.executable, "-c", exporter], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        ticket = process.stdout.readline().strip()
        assert run([sys.executable, tmp_path / "importer.py", ticket]).check().out == "(1024, 1024) 1.0\n"
        process.communicate("\n", timeout=60)
        assert process.returncode == 0


# ---- concepts and reference ------------------------------------------------------------------------------------------


def test_teams(build):  # noqa: F811
    out = pes(4, build(texts("concepts/teams.md")[0], "teams"))
    assert sorted(out.splitlines()) == [f"PE {pe}, member {pe // 2} of 2: {2 + 2 * (pe % 2)}" for pe in range(4)]


def test_streams(build):  # noqa: F811
    out = pes(4, build(texts("concepts/streams.md")[0], "streams"))
    assert sorted(out.splitlines()) == [f"PE {pe} has {(pe - 1) % 4}" for pe in range(4)]


def test_failure(build):  # noqa: F811
    job = run([build(texts("concepts/failure.md")[0], "failure")], PGAS_BOOTSTRAP="singleton")
    assert job.status == 3 and job.err.splitlines()[-1].startswith("PGAS-E0301"), job.err


def test_tools(hello, tmp_path):
    questions, with_options = texts("reference/tools.md")
    for line in questions.splitlines():
        command = line.split("#")[0].strip()
        job = in_shell(command, tmp_path, PATH=path())
        assert job.status == (job.status if "doctor" in command else 0) and job.out, command + job.err  # a machine may have problems
    job = in_shell(with_options, tmp_path, PATH=path())
    assert job.status == 0 and "[0] hello from PE 0\n" in job.out, job.out + job.err


def test_tools_and_options_exist():
    text = (DOCS / "reference/tools.md").read_text()
    for tool in set(re.findall(r"`(pgas(?:run|-\w+))`", text)):
        assert (BIN / tool).exists(), tool
    usage = run([BIN / "pgasrun", "--help"]).check().out
    for option in re.findall(r"^\| `(-[\w-]+)", text, re.M):
        assert option in usage, option


# ---- the other pages -------------------------------------------------------------------------------------------------

# The commands of the other pages need several hosts or GPUs, or take minutes, or other tests run these commands. This
# test checks that the programs of the project and their options exist.


def commands(page):
    """The commands of the blocks without a language, without variables and launchers."""
    for _, text in (each for each in blocks(page) if each[0] == ""):
        lines = text.splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines:
            for part in re.split(r"&&|(?<!\|)\|(?!\|)|&(?=\s*$)", re.sub(r"\s#.*", "", line)):
                part = re.sub(r"^(\w+=(\$\(.*?\)|\S+)\s+)*", "", part.strip())
                part = re.sub(r"^(mpirun|srun|pgasrun)\s+(--host \S+ |--mpi=pmix |-n \d+ |-N \d+ )+", "", part)
                part = re.sub(r"^python3 (?=tests/|examples/|packaging/|cmake/)", "", part)
                if part:
                    yield part.split()


def other_pages():
    from test_pages import BLOCKS as TESTED

    return sorted({page.relative_to(ROOT).as_posix() for page in DOCS.glob("*.md")} - {f"docs/{page}" for page in BLOCKS} - TESTED.keys())


def usage(program, words):
    """What a program prints for --help. A shell script documents its options in its first comment."""
    if program.suffix == ".sh":
        return program.read_text().split("\nset -", 1)[0]
    command = [sys.executable, "-B", program] if program.suffix == ".py" else [program]
    return run([*command, *(word for word in words[:1] if word in ("map", "sizes", "events", "merge", "summary")), "--help"]).check().out


@pytest.mark.parametrize("page", other_pages())
def test_programs_and_options_of_other_pages(page):
    for name, *words in commands(page):
        if not name.startswith(("pgas-", "tests/", "examples/", "packaging/", "cmake/")):
            continue
        program = BIN / name if name.startswith("pgas-") else ROOT / name
        assert program.exists(), f"{page}: there is no {name}"
        options = [word.split("=")[0] for word in words if word.startswith("--")]
        text = usage(program, words) if options else ""
        for option in options:
            assert option in text, f"{page}: {name} {' '.join(words)}: there is no {option}"
