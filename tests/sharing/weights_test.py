"""Runs 27_weights with a trainer of three PEs and two engines, ends one process by SIGKILL at a step, and starts its
program again. At the end both engines must use the last version, and no weight may be wrong.

    weights_test.py PROGRAM PGASRUN transfers [VERSIONS]   also engines that do not check whether they were too late
    weights_test.py PROGRAM PGASRUN kill-trainer [EVERY]   ends PE 1 of the trainer at every EVERY-th step (default: 2)
    weights_test.py PROGRAM PGASRUN kill-engine [EVERY]

PROGRAM may be several words, separated by `|`: python|weights.py. A Python program is not run without checks.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

VERSIONS = 5  # of a run in which a process is killed
ENGINES = 2
PES = 3


def start(*command, dies_at=0):
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "EXAMPLE_DIES_AT": str(dies_at)})


def run(program, pgasrun, versions, victim=None, step=0, pause_us=0, careless=()):
    """Returns the exit statuses and the output of the engines, and whether the victim was killed."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = [pgasrun, "-n", PES, *program, "train", folder, versions, ENGINES, pause_us]
        if victim == "trainer":  # PE 1 only
            only_one = 'if [ "$PGAS_RANK" != 1 ]; then unset EXAMPLE_DIES_AT; fi; exec "$@"'
            trainer[3:3] = ["sh", "-c", only_one, "sh"]
        commands = {"trainer": trainer, **{f"engine {i}": [*program, "serve", folder, i, ENGINES, versions, *careless] for i in range(ENGINES)}}
        running = {role: start(*command, dies_at=step if role == victim else 0) for role, command in commands.items()}
        try:
            killed = False
            if victim is not None:
                errors = running[victim].communicate(timeout=60)[1]
                killed = running[victim].returncode == -signal.SIGKILL or (victim == "trainer" and running[victim].returncode != 0)
                if killed and victim == "trainer" and "PE 1" not in errors:
                    sys.exit(f"the trainer ended for another reason: {errors}")
                if killed:
                    running[victim] = start(*commands[victim])
            engines = [running[f"engine {i}"] for i in range(ENGINES)]
            said = []
            for each in engines:
                out, errors = each.communicate(timeout=120)
                said.append(out)
                if errors:
                    sys.exit(f"step {step} of {victim}: an engine ended with {each.returncode}: {out}{errors}")
            if victim != "trainer" or killed:
                errors = running["trainer"].communicate(timeout=60)[1]
                if running["trainer"].returncode != 0:
                    sys.exit(f"step {step} of {victim}: the trainer ended with {running['trainer'].returncode}: {errors}")
            return [each.returncode for each in engines], said, killed
        finally:
            for process in running.values():
                process.kill()


def main():
    program, pgasrun, what = sys.argv[1].split("|"), sys.argv[2], sys.argv[3]
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    if what == "transfers":
        versions = number or 150
        for pause_us in (0, 1000):
            statuses, said, _ = run(program, pgasrun, versions, pause_us=pause_us)
            print(*said, sep="", end="")
            if statuses != [0] * ENGINES or not all(f"version {versions}," in each and " 0 weights wrong" in each for each in said):
                sys.exit(f"{statuses}: {said}")
        for _ in range(10 if len(program) == 1 else 0):  # an engine may be in time by chance
            statuses, said, _ = run(program, pgasrun, versions, careless=["careless"])
            if any(re.search(r" [1-9]\d* weights wrong", each) for each in said):
                return
        if len(program) > 1:
            return
        sys.exit("engines that do not check whether they were too late have found no wrong weight")
    victim = "trainer" if what == "kill-trainer" else "engine 0"
    step, kills, killed = 1, 0, True
    while killed:
        statuses, said, killed = run(program, pgasrun, VERSIONS, victim, step, pause_us=2000)
        kills += killed
        if statuses != [0] * ENGINES or not all(f"version {VERSIONS}," in each and " 0 weights wrong" in each for each in said):
            sys.exit(f"{victim} killed at step {step}: {statuses}: {said}")
        step += number or 2
    print(f"{victim} was killed at {kills} steps")
    if kills < 3:
        sys.exit("too few steps")


main()
