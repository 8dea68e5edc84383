"""Compiles generated device code to LTO-IR by NVRTC. The result is kept in the user's cache directory, under a hash of
all its inputs."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tempfile
from typing import Any

from pgas import nvrtc


def cache_directory() -> pathlib.Path:
    """`pgas` in the user's cache directory: $XDG_CACHE_HOME, or ~/.cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pgas"


def _check(binding: Any, status: Any, what: str, log: str = "") -> None:
    if int(status) != 0:
        raise RuntimeError(f"{what} failed: {binding.nvrtcGetErrorString(status)[1].decode()}\n{log}".rstrip())


def _compile(text: str, options: tuple[str, ...]) -> bytes:
    from cuda.bindings import nvrtc as binding

    status, program = binding.nvrtcCreateProgram(text.encode(), b"pgas_device.cu", 0, [], [])
    _check(binding, status, "nvrtcCreateProgram")
    try:
        (status,) = binding.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = b" " * binding.nvrtcGetProgramLogSize(program)[1]
        binding.nvrtcGetProgramLog(program, log)
        _check(binding, status, "compiling pgas's device operations", log.decode().strip(" \0"))
        status, size = binding.nvrtcGetLTOIRSize(program)
        _check(binding, status, "nvrtcGetLTOIRSize")
        code: bytes = b" " * size
        _check(binding, binding.nvrtcGetLTOIR(program, code)[0], "nvrtcGetLTOIR")
        return code
    finally:
        binding.nvrtcDestroyProgram(program)


def build(text: str, arch: str) -> bytes:
    """Returns the LTO-IR of `text` for `arch`, such as "90". The first call takes a few seconds. nvcc is not needed."""
    from cuda.bindings import nvrtc as binding

    options = nvrtc.compile_options(arch=f"compute_{arch}") + ("-dlto",)
    made_from = repr((text, options, binding.nvrtcVersion(), nvrtc.headers_digest()))
    kept = cache_directory() / f"{hashlib.sha256(made_from.encode()).hexdigest()}.ltoir"
    try:
        return kept.read_bytes()
    except OSError:
        pass
    code = _compile(text, options)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, kept)  # processes that compile at the same time write the same contents
    except OSError:
        pass  # the directory can't be written: the next call compiles the code again
    return code
