"""torch's symmetric memory on pgas: torch.distributed._symmetric_memory with the backend "PGAS".

    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem
    import pgas.torch

    dist.init_process_group("gloo")
    pgas.torch.enable(group=True)
    x = symm_mem.empty(1024, device="cuda")
    handle = symm_mem.rendezvous(x, dist.group.WORLD)

Programs need no other change. docs/torch.md is the guide.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
import time
import warnings
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from . import _core, _join_with_torch, _load_torch_backend
from ._collectives import _operation
from ._error import Error
from ._join import join
from ._staging import Staging
from ._stream import _current_of
from ._team import Team
from ._world import World

_symm_mem: Any = torch._C._distributed_c10d._SymmetricMemory
_extension: Any = None
_world: World | None = None
_groups: dict[str, _Group] = {}
_lives: dict[str, int] = {}  # the number of groups with each name so far
_lock = threading.RLock()
_pool: Any = None
_pool_allocators: dict[str, Any] = {}  # by the function that allocates; never dropped, because a graph may keep a pool
_capture_pools: dict[int, Any] = {}  # the pools of captures, by the number of the capture
_GROUP_TIMEOUT = 60.0


def _refuse(code: int, message: str) -> NoReturn:
    _core.raise_error(code, message, -1)
    raise AssertionError


class _Group:
    """The data of a process group, kept until torch has destroyed the group."""

    def __init__(self, name: str, team: Team) -> None:
        def make(count: int, x: torch.Tensor) -> torch.Tensor:
            made: torch.Tensor = _symm_mem.empty_strided_p2p((count,), (1,), x.dtype, x.device, None)
            _symm_mem.rendezvous(made, name)
            return made

        self.team = team
        self.staging = Staging(team.world, make)
        self.in_graphs: dict[int, torch.UntypedStorage] = {}  # memory that captured collectives use

    def keep_for_graph(self, x: torch.Tensor) -> None:
        """Keeps the memory of a tensor from reuse, because a graph uses it at each launch. The library does not learn
        when the graph is destroyed. Memory of the capture's own pool is reused by the same graph only."""
        if not _extension.is_of_graph(x.data_ptr()):
            storage = x.untyped_storage()
            self.in_graphs[storage._cdata] = storage  # a tensor on given memory has another storage with its address


def world() -> World:
    """The world of the backend. *Errors* if the program has not called enable()."""
    if _world is None or _world._core.left:
        _refuse(305, "pgas.torch: call pgas.torch.enable() first")
    return _world


def enable(world: World | None = None, *, group: Any = None) -> World:
    """Makes pgas the backend of torch's symmetric memory, and returns the world. Collective.

    world: a joined world. If `world` is not given, enable() joins a world: with the processes of torch's `group` (True:
    with all ranks), or, without `group`, with the processes of the launcher. On a GPU, call torch.cuda.set_device()
    before enable(), because the world uses the current GPU. A process can enable one world, because tensors and handles
    refer to the world during their lifetime."""
    global _extension, _world
    with _lock:
        if _world is not None:
            if world is _world and not _world._core.left:
                return _world
            _refuse(304, "pgas.torch.enable: it was called before, and " +
                    ("the world of that call was left, but torch's symmetric memory needs it for the lifetime of the process: "
                     "leave the world at the end of the program, and call enable() in a new process" if _world._core.left else
                     "another world would lose the tensors and handles of the first: omit this call. pgas.torch.world() returns the world"))
        if world is None:
            if group is None and dist.is_available() and dist.is_initialized():
                group = True
            device = torch.cuda.current_device() if torch.cuda.is_available() else None
            world = join(group=group, device=device, like="torch")
        if _extension is None:
            _extension = _load_torch_backend.load()
        _extension.enable(world._core.native, _meet, Error)
        _symm_mem.set_backend("PGAS")  # torch refuses this after another backend has allocated memory
        _world = world
        _refuse_operators_of_nvshmem()
        _extend_functions_of_torch()
        return world


