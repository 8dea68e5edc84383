"""Tests the manual pages and completions that the tools print: they are complete, and the shells and roff accept them.

    pages_test.py DIRECTORY_OF_TOOLS ManualPages|Bash|Zsh|Fish

Exit status 77 means that no program that reads them is installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from commands import COMMANDS, TIMEOUT, TOOLS, options_of, printed

WHAT = sys.argv[2]
LINTS = {"mandoc": ["mandoc", "-T", "lint", "-W", "warning"], "groff": ["groff", "-man", "-ww", "-z", "-T", "utf8"]}


def feed(command, text):
    """Returns what the command prints about the text."""
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, check=False)


class ManualPages(unittest.TestCase):
    def test_readers_have_nothing_to_complain_of(self):
        for words in COMMANDS:
            page = printed(*words, "--man")
            for reader in filter(shutil.which, LINTS):
                found = feed(LINTS[reader], page)
                # Pages have no date, because a version has no date. With the date of the build, the pages of two builds
                # would differ.
                complaints = [line for line in found.stdout.splitlines() if "missing date" not in line]
                self.assertEqual(complaints, [], f"{words}: {reader}")

    def test_pages_are_whole(self):
        for words in COMMANDS:
            page = printed(*words, "--man")
            sections = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
            variables = ("ENVIRONMENT",) if len(words) == 1 else ()  # subcommands may have no such section
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", *variables, "EXAMPLES", "SEE ALSO"):
                self.assertIn(section, sections, words)
            self.assertEqual(len(set(sections)), len(sections), words)
            text = page.replace("\\-", "-")
            for option in options_of(printed(*words, "--help")):
                self.assertIn(f"\\fB{option}\\fR", text, words)

    def test_pages_show_what_the_help_shows(self):
        viewers = {"mandoc": ["mandoc", "-T", "ascii", "-O", "width=1000"], "groff": ["groff", "-man", "-T", "ascii", "-P-c", "-rLL=2000n"]}
        for words in COMMANDS:
            shown = {" ".join(line.split()) for line in printed(*words, "--help").split("\nExamples:\n")[1].splitlines()}
            for viewer in filter(shutil.which, viewers):
                page = feed(viewers[viewer], printed(*words, "--man")).stdout
                page = " ".join(re.sub(r".\x08", "", page).split())
                for line in shown - {"Exit status:"}:
                    for part in re.split(r"  +", line):
                        self.assertIn(part, page, viewer)

    def test_other_pages_are_there(self):
        names = {"-".join(words) for words in COMMANDS}
        for words in COMMANDS:
            self.assertLessEqual(set(re.findall(r"^\.BR (\S+) \(1\)", printed(*words, "--man").replace("\\-", "-"), re.MULTILINE)), names)


class Completion:
    """Tests for every shell. `check` is a command that reads a file and reports errors of its syntax."""
    check: list

    def test_syntax(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in TOOLS:
                file = pathlib.Path(folder, tool)
                file.write_text(printed(tool, "--completion", self.check[0]), encoding="utf-8")
                found = feed([*self.check, file], "")
                self.assertEqual((found.returncode, found.stdout), (0, ""), tool)

    def test_every_option_is_there(self):
        for words in COMMANDS:
            text = printed(words[0], "--completion", self.check[0])
            for option in options_of(printed(*words, "--help")):
                self.assertRegex(text, self.pattern_of(option), words)

    def pattern_of(self, option):
        return rf"(?<![\w-]){re.escape(option)}(?![\w-])"


class Bash(Completion, unittest.TestCase):
    check = ["bash", "-n"]

    def complete(self, *words, folder=None):
        """Returns the possible completions of the last word."""
        with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
            file.write(printed(words[0], "--completion", "bash"))
            file.flush()
            script = ('set -u; source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; '
                      'for word in "${COMPREPLY[@]}"; do printf "%s\\n" "$word"; done')
            job = subprocess.run(["bash", "--norc", "--noprofile", "-c", script, "bash", file.name, *words], cwd=folder, capture_output=True,
                                 text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((job.returncode, job.stderr), (0, ""), words)
        return job.stdout.splitlines()

    def test_options_values_and_commands(self):
        for line, expected in (
            ("pgas-perf map --col", {"--color"}), ("pgas-perf map --color ", {"auto", "always", "never"}), ("pgas-perf map --color = al", {"always"}),
            ("pgas-perf map --color =", {"auto", "always", "never"}), ("pgas-perf map -m bandwidth,l", {"bandwidth,latency"}),
            ("pgas-perf ma", {"map"}), ("pgas-perf --json map --pa", {"--pair"}), ("pgas-perf --json = map --pa", {"--pair"}),
            ("pgas-perf put_lat get_la", {"get_lat"}), ("pgas-perf --scope thread,w", {"thread,warp"}), ("pgas-perf --blocks ", set()),
            ("pgas-perf map ", set()), ("pgas-why --json --st", {"--stacks"}), ("pgas-info --shared --mark", {"--markdown"}),
            ("pgasrun -n 2 --ti", {"--timeout"}), ("pgasrun --timeout ", set()), ("pgasrun -n 2 --grace-period = 5 --tag", {"--tag-output"}),
        ):
            self.assertEqual(set(self.complete(*line.split(" "))), expected, line)
        for words in COMMANDS:
            self.assertEqual(set(self.complete(*words, "-")), options_of(printed(*words, "--help")), words)

    def test_files_and_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "one file.json").touch()
            program = pathlib.Path(folder, "a_program_of_this_test")
            program.touch(mode=0o755)
            for line, expected in (
                ("pgas-perf map --save on", {"one file.json"}), ("pgas-perf map --compare = on", {"one file.json"}),
                ("pgas-doctor --json on", {"one file.json"}), ("pgas-doctor --json --qu", {"--quick"}),
                ("pgas-plot on", {"one file.json"}), ("pgas-plot --ver", {"--version"}),
                ("pgasrun -n 2 ./a_pro", {"./a_program_of_this_test"}), ("pgasrun -n 2 ./a_program_of_this_test on", {"one file.json"}),
            ):
                self.assertEqual(set(self.complete(*line.split(" "), folder=folder)), expected, line)
        self.assertIn("env", self.complete("pgasrun", "-n", "2", "en"))


class Zsh(Completion, unittest.TestCase):
    check = ["zsh", "-n"]


class Fish(Completion, unittest.TestCase):
    check = ["fish", "--no-execute"]

    def pattern_of(self, option):
        return rf" -l {option[2:]} " if option.startswith("--") else rf" -s {option[1:]} "


if __name__ == "__main__":
    if not any(map(shutil.which, LINTS if WHAT == "ManualPages" else [WHAT.lower()])):
        print(f"nothing here reads {WHAT}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], WHAT])
