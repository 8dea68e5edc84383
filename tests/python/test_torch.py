"""torch's symmetric memory with the backend PGAS, on the host heap."""

import pathlib
import sys

import pytest

from conftest import launcher, needs_interpreter_of_triton, run

PROGRAM = pathlib.Path(__file__).parent / "pe" / "torch_symm_mem.py"
BESIDE_NCCL = pathlib.Path(__file__).parents[1] / "perf" / "torch_beside_nccl.py"


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Compiles the extension once, before many processes need it."""
    pytest.importorskip("torch")
    run([sys.executable, "-c", "import pgas._load_torch_backend; pgas._load_torch_backend.load()"], timeout=300).check()


@pytest.mark.parametrize("n", [1, 2, 4])
def test_all_parts(n, tmp_path):
    job = run([*launcher(n), PROGRAM, tmp_path / "meeting"], timeout=120).check()
    assert job.out.count("is content") == n


def test_by_torchrun():
    job = run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", 2, PROGRAM, "env", "buffers", "signals"],
              timeout=120).check()
    assert job.out.count("is content") == 2


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("part", ["divergence", "first_divergence"])
def test_ranks_that_differ_are_named(n, part, tmp_path):
    assert run([*launcher(n), PROGRAM, tmp_path / "meeting", part], timeout=60).check().out.count("is content") == n


def test_an_error_of_a_group_has_the_pe_of_the_other_rank(tmp_path):
    assert run([*launcher(3), PROGRAM, tmp_path / "meeting", "group_divergence"], timeout=60).check().out.count("is content") == 3


@pytest.mark.parametrize("n", [2, 4])
def test_a_rank_that_is_late_to_the_first_rendezvous_gets_the_error_of_the_others(n, tmp_path):
    assert run([*launcher(n), PROGRAM, tmp_path / "meeting", "late"], timeout=60).check().out.count("is content") == n


@pytest.mark.parametrize("which", ["wait", "put"])
def test_a_signal_that_is_not_answered_names_the_rank(which, tmp_path):
    assert "rank 0 was told" in run([*launcher(2), PROGRAM, tmp_path / "meeting", f"lost_signal:{which}"], timeout=60).out


@pytest.mark.parametrize("where", ["rendezvous", "group", "barrier", "signal", "collective"])
def test_a_killed_rank_raises_on_the_others_within_two_seconds(where, tmp_path):
    job = run([*launcher(3), PROGRAM, tmp_path / "meeting", f"killed_in:{where}"], timeout=60)
    told = [float(line.split()[-2]) for line in job.out.splitlines() if "lost rank 1 after" in line]
    assert len(told) == 2 and max(told) < 2.5, job.out + job.err


def test_a_symmetric_tensor_is_shared_with_its_signal_pad_or_not_at_all(launch):
    job = launch(1, "import torch.distributed._symmetric_memory as symm_mem, pgas, pgas.torch\n"
                    "pgas.torch.init_process_group()\n"
                    "x = symm_mem.empty(1000)\n"
                    "try:\n"
                    "    pgas.share(x)\n"
                    "except pgas.Error as said:\n"
                    "    print(said)\n"
                    "x.fill_(7)\n"
                    "ticket = pgas.share({'x': x[10:20]}, whole_block=True)\n"
                    "import subprocess, sys\n"
                    "code = f'import pgas; print(pgas.open({str(ticket)!r})[\"x\"].tolist())'\n"
                    "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)", timeout=120).check()
    assert "whole_block=True shares both" in job.out and str([7.0] * 10) in job.out


def test_without_a_launcher_there_is_one_rank():
    code = "import pgas.torch, torch.distributed as dist; pgas.torch.init_process_group(); print(dist.get_world_size())"
    assert run([sys.executable, "-c", code], timeout=120).check().out == "1\n"


TWICE = """
import gc, torch, torch.distributed as dist, torch.distributed._symmetric_memory as symm_mem, pgas, pgas.torch
world = pgas.torch.init_process_group()
assert pgas.torch.enable(world) is world
x = symm_mem.empty(16, device="cpu").fill_(world.my_pe)
handle = symm_mem.rendezvous(x, dist.group.WORLD)
def refused(call, words):
    try:
        call()
    except pgas.Error as said:
        assert said.code is pgas.Code.invalid_argument and words in str(said), said
    else:
        raise SystemExit("not refused")
