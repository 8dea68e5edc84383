#!/usr/bin/env python3
"""Runs tests of the Python package with the address or the thread sanitizer, in the extension and in the library.

Usage: sanitized.py --tree TREE --environment ENVIRONMENT --work DIR [--builder PYTHON] [--launcher LAUNCHER] [WORDS...]

TREE is a sanitized build tree (preset cpu-asan or cpu-tsan, target pgas), whose compiler compiles the extension, too. ENVIRONMENT is a virtual
environment with the wheel, pytest and, for the tests of pgas.torch, torch. PYTHON, by default the interpreter of ENVIRONMENT, has nanobind and
the same version. WORDS go to pytest; without them nothing runs. All Python programs of the tests run sanitized. The programs of the wheel, such
as pgasrun, do not.

The interpreter is not instrumented: the sanitizer's runtime is loaded before it. The interpreter's own leaks are in leaks.supp, its races in
races.supp. Reports go to files, so that a test which expects a failing program does not hide them. The exit status is 1 if there is a report.
"""

import argparse
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SITE = '''"""The programs that a sanitized interpreter starts are not sanitized, unless they are sanitized interpreters."""
import os
import sys

for name in ("LD_PRELOAD", "PYTHONPATH"):
    os.environ.pop(name, None)
sys.executable = os.environ["TEST_INTERPRETER"]
'''


