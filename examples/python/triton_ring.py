"""A ring in Triton: each PE sends a row to its right neighbour and waits for its left neighbour's row.

    pgasrun -n 4 python triton_ring.py
"""
import pgas, pgas.triton as shm
import torch, triton


@triton.jit
def shift(ctx, inbox, row, count, arrived):
    right = (shm.my_pe(ctx) + 1) % shm.n_pes(ctx)
    shm.put_signal(ctx, inbox, row, count, arrived, 1, "set", right)
    shm.wait_until(ctx, arrived, "ge", 1)


with pgas.join() as world:
    if world.device is not None:
        torch.cuda.set_device(world.device)  # Triton launches on torch's current GPU
    row = world.full(1000, world.my_pe, "float32", like="torch")
    inbox, arrived = world.zeros(1000, "float32", like="torch"), world.zeros(1, "int64", like="torch")
    shift[(1,)](shm.context(world), inbox, row, row.numel(), arrived)
    print(f"PE {world.my_pe} has the row of PE {int(inbox.unique())}")
