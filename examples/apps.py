#!/usr/bin/env python3
"""Runs the applications 20 to 25 over PEs, sizes and variants, beside their MPI programs and beside a single PE.

    apps.py                                       # all of them on the host heap, from build/cpu, by pgasrun
    apps.py --only 20,22 --pes 1,2,4 --rounds 5 --json host.json --svg pictures
    apps.py --heap cuda --pes 1,2 --json gpu.json # NAME_cuda from build/cuda; PEs that share a GPU need MPS
    apps.py --launcher "mpirun --bind-to core"    # both sides by mpirun
    apps.py --read host.json --markdown           # tables for a page; nothing is run

Every program is started once in each round, and those that are compared one after the other, so that what else happens on the machine
happens to all. A figure is the median of the rounds; its spread is highest less lowest, of the median.

strong     the problem stays the same, whatever the number of PEs
weak       the problem of each PE stays the same
division   the same grid, cut across x, y or z
sizes      25_allreduce: the data of each PE

--json writes, and --read reads, one object:

    date, machine, heap, launcher   texts
    cores, rounds, pes              number of cores; of rounds; list of numbers of PEs
    mpi                             "" if MPI's programs were run, else why not
    results                         list of objects, one for each line of the table:
      application, by               "20_stencil3d" ...; "pgas" or "mpi"
      scaling, share                as above; of weak scaling the size of a PE, else ""
      variant, size, division, pes  texts, "" where there is none; number
      unit                          "us per iteration", "us per step", "us per round" or "us per call"
      figures                       list of one number for each round
      median, lowest, highest, spread
      alone                         median of one PE with the same problem (weak: with the same share); null if it was not run
      gain                          strong: alone / median, 1 for each PE at best; weak: the same, 1 at best; null without alone
      to_mpi                        how many times as fast as MPI's fastest program for the same; null for MPI, or where there is none
      more                          all columns of the program in the last round, as texts
    failures                        list of {command, problem, output}

Status: 0; 1 if a program's check failed, or a program failed otherwise; 2 if the request is impossible.
"""
import argparse
import json
import os
import pathlib
import shlex
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "apps"))
import cases  # noqa: E402
import pictures  # noqa: E402
import running  # noqa: E402
import summary  # noqa: E402
import tables  # noqa: E402
from running import Refused  # noqa: E402


def numbers(words):
    found = [int(word) for word in words.split(",")]
    return sorted(set(found))


def choice(of):
    def read(words):
        unknown = [word for word in words.split(",") if word not in of]
        if unknown:
            raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(of)}")
        return [word for word in of if word in words.split(",")]
    return read


def names(words):
    found = []
    for word in words.split(","):
        matches = [name for name in cases.APPLICATIONS if word and name.startswith(word)]
        if len(matches) != 1:
            raise argparse.ArgumentTypeError(f"'{word}' is no application: {', '.join(cases.APPLICATIONS)}, or their numbers")
        found += matches
    return found


