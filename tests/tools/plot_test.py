"""Tests that pgas-plot draws what the tools write, reports what it cannot draw, and writes well-formed XML for all
names.

    plot_test.py DIRECTORY_OF_TOOLS

Without matplotlib, only the error of pgas-plot is tested, and the exit status is 77.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

from commands import BIN, TIMEOUT, call, printed

SVG = "{http://www.w3.org/2000/svg}"
WILD = "a<b>&\"c\x01]]> $x_1$ \u00e9"
OUTLIER = "#d1102a"


def with_matplotlib():
    """Returns an interpreter that has matplotlib: this one, or the distribution's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0:
            return python
    return None


PYTHON = with_matplotlib()


def plot(*words, status=0, text=None):
    # Python writes no file beside the program, and treats warnings as errors.
    job = subprocess.run([PYTHON or sys.executable, "-B", "-W", "error::UserWarning", BIN / "pgas-plot", *words], input=text, capture_output=True, text=True,
                         timeout=TIMEOUT, check=False)
    assert job.returncode == status, (words, job)
    return job.stderr


def map_of(n, figure=lambda source, target: 10 + (source * 7 + target * 13) % 5, **more):
    """Returns the document of a world of `n` PEs, as pgas-perf map writes it."""
    square = [[None if source == target else figure(source, target) for target in range(n)] for source in range(n)]
    maps = [{"measure": "bandwidth", "pattern": pattern, "unit": "GB/s", "better": "more", "figures": square} for pattern in ("alone", "shift")]
    maps.append({"measure": "latency", "pattern": "alone", "unit": "us", "better": "less", "figures": [[None] * n] * n})
    line = {"measure": "bandwidth", "pattern": "alone", "route": WILD, "pairs": n, "lowest": 1.0, "median": 2.0, "highest": 3.0, "unit": "GB/s", "peak_percent": None}
    return {"format": "pgas-perf map 1", "title": f"{n} PEs, {WILD}", "pgas": "1.2.3", "pes": [{"host": WILD, "device": WILD}] * n, "seconds": 1.5, "note": "a note",
            "maps": maps, "outliers": [], "summary": [line], "remarks": ["a remark"], **more}


class WithoutMatplotlib(unittest.TestCase):
    def test_the_complaint_names_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "matplotlib.py").write_text("raise ImportError('no module')\n")
            pathlib.Path(folder, "map.json").write_text(json.dumps(map_of(2)))
            job = subprocess.run([sys.executable, "-B", BIN / "pgas-plot", "map.json"], cwd=folder, env={**os.environ, "PYTHONPATH": folder}, capture_output=True,
                                 text=True, timeout=TIMEOUT, check=False)
            self.assertEqual((job.returncode, job.stdout), (1, ""))
            self.assertRegex(job.stderr, "^pgas-plot: matplotlib is not installed .*pip install matplotlib.*python3-matplotlib")
            self.assertFalse(pathlib.Path(folder, "map.svg").exists())