refused(pgas.torch.enable, "omit this call")
refused(lambda: pgas.torch.enable(group=True), "omit this call")
other = pgas.join(group=True)
refused(lambda: pgas.torch.enable(other), "pgas.torch.world() returns the world")
other.leave()
handle.barrier()
assert (pgas.torch.all_reduce(x) == sum(range(world.n_pes))).all() and pgas.torch.world() is world
world.leave()
refused(pgas.torch.enable, "leave the world at the end of the program")
del world, other
gc.collect()
del x, handle
gc.collect()
print("is content")
dist.destroy_process_group()
"""


def test_enabling_for_a_second_world_is_refused_and_the_first_goes_on(launch):
    job = launch(2, TWICE, timeout=120).check()
    assert job.out.count("is content") == 2


LIVES = """
import sys, torch, torch.distributed as dist, torch.distributed._symmetric_memory as symm_mem, pgas, pgas.torch
world = pgas.torch.init_process_group()
me, n = world.my_pe, world.n_pes
x = symm_mem.empty(16, device="cpu")
some = None
for life in range(20):
    if life:
        dist.destroy_process_group()
        rank = (n - 1 - me) if life % 2 else me  # the ranks of the same names are others
        dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/{life}", rank=rank, world_size=n)
    rank = dist.get_rank()
    handle = symm_mem.rendezvous(x, dist.group.WORLD)
    assert (handle.rank, handle.world_size) == (rank, n), (life, handle.rank)
    x.fill_(100 * life + rank)
    handle.barrier()
    for other in range(n):
        assert (handle.get_buffer(other, (16,), x.dtype) == 100 * life + other).all(), (life, other)
    handle.barrier()
    for y in (x, torch.empty(8)):
        y.fill_(rank)
        assert (pgas.torch.broadcast(y, 1) == 1).all(), (life, y)
    members = [life % n, (life + 1) % n]
    before, some = some, dist.new_group(sorted(members))
    if before not in (None, dist.GroupMember.NON_GROUP_MEMBER):
        try:
            pgas.torch.all_reduce(x, group=before)
        except pgas.Error as said:
            assert "was destroyed" in str(said), said
        else:
            raise SystemExit("a destroyed group was taken")
    if rank in members:
        y = torch.full((4,), 1.0 + rank)
        assert (pgas.torch.all_reduce(y, group=some) == sum(1 + each for each in members)).all(), (life, y)
        assert symm_mem.rendezvous(x, some).rank == sorted(members).index(rank)
    del handle
print("is content")
dist.destroy_process_group()
"""


def test_a_name_of_a_destroyed_group_belongs_to_the_new_one(launch, tmp_path):
    job = launch(3, LIVES, tmp_path, timeout=200).check()
    assert job.out.count("is content") == 3


def test_operators_of_nvshmem_name_the_backend(launch):
    job = launch(1, """
import torch, torch.distributed as dist, torch.distributed._symmetric_memory as symm_mem, pgas, pgas.torch
pgas.torch.init_process_group()
x = symm_mem.empty(16, device="cpu")
called = 0
for name in ("nvshmem_put", "nvshmem_get", "nvshmem_broadcast", "nvshmem_all_to_all", "all_to_all_vdev", "all_to_all_vdev_2d", "tile_reduce"):
    operator = getattr(torch.ops.symm_mem, name, None)
    if operator is None:
        continue
    schema = operator.default._schema
    given = {"Tensor": x, "int": 0, "str": dist.group.WORLD.group_name}
    arguments = [given.get(str(a.type), None) for a in schema.arguments if not a.has_default_value()]
    arguments = [[x] if a is None else a for a in arguments]
    try:
        operator(*arguments)
    except pgas.Error as said:
        assert f"symm_mem.{name}" in str(said) and "the current backend is PGAS" in str(said), said
        called += 1
