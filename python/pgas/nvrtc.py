"""Options for run-time compilers, in particular NVRTC, for kernels in CUDA C++ that include pgas/device.hpp.

    from cuda.core import Program
    code = Program(source, "c++", pgas.nvrtc.program_options(arch="sm_90")).compile("cubin")

`compile_options()` returns these options as text, for CuPy (pgas.cupy) and for NVRTC. A kernel takes the world's
context by value, as a parameter `pgas::context ctx`. Some launchers, such as cuda.core's, do not accept structs as
arguments. The kernel then takes a pointer to a copy of the context on the GPU. Kernels get all data of the world from
the context. So no library is linked, and modules need no initialization.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import sysconfig
from typing import Any

__all__ = ["compile_options", "headers_digest", "include_dirs", "program_options"]

STANDARD = "c++17"


def _package_include_dirs() -> list[str]:
    import pgas

    return [os.fspath(each) for each in pgas.include_dirs()]  # type: ignore[attr-defined, unused-ignore]


def headers_digest() -> str:
    """A hash of the package's headers. Caches of compiled kernels use this hash as a part of the key, because run-time
    compilers do not check whether a header has changed."""
    digest = hashlib.sha256()
    for directory in _package_include_dirs():
        for path in sorted(pathlib.Path(directory).glob("pgas/**/*.hpp")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _from_pathfinder() -> list[pathlib.Path]:
    try:
        from cuda.pathfinder import find_nvidia_header_directory as find
    except ImportError:
        return []
    found = []
    for library in ("cudart", "cccl"):
        try:
            directory = find(library)
        except Exception:
            directory = None
        if directory:
            found.append(pathlib.Path(directory))
    return found


def _candidates() -> list[pathlib.Path]:
    """The possible directories of CUDA's headers. The most explicit directory comes first."""
    named = [pathlib.Path(os.environ[name]) / "include" for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    wheels = [packages / "nvidia" / part / "include"
              for packages in {pathlib.Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
              for part in ("cu13", "cuda_runtime", "cuda_cccl")]
    return named + _from_pathfinder() + wheels + [pathlib.Path("/usr/local/cuda/include")]


def include_dirs() -> list[str]:
    """The directories of pgas/device.hpp, of CUDA's headers if they are found, and of libcu++ (`cuda/std`), which NVRTC
    needs.

    The toolkit has CUDA's headers and libcu++. The wheels nvidia-cuda-runtime and nvidia-cuda-cccl also have them.
    CUDA_PATH comes first.
    """
    runtime = cccl = None
    candidates = _candidates()
    for each in candidates:
        if runtime is None and (each / "cuda_runtime.h").exists():
            runtime = each
        for inner in (each / "cccl", each):
            if cccl is None and (inner / "cuda" / "std" / "type_traits").exists():
                cccl = inner
    if cccl is None:
        raise FileNotFoundError("no header cuda/std/type_traits, which kernels compiled at run time need: install the wheel "
                                "nvidia-cuda-cccl, or set CUDA_PATH to a CUDA toolkit. Looked in " + ", ".join(map(str, candidates)))
    return _package_include_dirs() + list(dict.fromkeys(os.fspath(each) for each in (runtime, cccl) if each))


def compile_options(arch: str | None = None, std: str = STANDARD) -> tuple[str, ...]:
    """Options for NVRTC. `arch`, such as "sm_90", is for direct callers of NVRTC. CuPy sets the architecture itself."""
    target = (f"--gpu-architecture={arch}",) if arch else ()
    return target + (f"--std={std}", "-default-device") + tuple(f"--include-path={each}" for each in include_dirs())


def program_options(arch: str | None = None, std: str = STANDARD, **others: Any) -> Any:
    """The result of compile_options() as cuda.core.ProgramOptions. `others` are further fields of ProgramOptions. The
    default of `arch` is the architecture of the current GPU."""
    try:
        from cuda.core import ProgramOptions
    except ImportError:
        from cuda.core.experimental import ProgramOptions

    if arch:
        others["arch"] = arch
    return ProgramOptions(std=std, include_path=include_dirs(), device_as_default_execution_space=True, **others)
