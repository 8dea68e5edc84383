#!/usr/bin/env python3
"""Tests pgas-info --serve: it serves exact counts of all jobs of the user, whatever clients do, and does not harm a
job.

Usage: metrics_test.py PGASRUN COUNTED INFO [--proxied] [NAMES OF TESTS]

COUNTED executes known operations and waits until a file exists. INFO is pgas-info. With --proxied, PEs are also reached
by proxies.
"""

import concurrent.futures
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

from stranger_test import listeners

PGASRUN = COUNTED = INFO = ""
WAYS = [("direct", {})]
LONG = 60  # seconds, the limit on a busy machine
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ([-+.e0-9]+)")


class Job:
    """PEs that have executed their operations and wait."""

    def __init__(self, pes: int, environment: dict[str, str] | None = None, launcher: bool = True):
        self.folder = tempfile.TemporaryDirectory()
        self.end = os.path.join(self.folder.name, "end")
        command = [PGASRUN, "-n", str(pes), COUNTED, self.end] if launcher else [COUNTED, self.end]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, env=os.environ | (environment or {}), text=True, stdout=subprocess.PIPE, stderr=self.log)
        self.pids: dict[int, int] = {}
        while len(self.pids) < pes and (line := self.process.stdout.readline()):
            if line.startswith("ready"):
                self.pids[int(line.split()[1])] = int(line.split()[2])
        if len(self.pids) < pes:
            raise RuntimeError(f"the job did not begin: {self.said()}")

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def finish(self) -> int:
        """Lets the PEs leave. Returns the exit status of the job."""
        with open(self.end, "w", encoding="utf-8"):
            pass
        try:
            return self.process.wait(timeout=2 * LONG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.finish()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()


class Exporter:
    """pgas-info --serve, on a free port."""

    def __init__(self, where: str = ":0", environment: dict[str, str] | None = None, user: int | None = None):
        self.process = subprocess.Popen([INFO, "--serve", where], env=os.environ | (environment or {}), user=user, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        said = self.process.stdout.readline()
        match = re.search(r"http://.*:(\d+)/metrics$", said)
        assert match, (said, self.process.communicate(timeout=LONG))
        self.port = int(match[1])

    def page(self, host: str = "127.0.0.1") -> str:
        with urllib.request.urlopen(f"http://{host}:{self.port}/metrics", timeout=LONG) as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", answer.headers
            return answer.read().decode()

    def samples(self, pids) -> dict[str, float]:
        """Returns the samples of the world that has a PE with one of the pids, without the label `world`."""
        page = self.page()
        [world] = {match[1] for match in re.finditer(r'pgas_pe_info\{world="([0-9a-f]+)",.*pid="(\d+)"', page) if int(match[2]) in pids}
        found = {}
        for line in page.splitlines():
            if line.startswith("#"):
                continue
            match = SAMPLE.fullmatch(line)
            assert match, line
            label = f'world="{world}",'
            if match[2] and match[2].startswith(label):
                found[f"{match[1]}{{{match[2].removeprefix(label)}}}"] = float(match[3])
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        _, self.errors = self.process.communicate(timeout=LONG)


def raw(port: int, words: bytes) -> bytes:
    """Sends the bytes to the server. Returns everything that the server sends."""
    with socket.create_connection(("127.0.0.1", port), timeout=LONG) as wire:
        try:
            wire.sendall(words)
        except OSError:
            pass  # the server has answered, and does not read any more
        answer = b""
        try:
            while more := wire.recv(65536):
                answer += more
        except ConnectionResetError:
            pass
        return answer


class Metrics(unittest.TestCase):
    def test_one_page_has_what_every_pe_counted(self):
        for route, environment in WAYS:
            with self.subTest(route=route), Job(4, environment) as job:
                with Exporter() as exporter:
                    found = exporter.samples(job.pids.values())
                for pe in range(4):
                    self.check_counts({name: value for name, value in found.items() if f'pe="{pe}"' in name.split("peer=")[0]}, pe, route, job)
                self.assertEqual(job.finish(), 0, job.said())
                self.assertEqual((job.said(), exporter.errors), ("", ""))

    def check_counts(self, found: dict[str, float], pe: int, route: str, job: Job):
        info = [name for name in found if name.startswith("pgas_pe_info{")]
        self.assertEqual(len(info), 1)
        self.assertRegex(info[0], rf'pe="{pe}",pes="4",host="[^"]+",pid="{job.pids[pe]}",device="')
        for peer in range(4):
            way = "direct" if peer == pe else route
            labels = f'pe="{pe}",peer="{peer}",route="{way}",by="host"'
            expected = {"put": peer + 1, "get": 2, "atomic": 5, "signal": 1}
            for kind, count in expected.items():
                self.assertEqual(found.pop(f'pgas_operations_total{{{labels},kind="{kind}"}}'), count)
            for kind, count in {"put": 80 * (peer + 1), "get": 80}.items():
                self.assertEqual(found.pop(f'pgas_operation_bytes_total{{{labels},kind="{kind}"}}'), count)
            if way == "proxied":
                expected = {"put": peer + 1, "get": 2, "atomic": 6}  # for the proxy, a signal without data is an update
                for kind, count in expected.items():
                    self.assertEqual(found.pop(f'pgas_proxy_operations_total{{pe="{pe}",peer="{peer}",kind="{kind}"}}'), count)
                for kind, count in {"put": 80 * (peer + 1), "get": 80}.items():
                    self.assertEqual(found.pop(f'pgas_proxy_operation_bytes_total{{pe="{pe}",peer="{peer}",kind="{kind}"}}'), count)
        more = [name for name in found if re.match(r"pgas_(proxy_)?operation(s|_bytes)_total", name)]
        self.assertEqual(more, [])
        here = f'{{pe="{pe}"}}'
        self.assertEqual(found["pgas_pe_up" + here], 1)
        self.assertEqual(found[f'pgas_calls_total{{pe="{pe}",call="pgas::barrier_all"}}'], 3)
        self.assertEqual(found[f'pgas_calls_total{{pe="{pe}",call="pgas::allocate"}}'], 2)
        self.assertEqual(found["pgas_proxy_commands_total" + here] > 0, route == "proxied")
        self.assertGreaterEqual(found["pgas_heap_mapped_bytes" + here], found["pgas_heap_used_bytes" + here])
        self.assertGreaterEqual(found["pgas_heap_allocations" + here], 2)
        for name in ("pgas_errors_total", "pgas_warnings_total", "pgas_world_failed", "pgas_heartbeats_sent_total", "pgas_peers_left_out"):
            self.assertEqual(found[name + here], 0, name)

    def test_several_jobs_are_on_one_page_and_leave_it(self):
        with Exporter() as exporter, Job(2) as first, Job(1, launcher=False) as second:
            self.assertEqual(exporter.samples(first.pids.values())['pgas_operations_total{pe="1",peer="0",route="direct",by="host",kind="atomic"}'], 5)
            alone = exporter.samples(second.pids.values())
            self.assertEqual(alone['pgas_operations_total{pe="0",peer="0",route="direct",by="host",kind="atomic"}'], 5)
            self.assertEqual(second.finish(), 0, second.said())
            time.sleep(1.1)  # a page is served again during this time
            self.assertNotIn(f'pid="{second.pids[0]}"', exporter.page())
            self.assertIn(f'pid="{first.pids[1]}"', exporter.page())

    def test_sockets_in_a_directory_are_found(self):
        with tempfile.TemporaryDirectory() as folder, Job(2, {"PGAS_SOCKET_DIR": folder}) as job:
            with Exporter(environment={"PGAS_SOCKET_DIR": folder}) as exporter:
                self.assertEqual(exporter.samples(job.pids.values())['pgas_pe_up{pe="1"}'], 1)

    def test_idle_time_passes(self):
        with Job(1) as job, Exporter() as exporter:
            end = time.monotonic() + LONG
            idle = 0.0
            while idle < 2 and time.monotonic() < end:
                time.sleep(0.2)
                idle = exporter.samples(job.pids.values())['pgas_idle_seconds{pe="0"}']
            self.assertGreaterEqual(idle, 2)

    def test_a_pe_that_is_stopped_is_down_and_delays_the_others_little(self):
        with Job(3) as job, Exporter() as exporter:
            self.assertEqual(exporter.samples(job.pids.values())['pgas_pe_up{pe="1"}'], 1)
            os.kill(job.pids[1], signal.SIGSTOP)
            try:
                time.sleep(1.1)
                # The server still answers when more connections wait than the queue of the PE's socket holds.
                for _ in range(3):
                    begin = time.monotonic()
                    found = exporter.samples(job.pids.values())
                    self.assertLess(time.monotonic() - begin, LONG / 2)
                    self.assertEqual([found[f'pgas_pe_up{{pe="{pe}"}}'] for pe in range(3)], [1, 0, 1])
                    self.assertNotIn('pgas_errors_total{pe="1"}', found)
                    self.assertIn('pgas_errors_total{pe="2"}', found)
                    self.fill_queue_of(job.pids[1])
                    time.sleep(1.1)
            finally:
                os.kill(job.pids[1], signal.SIGCONT)
            end = time.monotonic() + LONG
            while time.monotonic() < end and exporter.samples(job.pids.values())['pgas_pe_up{pe="1"}'] != 1:
                time.sleep(0.2)
            self.assertEqual(exporter.samples(job.pids.values())['pgas_pe_up{pe="1"}'], 1)
            self.assertEqual(job.finish(), 0, job.said())

    def fill_queue_of(self, pid: int):
        """Connects to the PE until its socket accepts no more connections."""
        inodes = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        with open(f"/proc/{pid}/net/unix", encoding="utf-8") as table:
            names = [line.split()[-1] for line in table if "@pgas-why-" in line and f"socket:[{line.split()[6]}]" in inodes]
        for _ in range(200):
            wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            wire.setblocking(False)
            try:
                wire.connect("\0" + names[0].removeprefix("@"))
            except BlockingIOError:
                return
            finally:
                wire.close()
        self.fail("the queue is never full")

    def test_many_scrapers_get_whole_pages_and_cost_the_pes_a_question_a_second(self):
        counted = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        counted.bind("\0pgas-why-00000000deadbeef-0")
        counted.listen(64)
        questions = []

        def count():
            while True:
                wire, _ = counted.accept()
                with wire:
                    if wire.recv(100) != b"metrics":
                        return
                questions.append(time.monotonic())

        counting = threading.Thread(target=count)
        counting.start()
        with Job(2) as job, Exporter() as exporter:
            begin = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(24) as pool:
                pages = list(pool.map(lambda _: exporter.page(), range(200)))
            lasted = time.monotonic() - begin
            self.assertTrue(all(f'pid="{pid}"' in page for page in pages for pid in job.pids.values()))
            self.assertTrue(all(page.endswith("\n") for page in pages))
            self.assertEqual(job.finish(), 0, job.said())
            self.assertEqual(job.said(), "")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as last:
            last.connect("\0pgas-why-00000000deadbeef-0")
            last.send(b"end")
            counting.join(timeout=LONG)
        counted.close()
        self.assertLessEqual(len(questions), lasted + 1, questions)

    def test_garbage_is_refused_and_harms_nothing(self):
        answers = {
            b"\r\n\r\n": b"400", b"GET\r\n\r\n": b"400", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n": b"400",
            b"GET /metrics HTTP/3\r\n\r\n": b"400", b"GET / HTTP/1.1\r\n\r\n": b"404", b"GET /../etc/passwd HTTP/1.0\r\n\r\n": b"404",
            b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc": b"405", b"x" * 100000: b"431",
            b"GET /metrics HTTP/1.1\r\n" + b"A: " + b"b" * 9000: b"431",
        }
        with Exporter() as exporter:
            for words, status in answers.items():
                with self.subTest(words=words[:40]):
                    answer = raw(exporter.port, words)
                    self.assertTrue(answer.startswith(b"HTTP/1.0 " + status), answer[:100])
            for _ in range(50):
                with socket.create_connection(("127.0.0.1", exporter.port), timeout=LONG) as wire:
                    # closes the connection without waiting for an answer
                    wire.sendall(os.urandom(random.randrange(1, 6000)))
            self.assertIn("pgas_worlds ", exporter.page())
        self.assertEqual(exporter.errors, "")

    def test_sockets_that_are_no_pe_harm_nothing(self):
        """A program of this user uses a PE's name for its socket, and sends invalid data or nothing."""
        listening = []
        for number in range(4):
            listening.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            listening[-1].bind(f"\0pgas-why-00000000deadbeef-{number}")
            listening[-1].listen(8)
        words = [b"{", b'{"pe":0}', b"\xff" * 1000]

        def answer(number: int):
            wire, _ = listening[number].accept()
            self.assertEqual(wire.recv(100), b"metrics")
            wire.sendall(words[number])
            return wire

        with Job(1) as job, Exporter() as exporter, concurrent.futures.ThreadPoolExecutor() as pool:
            answers = [pool.submit(answer, number) for number in range(3)]
            page = exporter.page()
            for number in range(4):
                self.assertIn(f'pgas_pe_up{{world="00000000deadbeef",pe="{number}"}} 0', page)
            self.assertIn(f'pid="{job.pids[0]}"', page)
            for each in answers:
                each.result(timeout=LONG).close()
        self.assertEqual(exporter.errors, "")
        for each in listening:
            each.close()

    @unittest.skipUnless(os.geteuid() == 0, "only root can become two other users")
    def test_pes_and_sockets_of_other_users_are_not_on_the_page(self):
        impostor = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        os.seteuid(65534)
        try:
            impostor.bind("\0pgas-why-00000000deadbeef-7")
            impostor.listen(8)
        finally:
            os.seteuid(0)
        with Job(1) as job, Exporter(user=65533) as exporter:
            page = exporter.page()
            self.assertNotIn(f'pid="{job.pids[0]}"', page)
            self.assertNotIn("deadbeef", page)
        impostor.close()

    def test_a_connection_that_says_nothing_is_closed_and_delays_nobody(self):
        with Exporter() as exporter:
            with socket.create_connection(("127.0.0.1", exporter.port), timeout=LONG) as silent:
                silent.sendall(b"GET /metr")
                self.assertIn("pgas_worlds ", exporter.page())
                self.assertEqual(silent.recv(100), b"")
            wires = [socket.create_connection(("127.0.0.1", exporter.port), timeout=LONG) for _ in range(60)]
            self.assertIn("pgas_worlds ", exporter.page())
            for wire in wires:
                wire.close()

    def test_connections_that_have_their_answer_make_room_for_new_ones(self):
        request = b"GET /metrics HTTP/1.1\r\n\r\n"

        def answer(wire: socket.socket) -> bytes:
            wire.sendall(request)
            return b"".join(iter(lambda: wire.recv(65536), b""))

        with Exporter() as exporter:
            answered = [socket.create_connection(("127.0.0.1", exporter.port), timeout=LONG) for _ in range(32)]
            for wire in answered:
                self.assertIn(b"pgas_worlds ", answer(wire))  # the connection stays open
            new = [socket.create_connection(("127.0.0.1", exporter.port), timeout=LONG) for _ in range(8)]
            for wire in new:
                self.assertIn(b"pgas_worlds ", answer(wire))
            for wire in answered + new:
                wire.close()

    def test_a_port_that_is_taken_or_none_is_an_error(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for where, said in ((f":{port}", f"cannot listen at 127.0.0.1:{port}: Address already in use"), ("9400", "'9400' is no address to serve at"),
                                ("192.0.2.1:9400", "Cannot assign requested address")):
                done = subprocess.run([INFO, "--serve", where], text=True, capture_output=True, timeout=LONG, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(said, done.stderr)

    def test_only_the_loopback_unless_an_address_is_asked_for(self):
        # All addresses in 127/8 are on the loopback interface, but the server listens only at 127.0.0.1.
        with Exporter() as exporter:
            with self.assertRaises(OSError):
                socket.create_connection(("127.0.0.2", exporter.port), timeout=LONG).close()
        with Exporter("0.0.0.0:0") as exporter:
            self.assertIn("pgas_worlds ", exporter.page("127.0.0.2"))

    def test_the_former_setting_is_a_warning_that_names_the_command(self):
        with Job(1, {"PGAS_METRICS": ":9400"}, launcher=False) as job:
            self.assertEqual(job.finish(), 0)
            self.assertIn("PGAS_METRICS is no option any more and is ignored: `pgas-info --serve :9400`", job.said())

    def test_pgas_info_prints_the_counts_of_a_job(self):
        for route, environment in WAYS:
            with self.subTest(route=route), Job(4, environment) as job:
                done = subprocess.run([INFO, "--stats", str(job.pids[2]), "--json"], text=True, capture_output=True, timeout=LONG, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                jobs = json.loads(done.stdout)
                self.assertEqual(len(jobs), 1)
                self.assertEqual([one["pid"] for one in jobs[0]["pes"]], [job.pids[pe] for pe in range(4)])
                self.assertEqual(sorted(one["pe"] for one in jobs[0]["answers"]), [0, 1, 2, 3])
                for one in jobs[0]["answers"]:
                    of = {"direct": range(4), "proxied": []} if route == "direct" else \
                        {"direct": [one["pe"]], "proxied": [pe for pe in range(4) if pe != one["pe"]]}
                    for name, peers in of.items():
                        puts = sum(pe + 1 for pe in peers)
                        self.assertEqual(one[name], {"puts": puts, "put_bytes": 80 * puts, "gets": 2 * len(peers),
                                                     "get_bytes": 80 * len(peers), "atomics": 5 * len(peers), "signals": len(peers)})
                    self.assertEqual((one["errors"], one["failed"], one["running"]), (0, False, ""))
                table = subprocess.run([INFO, "--stats", jobs[0]["job"][:10]], text=True, capture_output=True, timeout=LONG, check=False).stdout
                lines = table.splitlines()
                self.assertEqual(lines[0], f"job {jobs[0]['job']}: 4 PEs")
                rows = [line for line in lines[2:] if re.match(r" {0,3}\d+ ", line)]  # leaves out the remarks
                self.assertEqual(len(rows), 4, table)
                if route == "direct":
                    self.assertRegex(rows[0], r"^   0     42   1.1K       0      0 ")

    def test_a_world_of_one_answers_too(self):
        with Job(1, launcher=False) as job:
            done = subprocess.run([INFO, "--stats", str(job.pids[0])], text=True, capture_output=True, timeout=LONG, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(": 1 PE\n", done.stdout)

    def test_pgas_info_says_where_there_is_no_such_job(self):
        done = subprocess.run([INFO, "--stats", "0123456789abcdef"], text=True, capture_output=True, timeout=LONG, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no job '0123456789abcdef' of this user answers on this host", done.stderr)

    def test_a_pe_listens_at_no_port(self):
        with Job(2) as job:
            self.assertEqual([port for pid in job.pids.values() for _, _, port in listeners(pid)], [])


if __name__ == "__main__":
    PGASRUN, COUNTED, INFO, *rest = sys.argv[1:]
    if "--proxied" in rest:
        rest.remove("--proxied")
        WAYS.append(("proxied", {"PGAS_P2P": "0"}))
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)
