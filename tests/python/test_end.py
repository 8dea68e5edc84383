"""Tests how programs end: normally, early, killed or interrupted."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import SLOWER, environment

MIDDLE = """
import os, signal, sys, time, pgas
world = pgas.join()
x = world.zeros(4)
if world.my_pe == 1:
    {how}
begin = time.monotonic()
try:
    {wait}
except pgas.Error as failed:
    print("PE", world.my_pe, failed.code.name, failed.pe, round(time.monotonic() - begin, 1), failed)
    sys.exit(5)
"""


@pytest.mark.parametrize("how, cause", [
    ("raise ValueError('the matrix is singular')", "ValueError: the matrix is singular at <string>:6"),
    ("sys.exit(3)", "ends with status 3, without leaving"),
    ("sys.exit('no input')", "ends with status 1, without leaving"),
    ("with world: 1 / 0", "ZeroDivisionError: division by zero at <string>:6"),
    ("world.abort('enough')", "enough"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
])
def test_an_end_in_the_middle_ends_the_job_and_says_why(launch, how, cause):
    job = launch(3, MIDDLE.format(how=how, wait="world.barrier()"))
    assert job.status != 0
    assert job.out.count("aborted 1") >= 1 and cause in job.out, job.out + job.err
    assert cause in job.err
    assert job.seconds < 15


@pytest.mark.parametrize("inside", ["world.put(x, x[:2], 0)", "with world: world.put(x, x[:2], 0)"])
def test_the_line_of_an_exception_is_one_of_the_program_and_not_of_the_package(launch, inside):
    job = launch(2, MIDDLE.format(how=inside, wait="world.barrier()"))
    assert "the destination has 4 elements, (4,), the source 2, (2,): pass parts of one size at <string>:6" in job.err, job.err


@pytest.mark.parametrize("wait", ["world.barrier()", "world.wait_until(x, '==', 1)", "world.zeros(3)", "world.leave()"])
@pytest.mark.threads
def test_a_killed_pe_raises_on_the_others_at_once(launch, wait):
    code = MIDDLE.format(how="time.sleep(0.5); os.kill(os.getpid(), signal.SIGKILL)", wait=wait)
    job = launch(3, code.replace("x = world.zeros(4)", "x = world.zeros(1, 'int64')"))
    lines = [line for line in job.out.splitlines() if line.startswith("PE")]
    assert len(lines) == 2, job.out + job.err
    for line in lines:
        words = line.split()
        assert words[2] == "peer_lost" and words[3] == "1", line
        assert float(words[4]) < 10 * SLOWER, line


@pytest.mark.parametrize("end", ["", "world.leave(); world.leave()", "sys.exit(0)",
                                 "import gc; world.me = world; del world, x; gc.collect()"])
def test_a_planned_end_leaves_in_any_way(launch, end):
    launch(3, f"import sys, pgas\nworld = pgas.join()\nx = world.zeros(4)\n{end}").check()


DAEMON = """
import sys, threading, time, pgas
world = pgas.join()
x, word, lock, timeline = world.zeros(10), world.zeros(1, "uint64"), world.zeros(1, "int64"), pgas.Timeline()
started = threading.Event()
def forever(call):
    while True:
        call()
        started.set()
def once(call):
    started.set()
    call()
def hold():
    with world.lock(lock):
        started.set()
        time.sleep(1000)
def work():
    try:
        {work}
    except pgas.Error as failed:
        assert failed.code is pgas.Code.not_joined, failed
threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.2)
{end}
print("end", flush=True)
"""


@pytest.mark.threads
def test_leaving_waits_for_the_calls_of_other_threads(launch):
    launch(1, f"""
