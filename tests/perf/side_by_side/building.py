"""Builds the programs of the benchmark: each rows_*.cu for pgas, for NVSHMEM, and as hand-written kernels; nccl.cpp for
NCCL.

A program consists of all files of one backend that compile. Files that do not compile are reported and left out, and
their rows are missing.
"""
import concurrent.futures
import glob
import importlib.util
import os
import re
import shutil
import subprocess
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
COMMON = ["main.cpp", "report.cpp", "bench.cpp", "data.cu"]
# Files with rows that hand-written kernels also measure.
RAW = ["rows_setup.cu", "rows_bandwidth.cu", "rows_ping_pong.cu", "rows_native_packet.cu", "rows_native_ll.cu", "rows_latency.cu",
       "rows_sync.cu"]
LINK_LIMIT = COMPILE_LIMIT = 600  # seconds


class BuildError(Exception):
    """The error if nothing can be built. Its text has the reason."""


class Backend(NamedTuple):
    """How one program is compiled and linked."""
    name: str
    sources: list
    compile_options: list
    link_options: list
    library_paths: list
    versions: dict


def package(name):
    """Returns the folder of the Python package nvidia.NAME, or None if the package is not installed."""
    try:
        found = importlib.util.find_spec(f"nvidia.{name}")
    except ModuleNotFoundError:
        return None
    return list(found.submodule_search_locations)[0] if found else None


def defined(path, *names):
    """Returns the numbers that a header defines for `names`, joined by points."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = [re.search(rf"^#define\s+{name}\s+(\d+)", text, re.M) for name in names]
    return ".".join(each.group(1) for each in found if each)


def library(folder, pattern):
    """Returns the linker option for the newest library of a folder."""
    names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, pattern)))
    if not names:
        raise BuildError(f"no {pattern} in {folder}")
    return f"-l:{names[-1]}"


def find_toolkit():
    """Returns the path of nvcc and the folder of its toolkit."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        raise BuildError("there is no nvcc")
    return nvcc, subprocess.check_output([os.path.join(HERE, "../../support/cuda_toolkit.sh"), nvcc], text=True).strip()


def rows_files():
    """Returns the rows_*.cu that are NVSHMEM programs, and the rows_*.cu that call pgas' own operations
    (rows_native_*.cu)."""
    every = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "rows_*.cu")))
    native = [name for name in every if name.startswith("rows_native_")]
    return [name for name in every if name not in native], native


def pgas_backends(build):
    """Returns three backends: pgas as nvshmem.h with the context for all routes, pgas with the context that only loads
    and stores, and hand-written kernels over memory that pgas has mapped."""
    found = glob.glob(os.path.join(build, "**", "libnvshmem_host.so"), recursive=True)
    if not found:
        raise BuildError(f"no libnvshmem_host.so in {build}: build the target nvshmem_host")
    folder = os.path.dirname(found[0])
    paths = [folder, *{os.path.dirname(path) for path in glob.glob(os.path.join(build, "**", "libpgas.so"), recursive=True)}]
    includes = ["-isystem", os.path.join(ROOT, "include", "pgas", "compat"), "-isystem", os.path.join(ROOT, "include")]
    link = [*(f"-L{path}" for path in paths), "-lnvshmem_host", *(f"-Xlinker=-rpath-link={path}" for path in paths)]
    public, native = rows_files()
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    versions = {"pgas": commit.stdout.strip() or "of this tree"}
    return [Backend("pgas", COMMON + public + native, includes, link, paths, versions),
            Backend("pgas-direct", COMMON + public + native, [*includes, "-DPGAS_NVSHMEM_DIRECT"], link, paths, {}),
            Backend("raw", COMMON + RAW, [*includes, "-DRAW"], link, paths, {})]


def nvshmem_backends(home, inlined):
    """Returns NVIDIA's NVSHMEM as installed. With `inlined`, also returns a second program in which all device code of
    NVSHMEM is inlined: NVSHMEM has a macro for that."""
    home = home or package("nvshmem")
    if not home or not os.path.exists(os.path.join(home, "include", "nvshmem.h")):
        return []
    folder = os.path.join(home, "lib")
    options = ["-rdc=true", "-isystem", os.path.join(home, "include")]
    link = ["-rdc=true", f"-L{folder}", "-lnvshmem_device", library(folder, "libnvshmem_host.so*")]
    version = os.path.join(home, "include", "non_abi", "nvshmem_version.h")
    versions = {"NVSHMEM": defined(version, *(f"NVSHMEM_VENDOR_{part}_VERSION" for part in ("MAJOR", "MINOR", "PATCH")))
                if os.path.exists(version) else home}
    nccl = package("nccl")  # NVSHMEM uses NCCL for collectives on a stream
    paths = [folder, *([os.path.join(nccl, "lib")] if nccl else [])]
    public, _ = rows_files()
    all_of_them = [Backend("nvshmem", COMMON + public, options, link, paths, versions)]
    if inlined:
        all_of_them.append(Backend("nvshmem-inlined", COMMON + public, [*options, "-DNVSHMEM_ENABLE_ALL_DEVICE_INLINING"],
                                   link, paths, {}))
    return all_of_them


