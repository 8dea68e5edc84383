"""The commands of the tools, and the options in their help."""
import pathlib
import re
import subprocess
import sys

BIN = pathlib.Path(sys.argv[1])
COMMANDS = (("pgasrun",), ("pgas-info",), ("pgas-perf",), ("pgas-perf", "map"), ("pgas-why",), ("pgas-doctor",),
            ("pgas-trace",), ("pgas-trace", "merge"), ("pgas-trace", "summary"),
            ("pgas-trace", "events"), ("pgas-plot",))
TOOLS = sorted({words[0] for words in COMMANDS})
TIMEOUT = 100


def call(*words, **variables):
    """Runs a tool by name, with its arguments."""
    return subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, timeout=TIMEOUT, check=False, **variables)


def printed(*words):
    job = call(*words)
    # Other tests, which run at the same time, query all jobs of this machine as another user. The errors for that user
    # are ignored.
    errors = [line for line in job.stderr.splitlines() if "does not answer user" not in line]
    assert (job.returncode, errors) == (0, []), (words, job)
    return job.stdout


def options_of(text):
    """Returns the names of all options in a help."""
    names = set()
    for line in text.split("\nOptions:\n")[1].split("\n\n")[0].splitlines():
        if line.startswith("  -"):
            names |= set(re.findall(r"(?:^|, )(--?[\w-]+)", line.strip().split("  ")[0]))
    return names