def read_arguments(words):
    parser = argparse.ArgumentParser(prog="apps.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=names, default=list(cases.APPLICATIONS), metavar="20,22", help="applications, by name or number")
    parser.add_argument("--pes", type=numbers, metavar="1,2,4", help="numbers of PEs; 1 is always among them; default: powers of two up to "
                        "the cores, or the GPUs")
    parser.add_argument("--grids", type=numbers, metavar="32,64", help="edges of the cubes of 20, 21 and 22; default: by the heap")
    parser.add_argument("--points", type=choice(["7", "27"]), default=["7", "27"], metavar="7,27", help="stencils of 20")
    parser.add_argument("--faces", type=choice(cases.FACES), default=list(cases.FACES), metavar="pack,iput,remote", help="ways of 20")
    parser.add_argument("--rounds", type=int, default=3, help="how often every program is run")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one round: only to see that all works")
    parser.add_argument("--heap", choices=["host", "cuda"], default="host", help="where PEs compute")
    parser.add_argument("--build", type=pathlib.Path, help="build folder; default: build/cpu or build/cuda, by the heap")
    parser.add_argument("--launcher", default="pgasrun", metavar="COMMAND", help="pgasrun, or mpirun with its options")
    parser.add_argument("--no-mpi", action="store_true", help="leaves MPI's programs out")
    parser.add_argument("--limit", type=int, default=600, metavar="SECONDS", help="for one start of a program")
    parser.add_argument("--json", metavar="FILE", help="writes all figures")
    parser.add_argument("--svg", type=pathlib.Path, metavar="FOLDER", help="draws scaling, variants, residuals of 22, the halo of 20")
    parser.add_argument("--read", metavar="FILE", help="runs nothing: tables and pictures of figures written by --json")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--csv", action="store_true", help="prints comma-separated values instead of a table")
    shown.add_argument("--markdown", action="store_true", help="prints tables by application, in Markdown")
    shown.add_argument("--list", action="store_true", help="prints the commands of a round and runs nothing")
    asked = parser.parse_args(words)
    asked.points = [int(each) for each in asked.points]
    if asked.rounds < 1 or asked.limit < 1:
        parser.error("--rounds and --limit are 1 at least")
    if asked.build is None:
        asked.build = pathlib.Path(__file__).resolve().parent.parent / "build" / ("cuda" if asked.heap == "cuda" else "cpu")
    return asked


def prepare(asked):
    """Returns the launchers, the cases, and the reason why MPI programs are left out. Sets the numbers of PEs if none
    are given. Throws Refused if the request is impossible."""
    plan = cases.QUICK if asked.quick else cases.CUDA if asked.heap == "cuda" else cases.HOST
    if asked.grids:
        plan = plan._replace(grids=tuple(asked.grids), small_grids=tuple(asked.grids))
    if asked.quick:
        asked.rounds = 1
    launchers = running.Launchers(str(asked.build), asked.heap, asked.launcher, asked.limit)
    gpus = running.gpus() if asked.heap == "cuda" else 0
    places = gpus or launchers.cores
    if asked.pes is None:
        asked.pes = [2 ** i for i in range(10) if 2 ** i <= places and 2 ** i <= min(plan.small_grids)]
    if (problem := cases.impossible(asked, plan)):
        raise Refused(problem)
    asked.pes = sorted({1, *asked.pes})
    if gpus and max(asked.pes) > gpus and not running.shares_gpus():
        raise Refused(f"{max(asked.pes)} PEs on {gpus} GPU{'s' if gpus > 1 else ''} run one after another without MPS, which does not measure speed: "
                      "start nvidia-cuda-mps-control -d, or take fewer PEs")
    missing = [path for name in asked.only if not os.path.exists(path := launchers.program(name, "pgas"))]
    if missing:
        raise Refused(f"{missing[0]} is not built: build it, or name another folder by --build")
    without = "not wanted" if asked.no_mpi else launchers.without_mpi(asked.only)
    if any(name in cases.BESIDE_MPI for name in asked.only) and without and not asked.no_mpi:
        say(f"MPI is left out: {without}")
    if max(asked.pes) > places:
        say(f"{max(asked.pes)} PEs share {places} {'GPUs' if gpus else 'cores'}: their figures are those of the scheduler")
    return launchers, cases.listed(asked, plan, not without), without


def say(words):
    print(words, file=sys.stderr, flush=True)


def measure(asked, launchers, listed):
    """Runs all rounds. Returns the figures and the failures. A case that has failed is not run again."""
    found, failures, failed = summary.Figures(), [], set()
    total, done, begin = asked.rounds * len(listed), 0, time.monotonic()
    for round_ in range(asked.rounds):
        for case in listed:
            done += 1
            if case in failed:
                continue
            outcome = launchers.start(case)
            problem = outcome.problem
            said = []
            for row in outcome.rows:
                for one in cases.READERS[case.application](case, row):
                    said.append(found.add(case, one, row))
                    problem = problem or ("" if one[-1] else "its check failed")
            left = (time.monotonic() - begin) / done * (total - done)
            say(f"[{done}/{total}, {left:.0f} s left] round {round_ + 1}: {case.application}, {case.by}, {case.scaling}, "
                f"{case.pes} PE{'s' if case.pes > 1 else ''}: {'; '.join(said)}")
            if problem:
                failed.add(case)
                failures.append({"command": outcome.command, "problem": problem, "output": outcome.output})
                say(f"  FAILED, {problem}: {outcome.command}\n{outcome.output}")
    return found, failures


def record_residuals(asked, launchers, listed, failures):
    """Runs 22_cg again, which writes the history of its residuals into the folder of the pictures."""
    solves = [case for case in listed if case.application == "22_cg" and case.by == "pgas" and case.scaling == "strong"]
    if solves:
        outcome = launchers.start(solves[-1], ("--history", str(asked.svg / pictures.RESIDUALS)))
        if outcome.problem:
            failures.append({"command": outcome.command, "problem": outcome.problem, "output": outcome.output})


def run(asked):
    """Returns the object that --json writes."""
    launchers, listed, without = prepare(asked)
    found, failures = measure(asked, launchers, listed)
    if asked.svg:
        record_residuals(asked, launchers, listed, failures)
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "machine": summary.machine(asked.heap),
            "heap": asked.heap, "launcher": asked.launcher, "cores": launchers.cores, "rounds": asked.rounds, "pes": asked.pes,
            "mpi": without, "results": found.results(), "failures": failures}


def read(name):
    try:
        with open(name, encoding="utf-8") as file:
            object_ = json.load(file)
        if "results" not in object_ or "pes" not in object_:
            raise ValueError("there are no results of apps.py in it")
    except (OSError, ValueError) as problem:
        raise Refused(f"--read {name}: {problem}") from None
    return object_


def main(words=None):
    asked = read_arguments(words)
    try:
        if asked.svg:
            asked.svg.mkdir(parents=True, exist_ok=True)
        if asked.json and not os.path.isdir(os.path.dirname(asked.json) or "."):
            raise Refused(f"--json {asked.json}: there is no such folder")
        if asked.list:
            launchers, listed, _ = prepare(asked)
            print("\n".join(shlex.join([*launchers.command(case), "--csv"]) for case in listed))
            return 0
        all_ = read(asked.read) if asked.read else run(asked)
        if asked.json:
            with open(asked.json, "w", encoding="utf-8") as file:
                json.dump(all_, file, indent=1)
        if asked.svg:
            pictures.draw(all_, asked.svg)
    except (Refused, OSError) as problem:
        say(f"apps.py: {problem}")
        return 2
    print(tables.as_csv(all_) if asked.csv else tables.as_markdown(all_) if asked.markdown else tables.as_text(all_), end="")
    for each in all_["failures"]:
        say(f"FAILED, {each['problem']}: {each['command']}")
    return 1 if all_["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
