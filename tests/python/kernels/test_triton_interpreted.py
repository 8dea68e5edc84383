"""Tests kernels in Triton's interpreter on several processes: their results, and their failures. Needs torch, but no
GPU."""

import os
import pathlib
import struct
import subprocess
import sys

import pytest

pytest.importorskip("triton", minversion="3.6")
pytest.importorskip("torch")

HERE = pathlib.Path(__file__).parent
PROGRAM = """
import ctypes, sys, time
import stand_in
import triton_kernels
from pgas import _struct_offsets as at
from triton.runtime.errors import InterpreterError

def body(world):
    word = world.zeros(1, "int64")
    launch = triton_kernels.Launcher(world)
    {body}

stand_in.run({n_pes}, body, wait_timeout_ns={timeout_ns})
print("done")
"""
EXPECT_END = """
    began = time.monotonic()
    try:
        launch({kernel})
    except InterpreterError as ended:
        assert "has failed" in str(ended), ended
    else:
        raise AssertionError("the wait has ended without its value")
    assert time.monotonic() - began < 10
    found = world.record()
"""


def run(words, **environment):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, *words], env=os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": path} | environment,
                          cwd=HERE, capture_output=True, text=True, timeout=120, check=False)


def run_body(body, n_pes=1, timeout_ns=300_000_000, **fields):
    done = run(["-c", PROGRAM.format(body=body.strip().format(**fields), n_pes=n_pes, timeout_ns=timeout_ns)])
    assert done.returncode == 0 and "done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(("n_pes", "direct"), [(1, ""), (2, ""), (4, ""), (4, "1")])
def test_conformance(n_pes, direct):
    done = run([str(HERE / "conformance.py"), "triton", "--stand-in", str(n_pes)], DIRECT=direct)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok check_") == 6


def test_a_wait_gives_up_at_its_deadline_and_says_what_it_waited_for():
    run_body(EXPECT_END + """
    assert (found["complete"], found["why"], found["what"], found["pe"]) == (1, at.FAILURE_TIMED_OUT, at.OPERATION_WAIT, -1), found
    assert (found["expected"], found["seen"], found["heap_offset"]) == (7, 0, word.data_ptr() - world.my_slot), found
    """, kernel='"wait", word, 7')


def test_a_wait_ends_when_the_world_is_aborted():
    run_body("""
    ctypes.c_int32.from_address(world.control + at.CONTROL_ABORT).value = 1
    """ + EXPECT_END + """
    assert found["why"] == at.FAILURE_ABORTED, found
    """, timeout_ns=0, kernel='"wait", word, 7')


def test_a_barrier_names_the_pe_that_has_not_come():
    run_body("""
    if world.my_pe == 2:
        return
    """ + EXPECT_END + """
    assert (found["why"], found["what"], found["pe"]) == (at.FAILURE_TIMED_OUT, at.OPERATION_BARRIER, 2), found
    """, n_pes=3, kernel='"barriers", word, word, 1')


def test_the_first_failure_is_kept():
    run_body(EXPECT_END + """
    first = found
    """ + EXPECT_END + """
    assert found == first, (first, found)
    """, kernel='"wait", word, 7')


def test_a_proxied_pe_ends_the_kernel_and_is_named():
    run_body("""
    import pgas.triton as shm
    slots = (ctypes.c_int32 * 2)(0, at.ROUTES_PROXIED)
    routes = (ctypes.c_uint64 * 32)(ctypes.addressof(slots))
    raw = world.context_bytes(flags=at.FLAG_PROXY, routes=ctypes.addressof(routes))
    try:
        shm.context(raw, device="cpu")
    except ValueError as refused:
        assert "proxied" in str(refused) and "direct_only=True" in str(refused), refused
    else:
        raise AssertionError("a context with proxied PEs was made unasked")
    for wrong, why in ((raw, "not load/store accessible"), (world.context_bytes(flags=at.FLAG_LIST), "not evenly spaced")):
        try:
            shm.direct_context(wrong, device="cpu")
        except ValueError as refused:
            assert why in str(refused), refused
        else:
            raise AssertionError("a direct_context was made where it does not hold")
    launch.context = shm.context(raw, device="cpu", direct_only=True)
    launch("add", word, 5, world.my_pe)
    assert word.tolist() == [5]
    """ + EXPECT_END + """
    assert (found["why"], found["pe"]) == (at.FAILURE_NOT_DIRECT, 1), found
    """, kernel='"add", word, 5, 1')


def test_a_list_of_members_is_followed():
    run_body("""
    import pgas.triton as shm
    members = (ctypes.c_int32 * 2)(1, 0)
    raw = world.context_bytes(flags=at.FLAG_LIST, members=ctypes.addressof(members))
    launch.context = shm.context(raw, device="cpu")
    launch("add", word, world.my_pe + 5, 0)  # member 0 is PE 1
    world.barrier()
    assert word.tolist() == [[0], [11]][world.my_pe], word
    """, n_pes=2)


def test_a_context_of_another_version_is_refused():
    from pgas import _struct_offsets as at
    from pgas._context_tensor import context_bytes

    raw = bytearray(at.CONTEXT_BYTES)
    struct.pack_into("<I", raw, at.CONTEXT_ABI, at.ABI + 1)
    for wrong in (raw, b"", raw[:-8]):
        with pytest.raises(RuntimeError, match="have different versions: reinstall both"):
            context_bytes(wrong)
