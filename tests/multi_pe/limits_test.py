"""A job that meets a limit of the system ends with an error that names the limit. No signal ends a process, and no
process hangs.

    limits_test.py files|descriptors|addresses LAUNCHER PROGRAM
"""
import resource
import subprocess
import sys

KIB = 1 << 10
# The limit, the tested values, the text that a job must print if it fails, and the text that it must not print.
LIMITS = {
    "files": (resource.RLIMIT_FSIZE, [n * KIB for n in (0, 100, 2048, 3000, 4096, 8192, 12000, 1 << 20)],
              ("ulimit -f", "File too large"), ("by signal",)),
    "descriptors": (resource.RLIMIT_NOFILE, [*range(5, 40), 256], ("ulimit -n",), ("has ended\n", "by signal")),
    "addresses": (resource.RLIMIT_AS, [n * KIB for n in (*range(40000, 120000, 10000), 1 << 20)],
                  ("ulimit -v", "ulimit -u and -v"), ("PGAS-E0201", "by signal")),
}


def main():
    which, launcher, program = sys.argv[1:4]
    limit, values, wanted, unwanted = LIMITS[which]
    problems, failed = [], 0
    for value in values:
        job = subprocess.run([launcher, "-n", "4", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=30, check=False,
                             preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
        last = value == values[-1]
        failed += job.returncode != 0
        named = any(word in job.stdout for word in wanted)
        if job.returncode != 0 and (last or not named) or any(word in job.stdout for word in unwanted):
            problems.append(f"with {value}: status {job.returncode}\n{job.stdout}")
    if failed == 0:
        problems.append("no value was too low: this has shown nothing")
    print("\n".join(problems) or f"{failed} of {len(values)} jobs named the limit")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
