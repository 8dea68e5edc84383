"""Runs the programs and commands of README.md and of the pages about Python. Each block is run as its page describes,
or is listed as a fragment. For a new or changed block or command, this file must define how it is run."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest

from conftest import environment, launcher, needs_interpreter_of_triton, run

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The name of the test below that runs each code block.
BLOCKS = {
    "README.md": {"cpp": ["shift"], "sh": ["try_it"]},
    "docs/python.md": {"sh": ["install", "ring_install", "ring_run", "ring_mps", "sanitized", "on_gpu"], "python": ["first_program", "ring", "sharing_summary"],
                       "": ["ring_output"]},
    "docs/python-kernels.md": {"python": ["triton_shift", "cupy_fragment", "numba_fragment"]},
    "docs/torch.md": {"sh": ["install", "own_tests"], "python": ["first_torch_program", "triton_copy"]},
    "docs/sharing.md": {"cpp": ["two_programs", "another_program", "with_a_timeline", "another_with_a_timeline", "lists", "on_another_gpu", "registered",
                                "windows"],
                        "python": ["exporter", "importer"]},
}


def blocks(page):
    """Returns the language and the text of each block of a page, in order."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [(language, textwrap.dedent(text)) for _, language, text in found]


def block(page, language, name):
    return [text for of, text in blocks(page) if of == language][BLOCKS[page][language].index(name)]


@pytest.mark.parametrize("page", BLOCKS)
def test_every_block_is_known_here(page):
    found = [language for language, _ in blocks(page)]
    assert {language: found.count(language) for language in found} == {language: len(names) for language, names in BLOCKS[page].items()}


@pytest.fixture
def program(tmp_path):
    """Writes a block to a file, because kernels must be in files."""

    def write(text):
        file = tmp_path / "program.py"
        file.write_text(text)
        return file

    return write


@pytest.mark.parametrize("heap", ["host", None])
@pytest.mark.parametrize("n", [1, 4])
def test_first_program(program, n, heap):
    """Also runs without PGAS_HEAP, on machines with and without a GPU."""
    text = block("docs/python.md", "python", "first_program") + "    print(inbox.sum() // 1024 == world.n_pes * (world.n_pes - 1) // 2)\n"
    job = run([*launcher(n)[:-1], sys.executable, "-W", "error", "-X", "dev", program(text)], timeout=120, PGAS_HEAP=heap).check()
    assert job.out == "True\n" * n


def test_sharing_summary(program):
    run([sys.executable, "-W", "error", program("import pgas\n" + block("docs/python.md", "python", "sharing_summary") + "assert y.shape == x.shape\n")]).check()


def test_exporter_and_importer(program, tmp_path):
    other = tmp_path / "importer.py"
    other.write_text(block("docs/sharing.md", "python", "importer"))
    python = [sys.executable, "-W", "error", "-X", "dev"]
    with subprocess.Popen([*python, program(block("docs/sharing.md", "python", "exporter"))], stdout=subprocess.PIPE, text=True, env=environment()) as exporter:
        tickets = exporter.stdout.readline().split()
        assert len(tickets) == 3
        assert run([*python, other, *tickets]).check().out == f"{exporter.pid}\n"
        assert exporter.wait(60) == 0


def test_triton_shift(program):
    pytest.importorskip("torch")
    needs_interpreter_of_triton()
    text = block("docs/python-kernels.md", "python", "triton_shift") + "    world.barrier(stream=None)\n    print(bool((inbox == (world.my_pe - 1) % world.n_pes).all()))\n"
    assert run([*launcher(4), program(text)], timeout=120, TRITON_INTERPRET="1").check().out == "True\n" * 4


@pytest.mark.parametrize("page, name", [("docs/python-kernels.md", "cupy_fragment"), ("docs/python-kernels.md", "numba_fragment"), ("docs/torch.md", "triton_copy")])
def test_parts_of_programs_are_python(page, name):
    """These blocks need a GPU. on_gpu.sh runs the examples cupy_kernel.py, numba_kernel.py and symm_mem_all_reduce.py,
    which contain the same code."""
    compile(block(page, "python", name), name, "exec")


