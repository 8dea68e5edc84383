"""pgas-doctor as a person uses it: in a terminal of 80 columns, in a pipe, stopped by Ctrl-C, with a wrong command line.

    look_test.py DOCTOR PGASRUN
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import jobs

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def environment(**more):
    return {name: value for name, value in os.environ.items() if not name.startswith(("PGAS_", "UCX_", "SLURM_"))} | {
        "PGAS_HEAP": "host", "TERM": "xterm"} | more


def lonely():
    """Starts a doctor that waits at a free port for a PE that never starts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": "0", "WORLD_SIZE": "2", "PGAS_JOIN_TIMEOUT": "60s"}


def in_terminal(words, columns, **variables):
    """Returns what a terminal shows, including standard error, and the exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    job = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment(**variables), close_fds=True,
                           start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    shown = b""
    try:
        deadline = time.monotonic() + jobs.LIMIT
        while time.monotonic() < deadline:
            if select.select([master], [], [], 1)[0]:
                try:
                    part = os.read(master, 65536)
                except OSError:  # the last process has closed the terminal
                    break
                if not part:
                    break
                shown += part
        return shown.decode(errors="replace").replace("\r\n", "\n"), job.wait(timeout=jobs.LIMIT)
    finally:
        job.kill()
        os.close(master)


def lines_of(shown):
    """Returns the lines as they are at the end, without progress and colour."""
    return [COLOUR.sub("", line.rsplit("\x1b[K", 1)[-1]) for line in shown.split("\n")]


def await_handler(pid):
    """Returns when the doctor has installed its signal handlers."""
    deadline = time.monotonic() + jobs.LIMIT
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            blocked = int(re.search(r"^SigBlk:\s*(\w+)", status.read(), re.MULTILINE).group(1), 16)
        if blocked & (1 << (signal.SIGINT - 1)):
            return
        time.sleep(0.05)


class Look(unittest.TestCase):
    def test_a_terminal_of_80_columns(self):
        shown, status = in_terminal([jobs.PGASRUN, "-n", "2", jobs.DOCTOR], 80, PGAS_P2P="0")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, COLOUR)
        self.assertIn("\r\x1b[K", shown, "no progress was shown")
        lines = lines_of(shown)
        self.assertLessEqual(max(map(len, lines)), 80, shown)
        self.assertTrue(lines[0].startswith("pgas-doctor "), shown)
        for word in ("means: ", "fix:   "):
            self.assertTrue(any(line.strip().startswith(word) for line in lines), shown)

    def test_without_colour(self):
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            shown, status = in_terminal([jobs.DOCTOR, "--quick"], 80, **variables)
            self.assertEqual(status, 0, shown)
            self.assertNotRegex(shown, COLOUR)

    def test_a_pipe(self):
        job = subprocess.run([jobs.DOCTOR], env=environment(), capture_output=True, text=True, timeout=jobs.LIMIT, check=False)
        self.assertEqual((job.returncode, job.stderr), (0, ""), job.stdout)
        self.assertNotIn("\x1b", job.stdout)
        self.assertLessEqual(max(map(len, job.stdout.splitlines())), 100, job.stdout)

    def test_a_reader_that_has_seen_enough(self):
        reader, writer = os.pipe()
        os.close(reader)
        job = subprocess.run([jobs.DOCTOR, "--quick"], env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True,
                             timeout=jobs.LIMIT, check=False)
        os.close(writer)
        self.assertEqual(job.stderr, "")
        self.assertIn(job.returncode, (0, -signal.SIGPIPE))

    def test_json(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "report.json")
            job = subprocess.run([jobs.DOCTOR, "--quick", "--json", name], env=environment(), capture_output=True, text=True,
                                 timeout=jobs.LIMIT, check=False)
            with open(name, encoding="utf-8") as file:
                document = json.load(file)
        self.assertTrue(job.stdout.startswith("pgas-doctor "), "the table is not there, too")
        self.assertEqual(list(document), ["schema", "pgas", "verdict", "pes", "hosts", "started", "rows", "pairs"])
        self.assertEqual(document["schema"], 1)
        for row in document["rows"]:
            self.assertEqual(list(row), ["name", "verdict", "pes", "found", "means", "fix"])
            self.assertIn(row["verdict"], ("ok", "unknown", "slow", "fails"))
            if row["verdict"] in ("slow", "fails"):
                self.assertTrue(row["found"] and row["means"] and row["fix"], row)

    def test_the_page_has_every_row(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "docs", "doctor.md")
        with open(page, encoding="utf-8") as file:
            documented = set(re.findall(r"^\| `([^`]+)` \|", file.read(), re.MULTILINE))
        found = set()
        for variables in ({}, {"PGAS_P2P": "0"}):
            found |= {row["name"] for row in jobs.Diagnosis(
                jobs.run(jobs.command([jobs.DOCTOR, "--json", "--quick"]), variables)).document["rows"]}
        self.assertEqual(found - documented, set(), "docs/doctor.md does not have them")

    def test_ctrl_c(self):
        for number, hears in ((signal.SIGINT, True), (signal.SIGTERM, False)):
            job = subprocess.Popen([jobs.DOCTOR], env=environment(**lonely()), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
            await_handler(job.pid)
            time.sleep(1)  # the process needs this time to begin its wait for the other PE
            if hears:
                os.killpg(job.pid, number)  # a terminal also sends the signal to the whole process group
            else:
                job.send_signal(number)
            out, err = job.communicate(timeout=30)
            self.assertEqual((job.returncode, out), (128 + number, ""), err)
            self.assertIn(f"stopped by signal {number.value} at: ", err)
            with self.assertRaises(ProcessLookupError, msg="a process is left"):
                os.killpg(job.pid, 0)

    def test_a_killed_doctor_leaves_no_process(self):
        job = subprocess.Popen([jobs.DOCTOR], env=environment(**lonely()), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
        await_handler(job.pid)
        time.sleep(1)
        job.kill()
        job.wait()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                os.killpg(job.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        self.fail("its worker is left")

    def test_a_pe_that_is_missing_has_a_row(self):
        found = jobs.Diagnosis(jobs.run([jobs.DOCTOR, "--json", "--quick"], lonely() | {"PGAS_JOIN_TIMEOUT": "2s"}))
        row = found.worst("launcher")
        self.assertEqual((row["verdict"], found.job.returncode), ("fails", 1), found.text)
        self.assertIn("PGAS-E0102", row["found"])
        self.assertIn("rank 1 of 2", row["found"])

    def test_a_pe_that_is_stopped_has_a_row(self):
        found = jobs.Diagnosis(jobs.run(jobs.command([jobs.DOCTOR, "--json"], 'trap "" TERM; kill -STOP $$'),
                                        {"PGAS_JOIN_TIMEOUT": "3s"}))
        row = found.worst("launcher")
        self.assertEqual(row and row["verdict"], "fails", found.text)
        self.assertIn("rank 1 of 2", row["found"])

    def test_wrong_command_lines(self):
        wrong = subprocess.run([jobs.DOCTOR, "--quik"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))


if __name__ == "__main__":
    jobs.DOCTOR, jobs.PGASRUN = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
