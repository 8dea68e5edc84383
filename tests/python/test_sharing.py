"""Sharing by ticket between two processes without a world."""

import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import pgas
from conftest import environment

IMPORTER = """
import sys, numpy as np, pgas
opened = pgas.open(sys.argv[1])
{body}
"""


def importer(ticket, body, status=0):
    done = subprocess.run([sys.executable, "-c", IMPORTER.format(body=body), ticket], capture_output=True, text=True, timeout=40,
                          env=environment())
    assert done.returncode == status, done.stderr
    return done.stdout


def test_two_processes_see_each_others_writes():
    x = pgas.shared_empty((4, 5), "int32")
    x[...] = np.arange(20).reshape(4, 5)
    ticket = pgas.share(x)
    out = importer(ticket, "assert opened.dtype == 'int32'; print(opened.sum()); opened[1] = 7; print(pgas.opened(opened).alive)")
    assert out == "190\nTrue\n" and (x[1] == 7).all() and x[2, 0] == 10


def test_views_with_strides_and_offsets():
    x = pgas.shared_empty((4, 6), "float64")
    x[...] = np.arange(24).reshape(4, 6)
    view = x[1:, ::2].T
    expected = f"{view.tolist()}\n"
    assert importer(pgas.share(view, whole_block=True), "print(opened.tolist()); opened[0, 0] = -1") == expected
    assert x[1, 0] == -1
    assert importer(pgas.share(x[::-1]), "print(opened[0, 1], opened.strides)") == "19.0 (-48, 8)\n"


def test_a_mapping_of_arrays():
    x = pgas.shared_empty(4, "float32")
    y = pgas.shared_empty((2, 2), "int64")
    x[...], y[...] = 1, 2
    ticket = pgas.share({"weight": x, "bias": y, "part": x[2:], "none": x[:0]})
    out = importer(ticket, "print(sorted(opened), opened['none'].shape); opened['weight'][3] = 5; print(opened['part'], opened['bias'].sum())")
    assert out == "['bias', 'none', 'part', 'weight'] (0,)\n[1. 5.] 8\n" and x[3] == 5


def test_lists_of_pages_between_opened_arrays():
    cache = pgas.shared_empty((6, 2, 4), "float32")
    cache[...] = -1
    body = """
pages = np.arange(24, dtype='float32').reshape(3, 2, 4)
pgas.copy_list(opened, pages, destination_index=np.array([4, 0], 'int32'), source_index=[2, 1])
pgas.copy_list(opened[1:4], pages, destination_index=[1], source_index=[0], stream=None)
back = np.zeros_like(pages)
pgas.copy_list(back[1:], opened, source_index=[0, 4])
print((back[1] == pages[1]).all(), (back[2] == pages[2]).all(), back[0].sum())
"""
    assert importer(pgas.share(cache), body) == "True True 0.0\n"
    pages = np.arange(24, dtype="float32").reshape(3, 2, 4)
    assert (cache[[4, 0, 2]] == pages[[2, 1, 0]]).all() and (cache[[1, 3, 5]] == -1).all()


@pytest.mark.parametrize("arguments, kind, text", [
    (dict(destination_index=[0, 6]), IndexError, "pages 0 to 5, and its indices go from 0 to 6"),
    (dict(source_index=[-1]), IndexError, "pages 0 to 2, and its indices go from -1 to -1"),
    (dict(destination_index=[0, 1]), ValueError, "2 pages of the destination, 3 of the source"),
    (dict(), ValueError, "6 pages of the destination, 3 of the source"),
    (dict(destination_index=np.zeros(2), source_index=[0, 1]), TypeError, "int32 or int64"),
    (dict(destination_index=np.arange(6)[::2], source_index=[0, 1, 2]), TypeError, "contiguous"),
    (dict(source=np.zeros((3, 5), "int8")), ValueError, "a page of the destination has the shape"),
    (dict(source=np.zeros((3, 4), "uint8")), TypeError, "of int8, the source of uint8"),
    (dict(source=np.zeros((3, 8), "int8")[:, ::2]), ValueError, "each page of the source must be contiguous"),
    (dict(source=np.zeros((3, 4), "int8")[::-1]), ValueError, "ascending"),
    (dict(destination=np.broadcast_to(np.zeros(4, "int8"), (6, 4))), ValueError, "read-only"),
    (dict(destination=np.zeros((), "int8")), ValueError, "no dimensions"),
    (dict(destination_index=[0, 1, 2.0]), TypeError, "integer"),
    (dict(destination_index=[False, True, False]), TypeError, "whole numbers"),
    (dict(destination_index=memoryview(np.array([0, 1, 6]))), IndexError, "from 0 to 6"),
    (dict(destination_index=[0, 1, 2], stream=12345), ValueError, "in host memory"),
    (dict(most_blocks=-1, destination_index=[0, 1, 2]), ValueError, "most_blocks"),
])
def test_wrong_lists_of_pages_are_refused(arguments, kind, text):
    given = {"destination": np.zeros((6, 4), "int8"), "source": np.ones((3, 4), "int8"), **arguments}
    kept = np.array(given["destination"])
    with pytest.raises(kind, match=text):
        pgas.copy_list(given.pop("destination"), given.pop("source"), **given)
    assert (kept == 0).all()