@pytest.mark.parametrize("n", [1, 2])
def test_first_torch_program(program, n):
    pytest.importorskip("torch")
    text = block("docs/torch.md", "python", "first_torch_program") + "handle.barrier()\nprint(bool((y == (rank + 1) % n + 1).all()))\n"
    assert run([*launcher(n), program(text)], timeout=300).check().out == "True\n" * n  # may compile the backend


@pytest.mark.parametrize("page, name", [("docs/python.md", "install"), ("docs/python.md", "ring_install"), ("docs/torch.md", "install")])
def test_install(page, name):
    """The commands may be `./run`, venv, pip and programs of this package. python.setup and python.sdist run them on
    this machine."""
    text = block(page, "sh", name)
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        for part in line.split("&&"):
            words = part.split()
            assert words[0] in ("./run", "python3", "env/bin/pip", "env/bin/pgasrun", "env/bin/torchrun"), part
            for word in words:
                if word.endswith(".py"):
                    assert (ROOT / word).exists(), word
    assert "pip install torch dist/" not in text and "pip install dist/" not in text  # pip refuses two wheels


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("line", [0, 1, "mpirun -n 2 env/bin/python ring.py"])
def test_ring(tmp_path, line, gpu):
    """Runs the ring in Triton by each of the page's commands: interpreted, as the page describes for machines without
    a GPU, and on a GPU."""
    pytest.importorskip("torch")
    if gpu:
        pytest.importorskip("triton", minversion="3.6")
        if not os.path.exists("/dev/nvidiactl"):
            pytest.skip("no GPU")
    else:
        needs_interpreter_of_triton()
        assert "put `PGAS_HEAP=host TRITON_INTERPRET=1` before the command" in (ROOT / "docs/python.md").read_text()
    (tmp_path / "ring.py").write_text(block("docs/python.md", "python", "ring"))
    (tmp_path / "env").symlink_to(pathlib.Path(sys.executable).parents[1])
    command = block("docs/python.md", "sh", "ring_run").splitlines()[line] if isinstance(line, int) else line
    if command.split()[0] == "mpirun":
        assert f"`{command}`" in (ROOT / "docs/python.md").read_text()
        needs_mpirun()
    for name in ("env/bin/pgasrun", "env/bin/torchrun"):
        if command.startswith(name) and not (tmp_path / name).exists():
            pytest.skip(f"no {name}")
    settings = {"PGAS_HEAP": None} if gpu else {"PGAS_HEAP": "host", "TRITON_INTERPRET": "1"}
    job = in_shell(command, tmp_path, **settings)
    assert job.status == 0, job.out + job.err
    assert sorted(job.out.splitlines()) == sorted(block("docs/python.md", "", "ring_output").splitlines())


def in_shell(command, folder, **changes):
    """Runs the command of a page in a folder."""
    of_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return run(["sh", "-c", f"cd {shlex.quote(str(folder))} && {command}"], timeout=200, **of_root, **changes)


def needs_mpirun():
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")


def test_ring_mps():
    """The commands are those of tests/python/on_gpu.sh, which starts MPS if it is installed."""
    lines = block("docs/python.md", "sh", "ring_mps").splitlines()
    script = (ROOT / "tests/python/on_gpu.sh").read_text()
    assert re.findall(r"(\w+)=", lines[0]) == ["CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"]
    assert all(name in script for name in re.findall(r"(\w+)=", lines[0])) and lines[1].startswith("nvidia-cuda-mps-control -d") and "nvidia-cuda-mps-control -d" in script
    assert re.search(r"echo quit( -t 10)? \|", script) and "echo quit | nvidia-cuda-mps-control" in lines[1]


def test_the_wheel_for_this_python_is_chosen_among_several(tmp_path):
    """The page installs from dist, which may contain wheels for several interpreters."""
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
    """The last block of docs/python.md: the script accepts these arguments."""
    command = block("docs/python.md", "sh", "on_gpu")
    assert (ROOT / "tests/python/on_gpu.sh").exists() and "tests/python/on_gpu.sh dist/" in command
    bash = shutil.which("bash")
    assert bash and subprocess.run([bash, "-n", ROOT / "tests/python/on_gpu.sh"]).returncode == 0


