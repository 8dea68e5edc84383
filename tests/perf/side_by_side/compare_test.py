"""Tests compare.py with small programs that succeed, crash, hang or report wrong data. Needs no GPU."""
import os
import stat
import sys
import tempfile
import unittest
import unittest.mock
from xml.etree import ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402
import results  # noqa: E402
import running  # noqa: E402

# A program with rows 0 to 3. AT is the row in which the program fails, WHAT is the kind of failure, and VALUE is the
# figure of each row.
PROGRAM = """#!{python}
import json, os, sys, time
AT, WHAT, VALUE = {at}, {what!r}, {value}
rank, first = int(sys.argv[2]), int(sys.argv[sys.argv.index("--first") + 1])
for i in range(first, 4):
    shape = {{"row": "r%d" % i, "bytes": 1024 << i, "blocks": 1, "threads": 32}}
    if rank == 0:
        print(json.dumps({{"begin": i, **shape}}), flush=True)
    if i == AT and WHAT == "crash" and rank == 1:
        os.abort()
    if i == AT and (WHAT == "hang" or WHAT == "crash"):
        time.sleep(600)
    if rank == 0:
        wrong = 1 if i == AT and WHAT == "wrong" else 0
        print(json.dumps({{**shape, "unit": "us", "value": VALUE, "better": "lower", "checked": wrong == 0, "wrong": wrong}}), flush=True)
if rank == 0:
    print('{{"end": true}}')
sys.exit(1 if WHAT == "wrong" else 0)
"""


