#!/usr/bin/env python3
"""Tests what pgas-why reports about constructed hangs.

Usage: why_test.py PGASRUN HANG WHY [NAMES OF TESTS]
       why_test.py PGASRUN HANG WHY --table [--heap cuda] [--seconds N] [--only SCENE]

HANG runs one scene of a program that never ends. Each scene is run with direct and with proxied peers, unless it needs
one kind. --table prints the report of pgas-why about each scene, and the time until the report. --heap cuda runs the
scenes on GPUs with hang_cuda, one after another, because a process that ends under MPS may end other processes too.
--seconds is the time limit of the whole table. The exit status is 1 if a root was not named.
"""

import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PGASRUN = HANG = WHY = ""

DIRECT = {"PGAS_HEAP": "host"}
PROXIED = {"PGAS_HEAP": "host", "PGAS_P2P": "0"}

TWO_WORLDS = [[0], [1]]  # each PE waits for the PE that is in the other world

# scene: number of PEs, environments, kind of the root, PEs of the root, words in the sentence about the root
SCENES = {
    "missing_signal": (3, (DIRECT, PROXIED), "own wait", [0], "to become >= 1 (it is 0)"),
    "missing_signal_in_a_kernel": (2, (DIRECT, PROXIED), "own wait", [1], "to become >= 5 (it is 0)"),
    "signal_to_the_wrong_pe": (3, (DIRECT, PROXIED), "own wait", [1], "wait_until in a kernel (block 0"),
    "wrong_team": (3, (DIRECT,), "cycle", [0, 1], "PE 1 for PE 0 in barrier"),
    "other_order": (2, (DIRECT,), "cycle", [0, 1], "barrier"),
    "one_in_allocate": (3, (DIRECT,), "cycle", [0, 1], "allocate"),
    "barrier_skipped_by_a_branch": (4, (DIRECT, PROXIED), "elsewhere", [2], "has been in no call of this world for"),
    "endless_loop": (2, (DIRECT,), "elsewhere", [1], "has been in no call of this world for"),
    "kernel_barrier_without_one": (8, (DIRECT,), "elsewhere", [3], "7 of 8 PEs wait"),
    "reduce_without_one": (4, (DIRECT, PROXIED), "elsewhere", [2], "3 of 4 PEs wait"),
    "reduce_from_the_host_without_one": (4, (DIRECT, PROXIED), "elsewhere", [1], "has been in no call"),
    "broadcast_without_its_root": (4, (DIRECT,), "elsewhere", [0], "has been in no call"),
    "locks_in_opposite_order": (2, (DIRECT, PROXIED), "cycle", [0, 1], "lock"),
    "locks_of_the_host": (2, (DIRECT, PROXIED), "cycle", [0, 1], "set_lock"),
    "stopped": (4, (DIRECT, PROXIED), "stopped", [1], "kill -CONT"),
    "stopped_while_kernels_wait": (4, (DIRECT,), "stopped", [1], "3 of 4 PEs wait"),
    "quiet_to_a_stopped_pe": (2, (PROXIED,), "stopped", [1], "stopped"),
    "kernel_gets_from_a_stopped_pe": (2, (PROXIED,), "stopped", [1], "1 of 2 PEs wait"),
    "stream_wait_that_nobody_serves": (3, (DIRECT,), "own wait", [0], "to become >= 1"),
    "fcollect_of_two_teams": (3, (DIRECT, PROXIED), "cycle", [0, 1], "of PEs 0, 1"),
    "signal_behind_its_wait": (2, (DIRECT, PROXIED), "cycle", [0], "whose signal is enqueued behind this wait on the same stream"),
    "signals_behind_waits": (3, (DIRECT, PROXIED), "cycle", [0, 1], "whose put_signal is enqueued behind a wait on a stream of PE 1"),
    "signal_behind_a_barrier": (2, (DIRECT, PROXIED), "cycle", [0, 1], "whose signal is enqueued behind a wait on a stream of PE 1"),
    "two_blocks_in_one_reduce": (2, (DIRECT,), "crowded", [0], "block 0 thread 0 and block 1 thread 0"),
    "two_launches_in_one_barrier": (2, (DIRECT,), "crowded", [0], "the same thread of another launch"),
    "two_worlds_in_opposite_order": (2, (DIRECT,), "elsewhere", None, "has been in no call of this world for"),
    "loop_around_test": (2, (DIRECT,), "elsewhere", [1], "makes many short calls"),
    "fork": (2, (DIRECT,), "elsewhere", [0], "has been in no call of this world for"),
    "mutex_of_the_program": (2, (DIRECT,), "elsewhere", [1], "has been in no call of this world for"),
    "grid_with_a_late_block": (2, (DIRECT,), "own wait", [0], "waits for a word that no PE"),
    "several_words": (2, (DIRECT, PROXIED), "own wait", [0], "to become >= 1 (it is 0)"),
    "ring_that_nobody_begins": (8, (DIRECT,), "own wait", list(range(8)), "wait_until"),
    "split_without_one": (3, (DIRECT,), "elsewhere", [0], "2 of 3 PEs wait"),
}


