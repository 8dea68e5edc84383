"""Compiles the backend for torch's symmetric memory. _load_torch_backend.py calls this module at the first use of the
backend. If torch is installed, the build of a wheel runs this module as a program.

    python _compile_torch_backend.py --name                                         prints the name of the extension's file
    python _compile_torch_backend.py FILE --include DIR --library DIR COMPILER...   compiles it for a wheel; COMPILER may have a launcher before it
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, which also has a torch.py

import torch

name = "_torch_backend"
sources = pathlib.Path(__file__).resolve().parent / "torch_backend"


def file_name() -> str:
    """The file name of the extension. An extension works with one version and build of torch and with one version of
    Python."""
    version = torch.__version__.replace("+", "_")
    return f"{name}.{version}.{sys.implementation.cache_tag}.so"


def _command(source: pathlib.Path, made: pathlib.Path, compiler: Sequence[str], include: Sequence[str], library: str,
             found_in: Sequence[str]) -> list[str]:
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    # The options that torch.utils.cpp_extension uses. The module itself is not used, because it needs ninja and nvcc.
    torch_lib = pathlib.Path(torch.__file__).parent / "lib"
    torch_include = pathlib.Path(torch.__file__).parent / "include"
    headers = [torch_include, torch_include / "torch" / "csrc" / "api" / "include", sysconfig.get_paths()["include"]]
    return [*compiler, "-std=c++20", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            f"-DTORCH_EXTENSION_NAME={name}", f"-I{sources}", *(f"-I{each}" for each in include),
            *(word for each in headers for word in ("-isystem", str(each))),
            str(source), "-o", str(made), f"-L{torch_lib}", "-lc10", "-ltorch_cpu", "-ltorch_python", f"-L{library}", "-lpgas",
            *(f"-Wl,-rpath,{each}" for each in (found_in or (str(torch_lib), library))), "-Wl,--exclude-libs,ALL", "-ldl"]


def compile_to(made: pathlib.Path, compiler: Sequence[str], include: Sequence[str], library: str, found_in: Sequence[str] = ()) -> None:
    """Compiles the extension to the file `made`, in about 40 s. All sources are one translation unit, because torch's
    headers take most of the time.

    found_in: directories in which the loader finds the libraries. The default is the directories in which the libraries
    are now.
    *Errors* RuntimeError, with the output of the compiler."""
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        unit = pathlib.Path(folder) / "unit.cpp"
        unit.write_text("".join(f'#include "{each.name}"\n' for each in sorted(sources.glob("*.cpp"))))
        out = pathlib.Path(folder) / "made.so"
        done = subprocess.run(_command(unit, out, compiler, include, library, found_in), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"compiling pgas.torch for torch {torch.__version__} failed; a compiler of C++20 is needed (CXX names "
                               f"one):\n{done.stderr[-4000:]}")
        os.replace(out, made)


def _main() -> None:
    parser = argparse.ArgumentParser(description="Compiles the backend of torch's symmetric memory for this Python's torch")
    parser.add_argument("--name", action="store_true", help="print the name of the file")
    parser.add_argument("--include", default="", help="pgas' headers")
    parser.add_argument("--library", default="", help="the folder of libpgas.so")
    parser.add_argument("made", nargs="?", type=pathlib.Path)
    parser.add_argument("compiler", nargs="*", default=["c++"])
    given = parser.parse_args()
    if given.name:
        print(file_name())
    elif given.made is None:
        parser.error("name the file to make")
    else:  # in a wheel, the file is beside lib/, and torch is beside pgas/
        compile_to(given.made, given.compiler, [given.include], given.library, ("$ORIGIN/lib", "$ORIGIN/../torch/lib"))


if __name__ == "__main__":
    _main()
