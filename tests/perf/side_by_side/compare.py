#!/usr/bin/env python3
"""Compares pgas with NVSHMEM, hand-written kernels and NCCL: runs the same rows with each of them, alternately.

    compare.py --pgas-build DIR [--pes 2] [--rounds 3] [--only REGEX] [--quick] [--results RESULTS.md]

Builds one program for each backend. The rows_*.cu use only NVSHMEM's public interface, so pgas and NVSHMEM compile the
same text. The backend "raw" has the same loops around hand-written operations on memory that pgas has mapped. Each
round starts every program, with one GPU for each PE. Every row checks its data. Prints a table with the ratios. With
--results, also writes the table to RESULTS.md, where it replaces the section of this number of PEs.

If a row hangs or crashes, the other rows are still measured. NVSHMEM and NCCL are found as Python packages
(nvidia-nvshmem-cu13, nvidia-nccl-cu13), or in the folders of --nvshmem and --nccl. If one of them is missing, its
columns are empty. Environment variables of NVSHMEM and NCCL stay in effect, and the results list them.

Exit status: 0 on success; 1 if data were wrong, or a row or a program failed; 2 if nothing could be built or there are
too few GPUs.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

import building
import results
import running


def gpus():
    """Returns (model, driver, compute capability) of each GPU."""
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [tuple(word.strip() for word in line.split(",")) for line in text.splitlines() if line.count(",") == 2]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pgas-build", required=True, help="build folder of pgas, with the target nvshmem_host")
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="how often every program is run")
    parser.add_argument("--only", default="", help="rows whose name has this in it: a regular expression")
    parser.add_argument("--backends", default="pgas,pgas-direct,nvshmem,raw,nccl", help="of pgas, pgas-direct (compiled with "
                        "PGAS_NVSHMEM_DIRECT), nvshmem, nvshmem-inlined (its device code inlined: the column has the better of both), "
                        "raw, nccl")
    parser.add_argument("--quick", action="store_true", help="one round of short runs: only to see that all works")
    parser.add_argument("--share", action="store_true", help="PEs may share GPUs, under MPS (docs/side-by-side.md)")
    parser.add_argument("-n", type=int, default=0, help="iterations of a run; default: by the time that they take")
    parser.add_argument("-r", type=int, default=0, help="runs of a row in a round")
    parser.add_argument("-t", type=int, default=0, help="threads of a block that calls a collective, up to 512")
    parser.add_argument("--results", help="the file to write the table into")
    parser.add_argument("--json", help="a file for the figures of all rounds")
    parser.add_argument("--work", help="folder for programs and logs, to be used again; default: a temporary one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once")
    parser.add_argument("--limit", type=int, default=120, help="seconds for a program")
    parser.add_argument("--arch", help="what to compile for; default: the GPU that is here, else sm_90")
    parser.add_argument("--nvshmem", help="where NVSHMEM is installed")
    parser.add_argument("--nccl", help="where NCCL is installed")
    parser.add_argument("--version", help="what this version of pgas is called in the results; default: as git describes it")
    parser.add_argument("--build-only", action="store_true", help="run nothing")
    asked = parser.parse_args()
    if asked.share and "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE" in os.environ:
        parser.error("--share needs CUDA_MPS_ACTIVE_THREAD_PERCENTAGE unset: it gives all PEs the same multiprocessors, and "
                     "kernels that wait for one another would never meet")
    if asked.results and (asked.only or asked.quick or asked.share):
        parser.error("--results is for all rows, measured properly: without --only, --quick and --share")
    return asked


def build(asked, work, arch):
    """Returns (backends that can be run, their programs, the compiler's version, failures)."""
    wanted = [name.strip() for name in asked.backends.split(",")]
    if asked.share and "nccl" in wanted:
        wanted.remove("nccl")  # NCCL refuses a GPU that another rank uses
    every = [*building.pgas_backends(os.path.realpath(asked.pgas_build)),
             *building.nvshmem_backends(asked.nvshmem, "nvshmem-inlined" in wanted), *building.nccl_backend(asked.nccl)]
    backends = [backend for backend in every if backend.name in wanted]
    for name in wanted:
        if name not in [backend.name for backend in backends]:
            print(f"== {name} was not found")
    builder = building.Builder(work, arch, asked.jobs)
    start = time.monotonic()
    programs = builder.build(backends)
    print(f"== built {', '.join(programs)} for {arch} in {time.monotonic() - start:.0f} s, in {work}", flush=True)
    failures = [(what.split()[0], None, f"{what.split()[1]} was not built: {why.strip()}") for what, why in builder.failed.items()]
    return [backend for backend in backends if backend.name in programs], programs, builder.release(), failures


def measure(asked, backends, programs, work, into):
    """Runs the programs of all backends alternately, and adds their figures to `into`."""
    words = ["--only", asked.only] if asked.only else []
    words += ["--quick"] if asked.quick else []
    words += ["--share"] if asked.share else []
    for option, value in (("-n", asked.n), ("-r", asked.r), ("-t", asked.t)):
        words += [option, str(value)] if value else []
    rounds = 1 if asked.quick else asked.rounds
    log_path = os.path.join(work, f"log.{asked.pes}pes.txt")
    with open(log_path, "wb") as log:
        for i in range(rounds):
            for backend in list(backends):
                start = time.monotonic()
                rows, failures = running.run(programs[backend.name], asked.pes, backend.library_paths, words, asked.limit, log)
                into.add(backend.name, rows, failures)
                print(f"== round {i + 1} of {rounds}: {backend.name}, {len(rows)} rows in {time.monotonic() - start:.1f} s"
                      + "".join(f"\n   FAIL {results.sentence((backend.name, *each))}" for each in failures), flush=True)
                if failures and not rows:
                    backends.remove(backend)  # the backend would fail again in the next round
    print(f"== what the programs said: {log_path}")


def facts(asked, backends, release, found):
    """Returns the facts that the figures depend on, for the head of the results."""
    versions = {"CUDA": release}
    for backend in backends:
        versions.update(backend.versions)
    if asked.version:
        versions["pgas"] = asked.version
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items())
                if name.startswith(("NVSHMEM_", "NCCL_", "PGAS_", "CUDA_"))]
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "machine": f"{len(found)} x {found[0][0]}, driver {found[0][1]}",
            "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
            "rounds": 1 if asked.quick else asked.rounds,
            "environment": ", ".join(settings) or "nothing set"}


