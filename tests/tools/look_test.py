"""Tests how the tools look to people: help, mistakes, colours, widths, Ctrl-C. Also tests that docs/ describes what
they write for programs.

    look_test.py DIRECTORY_OF_TOOLS VERSION
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

from commands import BIN, COMMANDS, TIMEOUT, TOOLS, call, options_of, printed

VERSION = sys.argv[2]
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SHORT = ("--ms", "0.2", "-r", "2")


@contextlib.contextmanager
def job_of_two():
    """Starts two PEs that are busy for longer than any test."""
    job = subprocess.Popen([BIN / "pgasrun", "--grace-period", "60", "-n", "2", BIN / "pgas-perf", "map", "--ms", "500", "-r", "100"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        job.stdout.readline()  # waits until the PEs have joined
        yield job
    finally:
        job.kill()  # also ends the PEs
        job.communicate(timeout=TIMEOUT)


def in_terminal(*words, **variables):
    """Returns what a terminal shows, including errors."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([BIN / words[0], *words[1:]], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env={**os.environ, "TERM": "xterm", **variables}) as job:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # a terminal whose other end is closed
            while (some := os.read(ours, 65536)):
                shown += some
        os.close(ours)
        assert job.wait(timeout=TIMEOUT) == 0, shown
    return shown.decode()


def keys_of(document):
    """Returns the names of all members, at any depth."""
    if isinstance(document, dict):
        return set(document).union(*map(keys_of, document.values()))
    return set().union(*map(keys_of, document)) if isinstance(document, list) else set()


class Look(unittest.TestCase):
    def check_lines(self, text):
        self.assertNotIn("\033", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100, text)

    def test_help(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                text = printed(*command, "--help")
                self.check_lines(text)
                self.assertEqual(text, printed(*command, "-h"))
                self.assertTrue(text.startswith(f"{' '.join(command)}: "), text)
                for word in (f"\nUsage: {' '.join(command)} ", "\nOptions:\n", "\nExamples:\n", "\nExit status:\n", "the command line is wrong"):
                    self.assertIn(word, text)
                self.assertLessEqual({"-h", "--help"}, options_of(text))

    def test_wrong_command_lines_end_with_2_and_say_what_is_wrong(self):
        for words, said in (*(((*command, "--no-such-option"), "--no-such-option") for command in COMMANDS),
                            (("pgasrun", "-n", "0", "true"), "0"), (("pgas-info", "word"), "word"), (("pgas-perf", "-f", "1"), "-f|--stepfactor"),
                            (("pgas-perf", "no_such_row"), "no_such_row"), (("pgas-perf", "--pair", "1,1"), "--pair"),
                            (("pgas-perf", "--scope", "warp,grid"), "--scope: grid not in {thread,warp,block}"),
                            (("pgas-perf", "map", "--color", "red"), "red"), (("pgas-why", "--watch", "never"), "never"),
                            (("pgas-doctor", "--completion", "tcsh"), "tcsh"), (("pgas-plot", "map.json", "map.gif"), "map.gif"), (("pgas-plot",), "nothing"),
                            (("pgas-plot", "-"), "standard input"), (("pgas-plot", "--completion", "tcsh"), "tcsh")):
            with self.subTest(words=words):
                job = call(*words)
                self.assertEqual((job.returncode, job.stdout), (2, ""), job.stderr)
                self.assertRegex(job.stderr.splitlines()[0], f"^{words[0]}: .*{said}")
                self.assertIn("--help", job.stderr)

    def test_version(self):
        for tool in TOOLS:
            self.assertEqual(printed(tool, "--version"), f"{tool} (pgas) {VERSION}\n")
            self.assertEqual(printed(tool, "-V"), f"{tool} (pgas) {VERSION}\n")

    def test_tables_fit_100_columns(self):
        self.check_lines(printed("pgas-perf", "--list"))
        self.check_lines(printed("pgas-info", "--errors"))
        self.check_lines("\n".join(line for line in printed("pgas-info", "--config").splitlines() if line.startswith(" ")))
        self.check_lines(printed("pgasrun", "-n", "2", BIN / "pgas-perf", *SHORT, "-e", "4K", "put_bw", "atomic_add_one_word_rate", "stream_put*"))

    def test_colours_are_for_terminals_that_want_them(self):
        with job_of_two() as job:
            self.check_lines(printed("pgas-why"))
            self.check_lines(printed("pgas-info", "--stats"))
            for words in (("pgas-why",), ("pgasrun", "-n", "2", BIN / "pgas-perf", "map", *SHORT, "-e", "64K", "-p", "shift", "-m", "bandwidth")):
                with self.subTest(words=words):
                    colour = "\033[1m"
                    self.assertIn(colour, in_terminal(*words, NO_COLOR=""))
                    self.assertNotIn(colour, in_terminal(*words, NO_COLOR="1"))
                    self.assertNotIn(colour, in_terminal(*words, TERM="dumb"))
            self.assertIsNone(job.poll())

    def test_ctrl_c_ends_what_runs_until_then(self):
        with job_of_two():
            with subprocess.Popen([BIN / "pgas-why", "--watch", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:
                self.assertRegex(watch.stdout.readline(), "^job ")
                watch.send_signal(signal.SIGINT)
                _, errors = watch.communicate(timeout=TIMEOUT)
        self.assertEqual((watch.returncode, errors), (-signal.SIGINT, ""))  # a shell reports it as 130
        with subprocess.Popen([BIN / "pgasrun", "-n", "2", BIN / "pgas-perf", "--ms", "500", "-r", "100", "put_lat"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as rows:
            rows.stdout.readline()
            rows.send_signal(signal.SIGINT)
            rows.communicate(timeout=TIMEOUT)
        self.assertEqual(rows.returncode, 128 + signal.SIGINT)

    def test_docs_have_every_member_of_json_documents(self):
        pair = ("pgasrun", "-n", "2", BIN / "pgas-perf")
        with job_of_two():
            documents = [("debugging.md", printed("pgas-why", "--json")), ("metrics.md", printed("pgas-info", "--stats", "--json"))]
        documents += [("pgas-perf.md", printed(*pair, *SHORT, "-e", "8", "--json", "-", "put_lat")),
                      ("perf-map.md", printed(*pair, "map", *SHORT, "-e", "64K", "--json", "-")),
                      ("doctor.md", printed("pgas-doctor", "--quick", "--json"))]
        with tempfile.TemporaryDirectory() as folder:
            call(*pair, *SHORT, "-e", "8", "put_lat", env={**os.environ, "PGAS_TRACE": f"{folder}/t"})
            documents.append(("trace.md", printed("pgas-trace", "summary", "--json", f"{folder}/t.0", f"{folder}/t.1")))
        for page, text in documents:
            words = re.sub("```.*?```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
            documented = set(re.findall(r"\w+", "".join(re.findall("`[^`]+`", words))))
            found = keys_of(json.loads(text))
            self.assertGreater(len(found), 5, page)
            self.assertEqual(found - documented, set(), f"docs/{page} does not have them")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
