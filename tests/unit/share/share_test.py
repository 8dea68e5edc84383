"""Tests memory that unrelated processes share by tickets.

    share_test.py PROGRAM [TEST...]

PROGRAM is party.cpp, compiled for the host or for GPUs. Runs all tests, or the named tests. Each process is started by
another process that ends immediately, so no process is the parent or child of another process or of this script.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

from party import GPU, TOLD, Party, comes, exporter, pid_of, skipped
from places import a_directory_is_left_clean, a_reused_pid_is_another_process, gpus_go_by_uuid, namespaces_need_a_directory


def words_come_through():
    one = exporter()
    ticket = one.good("ticket")
    other = Party()
    assert other.good(f"open {ticket}").split()[:2] == ["opened", str(1 << 20)]
    one.good("write 4096 77")
    assert other.good("read 4096") == "77"
    other.good("write 8 78")
    assert one.good("read 8") == "78"
    assert other.good("alive") == "alive"
    assert len(one.good("openers").split()) == 2
    other.good("close")
    assert comes(lambda: one.good("openers") == "openers")
    one.end()
    other.end()


def tickets_end():
    one = exporter()
    other = Party()
    once = one.good("ticket 1")
    other.good(f"open {once}")
    Party().bad(f"open {once}", "PGAS-E0104", "its limit")
    other.good("close")
    other.bad(f"open {once}", "PGAS-E0104", "its limit")  # the number of opens is used up
    brief = one.good("ticket 0 1")
    time.sleep(2.1)
    other.bad(f"open {brief}", "PGAS-E0104", "expired")
    kept = one.good("ticket")
    other.good(f"open {kept}")
    one.good("revoke")
    other.bad(f"open {kept}", "PGAS-E0104", "revoked")
    assert other.good("alive") == "alive"
    other.good("write 0 5")
    Party().bad(f"open {kept}", "PGAS-E0104")
    for cut in (0, 5, 6, 20, len(kept) - 1):
        said = other.ask(f"open {kept[:cut]}")
        assert "PGAS-E0204" in said, said
    for at in range(len(kept)):
        changed = kept[:at] + ("A" if kept[at] != "A" else "B") + kept[at + 1 :]
        other.bad(f"open {changed}", "PGAS-E0204")
    one.end()
    other.end()


def read_only_is_enforced():
    one = exporter(1 << 20, "read_only")
    one.good("write 0 3")
    ticket = one.good("ticket")
    other = Party()
    other.good(f"open {ticket}")
    assert other.good("read 0") == "3"
    other.say("write 0 4")
    said = other.answers.readline()
    assert "written" not in said, said
    one.good("write 0 5")
    assert one.good("read 0") == "5"
    one.end()


def users_are_told_apart():
    if os.geteuid() != 0:
        skipped.append("users_are_told_apart: needs root")
        return
    nobody = 65534
    one = exporter()
    ticket = one.good("ticket")
    stranger = Party(user=nobody)
    stranger.bad(f"open {ticket}", "PGAS-E0104")
    for_them = one.good(f"ticket 0 0 {nobody}")
    stranger.bad(f"open {ticket}", "PGAS-E0104", "for processes of user 0")
    stranger.good(f"open {for_them}")
    stranger.good("write 0 9")
    assert one.good("read 0") == "9"
    stranger.bad(f"open {one.good('ready')}", "PGAS-E0104", "for processes of user 0")
    stranger.good(f"open {one.good(f'ready {nobody}')}")  # the process that opened the memory also gets the timeline
    Party().bad(f"open {for_them}", "PGAS-E0104", f"user {nobody}")
    one.end()
    stranger.end()


def an_exporters_death_is_told():
    one = exporter()
    ticket = one.good("ticket")
    pid_of(one, ticket)
    other = Party()
    other.good(f"open {ticket}")
    one.good("write 0 6")
    one.kill()
    assert comes(lambda: other.good("alive") == "dead"), "not told within a second"
    other.bad("check", "PGAS-E0401", f"process {one.pid} ")
    assert other.good("read 0") == "6"
    other.good("write 0 7")
    assert other.good("read 0") == "7"
    other.bad(f"open {ticket}", "PGAS-E0401")
    Party().bad(f"open {ticket}", "PGAS-E0401")
    other.end()


def an_importers_death_is_told():
    one = exporter()
    ticket = one.good("ticket")
    other = Party()
    other.good(f"open {ticket}")
    other.pid = int(one.good("openers").split()[1])
    other.kill()
    assert comes(lambda: one.good("openers") == "openers"), "not told within a second"
    one.end()


def a_freed_memory_lives_on():
    one = exporter()
    ticket = one.good("ticket")
    other = Party()
    other.good(f"open {ticket}")
    one.good("write 0 8")
    one.good("free")
    assert other.good("read 0") == "8"
    assert other.good("alive") == "alive"  # the process still runs
    Party().bad(f"open {ticket}", "PGAS-E0401")
    one.end()
    assert comes(lambda: other.good("alive") == "dead")
    other.end()


def is_stopped(pid):
    """Whether all threads of a process are stopped. The signal takes a moment to reach running threads, and a thread
    may still answer."""
    return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))


def stopped_exporters_time_out():
    one = exporter()
    ticket = one.good("ticket")
    pid_of(one, ticket)
    other = Party()
    os.kill(one.pid, signal.SIGSTOP)
    try:
        assert comes(lambda: is_stopped(one.pid))
        begin = time.monotonic()
        other.bad(f"open {ticket}", "PGAS-E0403")
        assert 9 < time.monotonic() - begin < 12
    finally:
        os.kill(one.pid, signal.SIGCONT)
    other.good(f"open {ticket}")
    one.end()
    other.end()


def kills_in_every_state():
    """Kills one side after a random time while it opens and closes memory. Nothing may be left."""
    before = leftovers()
    for i in range(12 if GPU else 60):
        one = exporter()
        ticket = one.good("ticket")
        pid_of(one, ticket)
        other = Party()
        other.good(f"open {ticket}")
        other.pid = int(next(p for p in one.good("openers").split()[1:] if int(p) != one.pid))
        other.good("close")
        other.say(f"series 1000000 {ticket}")
        time.sleep(0.0007 * i)
        if i % 2 == 0:
            begin = time.monotonic()
            one.kill()
            said = other.hear()
            assert "PGAS-E0401" in said, said
            assert time.monotonic() - begin < TOLD + 0.5
        else:
            other.kill()
            assert comes(lambda: one.good("openers") == "openers")
        one.end()
        other.end()
    assert comes(lambda: leftovers() <= before, 5), leftovers() - before


def leftovers():
    with open("/proc/net/unix", encoding="utf-8") as table:
        names = {line.split()[-1] for line in table if "pgas-share-" in line}
    return names | {f"/dev/shm/{name}" for name in os.listdir("/dev/shm") if "pgas" in name}


def a_long_series_grows_nothing(times=None):
    times = times or int(os.environ.get("SHARE_TIMES", "2000" if GPU else "20000"))
    one = exporter()
    ticket = one.good("ticket")
    other = Party()
    other.good(f"series {times // 10} {ticket}")

    def numbers(party):
        return [int(word) for word in party.good("numbers").split()]

    assert comes(lambda: one.good("openers") == "openers")
    here, there = numbers(other), numbers(one)
    begin = time.monotonic()
    other.good(f"series {times} {ticket}")
    seconds = time.monotonic() - begin
    assert comes(lambda: one.good("openers") == "openers")
    for name, before, after in (("importer", here, numbers(other)), ("exporter", there, numbers(one))):
        print(f"  {name}: descriptors, mappings, pages, resident pages {before} -> {after}")
        assert after[0] <= before[0], (name, before, after)
        if "SHARE_SANITIZED" in os.environ:  # a sanitizer keeps freed memory for a while
            continue
        assert after[1] <= before[1] + (20 if GPU else 2), (name, before, after)
        assert after[2] <= before[2] + 600 and after[3] <= before[3] + 600, (name, before, after)
    print(f"  {times} opens and closes: {seconds / times * 1e6:.1f} us each")
    one.end()
    other.end()


def a_thousand_at_once():
    one = exporter()
    ticket = one.good("ticket")
    others = [Party() for _ in range(4 if GPU else 10)]
    for other in others:
        other.say(f"together 100 1 {ticket}")
    for other in others:
        assert other.hear() == "100"
    # If streams are busy, a thread releases closed memory later. Here several hundred pieces of memory are closed at
    # the same time, so the release takes longer.
    assert comes(lambda: one.good("openers") == "openers", 10 * TOLD)
    for other in others:
        other.end()
    size = 12 if GPU else 200
    crowd = [Party() for _ in range(size)]
    for other in crowd:
        other.say(f"open {ticket}")
    for other in crowd:
        assert other.hear().startswith("opened")
    assert len(one.good("openers").split()) == size + 1
    for other in crowd:
        other.end()
    assert comes(lambda: one.good("openers") == "openers", 10 * TOLD)
    one.end()


def a_full_exporter_says_so():
    if "SHARE_SANITIZED" in os.environ:
        skipped.append("a_full_exporter_says_so: a sanitizer itself needs descriptors")
        return
    if GPU:
        skipped.append("a_full_exporter_says_so: the GPU's driver itself needs descriptors")
        return
    one = exporter(before=("sh", "-c", 'ulimit -n 24; exec "$0"'))
    ticket = one.good("ticket")
    crowd = [Party() for _ in range(40)]
    said = [other.ask(f"open {ticket}") for other in crowd]
    opened = sum(line.startswith("opened") for line in said)
    refused = [line for line in said if "PGAS-E0701" in line and "ulimit -n" in line]
    assert opened > 3 and opened + len(refused) == 40, said
    for other in crowd:
        other.end()
    assert comes(lambda: one.good("openers") == "openers")
    Party().good(f"open {ticket}")
    one.end()


def pgas_info_lists_both_sides():
    info = os.environ.get("SHARE_INFO")
    if not info:
        skipped.append("pgas_info_lists_both_sides: SHARE_INFO does not name the program")
        return

    def listed(*arguments):
        return subprocess.run([info, "--shared", *map(str, arguments)], capture_output=True, text=True, check=True).stdout

    one = exporter()
    pid_of(one, one.good("ticket"))
    assert comes(lambda: one.good("openers") == "openers")
    other = Party()
    other.good(f"open {one.good('ticket')}")
    other.pid = int(one.good("openers").split()[1])
    for text in (listed(), listed(one.pid), listed(other.pid)):
        assert f"process {one.pid} exports" in text and f"open in process {other.pid} of user {os.geteuid()}" in text, text
    assert "shares nothing" in listed(1)
    one.end()
    other.end()


def costs():
    # a sanitizer uses several bytes of memory for each byte of the program
    one = exporter((16 if "SHARE_SANITIZED" in os.environ else 256) << 20)
    ticket = one.good("ticket")
    other = Party()
    first, again = map(float, other.good(f"times {ticket}").split())
    other.good(f"open {ticket}")
    other.good("write 0 1")
    here, there = map(float, other.good("bandwidth").split())
    with_timeline = Party().good(f"times {one.good('ready')}").split()
    print("  with a timeline: first {} us, again {} us".format(*with_timeline))
    print(f"  open: first {first:.1f} us, again {again:.2f} us; copies: local {here:.2f} GB/s, opened {there:.2f} GB/s")
    if "SHARE_STRICT" in os.environ:
        assert again <= 5 and there >= here * 0.99
    one.end()
    other.end()


TESTS = [words_come_through, tickets_end, read_only_is_enforced, users_are_told_apart, an_exporters_death_is_told,
         an_importers_death_is_told, a_freed_memory_lives_on, stopped_exporters_time_out, kills_in_every_state,
         a_long_series_grows_nothing, a_thousand_at_once, a_full_exporter_says_so, namespaces_need_a_directory,
         a_directory_is_left_clean, a_reused_pid_is_another_process, gpus_go_by_uuid, pgas_info_lists_both_sides, costs]


def main():
    wanted = sys.argv[2:]
    assert set(wanted) <= {test.__name__ for test in TESTS}, wanted
    for test in TESTS:
        if wanted and test.__name__ not in wanted:
            continue
        begin = time.monotonic()
        test()
        print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    for line in skipped:
        print(f"skipped: {line}")


main()