class Job:
    """A scene that is running."""

    def __init__(self, scene: str, n: int, environment: dict[str, str]):
        # On a GPU the PEs end by themselves, so that no PE dies while a kernel runs.
        gently = environment["PGAS_HEAP"] == "cuda"
        self.process = subprocess.Popen([PGASRUN, "-n", str(n), "--grace-period", "3" if gently else "0.1", "--timeout", "60", HANG, scene]
                                        + ["gently"] * gently, env=os.environ | environment, text=True,
                                        stdout=subprocess.PIPE, stderr=None if gently else subprocess.DEVNULL)
        self.pids = []
        for line in self.process.stdout:
            if line.startswith("ready"):
                self.pids.append(line.split()[1])
            if len(self.pids) == n:
                break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()  # also ends the processes that its PEs have started
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGCONT)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def ask(*arguments: str, **more) -> subprocess.CompletedProcess:
    environment = os.environ | DIRECT | more.pop("environment", {})
    return subprocess.run([WHY, *arguments], env=environment, text=True, capture_output=True, timeout=60, **more)


def roots_of(pid: str) -> list[dict]:
    done = ask("--json", pid)
    return [one["root"] for one in json.loads(done.stdout)] if done.stdout else []


def right(roots: list[dict], scene: str) -> bool:
    """Whether these are the roots of all worlds of the scene."""
    _, _, kind, pes, said = SCENES[scene]
    named = sorted(sorted(root["pes"]) for root in roots)
    return named == (TWO_WORLDS if pes is None else [pes]) and all(root["kind"] == kind and said in root["text"] for root in roots)


def play(scene: str, environment: dict[str, str], patience: float = 30) -> tuple[float, list[dict], str]:
    """Returns the seconds until pgas-why names the root, or infinity if it does not within `patience`; its last answer;
    and the answer as text."""
    with Job(scene, SCENES[scene][0], environment) as job:
        # On a busy machine, the first answers can arrive before the last PE waits.
        begin = time.monotonic()
        roots: list[dict] = []
        while job.process.poll() is None and job.pids and time.monotonic() < begin + patience:
            roots = roots_of(job.pids[0])
            if right(roots, scene):
                return time.monotonic() - begin, roots, ask(job.pids[0]).stdout
            time.sleep(0.1)
        return math.inf, roots, ask(job.pids[0]).stdout if job.pids else "the job did not begin"