print("refused", called)
""", timeout=120).check()
    assert int(job.out.split()[1]) >= 5, job.out


def test_tensors_that_a_collective_does_not_take_are_named(launch):
    launch(1, """
import torch, pgas, pgas.torch
pgas.torch.init_process_group()
for x, kind, words in ((torch.zeros(4, 4).T, ValueError, "contiguous"),):
    try:
        pgas.torch.all_reduce(x)
    except kind as said:
        assert words in str(said) and "one type" not in str(said), said
    else:
        raise SystemExit("accepted")
try:
    pgas.torch.all_gather(torch.zeros(4, dtype=torch.float64), torch.zeros(4))
except TypeError as said:
    assert "float64" in str(said) and "float32" in str(said)
else:
    raise SystemExit("accepted")
""", timeout=120).check()


OWN_TESTS = """
import time
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from torch.testing._internal.common_distributed import MultiProcContinuousTest, MultiProcessTestCase, skip_if_lt_x_gpu
from torch.testing._internal.common_utils import TestCase


class Continuous(MultiProcContinuousTest):
    @skip_if_lt_x_gpu(2)
    def test_right(self):
        assert symm_mem.get_backend(self.device) == "PGAS"
        x = symm_mem.empty(8, device=self.device).fill_(self.rank)
        handle = symm_mem.rendezvous(x, dist.group.WORLD)
        handle.barrier()
        assert self.world_size == 2
        self.assertTrue(handle.get_buffer(1 - self.rank, (8,), x.dtype).eq(1 - self.rank).all())
        handle.barrier()

    @skip_if_lt_x_gpu(4)
    def test_of_four(self):
        raise AssertionError("it has two ranks")


class Forked(MultiProcessTestCase):
    def setUp(self):
        super().setUp()
        self._spawn_processes()

    def test_wrong(self):
        dist.init_process_group("nccl", world_size=self.world_size, rank=self.rank, store=dist.FileStore(self.file_name, self.world_size))
        handle = symm_mem.rendezvous(symm_mem.empty(8, device=self.device), dist.group.WORLD)
        self.assertEqual(handle.world_size, 2 + self.rank)

    def test_endless(self):
        time.sleep(1000)


class Single(TestCase):
    def test_alone(self):
        symm_mem.empty(8).fill_(1)
        self.assertEqual(symm_mem.get_backend("cpu"), "PGAS")
"""


def test_torchs_own_tests_can_pass_fail_and_hang(tmp_path):
    pytest.importorskip("expecttest")
    (tmp_path / "own.py").write_text(OWN_TESTS)
    runner = pathlib.Path(__file__).parent / "torch_own_tests.py"
    job = run([sys.executable, runner, tmp_path / "own.py", "--limit", 40], timeout=200, OUT=tmp_path)
    outcomes = {line.split("  ")[-1].split(":")[0].strip(): line for line in job.out.splitlines()}
    assert job.status == 1 and "5 tests: 2 passed, 2 failed, 1 can't run, 0 not run" in job.out, job.out + job.err
    assert outcomes["Continuous.test_right"].startswith("passed") and outcomes["Continuous.test_of_four"].endswith("needs more ranks")
    assert outcomes["Forked.test_wrong"].startswith("failed") and "Scalars are not equal" in outcomes["Forked.test_wrong"]
    assert "did not end within" in outcomes["Forked.test_endless"]


def test_the_benchmark_beside_nccl_checks_its_sums():
    needs_interpreter_of_triton()
    job = run([sys.executable, BESIDE_NCCL, 2, "--rounds", 1], timeout=150).check()
    for what in ("all_reduce pgas.torch", "all_reduce triton", "shift triton", "shift triton asks"):
        assert f"{what},2,8192," in job.out, job.out + job.err
    assert "failed" not in job.out