class Comparing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_program(self, at=-1, what="", value=2.0, limit=20):
        path = os.path.join(self.folder.name, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(python=sys.executable, at=at, what=what, value=value))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        with open(os.path.join(self.folder.name, "log"), "wb") as log:
            return running.run(path, 2, [], [], limit, log)

    def test_all_rows(self):
        rows, failures = self.run_program()
        self.assertEqual([row["row"] for row in rows], ["r0", "r1", "r2", "r3"])
        self.assertEqual(failures, [])

    def test_a_crash_costs_one_row(self):
        rows, failures = self.run_program(1, "crash")
        self.assertEqual([row["row"] for row in rows], ["r0", "r2", "r3"])
        self.assertEqual([row["row"] for row, _ in failures], ["r1"])

    def test_a_hang_costs_one_row(self):
        rows, failures = self.run_program(2, "hang", limit=1)
        self.assertEqual([row["row"] for row in rows], ["r0", "r1", "r3"])
        self.assertIn("still running", failures[0][1])

    def test_wrong_data_are_a_failure(self):
        every = results.Results(2)
        every.add("pgas", *self.run_program(3, "wrong"))
        self.assertEqual([line.met(2) for line in every.lines.values()], ["yes", "yes", "yes", "FAIL"])
        self.assertEqual(len(every.failures), 1)

    def test_sharing_goes_without_a_percentage(self):
        variable = "NVSHMEM_IGNORE_CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
        self.assertEqual(running.environment([])[variable], "1")
        arguments = ["compare.py", "--pgas-build", "there", "--share"]
        with unittest.mock.patch.object(sys, "argv", arguments), unittest.mock.patch("sys.stderr"):
            with unittest.mock.patch.dict(os.environ, {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50", variable: "0"}):
                self.assertEqual(running.environment([])[variable], "0")
                self.assertRaises(SystemExit, compare.read_arguments)
            self.assertTrue(compare.read_arguments().share)

    def test_ratios(self):
        every = results.Results(2)
        every.add("pgas", *self.run_program(value=2.0))
        every.add("nvshmem", *self.run_program(value=3.0))
        every.add("pgas", *self.run_program(value=2.0))
        every.add("nvshmem", *self.run_program(1, "crash", value=3.0))
        self.assertIn("ahead of NVSHMEM in 4 of 4 rows", every.summary())
        words = every.table()[1]
        named = dict(zip(every.table()[0], words, strict=True))
        self.assertEqual([named[name] for name in ("pgas", "direct", "NVSHMEM", "to NVSHMEM", "direct of raw")], ["2", "", "3", "1.5", ""])

    def test_direct_has_a_column_of_its_own(self):
        every = results.Results(2)
        for backend, value in (("pgas", 2.0), ("pgas-direct", 1.6), ("raw", 1.5)):
            every.add(backend, *self.run_program(value=value))
        named = dict(zip(*every.table()[:2], strict=True))
        self.assertEqual([named[name] for name in ("pgas", "direct", "of raw", "direct of raw")], ["2", "1.6", "75 %", "94 %"])

    def test_targets(self):
        def met(pes, row, size, better, **values):
            every = results.Results(pes)
            for backend, value in values.items():
                every.add(backend, [{"row": row, "bytes": size, "blocks": 1, "threads": 1, "unit": "", "value": value,
                                     "better": better, "checked": True, "wrong": 0}], [])
            return [line.met(pes) for line in every.lines.values()][0]

        self.assertEqual(met(2, "put_bw", 1 << 20, "higher", pgas=98, nvshmem=90, raw=100), "yes")
        self.assertEqual(met(2, "put_bw", 1 << 20, "higher", pgas=97, nvshmem=90, raw=100), "no: target")
        self.assertEqual(met(2, "packet_pp", 8, "lower", pgas=1.09, raw=1.0), "yes")
        self.assertEqual(met(2, "packet_pp", 8, "lower", pgas=1.11, raw=1.0), "no: target")
        self.assertEqual(met(2, "halo_p", 16 << 20, "lower", pgas=10, nvshmem=12), "no: target")
        self.assertEqual(met(2, "barrier_all", 0, "lower", pgas=1.5, nvshmem=1.4), "no: target, NVSHMEM")
        self.assertEqual(met(4, "barrier_all", 0, "lower", pgas=1.5, nvshmem=2), "yes")
        self.assertEqual(met(4, "stream_fcollect", 128 << 20, "lower", pgas=291, nvshmem=400), "yes")  # 346 GB/s
        self.assertEqual(met(4, "stream_fcollect", 128 << 20, "lower", pgas=293, nvshmem=400), "no: target")

    def test_sections_are_replaced_by_themselves(self):
        path = os.path.join(self.folder.name, "RESULTS.md")
        rows = self.run_program()
        for pes, date in ((4, "first"), (2, "second"), (4, "third")):
            every = results.Results(pes)
            every.add("pgas", *rows)
            results.write(path, every, {"date": date})
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual([line for line in text.splitlines() if line.startswith("## ")], ["## 2 PEs", "## 4 PEs"])
        self.assertNotIn("first", text)
        self.assertLess(text.index("second"), text.index("third"))
        self.assertIn("](RESULTS.4.svg)", text)

    def test_the_picture_has_every_ratio_and_curves_of_several_sizes(self):
        every = results.Results(2)
        for backend, factor in (("pgas", 2.0), ("nvshmem", 1.0), ("raw", 2.5)):
            every.add(backend, [{"row": name, "bytes": bytes_, "blocks": 8, "threads": 1024, "unit": "GB/s",
                                 "value": factor * value, "better": "higher", "checked": True, "wrong": 0}
                                for name, bytes_, value in (("put_bw", 1024, 3), ("put_bw", 4096, 11), ("put_bw", 1 << 20, 300),
                                                            ("p<&>", 8, 1))], [])
        drawn = ElementTree.fromstring(every.picture({"machine": "2 x GPU"}))  # well-formed SVG is valid XML
        words = [element.text for element in drawn.iter() if element.tag.endswith("text")]
        self.assertEqual(words.count("2.00"), 4)
        self.assertIn("put_bw 4 KiB 8 x 1024", words)
        self.assertIn("p<&> 8 B 8 x 1024", words)
        # one curve each for pgas, NVSHMEM and the hand-written kernel
        self.assertEqual(sum(element.tag.endswith("polyline") for element in drawn.iter()), 3)


if __name__ == "__main__":
    unittest.main()
