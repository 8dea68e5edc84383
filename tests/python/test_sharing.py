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
    assert importer(pgas.share(view), "print(opened.tolist()); opened[0, 0] = -1") == expected
    assert x[1, 0] == -1
    assert importer(pgas.share(x[::-1]), "print(opened[0, 1], opened.strides)") == "19.0 (-48, 8)\n"


def test_a_mapping_of_arrays():
    x = pgas.shared_empty(4, "float32")
    y = pgas.shared_empty((2, 2), "int64")
    x[...], y[...] = 1, 2
    ticket = pgas.share({"weight": x, "bias": y, "part": x[2:], "none": x[:0]})
    out = importer(ticket, "print(sorted(opened), opened['none'].shape); opened['weight'][3] = 5; print(opened['part'], opened['bias'].sum())")
    assert out == "['bias', 'none', 'part', 'weight'] (0,)\n[1. 5.] 8\n" and x[3] == 5


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


@pytest.mark.parametrize("ticket", ["", "hello", "pgas-arrays:", "pgas-arrays:e30=", "pgas-arrays:AAAA", "pgas-arrays:!"])
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
    """The child of multiprocessing."""
    x = pgas.open(ticket)
    ready, done = pgas.Timeline.open(there), pgas.Timeline.open(back)
    for i in range(1, rounds + 1):
        ready.wait(i, timeout=20)
        assert (x == i).all(), i
        x += 1000
        done.record(i)


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
    with pytest.raises(pgas.Error) as lost:  # the child has ended and will record no more
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