def print_table(asked: argparse.Namespace) -> int:
    """Runs the scenes one after another, and prints a row of Markdown for each."""
    late, end = 0, time.monotonic() + asked.seconds
    plays = [(scene, environment) for scene, (_, environments, *_) in SCENES.items() for environment in environments
             if not asked.only or scene in asked.only]
    print("| hang | PEs | peers | pgas-why says | seconds |\n| --- | --- | --- | --- | --- |", flush=True)
    for scene, environment in plays:
        here = environment | {"PGAS_HEAP": asked.heap}
        if asked.heap == "cuda":
            here["CUDA_DEVICE_MAX_CONNECTIONS"] = "4"  # one queue for the proxy, under MPS
        took, roots, text = play(scene, here, 10) if time.monotonic() < end else (math.nan, [], "")
        late += not took < 2
        says = "<br>".join(root["text"] for root in roots) or ("not played: no time was left" if math.isnan(took) else text.strip() or "nothing")
        print(f"| {scene} | {SCENES[scene][0]} | {'proxied' if environment is PROXIED else 'direct'} | {says} | {took:.2f} |", flush=True)
    print(f"\n{len(plays)} hangs on the heap {asked.heap}: the root of {len(plays) - late} was named within 2 s")
    return int(late > 0)


class Hangs(unittest.TestCase):
    def test_each_root_is_named(self):
        plays = [(scene, environment) for scene, (_, environments, *_) in SCENES.items() for environment in environments]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (scene, environment), (took, roots, text) in zip(plays, pool.map(lambda each: play(*each), plays)):
                with self.subTest(scene=scene, proxied=environment is PROXIED):
                    self.assertLess(took, math.inf, f"{roots}\n{text}")
                    self.assertLessEqual(max(map(len, text.splitlines())), 100, text)


FORGER = r'''
import json, os, socket, sys, time
names, say, user = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3])
if user != os.geteuid():
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
fake = {"pe": 0, "pes": [{"pid": 1, "host": "\x1b[2Jevil", "here": False}]}
listeners = []
for name in names:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.bind("\0" + name)
    one.listen()
    one.settimeout(0.05)
    listeners.append(one)
print("listens", flush=True)
while True:
    for one in listeners:
        try:
            to, _ = one.accept()
            to.settimeout(1)
            to.recv(16)
            for text in ([json.dumps(fake), '{"pe":0,"waits":[],"calls":[]}'] if say == "forge" else ["{", "\x1b[31m garbage"]):
                to.send(text.encode())
            time.sleep(0.2)
            to.close()
        except OSError:
            pass
'''


