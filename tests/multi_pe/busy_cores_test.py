"""Operations on proxied PEs end soon, even if other programs compute on the same core. A thread that yields to such a
program gets the core back after a time slice of some milliseconds, and each operation takes several turns of the
threads of two PEs.

    busy_cores_test.py LAUNCHER PGAS-PERF
"""
import os
import subprocess
import sys

LIMIT = 40  # seconds; without sleeps the waits take 100 s or more
ROWS = ["put_lat", "get_lat", "atomic_fetch_add_lat", "host_put_lat", "host_get_lat"]
COMPUTES = "while True: pass"


def main():
    launcher, program = sys.argv[1:3]
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})  # also applies to child processes
    busy = [subprocess.Popen([sys.executable, "-c", COMPUTES]) for _ in range(2)]
    try:
        job = subprocess.run([launcher, "-n", "2", program, "-b", "8", "-e", "8", "-w", "1", "-r", "1", "-n", "2000", *ROWS],
                             env=os.environ | {"PGAS_P2P": "0", "PGAS_HEAP": "host"}, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as late:
        print(f"not done in {LIMIT} s; so far:\n{(late.stdout or b'').decode()}")
        return 1
    finally:
        for each in busy:
            each.kill()
            each.wait()
    print(job.stdout, job.stderr)
    return 0 if job.returncode == 0 and all(row in job.stdout for row in ROWS) else 1


if __name__ == "__main__":
    sys.exit(main())
