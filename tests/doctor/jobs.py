"""Runs jobs of pgas-doctor and of a small program in environments with an error."""
import json
import os
import shlex
import subprocess

DOCTOR = PGASRUN = PROGRAM = WITHOUT_CALLS = OLD_UCP = MAD_UCP = ""
LIMIT = 120  # seconds for any job, much more than a job needs on a busy machine
SMALL = ["-b", "8", "-e", "8", "-w", "1", "-r", "1", "--ms", "0.1", "put_lat"]


def command(words, wrap="", pes=2):
    """Returns the command of a job whose PEs are started by a shell. `wrap` is a shell command that PE 1 runs first. If
    `wrap` contains "$@", it starts the program itself."""
    script = 'exec "$@"'
    if wrap:
        inner = wrap if '"$@"' in wrap else f'{wrap}; exec "$@"'
        script = f'if [ "$PGAS_RANK" = 1 ]; then {inner}; fi; exec "$@"'
    return [PGASRUN, "-n", str(pes), "sh", "-c", script, "sh", *words]


def run(words, variables=None, prefix=()):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PGAS_", "UCX_", "SLURM_"))}
    environment |= {"PGAS_HEAP": "host", "PGAS_JOIN_TIMEOUT": "15s"} | (variables or {})
    return subprocess.run([*prefix, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT, check=False)


def in_mounts(script, words):
    """Returns the words that run a command after the shell script has changed the mounts."""
    return ["unshare", "--mount", "sh", "-c", f"{script} && exec {shlex.join(words)}"]


class Diagnosis:
    """The JSON document that the doctor has printed."""

    def __init__(self, job):
        self.job = job
        self.text = job.stdout + job.stderr
        start = job.stdout.find("{")
        self.document = json.JSONDecoder().raw_decode(job.stdout[start:])[0] if start >= 0 else {"rows": [], "verdict": "none"}

    def rows(self, name):
        return [row for row in self.document["rows"] if row["name"] == name]

    def worst(self, name):
        order = ["ok", "unknown", "slow", "fails"]
        return max(self.rows(name), key=lambda row: order.index(row["verdict"]), default=None)


def allowed(words):
    """Whether this machine can run such a command."""
    try:
        return subprocess.run(words, capture_output=True, timeout=30, check=False).returncode == 0
    except FileNotFoundError:
        return False


def has_gpu():
    return allowed(["nvidia-smi", "-L"])
