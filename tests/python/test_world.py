"""Runs the programs of pe/ on several PEs. Each program contains its checks."""

import os
import subprocess
import sys

import pytest

from conftest import environment, run


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.threads
def test_operations(launch, n):
    assert launch(n, "operations.py").check().out.count("is content") == n


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.threads
def test_collectives(launch, n):
    assert launch(n, "collectives.py").check().out.count("is content") == n


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.threads
def test_two_streams_of_one_team(launch, n):
    assert launch(n, "two_streams.py").check().out.count("is content") == n


def test_ten_thousand_arrays_dropped_in_other_orders_on_each_pe(launch):
    assert launch(3, "dropping.py", "10000", timeout=120).check().out.count("is content") == 3


JOIN = """
import sys, pgas
{prepare}
with pgas.join({how}) as world:
    assert world.n_pes == 3, world
    x = world.full(1, world.my_pe, "int64")
    world.all_reduce(x)
    print(world.my_pe, x[0])
"""


def join_three(prepare, how, **changes):
    """Starts three processes without a launcher."""
    code = JOIN.format(prepare=prepare, how=how)
    processes = [subprocess.Popen([sys.executable, "-c", code, str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=environment(RANK=str(rank), **changes)) for rank in range(3)]
    return processes


def test_joining_by_a_unique_id():
    import pgas

    processes = join_three("id = sys.stdin.readline().strip()\nif id == 'make': id = pgas.make_unique_id(); print(id, flush=True)",
                           "unique_id=id, rank=int(sys.argv[1]), size=3")
    processes[0].stdin.write("make\n")
    processes[0].stdin.flush()
    made = processes[0].stdout.readline()
    assert len(made) > 20
    for process in processes[1:]:
        process.stdin.write(made)
        process.stdin.flush()
    found = [process.communicate(timeout=40)[0] for process in processes]
    assert found == ["0 3\n", "1 3\n", "2 3\n"]
    assert pgas.make_unique_id() != pgas.make_unique_id()


def test_joining_by_a_communicator():
    """Joins over a communicator of mpi4py. The test replaces it by an object with the three functions that pgas calls,
    over a pipe."""
    comm = """
import json
class Comm:
    def Get_rank(self): return int(sys.argv[1])
    def Get_size(self): return 3
    def bcast(self, value, root):
        assert root == 0
        if self.Get_rank() == 0:
            print(json.dumps(value), flush=True)
            return value
        return json.loads(sys.stdin.readline())
"""
    processes = join_three(comm, "comm=Comm()")
    made = processes[0].stdout.readline()
    for process in processes[1:]:
        process.stdin.write(made)
        process.stdin.flush()
    assert [process.communicate(timeout=40)[0] for process in processes] == ["0 3\n", "1 3\n", "2 3\n"]


def test_joining_by_a_group_of_torch():
    pytest.importorskip("torch")
    prepare = """
import torch, torch.distributed as dist
dist.init_process_group("gloo", rank=int(sys.argv[1]), world_size=3)
"""
    processes = join_three(prepare, "group=True", MASTER_ADDR="127.0.0.1", MASTER_PORT="29417", WORLD_SIZE="3")
    assert [process.communicate(timeout=60)[0].split("\n")[-2] for process in processes] == ["0 3", "1 3", "2 3"]


@pytest.mark.threads
def test_several_worlds_at_once(launch):
    launch(2, """
import pgas
with pgas.join() as world:
    with pgas.join() if False else world.team.split(0) as team:
        pass
    box = world.zeros(255, "uint8")
    if world.my_pe == 0:
        word = pgas.make_unique_id().encode()
        box[:len(word)] = list(word)
    world.broadcast(box)
    with pgas.join(unique_id=bytes(box).rstrip(b"\\0").decode(), rank=world.my_pe, size=2, wait_timeout=9) as other:
        x = other.full(4, world.my_pe, "int32")
        other.all_reduce(x)
        assert (x == 1).all()
        for call in (lambda: world.put(x, x, 0), lambda: world.peer(x, 0)):
            try:
                call()
                raise SystemExit("memory of another world was accepted")
            except pgas.Error as wrong:
                assert wrong.code is pgas.Code.outside_heap
        world.barrier()
    world.barrier()
""").check()


@pytest.mark.parametrize("arguments, error", [
    ("rank=0", "ValueError"), ("unique_id='x'", "ValueError"), ("unique_id='x', rank=0, size=2", "Error"),
    ("heap='disk'", "Error"), ("unique_id='x', comm=1, rank=0, size=1", "ValueError"), ("heap='cuda'", "Error"),
])
def test_what_join_does_not_take(arguments, error):
    if "cuda" in arguments and os.path.exists("/dev/nvidiactl"):
        pytest.skip("there is a GPU")
    job = run([sys.executable, "-c", f"import pgas\ntry: pgas.join({arguments})\nexcept {'pgas.Error' if error == 'Error' else error} as e: print('refused')"])
    assert job.out == "refused\n", job.err


@pytest.mark.parametrize("arguments", [
    "join_timeout='5'", "join_timeout=None or [5]", "join_timeout=True", "wait_timeout='1'", "checks=5", "checks='yes'", "device=1.5", "device='0'", "device=-1",
    "heap=1", "unique_id=5, rank=0, size=1", "unique_id='x', rank='0', size=1", "unique_id='x', rank=0, size=1.0",
])
def test_settings_of_another_type_are_named(arguments):
    code = f"import pgas\ntry: pgas.join({arguments})\nexcept (TypeError, ValueError) as e: print('refused', e)"
    job = run([sys.executable, "-c", code], PGAS_BOOTSTRAP="singleton")
    assert job.out.startswith("refused") and "bad_cast" not in job.out + job.err and "incompatible" not in job.out, job.out + job.err


def test_settings_by_numbers_of_numpy():
    code = "import numpy as np, pgas\npgas.join(join_timeout=np.float32(5), wait_timeout=np.int64(5), checks=np.True_).leave()"
    run([sys.executable, "-c", code], PGAS_BOOTSTRAP="singleton").check()
    run([sys.executable, "-c", "import pgas\npgas.join(checks=1).leave()"], PGAS_BOOTSTRAP="singleton").check()


DIFFERENT = """
import sys, pgas
world = pgas.join()
one = world.my_pe == 1
x, y = world.zeros(8, "float32"), world.zeros(16, "float32")
try:
    {call}
except pgas.Error as failed:
    print(world.my_pe, failed.code.name, failed, flush=True)
world.barrier()
world.leave()
"""


@pytest.mark.parametrize("call", ["world.all_reduce(x, 'max' if one else 'sum')", "world.all_reduce(x.view('int32') if one else x)", "world.broadcast(x, 1 if one else 0)",
                                  "world.all_reduce(x[:4] if one else x)", "world.all_gather(y, x[:4] if not one else x) if one else world.all_gather(y[:8], x[:4])",
                                  "world.all_reduce(x) if one else world.broadcast(x)", "world.team.split(0).all_reduce(x, 'prod' if one else 'sum')",
                                  "world.reduce(x, 0 if one else 1)", "world.inclusive_scan(x) if one else world.exclusive_scan(x)"])
def test_collectives_that_differ_are_an_error_on_all_pes(launch, call):
    job = launch(2, DIFFERENT.format(call=call), timeout=30)
    assert job.status == 0 and job.out.count("asymmetric_call") == 2, job.out + job.err
    assert sorted(line[0] for line in job.out.splitlines()) == ["0", "1"]


def test_comparing_is_what_one_pe_asks_for_or_no_pe(launch):
    """One PE without PGAS_CHECKS is enough for all PEs to compare calls. With PGAS_CHECKS=0 on all PEs, calls are not
    compared."""
    code = DIFFERENT.format(call="world.all_reduce(x, 'max' if one else 'sum')")
    assert launch(2, code, timeout=30, PGAS_CHECKS="0").check().out == ""
    one = "import os\nif os.environ['PGAS_RANK'] == '1': del os.environ['PGAS_CHECKS']\n" + code
    assert launch(2, one, timeout=30, PGAS_CHECKS="0").out.count("asymmetric_call") == 2


def test_a_team_of_others_says_so(launch):
    launch(2, """
import pgas
with pgas.join() as world:
    team = world.team.split(0 if world.my_pe == 0 else -1)
    assert bool(team) == (world.my_pe == 0)
    if not team:
        for call in (lambda: team.n_pes, lambda: team.my_pe, lambda: team.barrier(), lambda: team.all_gather(world, world), lambda: team.context):
            try:
                call()
            except pgas.Error as failed:
                assert failed.code is pgas.Code.invalid_argument and "not a member" in str(failed), failed
            else:
                raise SystemExit("no error")
    else:
        assert (team.n_pes, team.my_pe) == (1, 0)
""").check()


@pytest.mark.parametrize("mistake, text", [
    ("pgas.zeros(4)", "A world has it: world = pgas.join(), then world.zeros"),
    ("pgas.join(comm=3)", "comm is a communicator of mpi4py, such as MPI.COMM_WORLD, not 3"),
    ("world.put(x, np.zeros(4), 0)", "the destination is of float32, the source of float64: convert one of them"),
    ("world.put(x, x[:2], 0)", "the destination has 4 elements, (4,), the source 2, (2,): pass parts of one size"),
    ("world.put_signal(x, x, x[:1], 1, 0)", "a signal is a uint64 or an int64, not float32: make it by world.zeros(1, 'uint64')"),
    ("world.put(x, x, 1)", "PE 1 does not exist, the world has PE 0 only: start the program on more PEs with pgasrun -n, mpirun, srun or torchrun"),
])
def test_a_mistake_of_a_newcomer_is_named_with_its_fix(world, mistake, text):
    import numpy as np

    import pgas

    x = world.zeros(4)
    with pytest.raises((AttributeError, TypeError, ValueError, pgas.Error)) as raised:
        eval(mistake, {"pgas": pgas, "world": world, "np": np, "x": x})
    assert text in str(raised.value)


@pytest.mark.parametrize("library, package", [("torch", "torch"), ("cupy", "cupy-cuda13x"), ("jax", "jax")])
def test_a_library_that_is_not_installed_is_named_with_its_package(monkeypatch, library, package):
    from pgas import _array_interop

    monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.setattr(_array_interop.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=f"like='{library}': this Python has no {library}: pip install {package}, or name another library"):
        _array_interop.check_representable("float32", library)


def test_errors_have_code_pe_cause_and_fix(world):
    import pickle

    import pgas
    from pgas import _core

    assert [(code.value, code.name) for code in pgas.Code] == [row[:2] for row in _core.error_table()]
    x = world.zeros(4)
    with pytest.raises(pgas.Error) as caught:
        world.put(x, x, 3)
    failed = caught.value
    assert failed.code is pgas.Code.pe_out_of_range and failed.pe == 3 and str(failed.code) == "PGAS-E0301"
    assert str(failed).startswith("PGAS-E0301: ") and failed.cause and failed.fix
    again = pickle.loads(pickle.dumps(failed))
    assert (str(again), again.code, again.pe) == (str(failed), failed.code, failed.pe)
