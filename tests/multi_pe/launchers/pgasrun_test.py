#!/usr/bin/env python3
"""Tests how pgasrun starts, serves and ends jobs.

Usage: pgasrun_test.py PGASRUN PROBE FOREIGN VERSION

FOREIGN is a program that is linked to another OpenSHMEM. VERSION is the version of pgas.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

PGASRUN = PROBE = FOREIGN = VERSION = ""
SOON = 30  # seconds, on a busy machine; a job with a wait that it must not have would take a minute


class Job:
    """A run of pgasrun. All its descendants have a mark in their environment."""

    def __init__(self, *arguments: str, stdin: str = "", wait: bool = True):
        self.mark = uuid.uuid4().hex
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [PGASRUN, *arguments], env=os.environ | {"PGASRUN_TEST_MARK": self.mark}, text=True,
            errors="replace",  # the output of a program may contain any bytes
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if wait:
            self.finish(stdin)

    def finish(self, stdin: str = "") -> None:
        try:
            self.out, self.err = self.process.communicate(stdin, timeout=120)
        finally:
            self.process.kill()
        self.seconds = time.monotonic() - self.began
        self.status = self.process.returncode

    def pids(self) -> list[int]:
        """Returns the processes of this job that are alive now, except pgasrun."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                marked = self.mark.encode() in (folder / "environ").read_bytes()
            except OSError:
                continue
            if marked and int(folder.name) != self.process.pid:
                found.append(int(folder.name))
        return found

    def wait_for_pids(self, count: int) -> None:
        deadline = time.monotonic() + 20
        while len(self.pids()) != count and time.monotonic() < deadline:
            time.sleep(0.02)


