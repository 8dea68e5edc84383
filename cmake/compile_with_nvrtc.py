#!/usr/bin/env python3
"""Compiles CUDA sources with NVRTC, for builds and tests without nvcc.

Usage: compile_with_nvrtc.py LIBRARY
       compile_with_nvrtc.py LIBRARY SOURCE OUTPUT [OPTION]...

LIBRARY is a libnvrtc.so. The first form prints the architectures that NVRTC knows. The second form compiles SOURCE with
options of NVRTC, and writes machine code to OUTPUT, or PTX if its name ends with .ptx. Each call is a process of its own,
because a process can load only one libnvrtc.
"""

import ctypes
import pathlib
import sys


class Nvrtc:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            sys.exit(f"{name}: {self.library.nvrtcGetErrorString(status).decode()}")

    def architectures(self) -> list[int]:
        count = ctypes.c_int()
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", numbers)
        return list(numbers)

    def text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, data)
        return data.raw

    def compile(self, source: pathlib.Path, output: pathlib.Path, options: list[str]) -> None:
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.read_bytes(), str(source).encode(), 0, None, None)
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = self.library.nvrtcCompileProgram(program, len(options), words)
        sys.stdout.write(self.text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace"))
        if status:
            sys.exit(1)
        if output.suffix == ".ptx":
            output.write_bytes(self.text(program, "PTX").rstrip(b"\0"))
        else:
            output.write_bytes(self.text(program, "CUBIN"))


def main() -> None:
    if len(sys.argv) == 2:
        print(*Nvrtc(sys.argv[1]).architectures())
    elif len(sys.argv) >= 4:
        library, source, output, *options = sys.argv[1:]
        Nvrtc(library).compile(pathlib.Path(source), pathlib.Path(output), options)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
