"""torch.compile: calls of pgas are nodes of its graphs."""

import shutil

import pytest


@pytest.fixture(autouse=True)
def a_torch():
    pytest.importorskip("torch", minversion="2.6")


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_functions_are_compiled_whole(launch, backend):
    if backend == "inductor" and shutil.which("g++") is None:
        pytest.skip("inductor compiles by g++, which is not there")
    job = launch(3, "compiled.py", backend, timeout=200)
    assert job.status == 0 and job.out.count("is content") == 3, job.out + job.err


def test_operators_are_as_torch_wants_them(world):
    """torch's own check tests the schemas, the fake kernels and the declared writes."""
    import torch

    world.zeros(1, like="torch")  # operators exist from the first tensor on
    from pgas import _torch_operators as operators

    order = operators.order_of(world)
    # torch's opcheck runs operators on copies of the arrays. Only collectives and barriers accept copies.
    which = ("test_schema", "test_faketensor")
    torch.library.opcheck(operators.meet, (order, "barrier", world._number, True), test_utils=which)
    arguments = (order, torch.empty(8), torch.ones(8), "all_reduce", "sum", 0, [1, 1], world._number, True)
    torch.library.opcheck(operators.collective, arguments, test_utils=which)


def test_leaving_gives_back_what_collectives_were_lent(launch):
    launch(1, """
import torch, pgas
from pgas import _torch_operators as operators
with pgas.join() as world:
    x = world.zeros(8, like="torch")
    torch.compile(lambda: world.all_reduce(x), backend="aot_eager", fullgraph=True)()
    assert operators._lent
assert not operators._lent
""").check()


def test_threads_get_one_lent_memory_of_a_world(world, monkeypatch):
    import threading
    import time

    world.zeros(1, like="torch")
    from pgas import _torch_operators as operators

    class Slow(operators.Staging):
        def __init__(self, *arguments):
            time.sleep(0.05)
            super().__init__(*arguments)

    monkeypatch.setattr(operators, "Staging", Slow)
    operators.release(world._number)
    found = []
    threads = [threading.Thread(target=lambda: found.append(operators._staging_of(world))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1
    operators.release(world._number)


def test_memory_that_graphs_keep_is_less_than_what_is_lent_now(world, monkeypatch):
    """Makes a graph for each size, in ascending order. The tensors pretend to be on a GPU, because only a GPU captures
    graphs."""
    import torch

    from pgas._staging import Staging

    class OnGpu:
        is_cuda, dtype = True, torch.float32

        def __init__(self, count):
            self.shape = (count,)

        def numel(self):
            return self.shape[0]

    capturing = False
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: capturing)
    lent = Staging(world, lambda count, x: torch.empty(count))
    for count in range(1, 300):
        capturing = False
        with lent.section(None):
            assert lent.lend(OnGpu(count), "in", "test").shape == (count,)
        capturing = True
        with lent.section(None):
            again = lent.lend(OnGpu(count), "in", "test")
        assert any(again.data_ptr() == kept.data_ptr() for kept in lent._in_graphs.values())
        now = lent._tensors["in", torch.float32].numel()
        assert sum(kept.numel() for kept in lent._in_graphs.values()) < 2 * now and now < 2 * count