@pytest.mark.threads
def test_who_has_it_open_and_tickets_that_end():
    x = pgas.shared_empty(4, "int8")
    ticket = pgas.share(x, opens=1)
    assert ticket.opened_by() == []
    body = "import os; print(os.getpid()); sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", IMPORTER.format(body=body), ticket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=environment()) as process:
        number = int(process.stdout.readline())
        assert [one.pid for one in ticket.opened_by()] == [number] and ticket.opened_by()[0].uid == os.getuid()
        process.communicate("")
    assert "PGAS-E0104" in subprocess.run([sys.executable, "-c", IMPORTER.format(body=""), ticket], capture_output=True, text=True,
                                          env=environment()).stderr
    ticket = pgas.share(x)
    ticket.revoke()
    with pytest.raises(pgas.Error) as refused:
        pgas.open(ticket)
    assert refused.value.code is pgas.Code.authentication


@pytest.mark.parametrize("ticket", ["", "hello", "pgas2.", "pgas2.e30=", "pgas2.AAAA", "pgas2.!", "pgas-arrays:e30="])
def test_what_is_no_ticket(ticket):
    with pytest.raises(pgas.Error) as refused:
        pgas.open(ticket)
    assert refused.value.code is pgas.Code.handle_invalid


def test_a_damaged_ticket():
    x = pgas.shared_empty(4)
    ticket = pgas.share(x)
    for cut in (len(ticket) - 4, len(ticket) // 2):
        with pytest.raises(pgas.Error):
            pgas.open(ticket[:cut])


def test_white_space_around_a_ticket_is_no_damage():
    x = pgas.shared_empty(4)
    assert pgas.open(f" {pgas.share(x)}\n").shape == (4,)


def test_a_ticket_of_a_part_would_open_the_whole_array_and_is_refused():
    x = pgas.shared_empty((4, 5), "int32")
    for part in (x[2:3, 2:4], x[1:], x[:, ::2], x[0], {"one": x[:2], "last": x[3:]}):
        with pytest.raises(pgas.Error, match="all 80 bytes") as refused:
            pgas.share(part)
        assert refused.value.code is pgas.Code.invalid_argument
        assert pgas.share(part, whole_block=True)
    # A whole array in any order of its elements, or in parts that together are the whole array.
    for whole in (x, x.T, x[::-1, ::-1], x.reshape(20), {"low": x[:2], "high": x[2:]}, {"all": x, "part": x[1, ::2]}):
        assert pgas.open(pgas.share(whole)) is not None


def test_all_of_a_ticket_is_authenticated():
    import base64

    x = pgas.shared_empty((2, 3), "int32")
    ticket = str(pgas.share(x))
    text = ticket.removeprefix("pgas2.")
    raw = bytearray(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert b'"arrays"' in raw  # one text that contains the shapes
    at = raw.index(b"[2,3]")
    raw[at:at + 5] = b"[3,2]"
    with pytest.raises(pgas.Error) as refused:
        pgas.open("pgas2." + base64.urlsafe_b64encode(raw).decode().rstrip("="))
    assert refused.value.code is pgas.Code.handle_invalid
    assert pgas.open(ticket).shape == (2, 3)


def test_many_arrays_by_one_ticket():
    arrays = {f"layer{i}": pgas.shared_empty(i + 1, "float32") for i in range(30)}
    for i, x in enumerate(arrays.values()):
        x[...] = i
    out = importer(pgas.share(arrays), "print(len(opened), all((x == i).all() and x.size == i + 1 for i, x in enumerate(opened.values())))")
    assert out == "30 True\n"
    assert pgas.open(pgas.share({})) == {} and pgas.open(pgas.share(np.zeros((0, 2)))).shape == (0, 2)


READ_ONLY = """
import ctypes, os
assert (opened == 5).all() and not opened.flags.writeable
for write in (lambda: opened.__setitem__(0, 1), lambda: setattr(opened.flags, "writeable", True)):
    try:
        write()
    except ValueError:
        pass
    else:
        sys.exit("written")
libc = ctypes.CDLL(None, use_errno=True)
start = opened.ctypes.data
assert libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 3) == -1 and ctypes.get_errno() == 13
libc.syscall.restype = ctypes.c_long
mapping = next(line for line in open("/proc/self/maps") if line.startswith(f"{start:x}-"))
assert mapping.split()[1] == "r--s", mapping
world = pgas.join()
x = world.full(4, 77, "int32")
for call in (lambda: world.get(opened, x, 0), lambda: world.all_reduce(x, out=opened)):
    try:
        call()
    except ValueError as refused:
        assert "read-only" in str(refused)
    else:
        sys.exit("written")
world.leave()
print("reads")
"""


@pytest.mark.parametrize("how", ["an array", "a mapping", "shared for writing before", "an array marked read-only"])
def test_a_read_only_ticket_of_memory_that_is_writable_here(how):
    x = pgas.shared_empty(4, "int32")
    x[...] = 5
    written = pgas.share(x) if how == "shared for writing before" else None
    what, body = x, READ_ONLY
    if how == "a mapping":
        what, body = {"x": x}, "opened = opened['x']\n" + READ_ONLY
    if how == "an array marked read-only":
        what = x.view()
        what.flags.writeable = False
    assert importer(pgas.share(what, read_only=how != "an array marked read-only"), body) == "reads\n"
    assert (x == 5).all()
    if written is not None:
        importer(written, "opened[0] = 6")
        assert x[0] == 6


def test_a_read_only_ticket_of_a_file_of_memory():
    import mmap

    file = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(file, 4096)
    x = np.frombuffer(mmap.mmap(file, 4096), "int32")
    x[...] = 5
    written, read = pgas.share(x), pgas.share(x, read_only=True)
    assert importer(read, "opened = opened[:4]\n" + READ_ONLY) == "reads\n"
    importer(written, "opened[0] = 6")
    assert x[0] == 6 and x[1] == 5
    os.close(file)


def test_lifetimes():
    x = pgas.shared_empty(4)
    for wrong in (0, -0.5, -1, -1.9, float("nan"), float("inf"), -float("inf")):
        for make in (pgas.share, lambda _, lifetime: pgas.Timeline().ticket(lifetime=lifetime)):
            with pytest.raises(pgas.Error, match="lifetime is a number of seconds above 0"):
                make(x, lifetime=wrong)
    brief, longer = [pgas.share(x, lifetime=seconds) for seconds in (0.0001, 0.3)], [pgas.share(x, lifetime=1e300), pgas.share(x)]
    time.sleep(0.5)
    for ticket in brief:
        with pytest.raises(pgas.Error) as over:
            pgas.open(str(ticket))
        assert over.value.code is pgas.Code.authentication
    for ticket in longer:
        assert pgas.open(str(ticket)).shape == (4,)


def test_numbers_that_nothing_has():
    x = pgas.shared_empty(4)
    for wrong in ({"opens": -1}, {"opens": 0}, {"user": -1}, {"user": 2**32 - 1}):
        with pytest.raises(pgas.Error, match=next(iter(wrong))):
            pgas.share(x, **wrong)
    for timeout in (-1, float("nan")):
        with pytest.raises(pgas.Error, match="timeout is a number of seconds"):
            pgas.open(pgas.share(x), timeout=timeout)
    assert pgas.open(pgas.share(x), timeout=float("inf")).shape == (4,)
    timeline = pgas.Timeline()
    for call in (timeline.record, timeline.set, timeline.wait, timeline.wait_host):
        for value in (-1, 2**64):
            with pytest.raises(pgas.Error, match="from 0 to"):
                call(value)
    for shape in (2**70, (2**40, 2**40), (0, 2**62)):
        with pytest.raises(pgas.Error, match="exceeds any memory"):
            pgas.shared_empty(shape)
    with pytest.raises(ValueError, match="negative extent"):
        pgas.shared_empty((2, -1))


def test_tickets_of_a_second_array_of_one_memory_outlive_the_first_array():
    import gc
    import mmap

    file = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(file, 4096)
    memory = mmap.mmap(file, 4096)
    first, second, third = (np.frombuffer(memory, "int32") for _ in range(3))
    pgas.share(first)
    ticket = str(pgas.share(second))
    del first
    gc.collect()
    assert pgas.open(ticket).shape == (1024,)
    another = str(pgas.share(third))
    del second
    gc.collect()
    assert pgas.open(ticket).shape == pgas.open(another).shape == (1024,)
    del third
    gc.collect()
    with pytest.raises(pgas.Error):
        pgas.open(another)
    os.close(file)
    x = pgas.shared_empty(8, "int8")
    ticket, view = str(pgas.share(x)), np.frombuffer(x.base.obj, "int8")
    del x
    gc.collect()
    assert pgas.open(ticket).shape == (8,) and pgas.open(pgas.share(view)).shape == (8,)


def test_private_memory_is_refused_and_the_way_out_named():
    with pytest.raises(pgas.Error) as refused:
        pgas.share(np.zeros(4))
    assert refused.value.code is pgas.Code.invalid_argument
    with pytest.raises(ValueError):
        pgas.shared_empty((0, 3))


def test_read_only_memory():
    x = pgas.shared_empty(4, "int32", read_only=True)
    x[...] = 3
    importer(pgas.share(x), "assert (opened == 3).all() and not opened.flags.writeable\ntry: opened[0] = 1\nexcept ValueError: pass\nelse: sys.exit(1)")
    assert (x == 3).all()


@pytest.mark.threads
def test_memory_outlives_its_maker_and_says_so():
    code = "import sys, pgas\nx = pgas.shared_empty(4, 'int32')\nx[...] = 9\nprint(pgas.share(x), flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=environment()) as process:
        ticket = process.stdout.readline().strip()
        x = pgas.open(ticket)
        assert pgas.opened(x).alive and pgas.opened(x).pid == process.pid
        process.kill()
        process.wait()
    assert (x == 9).all()
    for _ in range(40):
        if not pgas.opened(x).alive:
            break
        time.sleep(0.05)
    assert not pgas.opened(x).alive
    with pytest.raises(pgas.Error) as gone:
        pgas.open(ticket + "")
    assert gone.value.code in (pgas.Code.peer_lost, pgas.Code.authentication, pgas.Code.handle_invalid)


def ping(there, back, ticket, rounds):
    """The main function of the child process of multiprocessing."""
    x = pgas.open(ticket)
    ready, done = pgas.Timeline.open(there), pgas.Timeline.open(back)
    for i in range(1, rounds + 1):
        ready.wait(i, timeout=20)
        assert (x == i).all(), i
        x += 1000
        done.record(i)


@pytest.mark.threads
def test_timelines_order_two_processes_of_multiprocessing():
    x = pgas.shared_empty(1000, "int64")
    ready, done = pgas.Timeline(), pgas.Timeline()
    rounds = 200
    child = multiprocessing.get_context("spawn").Process(target=ping, args=(ready.ticket(), done.ticket(), pgas.share(x), rounds))
    child.start()
    for i in range(1, rounds + 1):
        x[...] = i
        ready.record(i)
        done.wait(i, timeout=20)
        assert (x == 1000 + i).all()
    child.join(20)
    assert child.exitcode == 0 and ready.query() == ready.recorded() == rounds
    with pytest.raises(pgas.Error) as lost:  # the child has ended and records no more values
        done.wait(rounds + 1, timeout=20)
    assert lost.value.code is pgas.Code.peer_lost
    with pytest.raises(pgas.Error) as late:
        pgas.Timeline().wait(1, timeout=0.05)
    assert late.value.code is pgas.Code.wait_timeout


def test_torch_tensors_of_the_host():
    torch = pytest.importorskip("torch")
    x = pgas.shared_empty((2, 3), torch.float32, like="torch")
    x.fill_(2)
    importer(pgas.share({"w": x, "t": x.T}), "import torch; assert isinstance(opened['w'], torch.Tensor); opened['t'][2, 1] = 4")
    assert x[1, 2] == 4


def test_a_timeout_says_the_time_and_the_value():
    timeline = pgas.Timeline()
    timeline.record(3)
    with pytest.raises(pgas.Error, match=r"the value is 3 after 0\.25 s, and did not become >= 4") as late:
        timeline.wait(4, timeout=0.25)
    assert late.value.code is pgas.Code.wait_timeout


def test_names_of_a_mapping_are_texts():
    x = pgas.shared_empty(4)
    for wrong in ({1: x}, {"a": x, None: x}, {("a", "b"): x}, {b"a": x}):
        with pytest.raises(TypeError, match="names of a mapping are texts"):
            pgas.share(wrong)
    assert list(pgas.open(pgas.share({"": x, "1": x}))) == ["", "1"]


@pytest.mark.threads
def test_a_stream_waits_for_a_timeline_and_takes_no_timeout(world):
    timeline, stream, x = pgas.Timeline(), world.stream(), world.zeros(1, "int64")
    begun = pgas.Timeline()
    for call, words in ((lambda: timeline.wait(1, stream=stream, timeout=1.0), "wait_host"), (lambda: timeline.wait(1, stream=stream, timeout=0), "wait_host"),
                        (lambda: world.wait_until(x, "==", 1, stream=stream, timeout=1.0), "PGAS_WAIT_TIMEOUT")):
        with pytest.raises(ValueError, match=words):
            call()
    begun.record(1, stream=stream)
    timeline.wait(1, stream=stream)
    world.put(x, world.full(1, 7, "int64"), 0, stream=stream)
    timeline.wait_host(0, timeout=1)
    begun.wait(1, timeout=20)
    time.sleep(0.1)
    assert x[0] == 0
    timeline.record(1)
    stream.synchronize()
    assert x[0] == 7
