"""Joining a world, and the end of the program."""

from __future__ import annotations

import atexit
import operator
import os
import sys
from typing import Any

from . import _core
from ._array_interop import library_of
from ._program_line import raising_line
from ._world import World


def make_unique_id() -> str:
    """An id by which processes join. One process creates the id, as PE 0, and all processes pass it to
    join(unique_id=)."""
    return _core.make_unique_id()


def _exchange_id(rank: int, share: Any) -> str:
    """Makes an id on rank 0 and returns it on all ranks. Raises the failure of rank 0 on all ranks."""
    made: tuple[str, str] = ("", "")
    if rank == 0:
        try:
            made = (make_unique_id(), "")
        except Exception as failed:
            made = ("", str(failed))
    made = share(made)
    if made[1]:
        raise RuntimeError(f"rank 0 could not make an id to join by: {made[1]}")
    return made[0]


def _id_of_group(group: Any) -> tuple[str, int, int]:
    try:
        import torch.distributed as dist
    except ModuleNotFoundError:
        raise ModuleNotFoundError("join(group=): this Python has no torch: pip install torch, or pass comm or unique_id", name="torch") from None
    if not dist.is_initialized():
        raise RuntimeError("join(group=): call torch.distributed.init_process_group() first")
    if group is True:
        group = dist.group.WORLD
    rank = dist.get_rank(group)
    if rank < 0:
        raise ValueError("join(group=): this process is not in the group")

    def share(made: tuple[str, str]) -> Any:
        box = [made]
        dist.broadcast_object_list(box, src=dist.get_global_rank(group, 0), group=group)
        return box[0]

    return _exchange_id(rank, share), rank, dist.get_world_size(group)


def _id_of_comm(comm: Any) -> tuple[str, int, int]:
    if not hasattr(comm, "Get_rank"):
        raise TypeError(f"join: comm is a communicator of mpi4py, such as MPI.COMM_WORLD, not {comm!r}")
    rank = comm.Get_rank()
    return _exchange_id(rank, lambda made: comm.bcast(made, root=0)), rank, comm.Get_size()


def _setting(name: str, value: Any) -> Any:
    """Converts a setting to the form that the extension takes."""
    try:
        if name == "heap":
            if not isinstance(value, str):
                raise TypeError
            return value
        if name == "device":
            number = operator.index(value)
            if not 0 <= number < 1 << 31:
                raise ValueError
            return number
        if name == "checks":
            if value not in (False, True):
                raise ValueError
            return bool(value)
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError) as wrong:
        takes = {"heap": "'auto', 'cuda' or 'host'", "device": "the number of a GPU", "checks": "True or False"}.get(name, "a number of seconds")
        raise type(wrong)(f"join: {name} is {takes}, not {value!r}") from None


def join(*, group: Any = None, comm: Any = None, unique_id: str | None = None, rank: int | None = None, size: int | None = None,
         like: Any = None, heap: str | None = None, device: int | None = None, join_timeout: float | None = None,
         wait_timeout: float | None = None, checks: bool | None = None) -> World:
    """Joins the world of the launcher that started this process (pgasrun, mpirun, srun, torchrun). Without a launcher,
    creates a world of one PE. Collective.

    group: joins the processes of this torch.distributed group, or, if True, of all ranks.
    comm: joins the processes of this mpi4py communicator.
    unique_id, with rank and size: joins the processes with the same make_unique_id().
    like: the library of arrays, by name.
    heap: 'auto', 'cuda' or 'host'.
    device: the number of the GPU.
    join_timeout, wait_timeout: seconds.
    checks: whether calls and kernels check their arguments. By default, blocking collectives on the host heap compare
    their arguments.

    Settings that are not passed come from the environment (`pgas-info --config`)."""
    given = {"heap": heap, "device": device, "join_timeout": join_timeout, "wait_timeout": wait_timeout, "checks": checks}
    settings = {name: _setting(name, value) for name, value in given.items() if value is not None}
    if heap is None and "PGAS_HEAP" not in os.environ and like is not None and library_of(like, True) == "numpy":
        settings["heap"] = "host"  # NumPy has no arrays on GPUs
    # Different arguments on different PEs would give wrong values or an endless wait. With checks on, the library
    # compares arguments on GPUs too.
    compares = checks is None and "PGAS_CHECKS" not in os.environ
    if sum(way is not None for way in (group, comm, unique_id)) > 1:
        raise ValueError("join: give one of group, comm and unique_id")
    if group is not None:
        unique_id, rank, size = _id_of_group(group)
    elif comm is not None:
        unique_id, rank, size = _id_of_comm(comm)
    elif unique_id is not None and not isinstance(unique_id, str):
        raise TypeError(f"join: unique_id is a text from make_unique_id(), not {unique_id!r}")
    elif unique_id is None and (rank is not None or size is not None):
        raise ValueError("join: rank and size belong to unique_id")
    if unique_id is None:
        core = _core.join(settings, compares)
    elif rank is None or size is None:
        raise ValueError("join: unique_id needs rank and size")
    else:
        core = _core.join_by_id(settings, compares, unique_id, operator.index(rank), operator.index(size))
    return World(core, like)


@atexit.register
def _end() -> None:
    """If an exception has ended the program, aborts the program's worlds with the text of the exception. Otherwise the
    PE leaves the worlds after Python has ended."""
    raised = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if raised is None or hasattr(sys, "ps1") or sys.flags.interactive:
        return
    _core.abort_all(f"{type(raised).__name__}: {raised}{raising_line(raised.__traceback__)}")
