#!/usr/bin/env python3
"""Tests the traces of PEs with known operations.

Usage: trace_test.py PGASRUN TRACED KERNELS HALO TRACE [--proxied] [NAMES OF TESTS]

TRACED executes the operations, and KERNELS executes them in kernels. HALO is the example of a halo exchange. TRACE is
pgas-trace. With --proxied, PEs are also reached by proxies.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import perfetto_file

PGASRUN = TRACED = KERNELS = HALO = TRACE = ""
WAYS = [("direct", {})]
LONG = 100  # seconds, the limit on a busy machine
PES = 4
ROUNDS = 5
RING = 65536  # the number of events that a thread keeps
COMPARE = {"==": lambda a, b: a == b, ">=": lambda a, b: a >= b}


def run(folder, *words, pes=PES, status=0, program=None, **environment):
    """Runs a job that records. Returns what the job has printed to standard error."""
    job = subprocess.run([PGASRUN, "-n", str(pes), program or TRACED, *words], env=os.environ | {"PGAS_TRACE": f"{folder}/t"} | environment, text=True,
                         capture_output=True, timeout=LONG, check=False)
    assert status is None or job.returncode == status, (job.returncode, job.stdout, job.stderr)
    return job.stderr


def tool(*words, status=0):
    job = subprocess.run([TRACE, *words], text=True, capture_output=True, timeout=LONG, check=False)
    assert job.returncode == status, (words, job)
    return job


def merged(folder) -> perfetto_file.Trace:
    files = sorted(str(path) for path in pathlib.Path(folder).glob("t.?"))
    tool("merge", f"{folder}/all", *files)
    return perfetto_file.read(f"{folder}/all")


def arrows(trace):
    """Returns the pairs of events that flows connect. Every flow begins at one event and ends at one event."""
    begins, ends = {}, {}
    for event in trace.events:
        for into, numbers in ((begins, event.flows), (ends, event.ends)):
            for number in numbers:
                assert number not in into, f"flow {number} is there twice: {event}"
                into[number] = event
    assert begins.keys() == ends.keys(), "a flow has one end only"
    return [(begins[number], ends[number]) for number in begins]


def check_arrows(case, trace):
    """Checks that each arrow goes from an update to a wait for the same word, which can have seen the update, and not
    back in time. Returns how many arrows begin at each signal."""
    out = collections.Counter()
    for update, wait in arrows(trace):
        out[id(update)] += 1
        case.assertEqual(wait.category, "wait", wait)
        case.assertEqual((update.facts["peer"], update.facts["offset"]), (wait.pe, wait.facts["offset"]))
        case.assertTrue(COMPARE[wait.facts["compare"]](wait.facts["seen"], wait.facts["value"]), wait)
        if update.facts["update"] == "set":
            case.assertGreaterEqual(wait.facts["seen"], update.facts["value"])
        error = trace.about[update.pe]["clock error"] + trace.about[wait.pe]["clock error"]
        case.assertLessEqual(update.begin, wait.end + error, (update, wait))
    return out


class TimeLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_every_signal_has_one_arrow_to_its_wait(self):
        for way, environment in WAYS:
            with self.subTest(way), tempfile.TemporaryDirectory() as folder:
                run(folder, "ring", str(ROUNDS), **environment)
                trace = merged(folder)
                out = check_arrows(self, trace)
                signals = [event for event in trace.events if event.category == "signal" and event.facts["by"] == "host"]
                self.assertEqual(len(signals), ROUNDS * PES * (2 + PES))
                for one in signals:
                    self.assertEqual(out[id(one)], 1, one)
                    self.assertEqual(one.facts["route"], way if one.facts["peer"] != one.pe else "direct")
                # A wait for several words has a separate event for each word.
                self.assertEqual(sum(event.name == "satisfied" for event in trace.events), ROUNDS * PES * PES)

    def test_each_pe_says_who_it_is_and_how_wrong_its_clock_may_be(self):
        run(self.folder, "ring", "1")
        trace = merged(self.folder)
        self.assertEqual(sorted(trace.about), list(range(PES)))
        for pe, about in trace.about.items():
            self.assertEqual((about["pe"], about["pes"], about["lost events"]), (pe, PES, 0))
            self.assertGreaterEqual(about["clock error"], 0)
            self.assertLess(about["clock error"], 10**10)
            self.assertLess(about["begin"], about["end"])
        self.assertEqual(len({about["job"] for about in trace.about.values()}), 1)

    def test_collectives_have_the_same_numbers_on_all_pes(self):
        run(self.folder, "ring", str(ROUNDS))
        trace = merged(self.folder)
        calls = collections.defaultdict(list)
        for event in trace.events:
            if event.category == "collective":
                calls[event.facts["team"], event.facts["number"]].append((event.name, event.facts["by"]))
        self.assertEqual(sorted(calls), [(0, number) for number in range(1, ROUNDS + 3)])
        for key, same in calls.items():
            self.assertEqual(len(same), PES, key)
            self.assertEqual(len(set(same)), 1, key)
        self.assertEqual([by for _, by in (calls[0, ROUNDS + 1][0], calls[0, ROUNDS + 2][0])], ["stream", "host"])

    def test_streams_have_tracks_and_so_has_the_proxy(self):
        for way, environment in WAYS:
            with self.subTest(way), tempfile.TemporaryDirectory() as folder:
                run(folder, "ring", "1", **environment)
                trace = merged(folder)
                for pe in range(PES):
                    names = trace.tracks[pe]
                    self.assertIn("stream 1", names)
                    self.assertEqual([event.name for event in trace.events if event.pe == pe and event.track == "stream 1"], ["put", "barrier"])
                    self.assertEqual("proxy" in names, way == "proxied")
                    if way == "proxied":
                        commands = [event for event in trace.events if event.pe == pe and event.track.startswith("proxy")]
                        self.assertTrue(all(event.facts["by"] == "proxy" for event in commands))
                        kinds = collections.Counter(event.category for event in commands)
                        self.assertGreaterEqual(kinds["signal"], 1, kinds)  # signals of put_signal
                        self.assertGreaterEqual(kinds["atomic"], PES - 1, kinds)  # additions to the other PEs' words

    def test_what_is_lost_is_said(self):
        puts = RING + 1000
        said = run(self.folder, "many", str(puts), pes=2)
        trace = merged(self.folder)
        for pe in range(2):
            kept = sum(event.pe == pe for event in trace.events)
            self.assertEqual(kept, RING)
            self.assertGreaterEqual(trace.about[pe]["lost events"], 1000)
            self.assertIn(f"{trace.about[pe]['lost events']} events of the trace are lost", said)
        self.assertIn("PE 0 lost", tool("merge", f"{self.folder}/all", f"{self.folder}/t.0", f"{self.folder}/t.1").stderr)
        self.assertIn("PE 1 lost", tool("summary", f"{self.folder}/all").stdout)

    def test_pes_that_survive_another_one_have_their_files(self):
        run(self.folder, "die", status=None)
        self.assertEqual(pathlib.Path(f"{self.folder}/t.1").read_bytes(), b"")
        self.assertIn("t.1: is empty", tool("merge", f"{self.folder}/all", f"{self.folder}/t.0", f"{self.folder}/t.1", status=1).stderr)
        job = tool("merge", f"{self.folder}/all", *(f"{self.folder}/t.{pe}" for pe in (0, 2, 3)))
        self.assertIn("these are in no file: 1", job.stderr)
        trace = perfetto_file.read(f"{self.folder}/all")
        check_arrows(self, trace)
        # Even the first barrier can fail, because PE 1 does not wait until the other PEs have left this barrier.
        self.assertIn(sum(event.name == "pgas::barrier_all" for event in trace.events), range(3, 7))

    def test_the_summary_counts_what_was_done(self):
        run(self.folder, "ring", str(ROUNDS))
        merged(self.folder)
        said = json.loads(tool("summary", "--json", f"{self.folder}/all").stdout)
        self.assertEqual((said["pes"], said["signals"], said["arrows"], said["unseen"], said["guessed"]),
                         (PES, ROUNDS * PES * (2 + PES), ROUNDS * PES * (2 + PES), 0, 0))
        rows = {(row["by"], row["route"], row["kind"]): row for row in said["operations"]}
        self.assertEqual(rows["host", "direct", "signal"]["count"], said["signals"])
        self.assertEqual(rows["host", "direct", "signal"]["bytes"], ROUNDS * PES * 800)
        self.assertEqual(rows["stream", "direct", "put"]["count"], PES)
        pairs = {(row["from"], row["to"]): row["count"] for row in said["pairs"]}
        self.assertEqual(sum(pairs.values()), said["signals"] + PES)
        # The signals go round the ring one after another, so the path of an iteration contains all PEs.
        steps = said["critical_path"]["steps"]
        self.assertAlmostEqual(sum(step["ms"] for step in steps), said["critical_path"]["ms"], delta=0.01)
        text = tool("summary", *(f"{self.folder}/t.{pe}" for pe in range(PES))).stdout
        self.assertIn(f"{said['signals']} signals, {said['arrows']} arrows", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_operations_of_kernels_are_recorded_where_they_are_compiled_for_it(self):
        for way, environment in WAYS:
            with self.subTest(way), tempfile.TemporaryDirectory() as folder:
                run(folder, str(ROUNDS), program=KERNELS, PGAS_HOST_BLOCK_THREADS="4", **environment)
                trace = merged(folder)
                kernels = [event for event in trace.events if event.facts["by"] == "kernel"]
                once = ["put_signal", "signal", "atomic_add", "atomic_fetch_add", "p", "g", "put", "get", "barrier", "reduce"]
                expected = dict.fromkeys(once, ROUNDS * PES) | {"wait_until": 2 * ROUNDS * PES}
                self.assertEqual(dict(collections.Counter(event.name for event in kernels)), expected)
                self.assertEqual({event.track for event in kernels}, {"kernels, block 0 thread 0"})
                out = check_arrows(self, trace)
                for event in kernels:
                    if event.category == "signal":
                        self.assertEqual(out[id(event)], 1, event)
                    if "peer" in event.facts:
                        self.assertEqual(event.facts["route"], way if event.facts["peer"] != event.pe else "direct")
                self.assertEqual(sum(event.facts.get("bytes", 0) for event in kernels if event.category == "put"), ROUNDS * PES * (128 + 8))

    def test_a_wait_in_vain_is_recorded(self):
        run(self.folder, "0", pes=1, status=1, program=KERNELS, PGAS_WAIT_TIMEOUT="200ms")
        [wait] = [event for event in merged(self.folder).events if event.facts["by"] == "kernel"]
        self.assertEqual(wait.name, "wait_until")
        self.assertGreaterEqual(wait.end - wait.begin, 200_000_000)

    def test_the_events_as_json_are_those_of_the_file(self):
        run(self.folder, str(ROUNDS), program=KERNELS)
        trace = merged(self.folder)
        kernels = [event for event in trace.events if event.facts["by"] == "kernel"]
        said = json.loads(tool("events", "--by", "kernel", f"{self.folder}/all").stdout)

        def key(pe, track, name, begin, end):
            return (pe, track, name, begin, end)

        self.assertEqual(sorted(key(each["pe"], each["track"], each["name"], each["begin_ns"], each["end_ns"]) for each in said["events"]),
                         sorted(key(each.pe, each.track, each.name, each.begin, each.end) for each in kernels))
        self.assertEqual((said["from_ns"], said["to_ns"]), (min(each.begin for each in kernels), max(each.end for each in kernels)))
        ends = {(from_.pe, from_.begin, to.pe, to.end) for from_, to in arrows(trace)}
        drawn = [(said["events"][a], said["events"][b]) for a, b in said["arrows"]]
        self.assertEqual({(a["pe"], a["begin_ns"], b["pe"], b["end_ns"]) for a, b in drawn}, ends)
        waits = [each for each in said["events"] if each["category"] == "wait"]
        self.assertEqual({(each["compare"], each["value"] <= each["seen"]) for each in waits}, {(">=", True)})
        self.assertTrue(all(each["peer"] in range(PES) and each["route"] for each in said["events"] if each["category"] in ("put", "get", "signal")))

    def test_a_selection_of_events_has_those_of_its_time_and_callers(self):
        run(self.folder, "ring", str(ROUNDS))
        files = [f"{self.folder}/t.{pe}" for pe in range(PES)]
        whole = json.loads(tool("events", *files).stdout)
        self.assertGreater(len({each["by"] for each in whole["events"]}), 1)
        host = json.loads(tool("events", "--by", "host", *files).stdout)
        self.assertEqual({each["by"] for each in host["events"]}, {"host"})
        length = (host["to_ns"] - host["from_ns"]) / 1e6
        part = json.loads(tool("events", "--by", "host", "--from", str(length / 4), "--ms", str(length / 2), *files).stdout)
        self.assertEqual(part["events"], [each for each in host["events"] if each["end_ns"] >= part["from_ns"] and each["begin_ns"] <= part["to_ns"]])
        self.assertLess(len(part["events"]), len(host["events"]))
        self.assertTrue(all(0 <= end < len(part["events"]) for pair in part["arrows"] for end in pair))
        self.assertEqual(json.loads(tool("events", "--from", "1e9", *files).stdout)["events"], [])

    def test_kernels_record_one_period_of_so_many(self):
        # a millisecond out of every quarter of an hour
        run(self.folder, str(ROUNDS), program=KERNELS, PGAS_TRACE_SAMPLE="1000000")
        trace = merged(self.folder)
        self.assertEqual([event for event in trace.events if event.facts["by"] == "kernel"], [])
        self.assertNotEqual(trace.events, [])

    def test_every_row_of_a_halo_exchange_has_one_arrow_to_the_wait_for_it(self):
        iterations = 20
        run(self.folder, "-nx", "256", "-ny", "256", "-niter", str(iterations), "-csv", program=HALO)
        trace = merged(self.folder)
        out = check_arrows(self, trace)
        rows = collections.defaultdict(list)  # rows by initiator and target
        for event in trace.events:
            if event.name == "put_signal":
                rows[event.pe, event.facts["peer"]].append(event)
        self.assertEqual(sorted(rows), [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
        unseen = 0
        for pair, all_rows in rows.items():
            all_rows.sort(key=lambda event: event.begin)
            self.assertEqual(len(all_rows), iterations, pair)
            self.assertEqual([out[id(event)] for event in all_rows[:-1]], [1] * (iterations - 1), pair)
            unseen += 1 - out[id(all_rows[-1])]  # no PE waits for the rows of the last iteration, but a PE may see them
        said = json.loads(tool("summary", "--json", f"{self.folder}/all").stdout)
        self.assertEqual((said["signals"], said["unseen"], said["guessed"]), (6 * iterations, unseen, 0))

    def test_names_of_files(self):
        run(self.folder, "ring", "1", pes=2, PGAS_TRACE=f"{self.folder}/a%r.pftrace")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a0.pftrace", "a1.pftrace"])
        said = run(self.folder, "ring", "1", pes=2, status=1, PGAS_TRACE=f"{self.folder}/none/t")
        self.assertIn("PGAS-E0601", said)
        self.assertIn("none/t.0", said)

    def test_files_that_are_none_or_do_not_belong_together(self):
        run(self.folder, "ring", "1", pes=2)
        os.rename(f"{self.folder}/t.0", f"{self.folder}/old.0")
        run(self.folder, "ring", "1", pes=2)
        for files, said in ((("t.0", "old.0"), "another job"), (("t.0", "t.0"), "which another file has"), (("t.0", "none"), "No such file"),
                            (("traced",), "not a complete trace")):
            names = [f"{self.folder}/{name}" if name != "traced" else TRACED for name in files]
            self.assertIn(said, tool("summary", *names, status=1).stderr)

    def test_without_the_setting_nothing_is_recorded(self):
        run(self.folder, "ring", "1", PGAS_TRACE="")
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    PGASRUN, TRACED, KERNELS, HALO, TRACE = sys.argv[1:6]
    rest = sys.argv[6:]
    if "--proxied" in rest:
        rest.remove("--proxied")
        WAYS.append(("proxied", {"PGAS_P2P": "0"}))
    unittest.main(argv=[sys.argv[0], *rest])