def test_sanitized(tmp_path):
    """Checks the commands of docs/python.md for tests with a sanitizer. asan.python runs them with the address
    sanitizer."""
    build, test = (line.split("#")[0].split() for line in block("docs/python.md", "sh", "sanitized").splitlines())
    assert build[:2] == ["./run", "build"] and f'"name": "{build[2]}"' in (ROOT / "CMakePresets.json").read_text()
    script = [sys.executable, "-B", ROOT / test[1]]
    assert {word for word in test if word.startswith("--")} <= set(run([*script, "--help"]).check().out.replace("[", "").split())
    assert all((ROOT / "tests/python" / word).exists() for word in test if word.endswith(".py") and "/" not in word)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "CMakeCache.txt").write_text("PGAS_SANITIZE:STRING=\n")
    given = ["--tree", tmp_path / "tree", "--work", tmp_path / "work", "--environment"]
    job = run([*script, *given, pathlib.Path(sys.executable).parents[1]])
    assert job.status == 1 and "is not a sanitized build" in job.err, job.out + job.err
    assert run([*script, *given, tmp_path]).status == 77


def test_own_tests():
    for line in block("docs/torch.md", "sh", "own_tests").splitlines():
        words = line.split()
        assert (ROOT / words[1]).exists() and {word for word in words if word.startswith("--")} <= {"--ranks", "--only", "--limit", "--backend"}


# The complete programs. mypy finds no types in Triton, and kernels in Triton have no types.
TYPED = {("docs/python.md", "first_program"): "", ("docs/python.md", "ring"): "triton", ("docs/python.md", "sharing_summary"): "",
         ("docs/python-kernels.md", "triton_shift"): "triton", ("docs/torch.md", "first_torch_program"): "torch", ("docs/sharing.md", "exporter"): "",
         ("docs/sharing.md", "importer"): ""}