def call(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout.strip()


def at_fixed_addresses(sanitizer: str) -> list[str]:
    """Returns a command prefix that switches address randomization off. The thread sanitizer of older compilers does
    not work with the address randomization of newer kernels."""
    words = ["setarch", "-R"]
    if sanitizer == "address" or subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return []  # the container does not allow the change, so randomization stays on
    return words


def starts(command: list[str], preload: str) -> bool:
    done = subprocess.run(command, env={**os.environ, "LD_PRELOAD": preload}, stderr=subprocess.PIPE)
    return done.returncode == 0 and b"cannot be preloaded" not in done.stderr


def runtime(compiler: str, sanitizer: str) -> str:
    """Returns the value of LD_PRELOAD. It contains the C++ library, because the sanitizer's runtime needs its
    functions when it is loaded.

    Clang 14 has a shared runtime of the thread sanitizer that cannot be loaded before a program. GCC's runtime has the
    same functions.
    """
    short = {"address": "asan", "thread": "tsan"}[sanitizer]
    library = call(compiler, "-print-file-name=libstdc++.so.6")
    for of, name in ((compiler, f"libclang_rt.{short}-x86_64.so"), (compiler, f"libclang_rt.{short}.so"), ("c++", f"lib{short}.so")):
        path = call(of, f"-print-file-name={name}")
        words = f"{path}:{library}"
        if os.path.isabs(path) and starts([*at_fixed_addresses(sanitizer), "true"], words):
            return words
    raise SystemExit(f"{compiler} has no shared runtime of its {sanitizer} sanitizer that a program can be started with")


def build_extension(given: argparse.Namespace, cache: dict, work: pathlib.Path) -> pathlib.Path:
    tree = work / "build"
    path = {"PATH": f"{pathlib.Path(given.builder).parent}:{os.environ['PATH']}"}
    call("cmake", "-G", "Ninja", "-S", ROOT / "python", "-B", tree, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1",
         f"-DCMAKE_CXX_COMPILER={cache['CMAKE_CXX_COMPILER']}", f"-DPython_EXECUTABLE={given.builder}", f"-DPGAS_BUILD={given.tree.resolve()}",
         f"-DPGAS_SANITIZE={cache['PGAS_SANITIZE']}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={given.launcher}", "-DPGAS_TORCH=OFF", env={**os.environ, **path})
    call("cmake", "--build", tree, "--target", "_core", env={**os.environ, **path})
    return next(tree.glob("_core*.so"))


def make_package(environment: pathlib.Path, extension: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """Returns a copy of the environment's package with the sanitized extension."""
    site = work / "site"
    shutil.rmtree(site, ignore_errors=True)
    (site / "pgas").mkdir(parents=True)
    installed = pathlib.Path(call(environment / "bin" / "python", "-c", "import pgas; print(pgas.__path__[0])", cwd=work))
    for file in installed.iterdir():
        if not file.name.startswith(("_core.abi3", "_core.cpython", "__pycache__")):
            (site / "pgas" / file.name).symlink_to(file)
    (site / "pgas" / extension.name).symlink_to(extension)
    (site / "sitecustomize.py").write_text(SITE)
    return site


def make_interpreter(given: argparse.Namespace, cache: dict, site: pathlib.Path, reports: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """Writes a script that runs the environment's interpreter with the sanitizer, in a folder with the programs of the
    environment."""
    programs = work / "bin"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    for file in (given.environment.resolve() / "bin").iterdir():
        if not file.name.startswith("python"):
            (programs / file.name).symlink_to(file)
    sanitizer = cache["PGAS_SANITIZE"]
    log = f"log_path={reports / 'report'}"
    settings = {
        "LD_PRELOAD": runtime(cache["CMAKE_CXX_COMPILER"], sanitizer) + "${LD_PRELOAD:+:$LD_PRELOAD}",
        "PYTHONPATH": f"{site}${{PYTHONPATH:+:$PYTHONPATH}}",
        "PYTHONMALLOC": "malloc",  # the interpreter's allocator hides uses after free, and causes false leak reports
        "TEST_INTERPRETER": programs / "python",
        "ASAN_OPTIONS": f"{log}:detect_leaks=1:allow_addr2line=1",
        "UBSAN_OPTIONS": f"{log}:print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions={HERE / 'leaks.supp'}:print_suppressions=0",
        "TSAN_OPTIONS": f"{log}:suppressions={HERE / 'races.supp'}:die_after_fork=0",
    }
    words = ["exec", *at_fixed_addresses(sanitizer), "env", *(f'"{name}={value}"' for name, value in settings.items()),
             f"'{given.environment.resolve() / 'bin' / 'python'}'", '"$@"']
    interpreter = programs / "python"
    interpreter.write_text(f"#!/bin/sh\n{' '.join(words)}\n")
    interpreter.chmod(interpreter.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return interpreter


def is_fault(report: str) -> bool:
    """Returns whether the report is an error. The leak sanitizer also writes notes in a child of fork(), because the
    child has no other threads."""
    return any(word in report for word in ("ERROR: ", "WARNING: ThreadSanitizer", "runtime error: "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--environment", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--builder")
    parser.add_argument("--launcher", default="")
    given, words = parser.parse_known_args()
    if not (given.environment / "bin" / "pgasrun").exists():  # environments.py has printed the reason
        print(f"skipped: {given.environment} has no wheel of pgas")
        raise SystemExit(77)
    given.builder = given.builder or str(given.environment.resolve() / "bin" / "python")
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (given.tree / "CMakeCache.txt").read_text(), re.MULTILINE))
    if cache.get("PGAS_SANITIZE") not in ("address", "thread"):
        raise SystemExit(f"{given.tree} is not a sanitized build")
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    site = make_package(given.environment.resolve(), build_extension(given, cache, work), work)
    reports = work / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    interpreter = make_interpreter(given, cache, site, reports, work)
    if not words:
        print(interpreter)
        return
    status = subprocess.run([interpreter, "-m", "pytest", "-p", "no:cacheprovider", *words], cwd=HERE).returncode
    found = [text for text in (report.read_text(errors="replace") for report in sorted(reports.iterdir())) if is_fault(text)]
    print("\n".join(found))
    if found:
        raise SystemExit(f"{len(found)} reports of the {cache['PGAS_SANITIZE']} sanitizer")
    raise SystemExit(status)


if __name__ == "__main__":
    main()
