"""Tests that every row of pgas-perf runs and finds its data correct, and that its output for programs and for people is
complete.

    smoke_test.py PGAS_PERF PGASRUN PES DIRECTORY
"""
import json
import os
import subprocess
import sys

PROGRAM, LAUNCHER, PES, DIRECTORY = sys.argv[1:5]
SMALL = ["-b", "8", "-e", "4K", "-f", "512", "-w", "2", "-r", "2", "--ms", "0.1"]
LARGE_PAGES = ["-b", "45056", "-e", "45056", "-w", "2", "-r", "2", "--ms", "0.1", "put_list_bw", "get_list_bw"]
ON_A_LAUNCH_OF_BLOCKS = {"put_bw", "put_rate"}  # rows that are also run with several blocks


def run(*words):
    job = subprocess.run([LAUNCHER, "-n", PES, PROGRAM, *words], capture_output=True, text=True, timeout=150, check=False)
    if job.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {job.returncode}\n{job.stdout}{job.stderr}")
    return job.stdout


def complain(what, found):
    sys.exit(f"{what}: {found}")


def main():
    lines = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    listed = {line.split()[0] for line in lines if not line.startswith(" ")}  # other lines continue a meaning
    document = os.path.join(DIRECTORY, f"perf.{os.getpid()}.json")
    try:
        table = run(*SMALL, "--json", document)
        with open(document, encoding="utf-8") as written:
            results = json.load(written)["results"]
    finally:
        if os.path.exists(document):
            os.remove(document)
    pages = json.loads(run(*LARGE_PAGES, "--json", "-"))["results"]
    if (missing := listed - {each["row"] for each in results + pages}):
        complain("rows that were not measured", missing)
    for each in results + pages:
        if not each["checked"] or each["wrong"] != 0:
            complain("data", each)
        # process_memory can be 0, because a process that already has enough pages does not grow.
        if not each["lowest"] <= each["median"] <= each["highest"] or (each["median"] <= 0 and each["row"] != "process_memory"):
            complain("figures", each)
    if len(table.splitlines()) < len(results):
        complain("the table is shorter than what was measured", table)

    blocks = json.loads(run(*SMALL, "--blocks", "1,3", "--json", "-", *ON_A_LAUNCH_OF_BLOCKS))["results"]
    if {(each["row"], each["blocks"]) for each in blocks} != {(name, n) for name in ON_A_LAUNCH_OF_BLOCKS for n in (1, 3)}:
        complain("rows by blocks", blocks)
    last = int(PES) - 1
    if "| put_lat | thread | 1 | 1 | 8 |" not in run(*SMALL, "--pair", f"{last},0", "--markdown", "put_lat"):
        complain("Markdown", "no such line")
    for wrong in (["no_such_row"], ["--pair", f"0,{PES}", "put_lat"]):
        if subprocess.run([LAUNCHER, "-n", PES, PROGRAM, *wrong], capture_output=True, check=False, timeout=60).returncode == 0:
            complain("accepted", wrong)


main()
