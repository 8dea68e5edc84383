#!/usr/bin/env python3
"""Compares the names and the values in NVIDIA's headers of NVSHMEM 3.8.0 with those of pgas' nvshmem.h.

Usage: names.py --left-out LEFT_OUT_TXT --folder FOLDER -- COMPILER WITH OPTIONS FOR OUR HEADERS

NVIDIA's headers come from NVSHMEM_HOME, or else from the Python package nvidia-nvshmem-cu13, which is installed into
FOLDER once if PyPI can be reached. Exit status 77 means that there are no such headers.

Compares all names that begin with nvshmem_, nvshmemx_, NVSHMEM_ or NVSHMEMX_: macros, types, enumerators, functions.
Also compares the values of all enumerators, the sizes of types, the offsets of their members, and the paths of headers.
Each line of LEFT_OUT_TXT has a pattern of names that pgas does not have, and the reason. A line that matches no missing
name is an error too.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "3.8.0"
SKIPPED = 77
NAME = r"(?:nvshmemx?_|NVSHMEMX?_)\w+"
UNIT = "#include <nvshmem.h>\n#include <nvshmemx.h>\n"

# Types that programs create, and the members that they use.
LAYOUTS = {
    "nvshmem_team_config_t": "version num_contexts uniqueid padding",
    "nvshmem_team_config_v1": "version num_contexts padding",
    "nvshmem_team_config_v2": "version num_contexts uniqueid padding",
    "nvshmemx_uniqueid_t": "version internal",
    "nvshmemx_uniqueid_v1": "version internal",
    "nvshmemx_uniqueid_args_t": "version id myrank nranks",
    "nvshmemx_uniqueid_args_v1": "version id myrank nranks",
    "nvshmemx_init_args_t": "version uid_args cuda_device_id content",
    "nvshmemx_init_args_v1": "version uid_args content",
    "nvshmemx_init_args_v2": "version uid_args cuda_device_id content",
    "nvshmemx_init_attr_t": "version mpi_comm args",
    "nvshmemx_init_attr_v1": "version mpi_comm args",
    "nvshmemx_init_attr_v2": "version mpi_comm args",
    "nvshmemx_region_attrs_t": "hints reserved",
    "nvshmemx_collective_launch_attr_t": "cuda_config",
    **dict.fromkeys(("nvshmem_team_t", "nvshmemx_team_t", "nvshmemx_qp_handle_t", "nvshmemx_team_uniqueid_t",
                     "nvshmemx_region_handle_t", "nvshmemx_region_hint_t", "nvshmemx_smem_amount_t",
                     "nvshmemx_tma_policy_t", "nvshmemx_cmp_type_t", "nvshmemx_signal_op_t",
                     "nvshmemx_thread_support_t", "nvshmemx_qp_handle_index_t", "nvshmemx_proxy_status_t",
                     "nvshmemx_init_status_t", "nvshmem_pe_index_t", "nvshmem_team_id_t"), ""),
}
# For each type: its initializer, and the members that the initializer sets.
INITIALIZERS = {
    "nvshmem_team_config_t": ("NVSHMEM_TEAM_CONFIG_INITIALIZER", "version num_contexts uniqueid"),
    "nvshmemx_uniqueid_t": ("NVSHMEMX_UNIQUEID_INITIALIZER", "version"),
    "nvshmemx_uniqueid_args_t": ("NVSHMEMX_UNIQUEID_ARGS_INITIALIZER", "version myrank nranks"),
    "nvshmemx_init_args_v1": ("NVSHMEMX_INIT_ARGS_INITIALIZER", "version uid_args.version"),
    "nvshmemx_init_args_v2": ("NVSHMEMX_INIT_ARGS_V2_INITIALIZER", "version uid_args.version cuda_device_id"),
    "nvshmemx_init_attr_t": ("NVSHMEMX_INIT_ATTR_INITIALIZER", "version args.version args.cuda_device_id"),
    "nvshmemx_init_attr_v1": ("NVSHMEMX_INIT_ATTR_V1_INITIALIZER", "version args.version"),
    "nvshmemx_region_attrs_t": ("NVSHMEMX_REGION_ATTRS_INITIALIZER", "hints"),
}
MACROS = ("NVSHMEM_MAJOR_VERSION NVSHMEM_MINOR_VERSION NVSHMEM_VENDOR_VERSION NVSHMEM_MAX_NAME_LEN NVSHMEM_INIT_ATTR_VER "
          "NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID NVSHMEM_INIT_ARGS_V2_IDENTIFIER "
          "NVSHMEM_INIT_ATTR_V1_IDENTIFIER NVSHMEM_INIT_ATTR_V2_IDENTIFIER NVSHMEM_TEAM_UNIQUID_INITIALIZER "
          "NVSHMEMX_REGION_ATTRS_RESERVED_BYTES").split()


def run(command: list[str], **options) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(" ".join(command) + "\n" + done.stdout)
    return done.stdout


def headers_of_nvidia(folder: pathlib.Path) -> pathlib.Path | None:
    inside = "nvidia/nvshmem/include"
    if (home := os.environ.get("NVSHMEM_HOME")) and is_nvidias(pathlib.Path(home) / "include"):
        return pathlib.Path(home) / "include"
    if not (folder / inside).exists():
        unfinished = folder.with_name(folder.name + ".unfinished")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(unfinished),
                   f"nvidia-nvshmem-cu13=={VERSION}"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            print(done.stdout[-500:])
            return None
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    return folder / inside


def is_nvidias(include: pathlib.Path) -> bool:
    """Whether these are NVIDIA's headers, of the version that is compared."""
    version = include / "non_abi/nvshmem_version.h"
    text = version.read_text(encoding="utf-8") if version.exists() else ""
    numbers = [re.search(rf"NVSHMEM_VENDOR_{part}_VERSION\s+(\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(each[1] for each in numbers if each) == VERSION and "pgas" not in text


class Interface:
    """One set of headers, as a compiler sees it."""

    def __init__(self, folder: pathlib.Path, name: str, compiler: list[str]):
        self.compiler, self.unit = compiler, folder / f"{name}.cu"
        self.unit.write_text(UNIT, encoding="utf-8")
        self.text = run([*compiler, "-E", "-Xcompiler", "-P", str(self.unit)])
        self.macros = set(re.findall(rf"#define ({NAME})", run([*compiler, "-E", "-Xcompiler", "-dM", str(self.unit)])))
        self.names = set(re.findall(rf"\b{NAME}", self.text)) | self.macros

    def enumerators(self) -> set[str]:
        found: set[str] = set()
        for body in re.findall(r"\benum\b[^;{()]*\{([^}]*)\}", self.text):
            found |= set(re.findall(rf"(?:^|,)\s*({NAME})\b", body))
        return found

    def values(self, enumerators: list[str]) -> dict[str, str]:
        """Returns the values of the constants, sizes and offsets, as a program prints them."""
        lines = [f'say("{name}", static_cast<long long>({name}));' for name in [*enumerators, *MACROS]]
        for struct, members in LAYOUTS.items():
            lines.append(f'say("sizeof {struct}", sizeof({struct}));')
            lines += [f'say("{struct}.{m}", offsetof({struct}, {m}));' for m in members.split()]
        for struct, (initializer, members) in INITIALIZERS.items():
            lines.append(f"{{ {struct} one = {initializer};")
            lines += [f'say("{initializer} {m}", static_cast<long long>(one.{m}));' for m in members.split()]
            lines.append("}")
        program = self.unit.with_suffix("")
        self.unit.write_text(UNIT + "#include <cstddef>\n#include <cstdio>\n"
                             'static void say(const char* what, long long value) { printf("%s = %lld\\n", what, value); }\n'
                             "int main() {\n" + "\n".join(lines) + "\n}\n", encoding="utf-8")
        # The program is compiled as C++ only, because it needs neither device code nor a library.
        run([*self.compiler, "-x", "c++", "-DNVSHMEM_HOSTLIB_ONLY", str(self.unit), "-o", str(program)])
        return dict(line.split(" = ") for line in run([str(program)]).splitlines())


def read_table(path: pathlib.Path) -> list[tuple[str, str]]:
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, _, reason = line.partition(" ")
            if not reason.strip():
                raise SystemExit(f"{path.name}: {pattern} without a reason")
            rows.append((pattern, reason.strip()))
    return rows


def main() -> int:
    own, _, compiler = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left-out", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    options = parser.parse_args(own.split())
    options.folder.mkdir(parents=True, exist_ok=True)
    theirs_at = headers_of_nvidia(options.folder)
    if theirs_at is None:
        print(f"skipped: nvidia-nvshmem-cu13 {VERSION} is not installed, and PyPI is not reached")
        return SKIPPED

    ours = Interface(options.folder, "ours", compiler.split())
    other = [f"-I{theirs_at}" if word.startswith("-I") else word for word in compiler.split()]
    theirs = Interface(options.folder, "theirs", other)
    table = read_table(options.left_out)
    faults = []

    # Names of header files and of guards are not part of the interface.
    files = {re.sub(r"\W", "_", path.stem).lower() for path in theirs_at.rglob("*.*")}
    missing = {n for n in theirs.names - ours.names if n.lower().removesuffix("_h") not in files}
    paths = {str(p.relative_to(theirs_at)) for p in theirs_at.rglob("*") if p.suffix in (".h", ".cuh", ".hpp")}
    folders = [pathlib.Path(word[2:]) for word in compiler.split() if word.startswith("-I")]
    missing |= {p for p in paths if not any((folder / p).exists() for folder in folders)}
    used = set()
    for name in sorted(missing):
        rows = [i for i, (pattern, _) in enumerate(table) if re.fullmatch(pattern, name)]
        used |= set(rows[:1])
        if not rows:
            faults.append(f"{name} is missing, and left_out.txt has no reason")
    faults += [f"left_out.txt: {pattern} stands for nothing that is missing" for i, (pattern, _) in enumerate(table)
               if i not in used]

    common = sorted(theirs.enumerators() & ours.names)
    here, there = ours.values(common), theirs.values(common)
    faults += [f"{what} is {here[what]}, in NVSHMEM {there[what]}" for what in there if here[what] != there[what]]

    for fault in faults:
        print(fault)
    print(f"{len(theirs.names)} names and {len(paths)} headers of NVSHMEM {VERSION}: {len(missing)} left out; "
          f"{len(there)} values compared")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
