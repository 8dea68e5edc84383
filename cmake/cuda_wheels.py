#!/usr/bin/env python3
"""Gets a version of the CUDA toolkit from its wheels on the package index: headers, NVRTC, ptxas, and nvcc from CUDA 13 on.

Usage: cuda_wheels.py DIR VERSION

DIR gets a folder for the version, such as DIR/12.9. The program downloads the missing wheels with pip, unpacks and removes
them, and prints the folder of the toolkit, which PGAS_KERNEL_TOOLKIT can name.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = {
    "12": ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-cccl-cu12", "nvidia-nvtx-cu12"),
    "13": ("nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-nvtx"),
}
UNUSED = ("libnvrtc.alt.", "libnvrtc-builtins.alt.", "libnvvm.", "nvlink")  # large files that no compiler here reads
# Later versions of libcu++ have version numbers that differ from CUDA's.
CCCL = {"13.0": "13.0.*", "13.5": "13.3.5.*"}


def packages(version: str) -> list[str]:
    wanted = [f"{package}=={version}.*" for package in PACKAGES[version.partition(".")[0]]]
    return wanted + ([f"nvidia-cuda-cccl=={CCCL[version]}"] if version in CCCL else [])


def download(folder: pathlib.Path) -> None:
    """Downloads the wheels of the version that the folder's name is. Without all of them there is no folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", partial, *packages(folder.name)])
    if done.returncode == 0:
        partial.chmod(0o755)
        partial.rename(folder)
    else:
        shutil.rmtree(partial)


def unpacked(folder: pathlib.Path) -> pathlib.Path:
    """Unpacks the wheels of a version into one folder with the layout of a toolkit. The files of nvidia/PART/ in a
    wheel go into the root of this folder."""
    toolkit = folder / "toolkit"
    if toolkit.exists():
        return toolkit
    partial = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                parts = name.split("/")
                if parts[0] != "nvidia" or len(parts) < 3 or name.endswith((".a", "/")) or parts[-1].startswith(UNUSED):
                    continue
                target = partial.joinpath(*parts[2:])
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, open(target, "wb") as to:
                    shutil.copyfileobj(source, to)
                if "bin" in parts:
                    target.chmod(0o755)
    partial.chmod(0o755)
    partial.rename(toolkit)
    for wheel in folder.glob("*.whl"):
        wheel.unlink()
    return toolkit


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[2].partition(".")[0] not in PACKAGES:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1]).resolve() / sys.argv[2]
    if not folder.exists():
        download(folder)
    if not folder.exists():
        print(f"the wheels of CUDA {sys.argv[2]} could not be downloaded", file=sys.stderr)
        return 1
    print(os.fspath(unpacked(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
