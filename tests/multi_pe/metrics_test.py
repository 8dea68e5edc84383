#!/usr/bin/env python3
"""What PGAS_METRICS serves: exact counts of a job, whoever else connects, and nothing that could harm the job.

Usage: metrics_test.py PGASRUN COUNTED INFO [--proxied] [NAMES OF TESTS]

COUNTED makes known operations and waits until a file is there, INFO is pgas-info. With --proxied PEs are reached by proxies, too.
"""

import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from stranger_test import listeners

PGASRUN = COUNTED = INFO = ""
WAYS = [("direct", {})]
LONG = 60  # seconds that a busy machine may take
SAMPLE = re.compile(r"([a-z_]+)\{(.*)\} ([-+.e0-9]+)")


def free_ports(count: int) -> int:
    """The first of `count` unused ports, below those that the kernel assigns."""
    for _ in range(1000):
        first = random.randrange(20000, 32000)
        held = []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in held:
                one.close()
    raise RuntimeError("no ports are free")


class Job:
    """PEs that have made their operations, and wait."""

    def __init__(self, pes: int, metrics: str, environment: dict[str, str] | None = None, launcher: bool = True):
        self.folder = tempfile.TemporaryDirectory()
        self.end = os.path.join(self.folder.name, "end")
        command = [PGASRUN, "-n", str(pes), COUNTED, self.end] if launcher else [COUNTED, self.end]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, env=os.environ | {"PGAS_METRICS": metrics} | (environment or {}), text=True,
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.pids: list[int] = []
        while len(self.pids) < pes and (line := self.process.stdout.readline()):
            if line.startswith("ready"):
                self.pids.append(int(line.split()[2]))
        if len(self.pids) < pes:
            raise RuntimeError(f"the job did not begin: {self.said()}")

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def finish(self) -> int:
        """Lets the PEs leave; the exit status of the job."""
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


def page_at(port: int, host: str = "127.0.0.1") -> str:
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=LONG) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", answer.headers
        return answer.read().decode()


def samples_of(page: str) -> dict[str, float]:
    found = {}
    for line in page.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            found[f"{match[1]}{{{match[2]}}}"] = float(match[3])
    return found


