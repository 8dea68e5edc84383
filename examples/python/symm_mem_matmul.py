"""A matrix product whose kernel reads its tiles from peers: all_gather(A) @ B without the gather.

Each rank has some rows of A and all of its own B. A block of the kernel computes one tile of the product. It reads the
rows of A directly from the rank that has them, by that rank's address. Blocks begin with the rank's own rows, so not
all read the same rank.

    pgasrun -n 4 python symm_mem_matmul.py
    torchrun --nproc-per-node 4 symm_mem_matmul.py
    PGAS_HEAP=host TRITON_INTERPRET=1 pgasrun -n 4 python symm_mem_matmul.py        without a GPU
"""

import argparse

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import triton
import triton.language as tl

import pgas.torch


@triton.jit
def all_gather_matmul(out, buffers, b, rank, n, rows, inner, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr):
    """Program (i, j) computes a tile of ROWS x COLUMNS. `rows`, `inner` and `columns` are multiples of the tile's
    sizes."""
    blocks_of_a_rank = rows // ROWS
    peer = (tl.program_id(0) // blocks_of_a_rank + rank) % n
    row = tl.program_id(0) % blocks_of_a_rank * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    a = tl.load(buffers.to(tl.pointer_type(tl.int64)) + peer).to(tl.pointer_type(tl.float16))
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in range(0, inner, INNER):
        at = k + tl.arange(0, INNER)
        of_a = tl.load(a + row[:, None] * inner + at[None, :])
        of_b = tl.load(b + at[:, None] * columns + column[None, :])
        total = tl.dot(of_a, of_b, total)
    tl.store(out + (peer * rows + row)[:, None] * columns + column[None, :], total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=128, help="of A on each rank, a multiple of 64")
    parser.add_argument("--inner", type=int, default=256, help="columns of A, a multiple of 64")
    parser.add_argument("--columns", type=int, default=128, help="of B, a multiple of 64")
    options = parser.parse_args()
    rows, inner, columns = options.rows, options.inner, options.columns

    world = pgas.torch.init_process_group()
    device = torch.device("cpu") if world.device is None else torch.device("cuda", world.device)
    if world.device is None and not triton.knobs.runtime.interpret:
        raise SystemExit("without a GPU Triton has to interpret the kernel: set TRITON_INTERPRET=1")
    rank, n = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    whole_a = torch.randn(n * rows, inner, dtype=torch.float16)  # on every rank, to check the result
    torch.manual_seed(2 + rank)
    b = torch.randn(inner, columns, dtype=torch.float16).to(device)

    a = symm_mem.empty(rows, inner, dtype=torch.float16, device=device)
    handle = symm_mem.rendezvous(a, dist.group.WORLD)
    a.copy_(whole_a[rank * rows:(rank + 1) * rows])
    out = torch.empty(n * rows, columns, device=device)
    handle.barrier()  # on the stream: the rows of all ranks are ready
    grid = (n * rows // 64, columns // 64)
    all_gather_matmul[grid](out, handle.buffer_ptrs_dev, b, rank, n, rows, inner, columns, ROWS=64, COLUMNS=64, INNER=64)
    handle.barrier()  # all ranks have read, so `a` may be written again

    expected = whole_a.to(device).float() @ b.float()
    difference = float((out - expected).abs().max())
    if not torch.allclose(out, expected, rtol=1e-2, atol=1e-1):
        raise SystemExit(f"PE {rank}: the product differs by {difference}")
    print(f"PE {rank}: {n * rows} x {inner} x {columns}, {n - 1} of {n} parts of A read from peers, as torch has it")
    dist.barrier()
    dist.destroy_process_group()


main()