_overrides: Any = None


def _refuse_operators_of_nvshmem() -> None:
    """Some of torch's operators call NVSHMEM whatever the backend is. Replaces these operators by functions that raise,
    because NVSHMEM is not initialized and would end the process."""
    global _overrides
    _overrides = torch.library.Library("symm_mem", "IMPL")
    of_nvshmem = ("nvshmem_", "all_to_all_vdev", "tile_reduce", "multi_root_tile_reduce")
    for name in torch._C._dispatch_get_all_op_names():
        space, _, operator = name.partition("::")
        if space != "symm_mem" or not operator.startswith(of_nvshmem):
            continue

        def refuse(*_: Any, _operator: str = operator, **__: Any) -> NoReturn:
            _refuse(304, f"torch.ops.symm_mem.{_operator}: this operator belongs to torch's backend NVSHMEM, and the current "
                         "backend is PGAS: docs/torch.md, \"From the backend NVSHMEM\", names the replacement")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that its kernel is replaced, which is intended here
            for key in ("CUDA", "CPU"):
                _overrides.impl(operator, refuse, key, allow_override=True)


def _extend_functions_of_torch() -> None:
    """Some functions of torch.distributed._symmetric_memory are only for torch's own backends. Replaces these functions
    in the module, where this version of torch has them."""
    import torch.distributed._symmetric_memory as module

    def extend(name: str, extended: Any) -> None:
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, functools.wraps(original)(functools.partial(extended, original)))

    def get(original: Any, dst: torch.Tensor, hdl: Any, peer: int, offset: int = 0) -> None:
        try:
            original(dst, hdl, peer, offset)  # checks the arguments, and then the backend
            return
        except ValueError as said:
            if "unsupported backend: PGAS" not in str(said):
                raise
        if hdl.buffer_ptrs[peer] == 0:
            _refuse(105, f"symm_mem.get: the memory of rank {peer} is not load/store accessible from rank {hdl.rank}: use "
                         "pgas.torch.broadcast(), or ranks of one NVLink domain")
        start = hdl.offset // dst.element_size() + offset
        dst.view(-1).copy_(hdl.get_buffer(peer, (dst.numel(),), dst.dtype, start))

    def get_mem_pool(original: Any, device: Any) -> Any:
        return mem_pool() if _symm_mem.get_backend(torch.device(device)) == "PGAS" else original(device)

    extend("get", get)
    extend("get_mem_pool", get_mem_pool)


def init_process_group(backend: str = "gloo", *, device: int | None = None, **options: Any) -> World:
    """dist.init_process_group() and enable() in one call, under any launcher: torchrun, pgasrun, mpirun, srun.
    Collective. Returns the world.

    device: the number of the GPU, which becomes torch's current GPU. The default is the GPU that the program has set,
    or else a GPU that depends on the rank within its host. torch defines the other arguments. Ranks that share a GPU
    can't use "nccl"."""
    return enable(_join_with_torch.join_with_process_group(backend, device, options))


def _block_of(address: int) -> tuple[int, int] | None:
    """The start and the bytes of the block of symmetric memory that contains an address; None if there is no such
    block."""
    return None if _extension is None or _world is None else _extension.block_of(address)


# ---- groups ---------------------------------------------------------------------------------------------------------


def _name_of(group: Any) -> str:
    if group is None:
        group = dist.group.WORLD
    if isinstance(group, str):
        return group
    name = str(group.group_name)
    if not torch.compiler.is_compiling() and not _is_registered(name, group):
        _refuse(304, f"pgas.torch: group '{name}' was destroyed: pass an existing group, or None for all ranks")
    return name


def _is_registered(name: str, group: Any) -> bool:
    try:
        return dist.distributed_c10d._resolve_process_group(name) is group
    except RuntimeError:
        return False


