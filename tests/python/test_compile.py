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
    """Schemas, fake kernels and what they write, by torch's own check."""
    import torch

    world.zeros(1, like="torch")  # operators are there from the first tensor on
    from pgas import _torch_operators as operators

    order = operators.order_of(world)
    # The check runs operators on copies of the arrays, which only collectives and barriers can take.
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