@contextlib.contextmanager
def forger(names: list[str], say: str, user: int | None = None):
    """Starts a process that owns these sockets in the abstract namespace, and sends false answers or no JSON."""
    process = subprocess.Popen([sys.executable, "-c", FORGER, ",".join(names), say, str(os.geteuid() if user is None else user)], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Tool(unittest.TestCase):
    def test_an_answer_that_comes_late_is_no_all_clear(self):
        # Threads of a host heap need a processor before they can report what they wait for.
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
        try:
            with Job("reduce_from_the_host_without_one", 4, DIRECT) as job:
                end = time.monotonic() + 40
                while not any(root["kind"] == "elsewhere" for root in roots_of(job.pids[0])) and time.monotonic() < end:
                    time.sleep(0.1)
                said = [root for _ in range(20) for root in roots_of(job.pids[0])]
        finally:
            for one in busy:
                one.kill()
                one.wait()
        self.assertEqual(len(said), 20)
        self.assertEqual([root["text"] for root in said if root["kind"] == "nobody waits"], [])

    def test_a_long_wait_is_warned_of_once_without_a_limit(self):
        environment = os.environ | DIRECT | {"PGAS_WAIT_WARNING": "2s"}
        job = subprocess.Popen([PGASRUN, "-n", "3", "--grace-period", "0.1", HANG, "one_in_allocate"], text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=environment)
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(timeout=14)
        job.terminate()
        said = job.communicate()[1]
        # PEs 0 and 2 wait in a barrier of kernels, and PE 1 waits in an agreement of the host.
        for pe, words in ((0, "barrier by block 0 thread"), (1, "an agreement has waited"), (2, "barrier by block 0 thread")):
            lines = [line for line in said.splitlines() if f"[pgas {pe}/3 " in line and "The wait goes on" in line]
            self.assertEqual(len(lines), 1, said)
            self.assertIn(words, lines[0])
            self.assertIn("pgas-why", lines[0])
            self.assertIn(" for PE ", lines[0])
            self.assertIn("PEs 0, 1 wait for one another", lines[0])

    def test_a_warning_names_the_root(self):
        environment = os.environ | DIRECT | {"PGAS_WAIT_WARNING": "2s"}
        for scene, n, root in (("reduce_from_the_host_without_one", 4, "The others wait for PE 1: it has been in no call of this world for"),
                               ("stopped", 3, "PE 1 is stopped, as by a debugger or SIGSTOP"),
                               ("stream_wait_that_nobody_serves", 1, "PE 0 waits for a word that no PE is about to write")):
            with self.subTest(scene=scene):
                job = subprocess.Popen([PGASRUN, "-n", str(n), "--grace-period", "0.1", HANG, scene], text=True, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, env=environment)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    job.wait(timeout=10)
                job.terminate()
                said = job.communicate()[1]
                lines = [line for line in said.splitlines() if f"[pgas 0/{n} " in line and "The wait goes on" in line]
                self.assertEqual(len(lines), 1, said)
                self.assertIn(root, lines[0])

    def test_a_world_of_one_is_asked(self):
        with Job("stream_wait_that_nobody_serves", 1, DIRECT) as job:
            end = time.monotonic() + 20
            while not (roots := roots_of(job.pids[0])) and time.monotonic() < end:
                time.sleep(0.1)
        self.assertEqual([root["kind"] for root in roots], ["own wait"])

    def test_an_idle_program_is_not_warned_of(self):
        job = subprocess.Popen([PGASRUN, "-n", "2", "--grace-period", "0.1", HANG, "own_handler"], text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=os.environ | DIRECT | {"PGAS_WAIT_WARNING": "1s"})
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(timeout=5)
        job.terminate()
        self.assertNotIn("warn", job.communicate()[1])

    def test_garbage_of_a_socket_is_not_the_end(self):
        with forger(["pgas-why-00000000deadbeef-0", "pgas-why-00000000deadbeef-00"], "garbage"), Job("endless_loop", 2, DIRECT) as job:
            for arguments in ((), ("--json",)):
                done = ask(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("PE 1", done.stdout)
                self.assertNotIn("deadbeef", done.stdout)
                self.assertNotIn("\x1b", done.stdout)
            self.assertIn("PE 1", ask(job.pids[0]).stdout)

    def test_what_is_forged_is_escaped(self):
        with forger(["pgas-why-00000000deadbeef-0"], "forge"):
            self.assertNotIn("\x1b", ask("00000000deadbeef").stdout)
            self.assertNotIn("\x1b", ask("--json", "00000000deadbeef").stdout)

    @unittest.skipUnless(os.geteuid() == 0, "only root can start processes of two other users")
    def test_another_users_sockets_are_not_believed(self):
        with tempfile.TemporaryDirectory() as folder:  # the other user may run the files in this folder
            os.chmod(folder, 0o755)
            why = shutil.copy(WHY, folder)
            ours = {"user": 65534, "group": 65534, "extra_groups": []}
            with forger(["pgas-why-00000000deadbeef-0"], "forge", 65533):
                theirs = subprocess.run([why, "--json", "00000000deadbeef"], text=True, capture_output=True, timeout=60, cwd="/", **ours)
            with forger(["pgas-why-00000000deadbeef-0"], "forge", 65534):
                own = subprocess.run([why, "--json", "00000000deadbeef"], text=True, capture_output=True, timeout=60, cwd="/", **ours)
        if "error while loading shared libraries" in own.stderr:
            self.skipTest("the other user can't read the library")
        self.assertEqual([one["job"] for one in json.loads(own.stdout)], ["00000000deadbeef"], own.stderr)
        self.assertEqual((json.loads(theirs.stdout or "[]"), theirs.returncode), ([], 1))

    def test_half_of_the_deadline_is_said_once(self):
        job = subprocess.run([PGASRUN, "-n", "2", HANG, "missing_signal_in_a_kernel"], text=True, capture_output=True, timeout=120,
                             env=os.environ | DIRECT | {"PGAS_WAIT_TIMEOUT": "12s"})
        said = [line for line in job.stderr.splitlines() if "Half of PGAS_WAIT_TIMEOUT is over. `pgas-why " in line]
        # Both threads of the kernel have waited for the same time, so pgas-why can name either thread.
        self.assertEqual(len([line for line in said if re.search(r"wait_until by block [01] thread 0 of a kernel has waited", line)]), 1, job.stderr)
        self.assertEqual(len([line for line in said if "barrier has waited" in line]), 1, job.stderr)

    def test_a_program_asks_for_its_own_waits(self):
        job = subprocess.run([PGASRUN, "-n", "1", HANG, "own_waits"], text=True, capture_output=True, timeout=120, env=os.environ | DIRECT)
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertIn("wait_until in a kernel, block 1, >= 5, is 0", job.stdout)
        self.assertIn("synchronize", job.stdout)

    def after_sigusr1(self, scene: str, n: int, wanted: list[str]) -> None:
        """Sends SIGUSR1 to the PEs of a scene until they log all texts of `wanted`."""
        with tempfile.TemporaryDirectory() as folder:
            with Job(scene, n, DIRECT | {"PGAS_SIGUSR1": "1", "PGAS_LOG_FILE": f"{folder}/%p"}) as job:
                end, text = time.monotonic() + 20, ""
                while time.monotonic() < end and not all(one in text for one in wanted):
                    for pid in job.pids:
                        os.kill(int(pid), signal.SIGUSR1)
                    time.sleep(0.1)
                    text = "".join(one.read_text() for one in pathlib.Path(folder).iterdir())
                self.assertIsNone(job.process.poll(), "the signal ended the job")
        for one in wanted:
            self.assertIn(one, text)

    def test_sigusr1_logs_what_a_pe_waits_for(self):
        self.after_sigusr1("ring_that_nobody_begins", 2, [
            "SIGUSR1: wait_until by block 0 thread 0 of a kernel has waited", "the start of allocation 1 of 512 bytes) has to become >= 5 and is 0",
            "synchronize has waited"])
        self.after_sigusr1("fork", 2, ["SIGUSR1: this PE waits for nothing in this world"])
        self.after_sigusr1("own_handler", 1, ["PGAS_SIGUSR1 has no effect: the program handles SIGUSR1 itself"])

    def test_sigusr1_is_the_programs_unless_asked_for(self):
        with Job("endless_loop", 2, DIRECT) as job:
            caught = re.search(r"SigCgt:\s*([0-9a-f]+)", pathlib.Path(f"/proc/{job.pids[0]}/status").read_text())[1]
        self.assertEqual(int(caught, 16) >> (signal.SIGUSR1 - 1) & 1, 0)

    def test_every_pe_answers_whoever_is_asked(self):
        with Job("endless_loop", 2, DIRECT) as job:
            answers = json.loads(ask("--json", job.pids[1]).stdout)
        self.assertEqual(len(answers), 1)
        self.assertEqual(sorted(one["pid"] for one in answers[0]["pes"]), sorted(map(int, job.pids)))
        self.assertEqual(sorted(one["pe"] for one in answers[0]["answers"]), [0, 1])

    def test_pes_that_join_are_seen(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]

        def start(rank: int) -> subprocess.Popen:
            return subprocess.Popen([HANG, "endless_loop"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | DIRECT | {
                "PGAS_BOOTSTRAP": "tcp", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": "3"})

        def said_of(pe: subprocess.Popen, wanted: str) -> str:
            end = time.monotonic() + 20
            while wanted not in (text := " ".join(ask(str(pe.pid)).stdout.split())) and time.monotonic() < end:
                time.sleep(0.1)
            return text

        pes = [start(1)]  # the process searches for rank 0
        try:
            self.assertIn("1 of 3 PEs joins on this host", text := said_of(pes[0], "PEs 0, 2 do not"))
            self.assertIn("PEs 0, 2 do not: not started", text)
            pes.append(start(0))
            self.assertIn("2 of 3 PEs join on this host", text := said_of(pes[1], "PE 2 does not"))
            self.assertIn("PE 1 has been joining for", text)
            root = json.loads(ask("--json", str(pes[1].pid)).stdout)[0]["root"]
            self.assertEqual((root["kind"], root["pes"]), ("joining", [2]))
            pes.append(start(2))
            self.assertIn("The others wait for PE 1", said_of(pes[0], "The others wait for PE 1"))
        finally:
            for pe in pes:
                pe.kill()
                pe.wait()

    def test_no_job(self):
        done = ask("0123456789abcdef")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no job '0123456789abcdef' of this user answers on this host", done.stderr)

    def test_wrong_usage(self):
        for arguments in (("--watch", "0"), ("--bogus",), ("a", "b")):
            self.assertEqual(ask(*arguments).returncode, 2)

    def test_a_pipe_gets_no_colour(self):
        with Job("endless_loop", 2, DIRECT) as job:
            self.assertNotIn("\033", ask(job.pids[0]).stdout)

    def test_sockets_in_a_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            there = DIRECT | {"PGAS_SOCKET_DIR": folder}
            with Job("endless_loop", 2, there) as job:
                self.assertEqual(len([name for name in os.listdir(folder) if name.startswith("pgas-why-")]), 2)
                self.assertIn("PE 1", ask(job.pids[0], environment=there).stdout)

    def test_nothing_is_left_of_a_watcher_that_is_killed(self):
        with Job("endless_loop", 2, DIRECT) as job:
            watcher = subprocess.Popen([WHY, "--watch", "0.1", job.pids[0]], env=os.environ | DIRECT, stdout=subprocess.PIPE)
            watcher.stdout.readline()
            before = len(os.listdir(f"/proc/{job.pids[0]}/fd"))
            watcher.kill()
            watcher.communicate()
            end = time.monotonic() + 20
            while (left := len(os.listdir(f"/proc/{job.pids[0]}/fd"))) > before and time.monotonic() < end:
                time.sleep(0.05)
            self.assertLessEqual(left, before)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user_is_refused(self):
        nobody = pwd.getpwnam("nobody")
        with Job("endless_loop", 2, DIRECT) as job:
            name = re.search(r"job ([0-9a-f]{16})", ask(job.pids[0]).stdout)[1]
            stranger = subprocess.run([sys.executable, "-c", f"""
import os, socket
os.setgid({nobody.pw_gid}); os.setuid({nobody.pw_uid})
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(20)
s.connect("\\0pgas-why-{name}-0")
try: print(len(s.recv(65536)))
except ConnectionResetError: print(0)
"""], text=True, capture_output=True, timeout=60)
        self.assertEqual(stranger.stdout.strip(), "0", stranger.stderr)


if __name__ == "__main__":
    PGASRUN, HANG, WHY = sys.argv[1:4]
    if "--table" in sys.argv:
        options = argparse.ArgumentParser()
        options.add_argument("--table", action="store_true")
        options.add_argument("--heap", default="host", choices=["host", "cuda"])
        options.add_argument("--seconds", type=float, default=600)
        options.add_argument("--only", action="append")
        sys.exit(print_table(options.parse_args(sys.argv[4:])))
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
