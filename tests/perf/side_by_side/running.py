"""Starts a program of the benchmark on all PEs and reads what PE 0 prints. If a row kills the program, continues with
the next row."""
import json
import os
import signal
import subprocess
import tempfile
import time

MOST_FAILURES = 4  # after this number of failures in a round, the remaining rows of the program are skipped
GRACE = 3  # seconds in which the other PEs may end after one PE has failed


class Outcome:
    """The results of one start of a program."""

    def __init__(self):
        self.rows = []       # the JSON objects of finished rows
        self.unfinished = None  # the line that began the row that was running at the end
        self.ended = False   # the program reported its end
        self.why = ""        # why the program failed; empty if it did not


def key(row):
    """Returns what identifies a row in the programs of all backends."""
    return row["row"], row["bytes"], row["blocks"], row["threads"]


def environment(library_paths):
    """Returns the environment of this process with the folders of libraries. Variables that are set stay unchanged."""
    found = dict(os.environ)
    found["LD_LIBRARY_PATH"] = ":".join([*library_paths, found.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    found.setdefault("NVSHMEM_BOOTSTRAP", "UID")
    # PEs that share a GPU under MPS have no separate percentages of the GPU, because a percentage gives all of them the
    # same multiprocessors.
    found.setdefault("NVSHMEM_IGNORE_CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "1")
    return found


def wait_for(processes, limit):
    """Waits until all processes have ended, until a few seconds after one has failed, or until the time limit. Kills
    the processes that still run, and returns their PEs."""
    deadline = time.monotonic() + limit
    shortened = False
    while any(process.poll() is None for process in processes):
        if time.monotonic() > deadline:
            break
        if not shortened and any(process.poll() not in (None, 0, 1) for process in processes):
            deadline, shortened = min(deadline, time.monotonic() + GRACE), True
        time.sleep(0.02)
    late = [pe for pe, process in enumerate(processes) if process.poll() is None]
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
    return late


def start(program, pes, library_paths, arguments, limit, log):
    """Starts the program once, on PEs 0 to pes - 1."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="side_by_side.") as folder:
        id_file = os.path.join(folder, "id")
        printed = os.path.join(folder, "rows")
        with open(printed, "wb") as rows:
            processes = [subprocess.Popen([program, id_file, str(pe), str(pes), *arguments], stdin=subprocess.DEVNULL,
                                          stdout=rows if pe == 0 else log, stderr=log, env=environment(library_paths))
                         for pe in range(pes)]
            try:
                late = wait_for(processes, limit)
            finally:
                for process in processes:
                    process.kill()
        with open(printed, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    read = json.loads(line) if line.startswith("{") else None
                except ValueError:
                    read = None
                if not isinstance(read, dict):
                    log.write(line.encode())
                elif "begin" in read:
                    outcome.unfinished = read
                elif "end" in read:
                    outcome.ended = True
                elif "row" in read:
                    outcome.rows.append({**read, "index": outcome.unfinished["begin"]})
                    outcome.unfinished = None
    statuses = [process.returncode for process in processes]
    if late or any(status not in (0, 1) for status in statuses):
        outcome.why = f"PEs {late} were still running after the time limit" if late and max(statuses) <= 0 else \
            f"PEs ended with status {statuses}"
    return outcome


def last_words(log, since):
    """Returns the last lines that the processes wrote to the log since `since`, in one line."""
    log.flush()
    with open(log.name, "rb") as file:
        file.seek(since)
        lines = file.read()[-2000:].decode(errors="replace").strip().splitlines()
    return "; ".join(lines[-3:])[-400:]


def run(program, pes, library_paths, arguments, limit, log):
    """Runs all rows. Returns (finished rows, failures as (the row or None, reason)). If a row kills the program, the
    program is started again at the next row."""
    rows, failures, first = [], [], 0
    while True:
        log.write(f"== {program} --first {first}\n".encode())
        log.flush()
        since = log.tell()
        outcome = start(program, pes, library_paths, [*arguments, "--first", str(first)], limit, log)
        rows += outcome.rows
        if outcome.ended:
            if outcome.why:
                failures.append((None, f"behind the last row: {outcome.why}"))
            return rows, failures
        said = last_words(log, since)
        failures.append((outcome.unfinished, (outcome.why or "it ended early") + (f": {said}" if said else "")))
        if outcome.unfinished is not None:
            first = outcome.unfinished["begin"] + 1
        elif outcome.rows:
            first = outcome.rows[-1]["index"] + 1
        else:
            return rows, failures  # the program did not even join
        if len(failures) >= MOST_FAILURES:
            failures.append((None, "too many rows have failed: the rest was not tried"))
            return rows, failures