def main():
    asked = read_arguments()
    found = gpus()
    if not asked.build_only and len(found) < (1 if asked.share else asked.pes):
        print(f"{asked.pes} PEs need as many GPUs: there are {len(found)}; see --share", file=sys.stderr)
        return 2
    arch = asked.arch or ("sm_" + found[0][2].replace(".", "") if found else "sm_90")
    work = os.path.realpath(asked.work or tempfile.mkdtemp(prefix="side_by_side."))
    os.makedirs(work, exist_ok=True)
    try:
        backends, programs, release, failures = build(asked, work, arch)
    except building.BuildError as why:
        print(why, file=sys.stderr)
        return 2
    for failure in failures:
        print("   FAIL " + results.sentence(failure))
    if asked.build_only:
        return 1 if failures else 0
    every = results.Results(asked.pes)
    every.failures += failures
    measure(asked, list(backends), programs, work, every)
    known = facts(asked, backends, release, found)
    print(every.text())
    print("\n".join(f"{name}: {value}" for name, value in known.items()))
    for failure in every.failures:
        print("FAIL " + results.sentence(failure))
    print(every.summary())
    if asked.results:
        results.write(asked.results, every, known)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump({"pes": asked.pes, **known, "failures": [results.sentence(each) for each in every.failures],
                       "rows": [{**line.row, "values": line.values} for line in every.lines.values()]}, file, indent=1)
    return 1 if every.failures else 0


if __name__ == "__main__":
    sys.exit(main())
