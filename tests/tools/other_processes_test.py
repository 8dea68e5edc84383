"""Tests pgas-info and pgas-why with sockets that have the names of exporters and of jobs, but whose processes belong to
another user or send without end. The tools must continue, and report the problem.

    other_processes_test.py DIRECTORY_OF_TOOLS
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src/host/share/share_message.hpp"
VERSION = re.search(r"current_version = (\d+);", SOURCE.read_text(encoding="utf-8"))[1]
TIMEOUT = 120
OTHER = 65533
OURS = 65534
MOST = 4 << 20  # the limit in bytes of the list of one exporter

# Sends the same packets, given as hexadecimal numbers, to every client. With "repeat", it sends the last packet
# repeatedly.
SPEAKER = r'''
import os, select, socket, sys
user, repeat = int(sys.argv[1]), sys.argv[2] == "repeat"
names, packets = sys.argv[3].split(","), [bytes.fromhex(word) for word in sys.argv[4:]]
if user != os.geteuid():
    os.setgroups([]); os.setgid(user); os.setuid(user)
listeners = []
for name in names:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.bind("\0" + name)
    one.listen()
    listeners.append(one)
print("listens", flush=True)
while True:
    for one in select.select(listeners, [], [])[0]:
        to, _ = one.accept()
        to.settimeout(5)
        try:
            to.recv(4096)
            for packet in packets:
                to.send(packet)
            while repeat:
                to.send(packets[-1])
        except OSError:
            pass
        to.close()
'''


@contextlib.contextmanager
def speaker(names, packets, user=None, repeat=False):
    command = [sys.executable, "-c", SPEAKER, str(os.geteuid() if user is None else user), "repeat" if repeat else "once", ",".join(names)]
    with subprocess.Popen([*command, *(packet.hex() for packet in packets)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "listens\n"
            yield
        finally:
            process.kill()


def part_of_list(text):
    """Returns a packet of an exporter that has more to send (share_reply)."""
    head = b"PGSR" + int(VERSION).to_bytes(2, "little") + (2).to_bytes(2, "little") + bytes(4) + len(text).to_bytes(4, "little") + bytes(24)
    assert len(head) == 40
    return head + text


class Endless(unittest.TestCase):
    def test_a_list_without_an_end_is_cut_and_said_to_be(self):
        name = f"pgas-share-{os.getpid()}-endless"
        with speaker([name], [part_of_list(b"process 1 exports \x1b[31m" + b"x" * 4000 + b"\n")], repeat=True):
            began = time.monotonic()
            done = subprocess.run([BIN / "pgas-info", "--shared"], capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        mine = [line for line in lines if line.endswith(b"x" * 4000)]
        self.assertGreater(len(mine), 1)
        self.assertLessEqual(sum(map(len, mine)), MOST + (64 << 10))
        self.assertNotIn(b"\x1b", done.stdout)
        said = [line for line in lines if b"endless" in line and b"the rest of its list is too long" in line]
        self.assertEqual(len(said), 1, lines[-3:])
        self.assertLess(time.monotonic() - began, 60)


@unittest.skipUnless(os.geteuid() == 0, "only root can start processes of two other users")
class AnotherUser(unittest.TestCase):
    JOB = "00000000deadbeef"
    FORGED = {"pe": 0, "pes": [{"pid": 1, "host": "\x1b[2Jevil", "here": False}]}

    def setUp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        os.chmod(folder, 0o755)
        for tool in ("pgas-info", "pgas-why", "pgas-perf", "pgasrun"):
            shutil.copy(BIN / tool, folder)
        self.folder = pathlib.Path(folder)
        self.user = {"user": OURS, "group": OURS, "extra_groups": [], "cwd": "/"}
        if "error while loading shared libraries" in self.run_as_us("pgas-info", "--shared").stderr:
            self.skipTest("the other user can't read the library")

    def run_as_us(self, tool, *words):
        return subprocess.run([self.folder / tool, *words], capture_output=True, text=True, timeout=TIMEOUT, check=False, **self.user)

    def forger(self, share):
        packets = [json.dumps(self.FORGED).encode(), b'{"pe":0,"waits":[],"calls":[]}']
        return speaker([f"pgas-why-{self.JOB}-0", share], packets, user=OTHER)

    def test_its_forged_job_and_exporter_are_not_believed_and_said_to_be_its(self):
        share = f"pgas-share-{os.getpid()}-evil\x1b[2J"
        with self.forger(share):
            shared = self.run_as_us("pgas-info", "--shared")
            whose = [line for line in shared.stdout.splitlines() if "evil" in line]
            self.assertEqual(shared.returncode, 0, shared.stderr)
            self.assertEqual(len(whose), 1, shared.stdout)
            self.assertIn(f"a process of user {OTHER}", whose[0])
            self.assertNotIn("\x1b", shared.stdout)
            for words in (("pgas-why", self.JOB), ("pgas-info", "--stats", self.JOB)):
                named = self.run_as_us(*words)
                self.assertEqual((named.returncode, named.stdout), (1, ""), words)
                self.assertIn(f"no job '{self.JOB}' of this user answers", named.stderr)

    def test_a_real_job_beside_it_is_shown(self):
        command = [self.folder / "pgasrun", "--grace-period", "60", "-n", "2", self.folder / "pgas-perf", "map", "--ms", "500", "-r", "100"]
        with self.forger(f"pgas-share-{os.getpid()}-evil"), subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PGAS_HEAP": "host"}, **self.user) as job:
            try:
                job.stdout.readline()  # the PEs have joined
                stats = self.run_as_us("pgas-info", "--stats", "--json")
                self.assertEqual(stats.returncode, 0, stats.stderr)
                names = [one["job"] for one in json.loads(stats.stdout)]
                self.assertEqual((len(names), self.JOB in names), (1, False), names)
                why = self.run_as_us("pgas-why")
                self.assertEqual(why.returncode, 0, why.stderr)
                self.assertIn(names[0], why.stdout)
                for text in (stats.stdout, why.stdout):
                    self.assertNotIn("deadbeef", text)
                    self.assertNotIn("\x1b", text)
            finally:
                job.kill()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