def nccl_backend(home):
    """Returns NCCL, for the rows of collectives on a stream."""
    home = home or package("nccl")
    if not home or not os.path.exists(os.path.join(home, "include", "nccl.h")):
        return []
    folder = os.path.join(home, "lib")
    version = defined(os.path.join(home, "include", "nccl.h"), "NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH")
    return [Backend("nccl", ["nccl.cpp", "report.cpp", "data.cu"], ["-isystem", os.path.join(home, "include")],
                    [f"-L{folder}", library(folder, "libnccl.so*")], [folder], {"NCCL": version})]


class Builder:
    """Compiles and links the programs in a folder. A file that has not changed is not compiled again."""

    def __init__(self, work, arch, jobs):
        self.work = work
        self.nvcc, toolkit = find_toolkit()
        self.options = ["-std=c++17", "-O3", f"-arch={arch}"]
        stubs = os.path.join(toolkit, "lib64", "stubs")
        self.driver = [f"-L{stubs}", "-lcuda"] if os.path.exists(os.path.join(stubs, "libcuda.so")) else []
        self.jobs = jobs
        self.failed = {}  # the compiler's messages, by "BACKEND FILE"
        self.newest_header = max(os.path.getmtime(path) for folder in (HERE, os.path.join(ROOT, "include"))
                                 for path in glob.glob(os.path.join(folder, "**"), recursive=True)
                                 if path.endswith((".h", ".hpp", ".cuh", ".inc")))

    def release(self):
        """Returns the version of the compiler."""
        text = subprocess.run([self.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        found = re.search(r"release ([\d.]+), V([\d.]+)", text)
        return found.group(2) if found else text.strip()

    def run(self, what, command, limit):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit,
                                  check=False)
        except subprocess.TimeoutExpired:
            self.failed[what] = f"takes more than {limit} s"
            return False
        if done.returncode != 0:
            self.failed[what] = "\n".join(line for line in done.stdout.splitlines() if "error" in line or "undefined" in line
                                          )[:2000] or done.stdout[-2000:]
        return done.returncode == 0

    def compile(self, backend, source):
        """Compiles a file. Returns the path of the object file, or None after an error."""
        folder = os.path.join(self.work, backend.name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(HERE, source)
        result = os.path.join(folder, source + ".o")
        command = [self.nvcc, *self.options, *backend.compile_options, "-c", path, "-o", result]
        record = result + ".command"
        if os.path.exists(record) and os.path.exists(result):
            with open(record, encoding="utf-8") as file:
                same = file.read() == " ".join(command)
            if same and os.path.getmtime(result) > max(os.path.getmtime(path), self.newest_header):
                return result
        if not self.run(f"{backend.name} {source}", command, COMPILE_LIMIT):
            return None
        with open(record, "w", encoding="utf-8") as file:
            file.write(" ".join(command))
        return result

    def build(self, backends):
        """Returns the paths of the programs by the names of their backends. Sources are compiled in reverse
        alphabetical order."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            tasks = {(backend.name, source): pool.submit(self.compile, backend, source)
                     for source in sorted({s for b in backends for s in b.sources}, reverse=True)
                     for backend in backends if source in backend.sources}
            linking = {}
            for backend in backends:
                objects = [tasks[backend.name, source].result() for source in backend.sources]
                if any(o is None for o, source in zip(objects, backend.sources) if not source.startswith("rows_")):
                    continue  # a program can lack rows, but not one of the other files
                program = os.path.join(self.work, f"run_{backend.name}")
                command = [self.nvcc, *self.options[-1:], *(o for o in objects if o), *backend.link_options, *self.driver, "-o",
                           program]
                linking[backend.name] = (program, pool.submit(self.run, f"{backend.name} link", command, LINK_LIMIT))
            return {name: program for name, (program, task) in linking.items() if task.result()}
