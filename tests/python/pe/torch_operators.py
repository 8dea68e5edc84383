"""Tests torch's own operators on symmetric memory of pgas, on a GPU. Operators that need only addresses work.
Operators that need multicast report that it is missing.

    pgasrun -n 2 python torch_operators.py
"""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas.torch

world = pgas.torch.init_process_group()
device = torch.device("cuda", world.device)
rank, n = dist.get_rank(), dist.get_world_size()
name = dist.group.WORLD.group_name
call = torch.ops.symm_mem


def met(*shape, dtype=torch.bfloat16):
    x = symm_mem.empty(*shape, dtype=dtype, device=device)
    symm_mem.rendezvous(x, dist.group.WORLD)
    return x


def of(peer, *shape):
    """Returns the tensor of rank `peer`, which every rank can compute."""
    torch.manual_seed(peer)
    return torch.randn(*shape, device=device).to(torch.bfloat16)


def near(x, expected):
    return torch.allclose(x.float(), expected.float(), rtol=5e-2, atol=5e-1)


x, out, total = met(n * 1024), torch.empty(n * 1024, dtype=torch.bfloat16, device=device), sum(of(peer, n * 1024).float() for peer in range(n))


def filled():
    x.copy_(of(rank, n * 1024))
    return x


def reduce_scatter():
    part = torch.empty(1024, dtype=torch.bfloat16, device=device)
    call.reduce_scatter_out(filled(), name, False, part)
    return near(part, total.view(n, 1024)[rank])


def fused_all_gather_matmul():
    b = of(100, 128, 64)
    a = met(64, 128).copy_(of(rank, 64, 128))
    _, products = call.fused_all_gather_matmul(a, [b], 0, name)
    return near(products[0], torch.cat([of(peer, 64, 128) for peer in range(n)]).float() @ b.float())


def fused_matmul_reduce_scatter():
    part = call.fused_matmul_reduce_scatter(of(rank, n * 64, 128), of(100 + rank, 128, 64), "sum", 0, name)
    whole = sum(of(peer, n * 64, 128).float() @ of(100 + peer, 128, 64).float() for peer in range(n))
    return near(part, whole.view(n, 64, 64)[rank])


def low_contention_all_gather(a):
    gathered = torch.ops._c10d_functional.wait_tensor(call._low_contention_all_gather(a.copy_(of(rank, 64, 128)), name))
    return torch.equal(gathered, torch.cat([of(peer, 64, 128) for peer in range(n)]))


def mem_pool_of_torch():
    with torch.cuda.use_mem_pool(symm_mem.get_mem_pool(device)):
        y = of(rank, 256, 256) @ of(100, 256, 256)
    return near(call.one_shot_all_reduce(y, "sum", name), sum(of(peer, 256, 256).float() for peer in range(n)) @ of(100, 256, 256).float())


def words():
    flags = met(16, dtype=torch.uint32)
    call.memset32_(flags, 0, 7, 16)
    call.stream_write_value32_(flags, 3, 9)
    return flags.tolist() == [7] * 3 + [9] + [7] * 12


checks = {
    "one_shot_all_reduce": lambda: near(call.one_shot_all_reduce(filled(), "sum", name), total),
    "one_shot_all_reduce_out": lambda: near(call.one_shot_all_reduce_out(filled(), "sum", name, out), total),
    "one_shot_all_reduce_copy": lambda: near(call.one_shot_all_reduce_copy(x, of(rank, n * 1024), "sum", name), total),
    "two_shot_all_reduce_": lambda: near(call.two_shot_all_reduce_(filled(), "sum", name), total),
    "two_shot_all_reduce_out": lambda: near(call.two_shot_all_reduce_out(filled(), "sum", name, out), total),
    "reduce_scatter_out": reduce_scatter,
    "fused_all_gather_matmul": fused_all_gather_matmul,
    "fused_matmul_reduce_scatter": fused_matmul_reduce_scatter,
    "_low_contention_all_gather": lambda: low_contention_all_gather(met(64, 128)),
    "_low_contention_all_gather of another tensor": lambda: low_contention_all_gather(torch.empty(64, 128, dtype=x.dtype, device=device)),
    "get_mem_pool": mem_pool_of_torch,
    "memset32_, stream_write_value32_": words,
}
wrong = []
for what, holds in checks.items():
    try:
        said = "is right" if bool(holds()) else "is WRONG"
    except (RuntimeError, TypeError, AttributeError) as raised:
        said = f"failed: {str(raised).splitlines()[0]}"
    torch.cuda.synchronize()
    dist.barrier()
    if said != "is right":
        wrong.append(what)
    if rank == 0:
        print(f"{what} {said}", flush=True)
for what, multimem in {"multimem_all_reduce_": lambda: call.multimem_all_reduce_(x, "sum", name),
                       "multimem_one_shot_all_reduce": lambda: call.multimem_one_shot_all_reduce(x, "sum", name),
                       "multimem_all_gather_out": lambda: call.multimem_all_gather_out(x[:1024], name, x)}.items():
    try:
        multimem()
        wrong.append(what)
    except RuntimeError as raised:
        if "multicast" not in str(raised):
            wrong.append(what)
        if rank == 0:
            print(f"{what}: {str(raised).splitlines()[0]}", flush=True)
if wrong:
    raise SystemExit(f"PE {rank}: {', '.join(wrong)}")
print(f"PE {rank} is content", flush=True)
dist.barrier()
dist.destroy_process_group()