import threading, pgas
for _ in range({200 // SLOWER}):
    world = pgas.join()
    x, word = world.zeros(1 << 16), world.zeros(1, "int64")
    started, ends = threading.Barrier(5), []
    def work(call):
        started.wait()
        try:
            while True:
                call()
        except pgas.Error as failed:
            ends.append(failed.code)
    calls = [lambda: world.p(x[:1], 1.0, 0), lambda: world.atomic_fetch_add(word, 0, 0), lambda: world.put(x, x, 0), lambda: world.g(x[:1], 0)]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    started.wait()
    world.leave()
    for thread in threads:
        thread.join()
    assert ends == [pgas.Code.not_joined] * 4, ends
""", timeout=60).check()


@pytest.mark.parametrize("end", [pytest.param("", marks=pytest.mark.threads), "world.leave(); time.sleep(0.3)", "sys.exit(0)"])
@pytest.mark.parametrize("work", [
    "once(lambda: world.wait_until(word, '>=', 1))", "once(lambda: world.wait_until_any(word, '>=', 1))", "once(lambda: timeline.wait(5))",
    "forever(lambda: world.p(x[:1], 1.0, 0))", "forever(lambda: world.g(x[:1], 0))", "forever(lambda: world.atomic_fetch_add(word, 0, 0))",
    "forever(lambda: world.put(x, x, 0))", "hold()", "forever(lambda: world.test(word, '>=', 1))", "forever(pgas.Timeline().query)",
])
def test_the_interpreter_ends_while_a_daemon_thread_is_inside_a_call(launch, work, end):
    job = launch(1, DAEMON.format(work=work, end=end))
    assert job.status == 0 and job.out in ("end\n", "" if "exit" in end else "end\n") and "terminate" not in job.err, f"{job.status} {job.out} {job.err}"


@pytest.mark.threads
def test_a_daemon_thread_that_waits_for_a_lock_of_another_pe_does_not_keep_the_program(launch):
    job = launch(2, """
import threading, time, pgas
world = pgas.join()
lock = world.zeros(1, "int64")
def hold():
    with world.lock(lock):
        time.sleep(1000)
if world.my_pe == 0:
    threading.Thread(target=hold, daemon=True).start()
    time.sleep(0.3)
world.barrier()
if world.my_pe == 1:
    threading.Thread(target=hold, daemon=True).start()
    time.sleep(0.3)
print("end", flush=True)
""", timeout=40, PGAS_JOIN_TIMEOUT="2s")
    assert job.out == "end\nend\n" and job.seconds < 20, job.out + job.err
    assert "other threads of PE 1 have been in calls for 2000 ms" in job.err, job.err


def test_after_leaving_calls_raise_and_another_world_can_be_joined(launch):
    launch(2, """
import pgas
with pgas.join() as world:
    x = world.zeros(4)
    one = world.team
world.leave()
for call in (world.barrier, world.check, lambda: world.zeros(3), lambda: world.context, one.barrier, lambda: world.put(x, x, 0)):
    try:
        call()
    except pgas.Error as failed:
        assert failed.code is pgas.Code.not_joined, failed
    else:
        raise SystemExit("a call was accepted")
del x
assert "left" in repr(world)
""").check()


def test_a_child_of_fork_is_no_member_and_ends_quietly(launch):
    launch(2, """
import os, sys, pgas
world = pgas.join()
x = world.zeros(4)
world.barrier()
child = os.fork()
if child == 0:
    try:
        world.barrier()
    except pgas.Error as failed:
        sys.exit(7 if failed.code is pgas.Code.forked_process else 8)
    sys.exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
world.barrier()
world.leave()
""").check()


INTERRUPTED = """
import os, signal, sys, threading, time, pgas
world = pgas.join()
x = world.zeros(1, "int64")
world.barrier()
if world.my_pe == 0:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    try:
        {wait}
    except KeyboardInterrupt:
        assert 0.3 < time.monotonic() - begin < {limit}, time.monotonic() - begin
        print("interrupted", flush=True)
    {after}
else:
    {other}
world.leave()
"""


@pytest.mark.parametrize("wait", ["world.wait_until(x, '==', 1)", "pgas.Timeline().wait(1)"])
@pytest.mark.threads
def test_ctrl_c_ends_a_wait_and_the_world_goes_on(launch, wait):
    job = launch(2, INTERRUPTED.format(wait=wait, after="world.barrier()", other="world.barrier()", limit=10 * SLOWER)).check()
    assert job.out == "interrupted\n"


@pytest.mark.parametrize("wait", ["world.all_reduce(x)", "world.zeros(5)", "world.leave()",
                                  "s = world.stream(); world.wait_until(x, '==', 1, stream=s); s.synchronize()"])
@pytest.mark.threads
def test_ctrl_c_ends_a_collective_and_with_it_the_world(launch, wait):
    other = """
    try:
        world.wait_until(x, '==', 1)
    except pgas.Error as failed:
        assert failed.code is pgas.Code.aborted, failed
        print(failed, flush=True)
        os._exit(0)
"""
    job = launch(2, INTERRUPTED.format(wait=wait, after="os._exit(0)", other=other, limit=10 * SLOWER))
    assert "interrupted\n" in job.out and "interrupted by Ctrl-C on PE 0" in job.out, job.out + job.err


def test_ctrl_c_ends_joining():
    code = "import pgas\nid = pgas.make_unique_id()\nprint('go', flush=True)\npgas.join(unique_id=id, rank=0, size=2)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment()) as process:
        assert process.stdout.readline() == "go\n"
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 10
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in err


@pytest.fixture
def stops_after_joining(tmp_path):
    """Builds a library for LD_PRELOAD. With it, a process stops at the first call of the package in the world that it
    has joined."""
    compiler = os.environ.get("TEST_CXX") or shutil.which("c++")
    if not compiler:
        pytest.skip("no compiler")
    source, made = tmp_path / "stops.cpp", tmp_path / "stops.so"
    source.write_text('#include <unistd.h>\nextern "C" void _ZNK4pgas4team12make_stridedEiiiRKNS_6detail5givenINS_11team_configEEE() { for (;;) ::pause(); }\n')
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", made], check=True)
    return made


def test_ctrl_c_ends_joining_beside_a_pe_that_stops_after_it(stops_after_joining):
    code = "import sys, pgas\nid = sys.argv[2] if sys.argv[2:] else pgas.make_unique_id()\nprint(id, flush=True)\npgas.join(unique_id=id, rank=int(sys.argv[1]), size=2)"

    def start(*words, **changes):
        return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**changes))

    with start("0") as first, start("1", first.stdout.readline().strip(), LD_PRELOAD=str(stops_after_joining)) as second:
        try:
            second.stdout.readline()
            time.sleep(3)  # the process is joining
            assert first.poll() is None, "the function that the preloaded library replaces has another name"
            begin = time.monotonic()
            first.send_signal(signal.SIGINT)
            _, err = first.communicate(timeout=20)
            assert time.monotonic() - begin < 10
        finally:
            first.kill()
            second.kill()
    assert first.returncode == -signal.SIGINT and "KeyboardInterrupt" in err, err


@pytest.mark.threads
def test_a_handler_that_does_not_raise_runs_and_the_wait_goes_on(launch):
    job = launch(2, """
import os, signal, threading, time, pgas
world = pgas.join()
signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
if world.my_pe == 0:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
else:
    time.sleep(1)
world.barrier()
world.leave()
""").check()
    assert job.out == "handled\n"


LEAVES_EARLY = """
import sys, pgas
world = pgas.join()
x = world.zeros(4)
world.barrier()
if world.my_pe == 1:
    {end}
try:
    {call}
except pgas.Error as failed:
    print("PE", world.my_pe, failed.code.name, failed.pe, failed, flush=True)
    sys.exit(5)
"""


@pytest.mark.parametrize("end", ["sys.exit(0)", "world.leave(); sys.exit(0)"])
@pytest.mark.parametrize("call", ["world.barrier()", "world.sync()", "world.zeros(3)", "world.team.barrier()", "world.team.split(0)", "world.collect()",
                                  "world.all_reduce(x)", "world.broadcast(x)", "world.team.split(0).barrier()"])
def test_a_pe_that_leaves_while_others_are_in_a_collective_is_an_error_for_them(launch, call, end):
    job = launch(2, LEAVES_EARLY.format(call=call, end=end), timeout=30)
    assert job.status != 0, job.out + job.err
    assert "PE 0 asymmetric_call 1" in job.out and "leaves the world while PE 0" in job.out, job.out + job.err


STREAM_WAIT = """
import sys, time, pgas
world = pgas.join()
x = world.zeros(1, "int64")
stream = world.stream()
world.wait_until(x, "==", 1, stream=stream)
{then}
"""


@pytest.mark.parametrize("then", ["world.leave()", "", "del stream", "del stream; world.leave()"])
@pytest.mark.threads
def test_a_wait_on_a_stream_that_nobody_ends_does_not_outlive_the_world(launch, then):
    job = launch(2, STREAM_WAIT.format(then=then), timeout=30, PGAS_JOIN_TIMEOUT="2s")
    assert job.seconds < 15 and -11 != job.status != 139 and "SIGSEGV" not in job.err + job.out and "Segmentation" not in job.err, job.out + job.err
    assert ("world.leave" not in then) or (job.status != 0 and "still has work after 2000 ms" in job.err), f"{job.status} {job.out} {job.err}"


@pytest.mark.threads
def test_leaving_waits_for_streams_whose_waits_others_end(launch):
    launch(2, """
import time, pgas
world = pgas.join()
x = world.zeros(1, "int64")
y, z = world.zeros(1 << 18, "int64"), world.zeros(1 << 18, "int64")
stream = world.stream()
world.wait_until(x, "==", 1, stream=stream)
world.put(y, y + 1, world.my_pe, stream=stream)
other = world.stream()
world.all_reduce(z, stream=other)
if world.my_pe == 0:
    del stream
world.p(x, 1, 1 - world.my_pe)
world.leave()
""", timeout=30).check()


@pytest.mark.threads
def test_dropping_a_stream_with_work_does_not_wait(launch):
    launch(1, """
import time, pgas
with pgas.join() as world:
    x = world.zeros(2, "int64")
    for _ in range(50):
        stream = world.stream()
        world.wait_until(x[:1], ">=", 1, stream=stream)
        world.atomic_add(x[1:], 1, 0, stream=stream)
        del stream  # waiting for the stream's work would not end: the value is written below
    world.p(x[:1], 1, 0)
    y = world.zeros(4)
    stream = world.stream()
    world.wait_until(x[:1], "==", 2, stream=stream)
    world.put(y, y, 0, stream=stream)
    del y, stream
    assert world.collect() == 0  # a stream's work uses it
    world.p(x[:1], 2, 0)
    end = time.monotonic() + 10
    while world.collect() == 0:
        assert time.monotonic() < end
""", timeout=30).check()


@pytest.mark.threads
def test_dropping_a_stream_while_the_world_is_left_lets_other_threads_run(launch):
    """The stream waits for a record that the last thread makes. leave() stops waiting for the record after two seconds,
    and then waits for the stream."""
    job = launch(1, """
import threading, time, pgas
world = pgas.join()
timeline, streams = pgas.Timeline(), [world.stream()]
timeline._timeline.wait(streams[0].native, 1)
threading.Timer(3, streams.clear).start()
threading.Timer(4, lambda: timeline.record(1)).start()
begin = time.monotonic()
try:
    world.leave()
except pgas.Error as failed:
    assert failed.code is pgas.Code.wait_timeout, failed
assert 3 < time.monotonic() - begin < 20, time.monotonic() - begin
print("left", flush=True)
""", timeout=30, PGAS_JOIN_TIMEOUT="2s")
    assert job.status == 0 and job.out == "left\n", job.out + job.err


@pytest.mark.parametrize("call", ["world.all_reduce(x)", "world.broadcast(x)", "team.all_reduce(x)"])
@pytest.mark.threads
def test_a_pe_that_leaves_ends_a_collective_that_is_not_compared_at_once(launch, call):
    """Collectives are not compared, as on GPUs. A word that waiting devices poll must end the collective."""
    code = LEAVES_EARLY.format(call=call, end="world.leave()").replace("world.barrier()", "team = world.team.split(0)")
    job = launch(2, code, timeout=40, PGAS_CHECKS="0")  # PGAS_JOIN_TIMEOUT is 60 s
    assert job.status != 0 and job.seconds < 25, job.out + job.err
    assert "PE 0 asymmetric_call 1" in job.out and "leaves the world while PE 0" in job.out, job.out + job.err


@pytest.mark.parametrize("of", ["world", "team"])
@pytest.mark.threads
def test_a_pe_may_leave_when_it_has_enqueued_the_collective_that_others_wait_for(launch, of):
    launch(2, f"""
import threading, time, pgas
world = pgas.join()
gate = world.zeros(1, "int64")
x = world.zeros(4)
x[:] = 1
team = world.team.split(0)
team.all_reduce(x)
if world.my_pe == 1:
    stream = world.stream()
    world.wait_until(gate, "==", 1, stream=stream)  # work that takes longer than PGAS_JOIN_TIMEOUT
    {of}.all_reduce(x, stream=stream)
else:
    threading.Timer(4, lambda: world.p(gate, 1, 1)).start()
    begin = time.monotonic()
    {of}.all_reduce(x)
    assert time.monotonic() - begin > 3 and x.tolist() == [4.0] * 4
world.leave()
""", timeout=40, PGAS_CHECKS="0", PGAS_JOIN_TIMEOUT="2s").check()


STOPPED = """
import os, signal, sys, threading, time, pgas
{prepare}
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.{sent})).start()
begin = time.monotonic()
try:
    {call}
