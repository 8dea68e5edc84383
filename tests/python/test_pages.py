"""The programs and commands on the pages about Python: each block is run as its page says, or is known to be no program of its own. A
new block, or a changed one, has to be told here how it is run."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import environment, launcher, needs_interpreter_of_triton, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["docs/python.md", "docs/python-kernels.md", "docs/torch.md", "docs/sharing.md"]


def blocks(page, language):
    """The blocks of a page in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


# How each block is run: a test below has this name.
PYTHON = {
    "docs/python.md": ["first_program", "sharing_summary"],
    "docs/python-kernels.md": ["triton_shift", "cupy_fragment", "numba_fragment"],
    "docs/torch.md": ["first_torch_program", "triton_copy"],
    "docs/sharing.md": ["exporter", "importer"],
}
SHELL = {"docs/python.md": ["install", "on_gpu"], "docs/python-kernels.md": [], "docs/torch.md": ["install", "own_tests"], "docs/sharing.md": []}


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_known_here(page):
    assert len(blocks(page, "python")) == len(PYTHON[page]) and len(blocks(page, "sh")) == len(SHELL[page])
    known = {"python", "sh", "cpp", ""}
    assert set(re.findall(r"^```(\w*)$", (ROOT / page).read_text(), re.MULTILINE)) <= known


def block(page, name):
    return blocks(page, "python")[PYTHON[page].index(name)]


@pytest.fixture
def program(tmp_path):
    """A block as a file, as kernels have to be."""

    def write(text):
        file = tmp_path / "program.py"
        file.write_text(text)
        return file

    return write


@pytest.mark.parametrize("heap", ["host", None])
@pytest.mark.parametrize("n", [1, 4])
def test_first_program(program, n, heap):
    """Without a setting of the environment, too: on a machine with a GPU and on one without."""
    text = block("docs/python.md", "first_program") + "    print(inbox.sum() // 1024 == world.n_pes * (world.n_pes - 1) // 2)\n"
    job = run([*launcher(n)[:-1], sys.executable, "-W", "error", "-X", "dev", program(text)], timeout=120, PGAS_HEAP=heap).check()
    assert job.out == "True\n" * n


def test_sharing_summary(program):
    run([sys.executable, "-W", "error", program("import pgas\n" + block("docs/python.md", "sharing_summary") + "assert y.shape == x.shape\n")]).check()


def test_exporter_and_importer(program, tmp_path):
    other = tmp_path / "importer.py"
    other.write_text(block("docs/sharing.md", "importer"))
    python = [sys.executable, "-W", "error", "-X", "dev"]
    with subprocess.Popen([*python, program(block("docs/sharing.md", "exporter"))], stdout=subprocess.PIPE, text=True, env=environment()) as exporter:
        tickets = exporter.stdout.readline().split()
        assert len(tickets) == 3
        assert run([*python, other, *tickets]).check().out == f"{exporter.pid}\n"
        assert exporter.wait(60) == 0


def test_triton_shift(program):
    pytest.importorskip("torch")
    needs_interpreter_of_triton()
    text = block("docs/python-kernels.md", "triton_shift") + "    world.barrier(stream=None)\n    print(bool((inbox == (world.my_pe - 1) % world.n_pes).all()))\n"
    assert run([*launcher(4), program(text)], timeout=120, TRITON_INTERPRET="1").check().out == "True\n" * 4


@pytest.mark.parametrize("page, name", [("docs/python-kernels.md", "cupy_fragment"), ("docs/python-kernels.md", "numba_fragment"), ("docs/torch.md", "triton_copy")])
def test_parts_of_programs_are_python(page, name):
    """They need a GPU; the examples cupy_kernel.py, numba_kernel.py and symm_mem_all_reduce.py are whole, and run in on_gpu.sh."""
    compile(block(page, name), name, "exec")


@pytest.mark.parametrize("n", [1, 2])
def test_first_torch_program(program, n):
    pytest.importorskip("torch")
    text = block("docs/torch.md", "first_torch_program") + "handle.barrier()\nprint(bool((y == (rank + 1) % n + 1).all()))\n"
    assert run([*launcher(n), program(text)], timeout=120).check().out == "True\n" * n


@pytest.mark.parametrize("page", ["docs/python.md", "docs/torch.md"])
def test_install(page):
    """The commands are those of `./run`, venv, pip and this package; python.setup and python.sdist run them for this machine."""
    for line in blocks(page, "sh")[0].splitlines():
        line = line.split("#")[0].strip()
        for part in line.split("&&"):
            words = part.split()
            assert words[0] in ("./run", "python3", "env/bin/pip", "env/bin/pgasrun", "env/bin/torchrun"), part
            for word in words:
                if word.endswith(".py"):
                    assert (ROOT / word).exists(), word
    assert "pip install torch dist/" not in blocks(page, "sh")[0] and "pip install dist/" not in blocks(page, "sh")[0]  # pip refuses two wheels


def test_the_wheel_for_this_python_is_chosen_among_several(tmp_path):
    """As the page installs it: dist has wheels of two interpreters."""
    dist = tmp_path / "dist"
    dist.mkdir()
    import pgas

    version = pgas.__version__
    for python in ("cp39-cp39", f"cp{sys.version_info[0]}{sys.version_info[1]}-cp{sys.version_info[0]}{sys.version_info[1]}"):
        make_wheel(dist, version, python)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--find-links", dist, "--no-deps", "--target", tmp_path / "env", "pgas"],
                          capture_output=True, text=True, timeout=120)
    if "No module named pip" in done.stderr:
        pytest.skip("no pip")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "env" / "of.txt").read_text().startswith(f"cp{sys.version_info[0]}{sys.version_info[1]}")


def make_wheel(dist, version, python):
    import zipfile

    with zipfile.ZipFile(dist / f"pgas-{version}-{python}-linux_x86_64.whl", "w") as wheel:
        about = f"pgas-{version}.dist-info"
        wheel.writestr("of.txt", python)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: pgas\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {python}-linux_x86_64\n")
        wheel.writestr(f"{about}/RECORD", "")


def test_on_gpu():
    """The second block of docs/python.md: the script takes these words."""
    command = blocks("docs/python.md", "sh")[SHELL["docs/python.md"].index("on_gpu")]
    assert (ROOT / "tests/python/on_gpu.sh").exists() and "tests/python/on_gpu.sh dist/" in command
    bash = shutil.which("bash")
    assert bash and subprocess.run([bash, "-n", ROOT / "tests/python/on_gpu.sh"]).returncode == 0


def test_own_tests():
    for line in blocks("docs/torch.md", "sh")[1].splitlines():
        words = line.split()
        assert (ROOT / words[1]).exists() and {word for word in words if word.startswith("--")} <= {"--ranks", "--only", "--limit", "--backend"}


def test_arrays_of_numpy_mean_the_host_heap():
    code = "import numpy, pgas\nfor like in ('numpy', numpy):\n    with pgas.join(like=like) as world: print(world.device, world.zeros(2).dtype)"
    assert run([sys.executable, "-c", code], PGAS_HEAP=None, PGAS_BOOTSTRAP="singleton").check().out == "None float32\n" * 2
