"""Options and arguments for kernels that NVRTC compiles. Needs no GPU."""

import pathlib
import struct

import pytest

import cupy_kernels
from pgas import _struct_offsets, nvrtc

NAMES = ("put", "get", "ring", "add", "barriers", "wait", "signals")


def raw_context():
    raw = bytearray(range(_struct_offsets.CONTEXT_BYTES))
    struct.pack_into("<I", raw, _struct_offsets.CONTEXT_ABI, _struct_offsets.ABI)
    return bytes(raw)


@pytest.fixture
def headers():
    """Returns CUDA's headers. Skips the test if neither a toolkit nor wheels are installed."""
    try:
        nvrtc.include_dirs()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def test_the_directories_exist_and_have_the_headers(headers):
    directories = [pathlib.Path(each) for each in nvrtc.include_dirs()]
    assert all(each.is_dir() for each in directories), directories
    for header in ("pgas/device.hpp", "cuda/std/cstdint"):
        assert any((each / header).exists() for each in directories), header


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(nvrtc, "_candidates", lambda: [pathlib.Path("/no/such/place")])
    with pytest.raises(FileNotFoundError, match="nvidia-cuda-cccl.*CUDA_PATH.*/no/such/place"):
        nvrtc.include_dirs()


def test_the_architecture_is_an_option_where_it_is_asked_for(headers):
    assert "--gpu-architecture=sm_90" in nvrtc.compile_options(arch="sm_90")
    assert not any("architecture" in each for each in nvrtc.compile_options())


@pytest.mark.gpu  # cuda.core loads the driver even to compile a kernel
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_cuda_core_compiles_the_kernels(arch):
    core = pytest.importorskip("cuda.core")
    program = core.Program(cupy_kernels.SOURCE, "c++", nvrtc.program_options(arch=arch))
    code = program.compile("ptx", name_expressions=("put<float>", "get<int>")).code.decode()
    for name in NAMES[2:]:
        assert f".entry {name}" in code
    assert ".extern .global" not in code


def example():
    text = (pathlib.Path(__file__).parents[3] / "examples" / "python" / "cupy_kernel.py").read_text()
    return text.split('r"""')[1].split('"""')[0]


@pytest.mark.parametrize("source", [cupy_kernels.SOURCE, example()], ids=["conformance", "example"])
def test_nvrtc_compiles_the_kernels_with_the_options_as_text(headers, source):
    binding = pytest.importorskip("cuda.bindings.nvrtc")
    status, program = binding.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], [])
    assert status == 0
    options = [each.encode() for each in nvrtc.compile_options(arch="compute_90")]
    (status,) = binding.nvrtcCompileProgram(program, len(options), options)
    _, size = binding.nvrtcGetProgramLogSize(program)
    log = b" " * size
    binding.nvrtcGetProgramLog(program, log)
    binding.nvrtcDestroyProgram(program)
    assert status == 0, log.decode()


def test_modules_of_cupy_are_compiled_anew_for_other_headers(monkeypatch, tmp_path):
    cupy = pytest.importorskip("cupy")
    import pgas.cupy

    made = []
    monkeypatch.setattr(cupy, "RawModule", lambda **given: made.append(given))
    monkeypatch.setattr(pgas.cupy, "compile_options", lambda std: (f"--std={std}",))
    for text in ("// one", "// two", "// two"):
        (tmp_path / "pgas").mkdir(exist_ok=True)
        (tmp_path / "pgas" / "device.hpp").write_text(text)
        monkeypatch.setattr(nvrtc, "_package_include_dirs", lambda: [tmp_path])
        pgas.cupy.raw_module("source", options=("-lineinfo",), name_expressions=["f<int>"])
    assert made[0]["options"] != made[1]["options"] == made[2]["options"]
    assert made[0]["options"][-1] == "-lineinfo" and made[0]["name_expressions"] == ["f<int>"]


def test_the_context_is_an_argument_of_its_size():
    numpy = pytest.importorskip("numpy")
    import pgas.cupy

    argument = pgas.cupy.context(raw_context())
    assert isinstance(argument, numpy.void) and argument.tobytes() == raw_context()
