"""Tests `pgas-perf map`: it measures every pair, finds its data correct, prints the same on terminals, in pipes and in
files, and compares maps.

    map_test.py PGAS_PERF PGASRUN [direct] [proxied]

No test depends on times. The tests write files that contain slow figures.
"""
import fcntl
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM, LAUNCHER = sys.argv[1:3]
WAYS = sys.argv[3:]
SHORT = ["--ms", "0.2", "-e", "64K", "-r", "2"]
# If processes wait for cores, the time of a round trip depends on the scheduler.
NO_ROUND_TRIPS = [*SHORT[:-1], "1", "-m", "bandwidth,atomics"]
TIMEOUT = 100


def run(pes, *words, way="direct", status=0):
    job = subprocess.run([LAUNCHER, "-n", str(pes), PROGRAM, "map", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False,
                         env={**os.environ, **({"PGAS_P2P": "0"} if way == "proxied" else {})})
    if job.returncode != status:
        raise AssertionError(f"{words}: status {job.returncode}, not {status}\n{job.stdout}{job.stderr}")
    return job


def read_to_end(terminal):
    shown = b""
    try:
        while (some := os.read(terminal, 65536)):
            shown += some
    except OSError:  # a terminal whose other end is closed
        pass
    return shown


class Map(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def check_document(self, document, pes, kind):
        self.assertEqual(document["format"], "pgas-perf map 1")
        self.assertEqual((document["wrong"], document["skipped_steps"], len(document["pes"])), (0, 0, pes))
        names = {(each["measure"], each["pattern"]) for each in document["maps"]}
        patterns = ("alone", "shift", "incast")
        everything = {(measure, pattern) for measure in ("bandwidth", "atomics") for pattern in patterns} | {("latency", "alone")}
        self.assertEqual(names, everything if pes > 1 else set())
        for each in document["maps"]:
            for source, row in enumerate(each["figures"]):
                for target, figure in enumerate(row):
                    self.assertEqual(figure is None, source == target, each)
                    self.assertTrue(figure is None or figure > 0, each)
        self.assertEqual([len(document["all_pairs"]), min(document["all_pairs"], default=1) > 0], [pes if pes > 1 else 0, True])
        self.assertEqual({route for row in document["routes"] for route in row} - {""}, {kind} if pes > 1 else set())

    def test_every_pair_is_measured_and_right(self):
        for way in WAYS:
            for pes in (1, 2, 4) if way == "direct" else (3,):
                with self.subTest(way=way, pes=pes):
                    out = run(pes, *SHORT, "--json", "-", way=way).stdout
                    self.check_document(json.loads(out), pes, f"{way}, same host")

    def test_quick_is_as_complete(self):
        self.check_document(json.loads(run(4, *SHORT, "--quick", "--json", "-").stdout), 4, "direct, same host")

    def test_a_saved_map_is_compared_and_a_planted_difference_ends_with_3(self):
        file = self.folder / "map.json"
        run(2, *NO_ROUND_TRIPS, "--save", str(file))
        # A speed cannot decrease by more than 100 percent.
        same = run(2, *NO_ROUND_TRIPS, "--compare", str(file), "--tolerance", "100")
        self.assertIn("0 of 12 figures are slower by more than 100 %", same.stdout)
        document = json.loads(file.read_text())
        document["maps"][0]["figures"][1][0] *= 1e6
        file.write_text(json.dumps(document))
        compared = self.folder / "compared.json"
        slower = run(2, *NO_ROUND_TRIPS, "--compare", str(file), "--tolerance", "99.9", "--save", str(compared), status=3)
        self.assertIn("slower: PE 1 -> PE 0, bandwidth alone:", slower.stdout)
        self.assertIn("1 of 12 figures are slower", slower.stdout)
        slowest = json.loads(compared.read_text())["comparison"]["pairs"][0]
        self.assertEqual([slowest[key] for key in ("measure", "pattern", "from", "to")], ["bandwidth", "alone", 1, 0])

    def test_a_file_of_another_world_is_refused_before_measuring(self):
        file = self.folder / "map.json"
        run(2, *NO_ROUND_TRIPS, "-p", "shift", "--save", str(file))
        self.assertIn("it is a map of 2 PEs, and this world has 3", run(3, *NO_ROUND_TRIPS, "--compare", str(file), status=1).stderr)
        file.write_text("{}")
        self.assertIn("is no map", run(2, *NO_ROUND_TRIPS, "--compare", str(file), status=1).stderr)
        self.assertIn("cannot be read", run(2, *NO_ROUND_TRIPS, "--compare", str(self.folder / "none"), status=1).stderr)
        self.assertIn("cannot be written", run(2, *NO_ROUND_TRIPS, "--save", str(self.folder / "no" / "map.json"), status=1).stderr)

    def test_a_pipe_gets_plain_lines_that_fit(self):
        for width, words in ((100, []), (80, ["--width", "80"])):
            job = run(4, *NO_ROUND_TRIPS, *words)
            self.assertNotIn("\033", job.stdout + job.stderr)
            self.assertEqual(job.stderr, "")
            self.assertLessEqual(max(map(len, job.stdout.splitlines())), width)
            self.assertIn("bandwidth alone, GB/s", job.stdout)
            self.assertIn("direct, same host", job.stdout)

    def test_a_terminal_gets_colour_and_progress_in_its_columns(self):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        with subprocess.Popen([LAUNCHER, "-n", "4", PROGRAM, "map", *NO_ROUND_TRIPS], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                              start_new_session=True, preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0)) as job:
            os.close(theirs)
            shown = read_to_end(ours)
            self.assertEqual(job.wait(timeout=TIMEOUT), 0)
        os.close(ours)
        text = shown.decode()
        self.assertIn("\033[1mbandwidth alone, GB/s", text)
        self.assertRegex(text, r"\r\033\[K\[1/39\] bandwidth, all to all")
        plain = text.split("\r\033[K")[-1]
        for code in ("\033[0m", "\033[1m", "\033[31m", "\033[32m"):
            plain = plain.replace(code, "")
        self.assertLessEqual(max(len(line.rstrip("\r")) for line in plain.split("\n")), 80)

    def test_a_terminal_of_a_launcher_is_a_pipe(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen([LAUNCHER, "-n", "2", PROGRAM, "map", *NO_ROUND_TRIPS, "-p", "shift"], stdout=theirs, stderr=theirs,
                              stdin=subprocess.DEVNULL) as job:
            os.close(theirs)
            self.assertNotIn(b"\033", read_to_end(ours))
            self.assertEqual(job.wait(timeout=TIMEOUT), 0)
        os.close(ours)

    def test_without_time_steps_are_left_out_and_counted(self):
        job = run(4, *NO_ROUND_TRIPS, "--limit", "0.001")
        self.assertIn("38 of 39 steps had no time", job.stdout.replace("\n  ", " "))

    def test_ctrl_c_ends_it_between_steps(self):
        with subprocess.Popen([LAUNCHER, "--grace-period", "60", "-n", "2", PROGRAM, "map", "--ms", "200", "-r", "10"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
            self.assertIn("map of 2 PEs", job.stdout.readline())
            job.send_signal(signal.SIGINT)
            out, errors = job.communicate(timeout=TIMEOUT)
        self.assertEqual(job.returncode, 130)
        self.assertRegex(errors, r"interrupted after \d+ of 13 steps")
        self.assertNotIn("bandwidth", out)

    def test_what_leaves_nothing_to_measure_is_refused(self):
        self.assertIn("nothing to measure: latency is measured alone only", run(2, "-m", "latency", "-p", "shift,all", status=1).stderr)
        self.assertIn("--bytes is less than 64", run(2, "-e", "8", status=1).stderr)

    def test_wrong_words_are_refused(self):
        for words in (["-m", "speed"], ["-m", "bandwidth,speed"], ["-p", "none"], ["--color", "red"], ["-r", "0"], ["--tolerance", "-1"], ["rows"]):
            job = subprocess.run([PROGRAM, "map", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False)
            self.assertEqual(job.returncode, 2, words)


unittest.main(argv=sys.argv[:1])
