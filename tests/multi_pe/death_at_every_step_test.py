"""Lets one PE die in every way at every step. The other PEs must get an error that names this PE in time, and nothing
may be left.

    death_at_every_step_test.py PGASRUN PROGRAM PART [MPIRUN] [--proxies] [--full]

PART: join (each way at steps of joining), stop (a PE is stopped at each step of joining), run (each way at each later
step). Each pair of way and step is tried at least once, with alternating numbers of PEs, launchers and routes. --full
tries all combinations.
"""
import argparse
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from leftovers import alive, leftovers

MOST_ROUNDS = 4  # exchanges over the tree in which PEs that share memory join (docs/scaling.md)
WAYS = ("kill", "segv", "exit", "exec", "fork", "stop")
STEPS = ("allocate", "barrier", "put", "collective", "lock", "register", "leave")
JOIN_LIMIT = 1.5  # seconds, PGAS_JOIN_TIMEOUT
WAIT_LIMIT = 1.0  # seconds, PGAS_WAIT_TIMEOUT, for cases in which only the timeout detects the death
TOLD_WITHIN = 1.0  # seconds from the death or the limit; for PEs that arrive later, from their arrival


class Case:
    def __init__(self, way, step, pes, launcher, proxied, victim):
        self.way, self.step, self.pes, self.launcher, self.proxied, self.victim = way, step, pes, launcher, proxied, victim

    def __str__(self):
        return (f"{self.way} at {self.step}, PE {self.victim} of {self.pes}, {self.launcher}, "
                f"{'proxies' if self.proxied else 'load and store'}")

    @property
    def joining(self):
        return self.step.startswith("join:")


def only_time_tells(case):
    """Whether only a timeout detects the death. mpirun's PMIx server counts a process as running as long as the program
    that the process has executed runs."""
    return (case.launcher == "mpirun" and case.way == "exec" and
            case.step.split(":")[1] in ("bootstrap", "listen", "introduce", "connect", "connection", "agree"))


def environment(case, folder, mark):
    names = dict(os.environ, PGAS_HEAP="host", PGAS_SOCKET_DIR=folder + "/sockets", DYING_MARK=mark, PGAS_LOG="error")
    names.pop("PGAS_P2P", None)
    if case.proxied:
        names["PGAS_P2P"] = "0"
    if case.joining:
        names["PGAS_JOIN_TIMEOUT"] = f"{JOIN_LIMIT}s"
    elif case.way == "stop":
        names["PGAS_WAIT_TIMEOUT"] = f"{WAIT_LIMIT}s"
    return names


def command(options, case, words):
    if case.launcher == "mpirun":
        return [options.mpirun, "--allow-run-as-root", "--oversubscribe", "--enable-recovery", "-n", str(case.pes), *words]
    return [options.pgasrun, "--grace-period", "1", "-n", str(case.pes), *words]


def marked(mark, launcher):
    """Returns the living processes with the mark in their environment, except the launcher."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes() and int(folder.name) != launcher and alive(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def read(report):
    """Returns the lines of the report so far, as (what, pe, pid, seconds, rest)."""
    lines = []
    for line in report.read_text(encoding="utf-8", errors="replace").splitlines() if report.exists() else []:
        what, pe, pid, nanoseconds, rest = line.split(" ", 4)
        lines.append((what, int(pe), int(pid), int(nanoseconds) / 1e9, rest))
    return lines


def names_victim(rest, victim):
    pe, text = rest.split(" ", 1)
    return int(pe) == victim or f"PE {victim} " in text or f"rank {victim} " in text or f"PE {victim}," in text


def run(options, case, folder):
    """Runs one case. Returns a list of sentences about errors."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/sockets", mode=0o700)
    mark, report, output = uuid.uuid4().hex, Path(folder) / "report", Path(folder) / "output"
    limit = JOIN_LIMIT if case.joining and (case.way == "stop" or only_time_tells(case)) else WAIT_LIMIT if case.way == "stop" else 0.0
    with open(output, "wb") as out:
        job = subprocess.Popen(command(options, case, [options.program, case.way, case.step, str(case.victim), str(report)]),
                               env=environment(case, folder, mark), stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               start_new_session=True)
        others = case.pes - 1
        until = time.monotonic() + limit + 20
        while time.monotonic() < until and job.poll() is None:
            lines = read(report)
            if sum(what in ("end", "unharmed") for what, *_ in lines) >= others:
                break
            time.sleep(0.02)
        lines = read(report)
        dead = [line for line in lines if line[0] == "dying"]
        if case.way == "stop" and dead:  # the program has completed its part
            os.kill(dead[0][2], signal.SIGKILL)
        problems = []
        try:
            job.wait(timeout=30)
        except subprocess.TimeoutExpired:
            if case.launcher == "mpirun" and sum(what in ("end", "unharmed") for what, *_ in read(report)) >= others:
                print("    (mpirun does not end, all of whose PEs have: killed)")  # happened once, on a busy machine
            else:
                problems.append("the launcher does not end")
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
    lines = read(report)
    if not dead:
        problems.append("the victim did not die")
    told = {pe: (seconds, rest) for what, pe, _, seconds, rest in lines if what == "told"}
    came = {pe: seconds for what, pe, _, seconds, _ in lines if what == "came"}
    slowest = 0.0
    for pe in range(case.pes) if dead else ():
        if pe == case.victim:
            continue
        if pe not in told:
            problems.append(f"PE {pe} was not told: {[line[0] for line in lines if line[1] == pe]}")
            continue
        seconds = told[pe][0] - max(dead[0][3], came.get(pe, 0.0))
        slowest = max(slowest, seconds)
        if seconds > limit + TOLD_WITHIN:
            problems.append(f"PE {pe} was told after {seconds:.2f} s: {told[pe][1]}")
        if not names_victim(told[pe][1], case.victim):
            problems.append(f"PE {pe} was told of somebody else: {told[pe][1]}")
    end = time.monotonic() + 5
    while (left := marked(mark, -1)) and time.monotonic() < end:
        time.sleep(0.02)
    if left:
        problems.append(f"processes are left: {left}")
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    print(f"{'FAILED' if problems else 'ok'}: {case}: told after {slowest * 1000:.0f} ms", flush=True)
    for problem in problems:
        print("    " + problem)
    if problems:
        print("    " + output.read_text(errors="replace").replace("\n", "\n    "), flush=True)
    return problems