class Pgasrun(unittest.TestCase):
    def check(self, job: Job, status: int) -> Job:
        self.assertEqual(job.status, status, job.out + job.err)
        self.assertEqual(job.pids(), [], "processes were left behind")
        return job

    @staticmethod
    def pes_of(job: Job) -> set[int]:
        """Returns the children of pgasrun that have not ended."""
        children = set()
        for pid in job.pids():
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == job.process.pid and fields[0] != "Z":
                children.add(pid)
        return children

    def test_exchange(self):
        for n in (1, 2, 4, 9):
            job = self.check(Job("-n", str(n), PROBE, str(n)), 0)
            lines = sorted(job.out.splitlines())
            self.assertEqual(lines, sorted(f"ok {r}/{n} via pgasrun, rank {r} of {n}" for r in range(n)))

    def test_programs_that_never_join(self):
        job = self.check(Job("-n", "3", "sh", "-c", "echo $PGAS_RANK of $PGAS_SIZE"), 0)
        self.assertEqual(sorted(job.out.splitlines()), ["0 of 3", "1 of 3", "2 of 3"])

    def test_options_after_the_program_are_its_own(self):
        self.assertEqual(self.check(Job("-n", "1", "echo", "--timeout", "-n"), 0).out, "--timeout -n\n")
        self.assertEqual(self.check(Job("-n", "1", "--", "printf", "%s", "-n"), 0).out, "-n")

    def test_tagged_output(self):
        job = self.check(Job("-n", "3", "--tag-output", "sh", "-c", "echo a; echo b >&2; printf c"), 0)
        self.assertEqual(sorted(job.out.splitlines()), ["[0] a", "[0] c", "[1] a", "[1] c", "[2] a", "[2] c"])
        self.assertEqual(sorted(job.err.splitlines()), ["[0] b", "[1] b", "[2] b"])

    def test_tagged_output_is_complete(self):
        job = self.check(Job("-n", "2", "--tag-output", "seq", "100000"), 0)
        for rank in range(2):
            mine = [line[4:] for line in job.out.splitlines() if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [str(i) for i in range(1, 100001)])

    def test_a_reader_that_stops_holds_up_neither_time_limit_nor_signals(self):
        for limit, number, status in (("0.5", None, 124), ("60", signal.SIGTERM, 128 + signal.SIGTERM)):
            job = Job("-n", "2", "--timeout", limit, "--tag-output", "yes", wait=False)
            if number:
                job.wait_for_pids(2)
                time.sleep(0.5)  # waits until all pipes are full
                job.process.send_signal(number)
            try:
                job.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                job.process.kill()
            job.finish()
            self.check(job, status)

    def test_a_reader_that_stops_holds_up_no_world(self):
        job = Job("-n", "2", "--tag-output", "sh", "-c", f"yes & sleep 1; exec {PROBE} 2 > /dev/null", wait=False)
        self.addCleanup(job.process.kill)
        job.wait_for_pids(6)
        job.wait_for_pids(0)
        self.assertEqual(job.pids(), [], "the PEs wait for the reader")
        job.finish()
        self.check(job, 0)

    def test_that_nobody_reads_is_told_to_the_pes_and_ends_no_pgasrun(self):
        job = Job("-n", "2", "--tag-output", "sh", "-c", "setsid sleep 60 & yes; exit 5", wait=False)
        job.process.stdout.readline()
        job.process.stdout.close()
        job.finish()
        self.check(job, 5)
        job = Job("-n", "1", "sh", "-c", "read line; exit 7", wait=False)
        job.process.stderr.close()
        job.finish("go on\n")
        self.check(job, 7)

    def test_only_pe_0_reads_the_input(self):
        job = self.check(Job("-n", "3", "cat", stdin="to whom it may concern\n"), 0)
        self.assertEqual(job.out, "to whom it may concern\n")

    def test_exit_status(self):
        job = self.check(Job("-n", "4", PROBE, "4", "exit", "2", "7"), 7)
        self.assertRegex(job.err, r"pgasrun: PE 2 \(pid \d+\) ended with exit status 7")
        self.assertEqual(job.err.count("PGAS-E0401: rank 2 of 4 is gone"), 3)
        self.assertLess(job.seconds, SOON)

    def test_of_several_that_have_ended_the_first_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            script = ('if test $PGAS_RANK = 2; then file=first status=9; else file=second status=1; fi; touch $0/started$PGAS_RANK; '
                      'until test -e $0/$file; do sleep 0.02; done; exit $status')
            job = Job("-n", "3", "sh", "-c", script, folder, wait=False)
            while len(os.listdir(folder)) < 3:
                time.sleep(0.02)
            job.process.send_signal(signal.SIGSTOP)
            alive = self.pes_of(job)
            pathlib.Path(folder, "first").touch()
            while self.pes_of(job) == alive:
                time.sleep(0.02)
            pathlib.Path(folder, "second").touch()
            job.wait_for_pids(0)
            job.process.send_signal(signal.SIGCONT)
            job.finish()
        self.check(job, 9)
        self.assertRegex(job.err, r"pgasrun: PE 2 \(pid \d+\) ended with exit status 9")
        self.assertEqual(job.err.count("pgasrun: PE"), 1)

    def test_killed(self):
        job = self.check(Job("-n", "4", PROBE, "4", "kill", "1"), 128 + signal.SIGKILL)
        self.assertRegex(job.err, r"pgasrun: PE 1 \(pid \d+\) was killed by signal 9 \(Killed\)")
        self.assertEqual(len(re.findall(r"PGAS-E0401: rank 1 of 4 is gone: .* was killed by signal 9", job.err)), 3)

    def test_one_that_ends_without_joining(self):
        job = self.check(Job("-n", "3", PROBE, "3", "absent", "1"), 1)
        self.assertEqual(job.err.count("PGAS-E0401: rank 1 of 3 is gone: its process, pid"), 2)
        self.assertLess(job.seconds, SOON)

    def test_abort(self):
        job = self.check(Job("-n", "3", PROBE, "3", "abort", "2"), 1)
        self.assertIn("pgasrun: PE 2 aborted the job: as the test wants", job.err)
        self.assertEqual(job.err.count("PGAS-E0402: rank 2 of 3 aborted the job: as the test wants"), 3)

    def test_those_who_never_joined_are_ended_too(self):
        script = "test $PGAS_RANK = 1 && exit 9; exec sleep 60"
        job = self.check(Job("-n", "2", "--grace-period", "0.2", "sh", "-c", script), 9)
        self.assertLess(job.seconds, SOON)

    def test_grace_period_lets_the_others_finish(self):
        job = self.check(Job("-n", "3", "--grace-period", "20", PROBE, "3", "wait", "0", "0.5"), 3)
        self.assertEqual(job.out.count("finished in peace"), 2)

    def test_the_former_spelling_of_the_grace_period_warns_once(self):
        job = self.check(Job("-n", "2", "--grace", "20", "true"), 0)
        self.assertEqual(job.err.count("--grace is a former spelling; give --grace-period instead"), 1)

    def test_grace_period_ends(self):
        job = self.check(Job("-n", "3", "--grace-period", "0.3", PROBE, "3", "wait", "0", "50"), 3)
        self.assertNotIn("finished in peace", job.out)
        self.assertLess(job.seconds, SOON)

    def test_those_deaf_to_sigterm_are_killed(self):
        job = self.check(Job("-n", "3", "--grace-period", "0.2", PROBE, "3", "hang", "0"), 3)
        self.assertGreater(job.seconds, 2)
        self.assertLess(job.seconds, SOON)

    def test_timeout(self):
        job = self.check(Job("-n", "2", "--timeout", "0.5", "sleep", "60"), 124)
        self.assertIn("ran longer than the 0.5 s that --timeout allows", job.err)
        self.assertLess(job.seconds, SOON)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            script = f"trap 'echo heard; exit 0' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
            job = Job("-n", "2", "bash", "-c", script, wait=False)
            for _ in range(2):
                self.assertEqual(job.process.stdout.readline(), "ready\n")
            job.process.send_signal(number)
            job.finish()
            self.check(job, 128 + number)
            self.assertEqual(job.out.count("heard"), 2)

    def test_a_second_signal_is_not_negotiable(self):
        script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        job = Job("-n", "2", "--grace-period", "60", "bash", "-c", script, wait=False)
        for _ in range(2):
            self.assertEqual(job.process.stdout.readline(), "ready\n")
        job.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        self.assertGreaterEqual(len(job.pids()), 2)
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.check(job, 128 + signal.SIGTERM)
        self.assertLess(job.seconds, SOON)

    def test_nothing_outlives_a_killed_pgasrun(self):
        job = Job("-n", "3", "sleep", "60", wait=False)
        job.wait_for_pids(3)
        self.assertEqual(len(job.pids()), 3)
        job.process.kill()
        job.finish()
        job.wait_for_pids(0)
        self.check(job, -signal.SIGKILL)

    def test_what_pes_leave_behind_is_ended(self):
        self.check(Job("-n", "2", PROBE, "2", "orphan"), 0)
        self.check(Job("-n", "2", "sh", "-c", "sleep 60 & exit 0"), 0)

    def test_what_joins_when_its_world_is_over_is_turned_away(self):
        with tempfile.TemporaryDirectory() as folder:
            late = f"until test -e {folder}/over; do sleep 0.05; done; {PROBE} 2; touch {folder}/late"
            pe_1 = f"{PROBE} 2; touch {folder}/over; until test -e {folder}/late; do sleep 0.05; done"
            job = self.check(Job("-n", "2", "--timeout", "100", "sh", "-c",
                                 f"if test $PGAS_RANK = 0; then ({late}) & else {pe_1}; fi"), 0)
        self.assertIn("PGAS-E0101: pgasrun refused this process", job.err)

    def test_wrong_usage(self):
        for arguments, said in (
            (("-n", "0", "true"), "4096"),
            (("-n", "4097", "true"), "4096"),
            (("-n", "two", "true"), "two"),
            (("true",), "required"),
            (("-n", "2"), "program"),
            (("-n", "2", "--bogus", "true"), "--bogus"),
            (("-n", "4", "-N", "2", "true"), "mpirun or srun"),
            (("-n", "2", "-x", "=1", "true"), "-x NAME=VALUE"),
        ):
            self.assertIn(said, self.check(Job(*arguments), 2).err)

    def test_version(self):
        self.assertEqual(self.check(Job("--version"), 0).out, f"pgasrun (pgas) {VERSION}\n")

    def test_what_mpirun_calls_the_number_of_pes(self):
        for arguments in (("-np", "3"), ("-N", "3"), ("-n", "3", "-N", "4"), ("--timeout", "60", "-np", "3")):
            job = self.check(Job(*arguments, "sh", "-c", "echo $0 $PGAS_SIZE", "-np"), 0)
            self.assertEqual(job.out, "-np 3\n" * 3)

    def test_variables_for_the_pes(self):
        script = 'test "$A" = "1 = one" && test "$PGASRUN_TEST_MARK" && echo $B'
        job = self.check(Job("-x", "A=1 = one", "-n", "2", "-x", "PGASRUN_TEST_MARK", "-x", "B=", "sh", "-c", script), 0)
        self.assertEqual(job.out, "\n\n")

    def test_other_hosts_are_left_to_mpirun_and_srun(self):
        for option in ("--hostfile", "-hostfile", "--machinefile", "--host", "-host", "-H"):
            job = self.check(Job(option, "somewhere", "-n", "2", "true"), 2)
            self.assertRegex(job.err, "'somewhere': pgasrun starts PEs on this host only.*mpirun.*srun")

    def test_programs_of_another_openshmem_are_told_apart(self):
        job = self.check(Job("-n", "2", FOREIGN, "stay"), 0)
        self.assertEqual(len(job.err.splitlines()), 1)
        self.assertRegex(job.err, "^pgasrun: warning: .* is linked to liboshmem.so.40, not to pgas.*oshcc")
        self.assertEqual(self.check(Job("-n", "2", PROBE, "2"), 0).err, "")

    def test_damaged_programs_are_no_harder_to_start(self):
        whole = pathlib.Path(FOREIGN).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            places = range(0, 64 + 56 * 16, 8)  # the header and the program header table
            for some in (places[i:i + 8] for i in range(0, len(places), 8)):
                jobs = []
                for at in some:
                    damaged = pathlib.Path(folder, f"at{at}")
                    damaged.write_bytes(whole[:at] + b"\xf7" * 8 + whole[at + 8:])
                    damaged.chmod(0o755)
                    jobs.append(Job("-n", "1", "--timeout", "60", str(damaged), "stay", wait=False))
                for job in jobs:
                    job.finish()
                    self.assertNotIn(job.status, (124, -signal.SIGSEGV, -signal.SIGABRT), job.err)

    def test_programs_that_cannot_be_started(self):
        for program, said in (
            ("no-such-program", "not on PATH"),
            ("./no-such", "Check the path"),
            ("/etc/passwd", "chmod +x"),
        ):
            job = self.check(Job("-n", "2", program), 127)
            self.assertIn(f"cannot start '{program}'", job.err)
            self.assertIn(said, job.err)


if __name__ == "__main__":
    PGASRUN, PROBE, FOREIGN, VERSION = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1])