class Plot(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def file(self, document, name="in.json"):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def svg(self, document):
        plot(self.file(document))
        return (self.folder / "in.svg").read_text()

    def test_maps_are_xml_whatever_names_and_numbers_there_are(self):
        for n in (2, 6, 40):
            with self.subTest(n=n):
                picture = ElementTree.fromstring(self.svg(map_of(n)))
                self.assertEqual(picture.tag, f"{SVG}svg")
                words = [each.text for each in picture.iter(f"{SVG}text")]
                for title in ("bandwidth alone, GB/s", "bandwidth shift, GB/s", "latency alone, us"):
                    self.assertIn(title, words)
                self.assertTrue(any("$x_1$ \u00e9" in word for word in words), words)
                # With up to 20 PEs each square contains a figure.
                figures = [word for word in words if re.fullmatch(r"1\d\.\d", word)]
                self.assertEqual(len(figures) >= 2 * n * (n - 1), n <= 20)

    def test_outliers_have_frames(self):
        slow = {"measure": "bandwidth", "pattern": "alone", "from": 1, "to": 2, "text": "PE 1 -> PE 2"}
        self.assertEqual(self.svg(map_of(6)).count(OUTLIER), 0)
        self.assertEqual(self.svg(map_of(6, outliers=[slow])).count(OUTLIER), 1)
        self.assertEqual(self.svg(map_of(6, outliers=[{**slow, "to": None}])).count(OUTLIER), 5)

    def test_a_page_needs_nothing_from_elsewhere(self):
        pair = {"measure": "bandwidth", "pattern": "alone", "from": 1, "to": 0, "before": 2.5, "now": 1.25, "slower_percent": 50.0}
        document = map_of(3, comparison={"tolerance_percent": 10.0, "slower_pairs": 1, "pairs": [pair, pair]},
                          outliers=[{"measure": "latency", "pattern": "alone", "from": 0, "to": None, "text": "all <slow>"}])
        plot(self.file(document), str(self.folder / "map.html"))
        text = (self.folder / "map.html").read_text()
        page = ElementTree.fromstring(text)
        self.assertEqual(page.tag, "{http://www.w3.org/1999/xhtml}html")
        self.assertEqual([each for each in page.iter() if each.get("src") or each.tag.endswith(("script", "link"))], [])
        said = " ".join(page.itertext())
        for words in ("a note", "a remark", "latency alone: all <slow>", "1 of 2 figures are slower by more than 10 %", "1.25", "$x_1$"):
            self.assertIn(words, said)
        self.assertEqual(len(list(page.iter(f"{SVG}svg"))), 1)

    def test_the_best_is_darkest_and_equals_look_alike(self):
        script = ("import importlib.machinery, importlib.util, sys\n"
                  "loader = importlib.machinery.SourceFileLoader('plot', sys.argv[1])\n"
                  "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('plot', loader))\n"
                  "loader.exec_module(module)\n"
                  "print(module.limits_of([5.0, 5.0], True), module.limits_of([1.0, 50.0], False), module.limits_of([3.0, 4.0], False))\n"
                  "print(*map(module.short_figure, (0.0312, 0.5, 9.99, 99.9, 999, 1234, 2.5e6, 3e12)))")
        said = subprocess.run([PYTHON, "-B", "-c", script, BIN / "pgas-plot"], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
        self.assertEqual(said, "(2.5, 5.0) (1.0, 50.0) (3.0, 6.0)\n0.031 0.50 9.99 99.9 999 1.2k 2.5M 3000G\n")

    def test_rows_of_pgas_perf_become_curves(self):
        document = str(self.folder / "perf.json")
        printed("pgasrun", "-n", "2", BIN / "pgas-perf", "--ms", "0.1", "-r", "2", "-e", "4K", "put_bw", "put_lat", "host_put_bw", "--json", document)
        for kind, magic in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            plot(document, str(self.folder / f"perf.{kind}"))
            self.assertTrue((self.folder / f"perf.{kind}").read_bytes().startswith(magic), kind)
        words = [each.text for each in ElementTree.parse(self.folder / "perf.svg").getroot().iter(f"{SVG}text")]
        for name in {each["row"] for each in json.loads(pathlib.Path(document).read_text())["results"]}:
            self.assertTrue(any(word.startswith(f"{name}, ") for word in words), (name, words))

    def test_a_map_of_pgas_perf_becomes_a_picture_and_a_page(self):
        document = str(self.folder / "map.json")
        printed("pgasrun", "-n", "2", BIN / "pgas-perf", "map", "--ms", "0.2", "-r", "1", "-e", "64K", "-m", "bandwidth", "--save", document)
        for kind in ("svg", "html"):
            plot(document, str(self.folder / f"map.{kind}"))
            ElementTree.parse(self.folder / f"map.{kind}")

    def test_events_of_pgas_trace_become_tracks_with_arrows(self):
        job = call("pgasrun", "-n", "2", BIN / "pgas-info", "--peers", env={**os.environ, "PGAS_TRACE": str(self.folder / "t")})
        self.assertEqual(job.returncode, 0, job)
        events = printed("pgas-trace", "events", str(self.folder / "t.0"), str(self.folder / "t.1"))
        plot("-", str(self.folder / "t.svg"), text=events)
        words = [each.text for each in ElementTree.parse(self.folder / "t.svg").getroot().iter(f"{SVG}text")]
        for pe in (0, 1):
            self.assertTrue(any(word.startswith(f"PE {pe}, ") for word in words), words)
        event = {"pe": 0, "track": "a", "category": "wait", "name": "w", "begin_ns": 10, "end_ns": 40}
        made = {"from_ns": 0, "to_ns": 50, "events": [event, {**event, "pe": 1, "category": "signal"}], "arrows": []}
        without = self.svg(made)
        # the line and the head of an arrow
        self.assertEqual(self.svg({**made, "arrows": [[1, 0]]}).count("<path") - without.count("<path"), 2)

    def test_the_same_document_gives_the_same_bytes(self):
        self.assertEqual(self.svg(map_of(4)), self.svg(map_of(4)))

    def test_what_cannot_be_drawn_is_refused_with_the_reason(self):
        nothing = {"from_ns": 0, "to_ns": 0, "events": [], "arrows": []}
        line = {"row": "put_lat", "scope": "thread", "blocks": 1, "threads": 1, "bytes": 8, "unit": "us", "median": 1, "lowest": 1, "highest": 1}
        for document, said in (("{", "is not JSON"), ("[]", "is not a document"), ("{}", "is not a document"), (nothing, "no event"), ({"results": [line]}, "several sizes"),
                               (map_of(2, maps=[]), "no pair of PEs"), ({"maps": [{}]}, "lacks a member"), ({"events": [1]}, "lacks a member"),
                               ({"results": 5}, "lacks a member")):
            with self.subTest(document=document):
                self.assertIn(said, plot(self.file(document), status=1))
                self.assertFalse((self.folder / "in.svg").exists())
        self.assertIn("only a map", plot(self.file({"results": []}), str(self.folder / "a.html"), status=1))
        self.assertIn("No such file", plot(str(self.folder / "none.json"), status=1))
        self.assertIn("cannot be written", plot(self.file(map_of(2)), str(self.folder / "no" / "a.svg"), status=1))


if __name__ == "__main__":
    if PYTHON is None:
        outcome = unittest.main(argv=[sys.argv[0], "WithoutMatplotlib"], exit=False)
        print("no Python here has matplotlib: no picture was drawn")
        sys.exit(77 if outcome.result.wasSuccessful() else 1)
    unittest.main(argv=sys.argv[:1])
