#!/usr/bin/env python3
"""Builds the wheel, and makes the clean environments in which it is tested.

Usage: environments.py --build TREE --work DIR [--python PYTHON] [--launcher LAUNCHER] [--wheel-only DIR [--prepare] | --sdist DIR]

The library comes from the build tree TREE. DIR then contains the wheel, `builder` (an environment that builds) and `clean` (an environment with
the wheel, NumPy and pytest; no compiler is on its PATH when tests run). --wheel-only puts the wheel into another folder, and makes no clean
environment; with --prepare only its builder is made, while the library is still being compiled. --sdist puts a source distribution into a folder,
and builds a wheel and the library of it. Without the package index the exit status is 77: skipped.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDER = ["scikit-build-core>=0.10", "nanobind>=2.8", "ninja", "cmake>=3.26"]
CLEAN = ["numpy", "pytest>=8", "mypy>=1.11"]
AUDITOR = ["auditwheel>=6", "wheel"]
SKIPPED = 77


def call(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.stderr.write(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done


def environment(where: pathlib.Path, python: str, packages, *options: str) -> pathlib.Path:
    """Returns the interpreter of an environment with these packages. Reuses an existing environment with the same
    packages."""
    wanted = hashlib.sha256(repr((python, packages)).encode()).hexdigest()
    stamp = where / "packages"
    found = where / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return found
    shutil.rmtree(where, ignore_errors=True)
    done = call(python, "-m", "venv", where)
    if done.returncode == 0:
        done = call(found, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", 1, "--timeout", 20, *options, *packages)
    if done.returncode != 0:
        shutil.rmtree(where, ignore_errors=True)
        missing = ("ensurepip", "No matching distribution", "Could not find a version", "ConnectionError", "timed out", "Max retries")
        if any(word in done.stdout + done.stderr for word in missing):
            print(f"skipped: pip can't install {', '.join(packages)} here")
            raise SystemExit(SKIPPED)
        raise SystemExit(1)
    stamp.write_text(wanted)
    return found


def build(builder: pathlib.Path, where: pathlib.Path, launcher: str, source: pathlib.Path, *options: str) -> pathlib.Path:
    """Builds a wheel from `source`, a folder or a source distribution. Returns its path."""
    shutil.rmtree(where, ignore_errors=True)
    options = [word for option in options for word in ("--config-settings", option)]  # pip 23.0 has no -C
    if launcher:
        options += ["--config-settings", f"cmake.define.CMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
    path = {"PATH": f"{builder.parent}:/usr/local/bin:/usr/bin:/bin"}
    done = call(builder, "-m", "pip", "wheel", source, "--no-deps", "--no-build-isolation", "-q",
                "--disable-pip-version-check", "-w", where, *options, env={**os.environ, **path})
    if done.returncode != 0:
        raise SystemExit(1)
    return next(where.glob("*.whl"))


def build_sdist(builder: pathlib.Path, where: pathlib.Path) -> pathlib.Path:
    """Builds a source distribution, as `python -m build --sdist` does. Returns its path."""
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    make = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    if call(builder, "-c", make, where, cwd=ROOT).returncode != 0:
        raise SystemExit(1)
    return next(where.glob("*.tar.gz"))


def as_in_tree(tree: pathlib.Path, settings: pathlib.Path) -> str:
    """Writes settings into a toolchain file, so that a compiler cache finds the objects of this tree. Returns
    PGAS_CUDA.

    Paths in the cache are relative to the build folder, so the library must be as many folders below its sources as in
    this tree.
    """
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (tree / "CMakeCache.txt").read_text(), re.MULTILINE))
    same = ("CMAKE_CXX_COMPILER", "CMAKE_CUDA_COMPILER", "CMAKE_CUDA_ARCHITECTURES", "CMAKE_CUDA_FLAGS_RELWITHDEBINFO", "PGAS_CUDA_COMPILED_ONLY",
            "PGAS_TEST_TIER", "PGAS_UNITY_BUILD", "PGAS_WERROR")
    settings.write_text("".join(f'set({name} "{cache[name]}" CACHE STRING "")\n' for name in same if name in cache) +
                        # other CMake versions write other commands
                        f'set(PGAS_CMAKE "{cache["CMAKE_COMMAND"]}" CACHE FILEPATH "")\n')
    return cache["PGAS_CUDA"]


def tagged(wheel: pathlib.Path, where: pathlib.Path, builder: pathlib.Path) -> pathlib.Path:
    """Returns a copy of the wheel whose name contains the platform tag manylinux_2_N. auditwheel determines the tag
    from the libraries of the wheel."""
    shown = call(builder, "-m", "auditwheel", "show", wheel)
    platform = re.search(r'platform tag: "(manylinux_\w+)"', " ".join(shown.stdout.split()))
    if platform is None:
        raise SystemExit(f"auditwheel finds no tag for {wheel.name}\n{shown.stdout}{shown.stderr}")
    for old in where.glob(f"{'-'.join(wheel.name.split('-')[:4])}-*.whl"):
        old.unlink()
    copy = shutil.copy(wheel, where)
    done = call(builder, "-m", "wheel", "tags", "--remove", "--platform-tag", platform[1], copy)
    if done.returncode != 0:
        raise SystemExit(1)
    return where / done.stdout.split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--launcher", default="")
    parser.add_argument("--wheel-only", type=pathlib.Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--sdist", type=pathlib.Path)
    given = parser.parse_args()
    headers = call(given.python, "-c", "import sysconfig; print(sysconfig.get_path('include'))").stdout.strip()
    if not pathlib.Path(headers, "Python.h").exists():
        print(f"skipped: {given.python} has no headers: install python3-dev")
        raise SystemExit(SKIPPED)
    given.work.mkdir(parents=True, exist_ok=True)
    work = given.work.resolve()
    others = concurrent.futures.ThreadPoolExecutor()  # runs pip, which waits for the network and uses one core
    clean = None if given.wheel_only or given.sdist else others.submit(environment, work / "clean", given.python, CLEAN)
    builder = environment(work / "builder", given.python, BUILDER + AUDITOR if given.wheel_only else BUILDER, "--no-compile")
    if given.prepare:
        return
    if given.sdist:
        sdist = build_sdist(builder, given.sdist)
        # The library is built from the sdist, which checks that the sdist contains all files that a wheel needs. This
        # build reads the variable CMAKE_TOOLCHAIN_FILE.
        settings, cuda = given.sdist.resolve() / "settings.cmake", "OFF"
        if given.launcher:
            cuda = as_in_tree(given.build, settings)
        else:
            settings = ROOT / "tests" / "python" / "quickly.cmake"
        os.environ["CMAKE_TOOLCHAIN_FILE"] = str(settings)
        source = given.sdist.resolve() / "unpacked"
        shutil.unpack_archive(sdist, source)
        source = next(source.iterdir())
        os.environ["CCACHE_BASEDIR"] = str(source)
        made = build(builder, given.sdist / "wheel", given.launcher, source, f"cmake.define.PGAS_CUDA={cuda}", "cmake.build-type=Debug",
                     "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0", f"build-dir={source}/build")
        print(f"{sdist}, {sdist.stat().st_size >> 10} KiB; of it {made.name}")
        return
    wheel = build(builder, work / "wheel", given.launcher, ROOT, f"cmake.define.PGAS_BUILD={given.build.resolve()}",
                  f"build-dir={work}/extension-{{wheel_tag}}")
    if given.wheel_only:
        given.wheel_only.mkdir(parents=True, exist_ok=True)
        print(tagged(wheel, given.wheel_only, builder))
        return
    found = clean.result()
    done = call(found, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel)
    if done.returncode != 0:
        raise SystemExit(1)
    print(f"{wheel.name}, tested by {found}")


if __name__ == "__main__":
    main()