except BaseException as raised:
    print(type(raised).__name__, time.monotonic() - begin < 10, flush=True)
"""


@pytest.mark.parametrize("sent, raised", [("SIGINT", "KeyboardInterrupt"), ("SIGALRM", "TimeoutError")])
@pytest.mark.parametrize("call", ["pgas.open(sys.argv[1])", "pgas.Timeline.open(sys.argv[2])"])
def test_ctrl_c_ends_opening_what_a_stopped_process_shares(call, sent, raised):
    exporter = "import sys, pgas; x = pgas.shared_empty(4); t = pgas.Timeline(); print(pgas.share(x), t.ticket(), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", exporter], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        tickets = process.stdout.readline().split()
        process.send_signal(signal.SIGSTOP)
        try:
            prepare = "def handler(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, handler)"
            done = subprocess.run([sys.executable, "-c", STOPPED.format(call=call, sent=sent, prepare=prepare), *tickets], capture_output=True, text=True,
                                  timeout=40, env=environment())
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
    assert done.stdout == f"{raised} True\n", done.stdout + done.stderr


def test_a_handler_that_raises_another_exception_is_not_called_ctrl_c(launch):
    job = launch(2, """
import os, signal, sys, pgas
world = pgas.join()
x = world.zeros(1, "int64")
def handler(*_): raise TimeoutError("too late")
signal.signal(signal.SIGALRM, handler)
try:
    if world.my_pe == 0:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        world.barrier()
    else:
        world.wait_until(x, "==", 1)
except (TimeoutError, pgas.Error) as raised:
    print(type(raised).__name__, raised, flush=True)
os._exit(0)
""")
    assert "TimeoutError too late" in job.out and "its handler raised TimeoutError: too late on PE 0" in job.out, job.out + job.err
    assert "Ctrl-C" not in job.out + job.err


WAITING = """
import os, pathlib, subprocess, sys, time, pgas
world = pgas.join()
word = world.zeros(1, "uint64")
world.barrier()
if world.my_pe == 1:
    world.wait_until(word, ">=", 2)
else:
    time.sleep(0.5)
    print(subprocess.run([sys.argv[1], str(os.getpid())], capture_output=True, text=True).stdout)
    world.signal_set(word, 2, 1)
world.barrier()
"""


@pytest.mark.threads
def test_pgas_why_names_the_word_that_a_program_waits_for(launch):
    why = pathlib.Path(sys.executable).parent / "pgas-why"
    said = " ".join(launch(2, WAITING, why if why.exists() else "pgas-why").check().out.split())
    assert "PE 1 wait_until, the word at heap offset" in said, said
    assert "to become >= 2 (it is 0)" in said, said
