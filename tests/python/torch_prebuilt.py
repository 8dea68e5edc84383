#!/usr/bin/env python3
"""A wheel that is built where torch is has pgas.torch compiled: it is used as it is, without a compiler, and no other part links torch.

Usage: torch_prebuilt.py --build TREE --work DIR [--launcher LAUNCHER]      with the Python that has torch, scikit-build-core and nanobind
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import pathlib, sys
import pgas._load_torch_backend, pgas.torch
import torch.distributed as dist, torch.distributed._symmetric_memory as symm_mem
pgas.torch.init_process_group()
x = symm_mem.empty(16).fill_(7)
handle = symm_mem.rendezvous(x, dist.group.WORLD)
handle.barrier()
assert (handle.get_buffer(0, (16,), x.dtype) == 7).all()
found = pathlib.Path(pgas.torch._extension.__file__)
assert found.parent == pathlib.Path(pgas.__file__).parent, found
dist.destroy_process_group()
print("is prebuilt")
"""


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def needed(library):
    """Returns the libraries that a file needs."""
    return [line.split("[")[1].rstrip("]") for line in call("readelf", "-d", library).splitlines() if "(NEEDED)" in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--launcher", default="")
    given = parser.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    work = given.work.resolve()
    defined = {"PGAS_BUILD": given.build.resolve(), "PGAS_TORCH": "ON", "CMAKE_CXX_COMPILER_LAUNCHER": given.launcher}
    call(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "-q", "--disable-pip-version-check", "-w", work,
         *(word for name, value in defined.items() for word in ("--config-settings", f"cmake.define.{name}={value}")), "--config-settings", f"build-dir={work}/tree",
         env={**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"})
    site = work / "site"
    zipfile.ZipFile(next(work.glob("*.whl"))).extractall(site)
    found = list((site / "pgas").glob("_torch_backend.*.so"))
    assert len(found) == 1, found
    assert any(each.startswith("libpgas.so") for each in needed(found[0])) and "libtorch_cpu.so" in needed(found[0]), needed(found[0])
    # libpgas.so is a text file in the wheel
    for other in [*(site / "pgas").glob("_core*.so"), *(site / "pgas" / "lib").glob("*.so.*")]:
        assert not [each for each in needed(other) if "torch" in each or "c10" in each], other
    said = call(sys.executable, "-c", PROGRAM, cwd=work, timeout=120,
                env={"PATH": str(work / "nothing"), "CXX": "no-compiler", "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(work / "cache"),
                     "PGAS_HEAP": "host", "HOME": str(work)})
    assert said == "is prebuilt\n", said
    assert not list(work.glob("cache/pgas/torch-*")), "it was compiled"
    print(f"{found[0].name} is prebuilt")


if __name__ == "__main__":
    main()
