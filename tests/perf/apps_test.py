"""Tests examples/apps.py: it runs all applications on 2 PEs and writes what its docstring says. With programs that the
test makes, it alternates, takes medians, reports what fails, and refuses what is impossible.

    apps_test.py APPS_PY BUILD [TEST...]
"""
import csv
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

APPS, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])
NAMES = ("20_stencil3d", "21_persistent", "22_cg", "23_particles", "24_moe", "25_allreduce")
MEMBERS = {"application", "by", "scaling", "share", "variant", "size", "division", "pes", "unit", "figures", "median", "lowest", "highest",
           "spread", "alone", "gain", "to_mpi", "more"}

# A launcher that runs a program once, and passes the requested number of PEs to the program.
LAUNCHER = """#!/bin/sh
test "$1" = --version && exit 0
N=$2
shift 2
N=$N exec "$@"
"""
# A stencil that reports the time of its n-th start with a number of PEs: 100 us, then 500, then 200, and so on; the
# stencil of MPI reports 300. More PEs share the work. Every start is written to a log.
STENCIL = """#!/bin/sh
name=$(basename "$0") log=$(dirname "$0")/log before=0
test -e "$log" && before=$(grep -cx "$name $N" "$log")
echo "$name $N" >>"$log"
size=$2 time=300 wrong=0
case "$*" in *--faces*) faces=pack ;; *) faces= ;; esac
if test "$name" = 20_stencil3d; then
  test $N-$WHAT = 2-crash && echo "the first words of an error" && exit 1
  test $N-$WHAT = 2-wrong && wrong=1
  test $((before % 3)) = 0 && time=100
  test $((before % 3)) = 1 && time=500
  test $((before % 3)) = 2 && time=200
fi
echo "a line of a library, with, commas"
echo "nx,ny,nz,points,pes,px,py,pz,us_per_iteration,different,faces"
echo "$size,7,$N,1,1,$N,$((time / N)),$wrong,$faces"
exit $wrong
"""


def start(*words):
    return subprocess.run([sys.executable, APPS, *map(str, words)], capture_output=True, text=True, timeout=550, check=False)