def raw(port: int, words: bytes) -> bytes:
    """All that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=LONG) as wire:
        try:
            wire.sendall(words)
        except OSError:
            pass  # it has answered, and reads no more
        answer = b""
        try:
            while more := wire.recv(65536):
                answer += more
        except ConnectionResetError:
            pass
        return answer


class Metrics(unittest.TestCase):
    def test_every_pe_serves_what_it_counted(self):
        for route, environment in WAYS:
            with self.subTest(route=route):
                first = free_ports(4)
                with Job(4, f":{first}", environment) as job:
                    for pe in range(4):
                        self.check_counts(samples_of(page_at(first + pe)), pe, route)
                    self.assertEqual(job.finish(), 0, job.said())
                    self.assertEqual(job.said(), "")

    def check_counts(self, found: dict[str, float], pe: int, route: str):
        info = [name for name in found if name.startswith("pgas_pe_info{")]
        self.assertEqual(len(info), 1)
        self.assertIn(f'pe="{pe}",pes="4",host="', info[0])
        for peer in range(4):
            way = "direct" if peer == pe else route
            labels = f'pe="{pe}",peer="{peer}",route="{way}",by="host"'
            expected = {"put": peer + 1, "get": 2, "atomic": 5, "signal": 1}
            for kind, count in expected.items():
                self.assertEqual(found.pop(f'pgas_operations_total{{{labels},kind="{kind}"}}'), count)
            for kind, count in {"put": 80 * (peer + 1), "get": 80}.items():
                self.assertEqual(found.pop(f'pgas_operation_bytes_total{{{labels},kind="{kind}"}}'), count)
            if way == "proxied":
                expected = {"put": peer + 1, "get": 2, "atomic": 6}  # a signal alone is an update to the proxy
                for kind, count in expected.items():
                    self.assertEqual(found.pop(f'pgas_proxy_operations_total{{pe="{pe}",peer="{peer}",kind="{kind}"}}'), count)
                for kind, count in {"put": 80 * (peer + 1), "get": 80}.items():
                    self.assertEqual(found.pop(f'pgas_proxy_operation_bytes_total{{pe="{pe}",peer="{peer}",kind="{kind}"}}'), count)
        more = [name for name in found if re.match(r"pgas_(proxy_)?operation(s|_bytes)_total", name)]
        self.assertEqual(more, [])
        here = f'{{pe="{pe}"}}'
        self.assertEqual(found[f'pgas_calls_total{{pe="{pe}",call="pgas::barrier_all"}}'], 3)
        self.assertEqual(found[f'pgas_calls_total{{pe="{pe}",call="pgas::allocate"}}'], 2)
        self.assertEqual(found["pgas_proxy_commands_total" + here] > 0, route == "proxied")
        self.assertGreaterEqual(found["pgas_heap_mapped_bytes" + here], found["pgas_heap_used_bytes" + here])
        self.assertGreaterEqual(found["pgas_heap_allocations" + here], 2)
        for name in ("pgas_errors_total", "pgas_warnings_total", "pgas_world_failed", "pgas_heartbeats_sent_total"):
            self.assertEqual(found[name + here], 0, name)

    def test_idle_time_passes(self):
        first = free_ports(1)
        with Job(1, f":{first}"):
            end = time.monotonic() + LONG
            idle = 0.0
            while idle < 2 and time.monotonic() < end:
                time.sleep(0.2)
                idle = samples_of(page_at(first))['pgas_idle_seconds{pe="0"}']
            self.assertGreaterEqual(idle, 2)

    def test_a_world_of_one_that_nobody_launched(self):
        first = free_ports(1)
        with Job(1, f":{first}", launcher=False) as job:
            self.assertEqual(samples_of(page_at(first))['pgas_operations_total{pe="0",peer="0",route="direct",by="host",kind="atomic"}'], 5)
            self.assertEqual(job.finish(), 0, job.said())

    def test_garbage_is_refused_and_harms_nothing(self):
        first = free_ports(2)
        answers = {
            b"\r\n\r\n": b"400", b"GET\r\n\r\n": b"400", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n": b"400",
            b"GET /metrics HTTP/3\r\n\r\n": b"400", b"GET / HTTP/1.1\r\n\r\n": b"404", b"GET /../etc/passwd HTTP/1.0\r\n\r\n": b"404",
            b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc": b"405", b"x" * 100000: b"431",
            b"GET /metrics HTTP/1.1\r\n" + b"A: " + b"b" * 9000: b"431",
        }
        with Job(2, f":{first}") as job:
            for words, status in answers.items():
                with self.subTest(words=words[:40]):
                    answer = raw(first, words)
                    self.assertTrue(answer.startswith(b"HTTP/1.0 " + status), answer[:100])
            for _ in range(50):
                with socket.create_connection(("127.0.0.1", first), timeout=LONG) as wire:
                    wire.sendall(os.urandom(random.randrange(1, 6000)))  # and goes without an answer
            self.assertIn("pgas_pe_info", page_at(first))
            self.assertEqual(job.finish(), 0, job.said())
            self.assertEqual(job.said(), "")

    def test_a_connection_that_says_nothing_is_closed_and_delays_nobody(self):
        first = free_ports(1)
        with Job(1, f":{first}") as job:
            with socket.create_connection(("127.0.0.1", first), timeout=LONG) as silent:
                silent.sendall(b"GET /metr")
                self.assertIn("pgas_pe_info", page_at(first))
                self.assertEqual(silent.recv(100), b"")
            wires = [socket.create_connection(("127.0.0.1", first), timeout=LONG) for _ in range(30)]
            self.assertIn("pgas_pe_info", page_at(first))
            for wire in wires:
                wire.close()
            self.assertEqual(job.finish(), 0, job.said())

    def test_a_program_ends_while_somebody_is_connected(self):
        first = free_ports(2)
        with Job(2, f":{first}") as job, socket.create_connection(("127.0.0.1", first), timeout=LONG) as silent:
            self.assertEqual(job.finish(), 0, job.said())
            self.assertEqual(silent.recv(100), b"")

    def test_a_port_that_is_taken_is_a_warning(self):
        first = free_ports(3)
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", first + 1))
            taken.listen()
            with Job(3, f":{first}") as job:
                self.assertIn('pe="0"', page_at(first))
                self.assertIn('pe="2"', page_at(first + 2))
                self.assertEqual(job.finish(), 0)
                said = job.said().splitlines()
        self.assertEqual(len(said), 1, said)
        self.assertIn(" 1/3 ", said[0])
        self.assertIn(f"warn: PGAS_METRICS=127.0.0.1:{first}: no metrics of this PE, which can't listen at "
                      f"127.0.0.1:{first + 1}: Address already in use", said[0])

    def test_only_the_loopback_unless_an_address_is_asked_for(self):
        # All of 127/8 is the loopback interface, but only 127.0.0.1 is the address.
        first = free_ports(1)
        with Job(1, f":{first}"):
            with self.assertRaises(OSError):
                socket.create_connection(("127.0.0.2", first), timeout=LONG).close()
        first = free_ports(1)
        with Job(1, f"0.0.0.0:{first}"):
            self.assertIn("pgas_pe_info", page_at(first, "127.0.0.2"))

    def test_a_setting_that_is_no_port_is_an_error(self):
        done = subprocess.run([COUNTED, "/"], env=os.environ | {"PGAS_METRICS": "9400"}, text=True, capture_output=True, timeout=LONG)
        self.assertEqual(done.returncode, 1)
        self.assertIn("PGAS_METRICS=9400 is not allowed; set it to: a port of the loopback, such as :9400", done.stdout)

    def test_pgas_info_asks_a_job_without_the_setting(self):
        for route, environment in WAYS:
            with self.subTest(route=route), Job(4, "", environment) as job:
                done = subprocess.run([INFO, "--stats", str(job.pids[2]), "--json"], text=True, capture_output=True, timeout=LONG)
                self.assertEqual(done.returncode, 0, done.stderr)
                jobs = json.loads(done.stdout)
                self.assertEqual(len(jobs), 1)
                self.assertEqual(sorted(one["pid"] for one in jobs[0]["pes"]), sorted(job.pids))
                self.assertEqual(sorted(one["pe"] for one in jobs[0]["answers"]), [0, 1, 2, 3])
                for one in jobs[0]["answers"]:
                    of = {"direct": range(4), "proxied": []} if route == "direct" else \
                        {"direct": [one["pe"]], "proxied": [pe for pe in range(4) if pe != one["pe"]]}
                    for name, peers in of.items():
                        puts = sum(pe + 1 for pe in peers)
                        self.assertEqual(one[name], {"puts": puts, "put_bytes": 80 * puts, "gets": 2 * len(peers),
                                                     "get_bytes": 80 * len(peers), "atomics": 5 * len(peers), "signals": len(peers)})
                    self.assertEqual((one["errors"], one["failed"], one["running"]), (0, False, ""))
                table = subprocess.run([INFO, "--stats", jobs[0]["job"][:10]], text=True, capture_output=True, timeout=LONG).stdout
                lines = table.splitlines()
                self.assertEqual(lines[0], f"job {jobs[0]['job']}: 4 PEs")
                rows = [line for line in lines[2:] if re.match(r" {0,3}\d+ ", line)]  # not the remarks
                self.assertEqual(len(rows), 4, table)
                if route == "direct":
                    self.assertRegex(rows[0], r"^   0     42   1.1K       0      0 ")

    def test_pgas_info_says_where_there_is_no_such_job(self):
        done = subprocess.run([INFO, "--stats", "0123456789abcdef"], text=True, capture_output=True, timeout=LONG)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no job '0123456789abcdef' of this user answers on this host", done.stderr)

    def test_without_the_setting_nothing_listens(self):
        for setting in ("", f":{free_ports(2)}"):
            with Job(2, setting) as job:
                ports = [port for pid in job.pids for _, _, port in listeners(pid)]
                self.assertEqual(len(ports), 2 if setting else 0, ports)


if __name__ == "__main__":
    PGASRUN, COUNTED, INFO, *rest = sys.argv[1:]
    if "--proxied" in rest:
        rest.remove("--proxied")
        WAYS.append(("proxied", {"PGAS_P2P": "0"}))
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)