def sweep(options, folder, before):
    """Starts a job of the same user, which removes what the earlier job has left. Returns what is still left after a
    while."""
    for name in os.listdir(folder + "/sockets"):
        os.utime(f"{folder}/sockets/{name}", (0, 0), follow_symlinks=False)  # sets the time of the file back
    case = Case("none", "none", 2, "pgasrun", False, 0)
    subprocess.run(command(options, case, [options.program, "steps"]), env=environment(case, folder, "sweep"), check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
    for _ in range(150):  # other jobs of this machine start and end meanwhile
        left = {name for name in leftovers(folder + "/sockets") - before if not name.startswith("socket ")}
        if not left:
            break
        time.sleep(0.1)
    return left


def join_steps(options, proxied, folder):
    """Returns the steps of joining that every job has, as join:NAME:K, the K-th step with that name. A job has two more
    steps if its addresses are in use, which happens by chance."""
    case = Case("none", "none", 2, "pgasrun", proxied, 0)
    jobs = [subprocess.run(command(options, case, [options.program, "steps"]), env=environment(case, folder, "steps"),
                           check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout.splitlines() for _ in range(3)]
    names = min(jobs, key=len)
    return [f"join:{name}:{names[:i].count(name)}" for i, name in enumerate(names)]


def cases(options, folder):
    routes = (False, True) if options.proxies else (False,)
    launchers = ("pgasrun", "mpirun") if options.mpirun else ("pgasrun",)
    counts = (2, 4, 8)
    turn = itertools.count()
    joins = join_steps(options, routes[-1], folder)
    last = max(i for i, step in enumerate(joins) if "exchange" in step)
    if options.part == "stop":  # after the last exchange, no PE waits for another PE while it joins
        pairs = list(itertools.product(joins[:last + 1], ("stop",)))
    elif options.part == "join":  # only the first and the last of the exchanges
        steps = [step for i, step in enumerate(joins) if "exchange" not in step or step.endswith(":0") or i == last]
        pairs = list(itertools.product(steps, [way for way in WAYS if way != "stop"]))
    else:
        pairs = list(itertools.product(STEPS, WAYS))
    for step, way in pairs:
        everything = itertools.product(routes, counts, launchers)
        i = next(turn)
        # Cycles whose lengths have no common divisor, so that all combinations occur over time.
        chosen = [(routes[i % 3 != 1 and len(routes) > 1], (2, 4, 2, 4, 8)[i % 5], launchers[i % 7 in (2, 5) and len(launchers) > 1])]
        for proxied, pes, launcher in everything if options.full else chosen:
            # These steps are reached only with proxied PEs, because direct PEs make fewer exchanges and connect no
            # proxied PEs.
            if step == "join:proxied peers:0" or step in joins[last - 4:last + 1]:
                proxied = routes[-1]
            yield Case(way, step, pes, launcher, proxied, (i * 3 + 1) % pes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pgasrun")
    parser.add_argument("program")
    parser.add_argument("part", choices=("join", "stop", "run"))
    parser.add_argument("--mpirun")
    parser.add_argument("--proxies", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", help="cases whose description has this text")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="pgas-dying-")
    os.makedirs(folder + "/sockets", mode=0o700)
    before = leftovers(folder + "/sockets")
    began, failed, tried = time.monotonic(), 0, 0
    for case in cases(options, folder):
        if options.only and options.only not in str(case):
            continue
        tried += 1
        failed += bool(run(options, case, folder))
    if options.part == "join" and not options.only:
        rounds = sum("exchange" in step for step in join_steps(options, False, folder))
        print(f"joining takes {rounds} exchanges over the tree")
        failed += rounds > MOST_ROUNDS
    left = sweep(options, folder, before)
    if left:
        print(f"left behind: {sorted(left)}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{tried} cases, {failed} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed or left or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