class OfMadeUpPrograms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name)
        (self.build / "bin").mkdir()
        (self.build / "examples").mkdir()
        self.mpirun = self.executable(self.build / "bin" / "mpirun", LAUNCHER)

    def executable(self, path, content):
        path.write_text(content, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def stencil(self, what):
        for name in ("20_stencil3d", "20_stencil3d_mpi"):
            self.executable(self.build / "examples" / name, STENCIL.replace("$WHAT", what))

    def start(self, *words):
        return start("--build", self.build, "--launcher", self.mpirun, *words)

    def measured(self, *words):
        """Returns the JSON object of a run with one way, one grid, one stencil and 2 PEs, and the job."""
        file = self.build / "out.json"
        job = self.start("--only", "20", "--pes", 2, "--grids", 8, "--points", 7, "--faces", "pack", "--json", file, *words)
        return json.loads(file.read_text(encoding="utf-8")), job

    def test_programs_take_turns_and_the_median_counts(self):
        self.stencil("well")
        found, job = self.measured("--rounds", 3)
        self.assertEqual(job.returncode, 0, job.stderr)
        started = (self.build / "examples" / "log").read_text(encoding="utf-8").split("\n")[:-1]
        self.assertEqual(started[:4], ["20_stencil3d 1", "20_stencil3d_mpi 1", "20_stencil3d 2", "20_stencil3d_mpi 2"])
        self.assertEqual(started, 3 * started[:len(started) // 3])
        one, two = (next(each for each in found["results"] if each["by"] == "pgas" and each["pes"] == n and each["scaling"] == "strong")
                    for n in (1, 2))
        self.assertEqual((one["figures"], one["median"], one["lowest"], one["highest"]), ([100, 500, 200], 200, 100, 500))
        self.assertEqual((one["spread"], one["alone"], one["gain"], one["to_mpi"]), (2, 200, 1, 1.5))
        self.assertEqual(two["gain"], 200 / two["median"])
        self.assertEqual(two["to_mpi"], 150 / two["median"])
        weak = next(each for each in found["results"] if each["by"] == "pgas" and each["scaling"] == "weak")
        self.assertEqual((weak["share"], weak["size"], weak["alone"]), ("8 x 8 x 8", "8 x 8 x 16", 200))
        self.assertEqual({each["division"] for each in found["results"] if each["scaling"] == "division"}, {"1 x 1 x 2"})

    def test_wrong_results_and_crashes_are_failures(self):
        for what, problem in (("wrong", "its check failed"), ("crash", "exit status 1")):
            with self.subTest(what):
                self.stencil(what)
                found, job = self.measured("--rounds", 2)
                self.assertEqual(job.returncode, 1, job.stderr)
                # five runs with 2 PEs: strong scaling, weak scaling, and three divisions; a failed run is not repeated
                self.assertEqual([each["problem"] for each in found["failures"]], 5 * [problem])
                self.assertIn(f"FAILED, {problem}", job.stderr)
                self.assertIn("20_stencil3d --size 8,8,8", found["failures"][0]["command"])
                if what == "crash":
                    self.assertIn("the first words of an error", found["failures"][0]["output"])

    def test_what_was_written_is_read_again(self):
        self.stencil("well")
        _, job = self.measured("--rounds", 1)
        self.assertEqual(job.returncode, 0, job.stderr)
        again = start("--read", self.build / "out.json")
        self.assertEqual((again.returncode, again.stdout), (0, job.stdout))
        markdown = start("--read", self.build / "out.json", "--markdown").stdout
        self.assertRegex(markdown, re.compile(r"^\| 8 x 8 x 8 \| 7 points, pack \| 100 \| 50 \| 2 \| 3 \| 0 % \|$", re.M))
        lines = list(csv.DictReader(start("--read", self.build / "out.json", "--csv").stdout.splitlines()))
        self.assertEqual(len(lines), len(again.stdout.splitlines()) - 1)
        self.assertEqual(lines[0]["variant"], "7 points, pack")

    def test_refusals(self):
        self.stencil("well")
        for words, why in (
            (("--only", "26"), "'26' is no application"),
            (("--only", "20", "--pes", "0,2"), "no worlds of 0 PEs"),
            (("--only", "20", "--pes", "9", "--grids", "8"), "a grid of 8 x 8 x 8 points"),
            (("--only", "24", "--pes", "40"), "24_moe has 32 experts here, too few for 40 PEs"),
            (("--only", "21"), "21_persistent is not built"),
            (("--only", "20", "--faces", "push"), "'push' is none of pack, iput, remote"),
            (("--only", "20", "--launcher", "no_such_launcher"), "the launcher no_such_launcher is not there"),
            (("--only", "20", "--json", self.build / "no" / "out"), "there is no such folder"),
            (("--read", self.build / "nothing.json"), "nothing.json"),
        ):
            with self.subTest(words):
                job = self.start(*words)
                self.assertEqual((job.returncode, job.stdout), (2, ""))
                self.assertIn(why, job.stderr)


class OfTheApplications(unittest.TestCase):
    def test_all_of_them(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            job = start("--build", BUILD, "--quick", "--pes", 2, "--points", 27, "--faces", "remote", "--json", folder / "out.json", "--svg",
                        folder / "pictures")
            self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
            found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
            self.check(found)
            for name in ("scaling", "variants", "halo", "residuals"):
                drawing = ElementTree.parse(folder / "pictures" / f"{name}.svg").getroot()
                self.assertGreater(len(drawing), 10, name)
            headings = re.findall(r"^\*\*(.*)\*\*$", start("--read", folder / "out.json", "--markdown").stdout, re.M)
            self.assertEqual(len(headings), 9, headings)

    def check(self, found):
        self.assertEqual((found["pes"], found["rounds"], found["heap"], found["failures"]), ([1, 2], 1, "host", []))
        self.assertEqual({each["application"] for each in found["results"]}, set(NAMES))
        with_mpi = os.path.exists(BUILD / "examples" / "20_stencil3d_mpi") and not found["mpi"]
        for each in found["results"]:
            self.assertEqual(set(each), MEMBERS)
            self.assertEqual(len(each["figures"]), 1, each)
            self.assertGreater(each["median"], 0, each)
            self.assertEqual(each["gain"] is None, each["scaling"] == "sizes", each)
            compared = with_mpi and each["by"] == "pgas" and each["application"] in ("20_stencil3d", "22_cg")
            self.assertEqual(each["to_mpi"] is not None, compared, each)
        scalings = {(each["application"], each["scaling"]) for each in found["results"]}
        for name, scaling in (("20_stencil3d", "division"), ("20_stencil3d", "weak"), ("22_cg", "weak"), ("23_particles", "weak"),
                              ("24_moe", "weak"), ("25_allreduce", "sizes")):
            self.assertIn((name, scaling), scalings)
        cut = {each["division"] for each in found["results"] if each["scaling"] == "division"}
        self.assertEqual(cut, {"2 x 1 x 1", "1 x 2 x 1", "1 x 1 x 2"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