def _exchange(joined: World, store: Any, rank: int, n: int, name: str, mine: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the data of each rank of a group. The exchange ends when the world fails. A wait of torch's store would
    not end in this case."""
    store.set(str(rank), json.dumps(mine))
    end = time.monotonic() + _GROUP_TIMEOUT

    def decide(outcome: str) -> None:
        # The first rank that decides, decides for all ranks, so no rank continues without the others.
        decided = store.compare_set("outcome", "", outcome).decode()
        if decided != "complete":
            _refuse(403, f"pgas.torch: rank {decided} of group '{name}' did not reach its first rendezvous within "
                         f"{_GROUP_TIMEOUT:.0f} s: all ranks of a group must make the same calls")

    for each in range(n):
        while not store.check([str(each)]):
            joined.check()
            if time.monotonic() > end:
                decide(str(each))
            time.sleep(0.001)
    decide("complete")
    return [json.loads(store.get(str(each))) for each in range(n)]


def _group_of(name: str) -> _Group:
    """The _Group of torch's present group with this name."""
    if not _extension.knows(name) or name not in _groups:
        _meet(name)
    return _groups[name]


def _meet(name: str) -> None:
    """Collective over the group: creates its team, its words in blocks, and the pages by which its ranks compare their
    calls."""
    joined = world()
    with _lock:
        if _extension.knows(name) and name in _groups:
            return
        for gone in [each for each in _groups if not _extension.knows(each)]:
            del _groups[gone]  # the group was destroyed; a new group may have its name
        taken_here = _extension.retire_groups()
        process_group = dist.distributed_c10d._resolve_process_group(name)
        rank, n = process_group.rank(), process_group.size()
        # The store may contain keys of an earlier group with this name, which had the same or different ranks.
        ranks = hashlib.sha256(repr(dist.get_process_group_ranks(process_group)).encode()).hexdigest()[:16]
        store = dist.distributed_c10d._get_process_group_store(process_group)
        limit = store.timeout.total_seconds()
        store = dist.PrefixStore(f"pgas/{name}/{ranks}", store)
        store = dist.PrefixStore(f"{store.add(f'attempts of {rank}', 1)}", store)
        page = _core.SharedMemory.make(None, _extension.page_bytes, False)
        mine = {"pe": joined.my_pe, "slots": taken_here, "ticket": page.ticket(), "rank": dist.get_rank(), "life": _lives.get(name, 0) + 1}
        all_ranks = _exchange(joined, store, rank, n, name, mine)
        taken = {slot for each in all_ranks for slot in each["slots"]}
        free = [slot for slot in range(_extension.groups_of_a_block) if slot not in taken]
        if not free:
            _refuse(304, f"pgas.torch: ranks of group '{name}' are in {_extension.groups_of_a_block} other groups, the maximum")
        members = [each["pe"] for each in all_ranks]
        life = _lives[name] = max(each["life"] for each in all_ranks)  # greater than the number of each rank
        key = int.from_bytes(hashlib.sha256(f"{life}/{name}".encode()).digest()[:7], "big")
        team = joined.team.create_group(members, key, staged=True)
        on_this_host = _pes_of_this_host(joined)
        pages: list[Any] = []
        for each, other in enumerate(all_ranks):
            if each == rank:
                pages.append(page)
            elif other["pe"] in on_this_host:
                pages.append(_core.OpenedMemory.open(other["ticket"], 60.0, None))
            else:
                pages.append(None)
        _groups[name] = _Group(name, team)  # before other ranks can use it
        _extension.add_group(name, team._group.native, free[0], [each["rank"] for each in all_ranks],
                             [0 if each is None else _address(each) for each in pages], limit, (team, pages))
        team.sync(stream=None)
        page.revoke()  # all ranks have the page open


def _pes_of_this_host(joined: World) -> set[int]:
    """The PEs that can open this PE's tickets. Several containers may have the same host name, so comparing names is
    not sufficient."""
    host = joined.host_team
    return {host.world_pe(pe) for pe in range(host.n_pes)}


def _address(page: Any) -> int:
    memory = page.memory if isinstance(page, _core.SharedMemory) else page.memory()
    return int(memory.ptr)


# ---- memory pools ---------------------------------------------------------------------------------------------------


def mem_pool(group: Any = None) -> Any:
    """A torch.cuda.MemPool of symmetric memory. Tensors that torch allocates in `with
    torch.cuda.use_mem_pool(pgas.torch.mem_pool()):` are valid arguments of symm_mem.rendezvous(tensor, group). Each
    call returns the same pool, but a pool of its own for each capture of a CUDA graph, so that the memory of a graph is
    not reused outside the graph. A segment holds one tensor, because a segment has one signal pad. With `group`, the
    call is collective and sets up the group. Otherwise the first rendezvous sets up the group."""
    global _pool
    joined = world()
    if joined.device is None:
        _refuse(304, "pgas.torch.mem_pool: torch has memory pools for GPUs only, and the heap of this world is host memory: "
                     "use symm_mem.empty()")
    if group is not None:
        _meet(_name_of(group))
    with _lock:
        capture = _extension.capture_id(joined.device)
        if capture == 0:
            if _pool is None:
                _pool = _make_pool("pgas_torch_pool_allocate")
            return _pool
        if capture not in _capture_pools:
            if hasattr(torch.cuda.CUDAGraph, "_retain_pool"):  # then a graph keeps the pools of its capture
                _capture_pools.clear()
            _capture_pools[capture] = _make_pool("pgas_torch_graph_pool_allocate")
        return _capture_pools[capture]


def _make_pool(allocate: str) -> Any:
    if allocate not in _pool_allocators:
        _pool_allocators[allocate] = torch.cuda.memory.CUDAPluggableAllocator(_extension.__file__, allocate, "pgas_torch_pool_free")
    allocator = _pool_allocators[allocate].allocator()
    try:
        return torch.cuda.MemPool(allocator, use_on_oom=False, no_split=True)
    except TypeError:  # torch before 2.10 has no such arguments
        return torch.cuda.MemPool(allocator)


# ---- collectives ----------------------------------------------------------------------------------------------------


def _is_symmetric(x: torch.Tensor) -> bool:
    return x.numel() == 0 or bool(_extension.has_allocation(x.data_ptr()))


def _run(what: str, out: torch.Tensor, x: torch.Tensor, name: str, op: str = "sum", root: int = 0, in_blocks: int = 1,
         out_blocks: int = 1) -> None:
    if out.dtype != x.dtype:
        raise TypeError(f"pgas.torch.{what}: the output is of {out.dtype}, the input of {x.dtype}")
    for of, tensor in (("output", out), ("input", x)):
        if not tensor.is_contiguous():
            raise ValueError(f"pgas.torch.{what}: the {of} of shape {tuple(tensor.shape)} has strides {tensor.stride()}: a collective takes "
                             "contiguous tensors, so pass x.contiguous()")
    count = x.numel() // in_blocks
    if count * in_blocks != x.numel() or out.numel() != count * out_blocks:
        raise ValueError(f"pgas.torch.{what}: {x.numel()} elements in and {out.numel()} out do not fit: {in_blocks} blocks in, {out_blocks} "
                         "out")
    joined = world()
    joined.check()
    group = _group_of(name)
    stream = None if joined.device is None else _current_of("torch", joined.device)
    dtype = str(x.dtype).removeprefix("torch.")
    captured = joined.device is not None and _extension.capture_id(joined.device) != 0

    def enqueue(to: torch.Tensor, source: torch.Tensor) -> None:
        if captured:
            group.keep_for_graph(to)
            group.keep_for_graph(source)
        # Peers read the input of a reduce_scatter, and write or read the output of all other collectives. So the tensor
        # that peers access must be the same on all ranks. The other tensor may differ.
        shared = source if what == "reduce_scatter" else to
        dst, src = (0 if each.numel() == 0 else _extension.alias(each.data_ptr(), name, compared)
                    for each, compared in ((to, shared is to), (source, shared is not to)))
        group.team._group.collective(what, dtype, _operation(op), dst, src, count, root, (1, 1), stream)

    if _is_symmetric(out) and _is_symmetric(x):
        enqueue(out, x)
        return
    # The compiler may pass a copy that is not in symmetric memory. All ranks have the same graph, so all ranks lend
    # memory in this case.
    with group.staging.section(stream):
        to = out if _is_symmetric(out) else group.staging.lend(out, "out", f"pgas.torch.{what}")
        source = to if out is x else x if _is_symmetric(x) else group.staging.lend(x, "in", f"pgas.torch.{what}")
        if source is not x:
            source.copy_(x)
        enqueue(to, source)
        if to is not out:
            out.copy_(to)


def _size(name: str) -> int:
    return _group_of(name).team.n_pes


@torch.library.custom_op("pgas_symm::all_reduce", mutates_args=("x",))
def _all_reduce(x: torch.Tensor, op: str, group: str) -> None:
    _run("all_reduce", x, x, group, op)


@torch.library.custom_op("pgas_symm::broadcast", mutates_args=("x",))
def _broadcast(x: torch.Tensor, root: int, group: str) -> None:
    _run("broadcast", x, x, group, root=root)


@torch.library.custom_op("pgas_symm::all_gather", mutates_args=("out",))
def _all_gather(out: torch.Tensor, x: torch.Tensor, group: str) -> None:
    _run("all_gather", out, x, group, out_blocks=_size(group))


@torch.library.custom_op("pgas_symm::reduce_scatter", mutates_args=("out",))
def _reduce_scatter(out: torch.Tensor, x: torch.Tensor, op: str, group: str) -> None:
    _run("reduce_scatter", out, x, group, op, in_blocks=_size(group))


@torch.library.custom_op("pgas_symm::all_to_all", mutates_args=("out",))
def _all_to_all(out: torch.Tensor, x: torch.Tensor, group: str) -> None:
    n = _size(group)
    _run("all_to_all", out, x, group, in_blocks=n, out_blocks=n)


# These functions modify their arguments and return nothing, so a compiler needs no further information.
for _each in (_all_reduce, _broadcast, _all_gather, _reduce_scatter, _all_to_all):
    _each.register_fake(lambda *_: None)


def all_reduce(x: torch.Tensor, op: str = "sum", group: Any = None) -> torch.Tensor:
    """Combines the tensors of all ranks in place, in the current stream. Every rank receives the result. op: sum, prod,
    min, max, band, bor, bxor.

    The collectives of this module use tensors with a symm_mem.rendezvous() of this group directly. Other tensors are
    copied to and from symmetric memory that the group keeps. Either all ranks pass tensors with a rendezvous, or no
    rank does."""
    _all_reduce(x, op, _name_of(group))
    return x


def broadcast(x: torch.Tensor, root: int = 0, group: Any = None) -> torch.Tensor:
    """Copies the tensor of the group's rank `root` to every rank, in place."""
    _broadcast(x, root, _name_of(group))
    return x


def all_gather(out: torch.Tensor, x: torch.Tensor, group: Any = None) -> torch.Tensor:
    """Gathers the tensors of all ranks in `out` on every rank, in the order of the ranks."""
    _all_gather(out, x, _name_of(group))
    return out


def reduce_scatter(out: torch.Tensor, x: torch.Tensor, op: str = "sum", group: Any = None) -> torch.Tensor:
    """Combines the tensors of all ranks, and stores block k of the result in `out` of rank k."""
    _reduce_scatter(out, x, op, _name_of(group))
    return out


def all_to_all(out: torch.Tensor, x: torch.Tensor, group: Any = None) -> torch.Tensor:
    """Copies block j of rank i's `x` to block i of rank j's `out`."""
    _all_to_all(out, x, _name_of(group))
    return out


__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "enable", "init_process_group", "mem_pool", "reduce_scatter", "world"]