@pytest.mark.parametrize("page, name", TYPED)
def test_type_checkers_accept_the_programs(program, page, name):
    """Checks with mypy --strict, and with pyright or basedpyright if one of them is installed."""
    needs = TYPED[page, name]
    if needs:
        pytest.importorskip("torch")
    text = block(page, "python", name)
    file = program(text if "import pgas" in text else "import pgas\n" + text)
    checkers = [each for each in ("pyright", "basedpyright") if (pathlib.Path(sys.executable).parent / each).exists()]
    for checker in checkers[:1]:
        (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
        job = run([pathlib.Path(sys.executable).parent / checker, "--pythonpath", sys.executable, "--project", file.parent, file], timeout=200)
        assert "0 errors" in job.out or "error:" not in job.out, job.out + job.err  # the tool may not find Node.js
    pytest.importorskip("mypy")
    untyped = ["--disable-error-code=import-untyped", "--disable-error-code=no-untyped-def"] if needs == "triton" else []
    job = run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-executable", sys.executable, *untyped, file], timeout=200)
    assert job.status == 0, job.out + job.err


def test_stubs_name_what_kernels_call():
    """Both files have the same functions of pgas.triton with the same parameters. Triton need not be installed."""
    import ast

    import pgas

    def functions(name):
        tree = ast.parse((pathlib.Path(pgas.__file__).parent / name).read_text())
        return {each.name: [a.arg for a in each.args.args] for each in tree.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")}

    assert functions("triton.pyi") == functions("triton.py")
    assert functions("numba.pyi").keys() - {"__getattr__"} <= functions("numba.py").keys()


def test_arrays_of_numpy_mean_the_host_heap():
    code = "import numpy, pgas\nfor like in ('numpy', numpy):\n    with pgas.join(like=like) as world: print(world.device, world.zeros(2).dtype)"
    assert run([sys.executable, "-c", code], PGAS_HEAP=None, PGAS_BOOTSTRAP="singleton").check().out == "None float32\n" * 2


# ---- C++ -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def build(tmp_path):
    """Returns build(text, name), which compiles a program with the wheel and returns its path. With `cuda` it uses
    nvcc."""
    compiler = os.environ.get("TEST_CXX") or shutil.which("c++")
    if not compiler:
        pytest.skip("no compiler of C++")
    flags = run([pathlib.Path(sys.executable).parent / "pgas-config", "--cflags", "--libs"]).check().out.split()

    def make(text, name="app", *, cuda=False):
        source, made = tmp_path / f"{name}.cpp", tmp_path / name
        source.write_text(text)
        if cuda:
            words = [nvcc(), "-x", "cu", "-std=c++20", "-arch=native" if on_gpu() else "-arch=sm_90", f"-ccbin={compiler}"]
            run([*words, source, "-o", made, *("-Xlinker=" + flag.removeprefix("-Wl,") if flag.startswith("-Wl,") else flag for flag in flags)], timeout=240).check()
        else:
            run([compiler, "-std=c++20", source, "-o", made, *flags], timeout=200).check()
        return made

    return make


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found):
        pytest.skip("no nvcc")
    return found


def on_gpu():
    return os.path.exists("/dev/nvidiactl")


# Replaces the last two lines of the program: the new end also prints the signal of the row that has arrived.
SHIFTED = """  world.synchronize();
  pgas::signal_t value = 0;
  pgas::get(world, &value, arrived.data(), 1, world.my_pe());
  std::printf("%d of %d: %d\\n", world.my_pe(), world.n_pes(), static_cast<int>(value));
}
"""


@pytest.mark.parametrize("cuda", [False, True])
def test_shift(build, cuda, tmp_path):
    """Compiles the program of README.md with g++, and runs it on the host heap in each way to start a program.
    Compiles it also with nvcc, and runs it on a GPU if there is one."""
    text = block("README.md", "cpp", "shift")
    assert text.endswith("  world.synchronize();\n}\n")
    build("#include <cstdio>\n" + text.removesuffix("  world.synchronize();\n}\n") + SHIFTED, cuda=cuda)
    if cuda and not on_gpu():
        return  # the test compiles the program
    heap = {"PGAS_HEAP": "cuda" if cuda else "host"}
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    for command, n in (("pgasrun -n 4 ./app", 4), ("mpirun -n 4 ./app", 4), ("./app", 1)):
        assert f"`{command}`" in (ROOT / "README.md").read_text()
        if command.startswith("mpirun") and shutil.which("mpirun") is None:
            continue
        job = in_shell(command, tmp_path, PATH=path, **heap)
        assert job.status == 0 and sorted(job.out.splitlines()) == [f"{pe} of {n}: 1" for pe in range(n)], command + job.out + job.err
    # the variables that torchrun sets
    by_hand = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29431", "WORLD_SIZE": "2", **heap}
    jobs = [subprocess.Popen([tmp_path / "app"], stdout=subprocess.PIPE, text=True, env=environment(RANK=str(rank), **by_hand)) for rank in range(2)]
    assert [each.communicate(timeout=60)[0] for each in jobs] == ["0 of 2: 1\n", "1 of 2: 1\n"]


# The programs of docs/sharing.md leave out some parts. This text contains these parts for the host heap, where a kernel
# is a function.
BESIDE = """
#include <pgas/pgas.hpp>
#include <pgas/shared_memory.hpp>
#include <pgas/timeline.hpp>
#include <cstdio>
#include <cstring>
#include <string>
constexpr std::size_t bytes = 4096;
void* const stream = nullptr;
void publish(const std::string& a, const std::string& b = "-") {{ std::printf("%s %s\\n", a.c_str(), b.c_str()); std::fflush(stdout); }}
void produce(void* at) {{ std::memset(at, 7, bytes); }}
void consume(const void* at) {{
  for (std::size_t i = 0; i < bytes; ++i) if (static_cast<const char*>(at)[i] != 7) std::exit(5);
  std::puts("right");
}}
int main(int argc, char** argv) {{
  const std::string ticket = argc > 1 ? argv[1] : "", other_ticket = argc > 2 ? argv[2] : "";
{body}
  if (argc == 1) static_cast<void>(std::getchar());
}}
"""


def for_the_host(lines):
    text = "\n".join("  " + line for line in lines if line.strip() != "...")
    return BESIDE.format(body=re.sub(r"(\w+)<<<\.\.\., stream>>>", r"\1", re.sub(r"memory_place::gpu\(\d\)", "memory_place::host()", text)))


@pytest.mark.parametrize("name, other", [("two_programs", "another_program"), ("with_a_timeline", "another_with_a_timeline")])
def test_two_programs_of_cxx(build, name, other):
    """Runs the programs on the host. tests/sharing runs similar programs on GPUs."""
    one, another = (block("docs/sharing.md", "cpp", each).splitlines() for each in (name, other))
    if name == "with_a_timeline":  # the program uses the memory of the previous program
        one.insert(0, "auto memory = pgas::shared_memory::make(pgas::memory_place::gpu(0), bytes);")
    exporter, importer = build(for_the_host(one), "exporter"), build(for_the_host(another), "importer")
    with subprocess.Popen([exporter], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        tickets = process.stdout.readline().split()
        assert run([importer, *tickets]).check().out == "right\n"
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    if name == "two_programs":
        place = block("docs/sharing.md", "cpp", "on_another_gpu").splitlines()
        assert [line.split("(")[0].split()[-1] for line in another if "open" in line] == [line.split("(")[0].split()[-1] for line in place if "open(" in line]
        build(for_the_host(place), "here")  # the same program with a place


LISTS = """
#include <pgas/copy_blocks.hpp>
#include <pgas/timeline.hpp>
int main() {{
  auto memory = pgas::shared_memory::make(pgas::memory_place::host(), 4 * 4096);
  auto done = pgas::timeline::make(pgas::memory_place::host());
  void* const stream = nullptr;
  const std::size_t page_bytes = 4096, count = 2;
  const int slots[] = {{3, 1}}, pages[] = {{0, 1}};
  const std::string mine = std::string(page_bytes, 'a') + std::string(page_bytes, 'b');
{body}
  const char* const at = static_cast<char*>(memory.data());
  return done.query() == 1 && at[3 * page_bytes] == 'a' && at[2 * page_bytes - 1] == 'b' && at[0] == 0 ? 0 : 1;
}}
"""


def test_lists(build):
    """Runs the program on the host."""
    text = block("docs/sharing.md", "cpp", "lists").replace("memory_place::gpu(0)", "memory_place::host()").replace("{mine,", "{mine.data(),")
    run([build(LISTS.format(body=text))]).check()


REGISTERED = """
#include <pgas/pgas.hpp>
#include <pgas/shared_memory.hpp>
#include <cstdio>
#include <vector>
int main() {{
  auto world = pgas::world::join();
  const pgas::team& team = world.team();
  const std::size_t count = 1 << 19, bytes = count * sizeof(float);
  const int peer = (world.my_pe() + 1) % world.n_pes();
  const std::vector<float> values(count, 1.0f + static_cast<float>(world.my_pe()));
  const float* source = values.data();
{body}
}}
"""


def test_registered(build):
    """Runs the program on two PEs, on GPUs if there are any."""
    lines = block("docs/sharing.md", "cpp", "registered").splitlines()
    put = next(i for i, line in enumerate(lines) if line.startswith("pgas::put("))
    seen = ["world.barrier_all();", "float last = 0;", "pgas::get(world, &last, static_cast<float*>(shared.data()) + count - 1, 1, world.my_pe());",
            'std::printf("%d has %g\\n", world.my_pe(), static_cast<double>(last));', "world.barrier_all();"]
    made = build(REGISTERED.format(body="\n".join("  " + line for line in [*lines[:put + 1], *seen, *lines[put + 1:]])))
    job = run([*launcher(2)[:-1], made], PGAS_HEAP=None).check()
    assert sorted(job.out.splitlines()) == ["0 has 2", "1 has 1"]


WINDOWS = """
#include <pgas/copy_blocks.hpp>
#include <pgas/device.hpp>
#include <pgas/pgas.hpp>
#include <cstdio>
struct gather_rows {{
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block, pgas::window_view view, int* rows) const {{
    for (std::int32_t pe = 0; pe < view.n_pes(); ++pe) rows[pe] = *view.at<int>(pe, 4);
  }}
}};
int main() {{
  auto world = pgas::world::join();
  const pgas::team& team = world.team();
  auto memory = pgas::shared_memory::make({{world.device()}}, static_cast<std::size_t>(world.my_pe() + 1) << 21);
  void* const my_pool = memory.data();
  const std::size_t my_bytes = memory.size();
  auto given = world.allocate<int>(16);
  int* const rows = given.data();
  const int mine = 10 + world.my_pe();
  pgas::put(world, rows, &mine, 1, world.my_pe());
  const pgas::copy_block block{{static_cast<int*>(my_pool) + 1, rows, 4}};
  pgas::copy_blocks({{world.device()}}, nullptr, {{&block, 1}});
  world.barrier_all();
  const pgas::launch_config shape{{.blocks = 1, .threads = 1}};
  const gather_rows gather;
{body}
  world.synchronize();
  for (int pe = 0; pe < world.n_pes(); ++pe) std::printf("%d ", pgas::g(world, rows + pe, world.my_pe()));
  std::puts("");
  world.barrier_all();
}}
"""


def test_windows(build):
    """Runs the program on two PEs, on the host heap."""
    made = build(WINDOWS.format(body=block("docs/sharing.md", "cpp", "windows")))
    assert run([*launcher(2)[:-1], made], PGAS_HEAP="host").check().out == "10 11 \n" * 2


# ---- the commands of README.md ---------------------------------------------------------------------------------------

# Commands that other tests run: the file of the test, and a part of it that shows the command.
ELSEWHERE = {
    "./run docs": ("tests/site/CMakeLists.txt", "docs/site/build.py"),
    "./run install DIR": ("tests/consumer/run.cmake", "--install ${BUILD} --prefix"),
    "pkg-config --cflags --libs pgas": ("tests/consumer/run.cmake", "--cflags --libs pgas"),
    "man pgas-perf": ("tests/tools/pages_test.py", "man"),
    "pgas-info --serve :9400": ("tests/multi_pe/metrics_test.py", '"--serve"'),
    "mpirun -n 2 pgas-perf": ("tests/perf/CMakeLists.txt", "pgas-perf"),
    "srun --mpi=pmix -n 4 ./app": ("tests/multi_pe/launchers/slurm.sh", "srun --mpi=pmix -n 4"),
    "tests/perf/side_by_side/compare.py --pgas-build build/cuda --rounds 5 --results tests/perf/RESULTS.md": ("tests/perf/side_by_side/compare.py", '"--results"'),
    "torchrun ...": ("tests/multi_pe/launchers/torchrun_test.py", "torchrun"),
}
# Commands that this test runs.
HERE = {"./run help": "demo", "pgasrun -n 4 ./app": None, "mpirun -n 4 ./app": None, "mpirun -n 4 pgas-doctor": "PE", "pgas-info --peers": "PE",
        "pgas-plot --help": "Usage"}


def test_every_command_of_the_readme_is_known_here():
    text = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    commands = re.findall(r"`((?:\./run|mpirun|srun|pgasrun|torchrun|cmake|man|pkg-config|tests/\S+|pgas-\w+)\s[^`]*)`", text)
    assert {" ".join(command.split()) for command in commands} == ELSEWHERE.keys() | HERE.keys()
    for file, words in ELSEWHERE.values():
        assert words in (ROOT / file).read_text(), file


@pytest.mark.parametrize("command", [command for command, words in HERE.items() if words])
def test_commands_of_the_readme(command):
    if command.startswith("mpirun"):
        needs_mpirun()
    job = in_shell(command, ROOT, PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    assert job.status == 0 and HERE[command] in job.out, job.out + job.err


def test_try_it():
    """`./run` has these commands. examples.06_halo_exchange tests ./run demo, and this suite is part of ./run test."""
    usage = run([ROOT / "run", "help"]).check().out
    for line in block("README.md", "sh", "try_it").splitlines():
        words = line.split("#")[0].split()
        assert words[0] == "./run" and re.search(rf"^  {words[1]} ", usage, re.MULTILINE), line
