"""Heat in a plate, by Jacobi's iteration in Triton. Each PE has a slab of rows, and stores its edges into its
neighbours' memory.

The kernel that computes an edge also sends the edge, without a copy, and the host only launches kernels. Programs of a
step signal the arrival of their edges. Programs of the next step wait for these signals.

    pgasrun -n 4 python triton_halo.py --plot plate.png
"""

import argparse

import pgas
import pgas.triton as shm
import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def step(ctx, old, new, arrived, due, rows, width, BLOCK: tl.constexpr):
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = (column > 0) & (column < width - 1)
    if me > 0:
        shm.wait_until(ctx, arrived, "ge", due)
    if me < n - 1:
        shm.wait_until(ctx, arrived + 1, "ge", due)
    for y in range(1, rows + 1):
        here = y * width + column
        vertical = tl.load(old + here - width, inner) + tl.load(old + here + width, inner)
        value = 0.25 * (vertical + tl.load(old + here - 1, inner) + tl.load(old + here + 1, inner))
        tl.store(new + here, value, inner)
        if (y == 1) & (me > 0):
            tl.store(shm.peer(ctx, new + (rows + 1) * width + column, me - 1), value, inner)
        if (y == rows) & (me < n - 1):
            tl.store(shm.peer(ctx, new + column, me + 1), value, inner)
    # A neighbour that has received the signals of all programs of this kernel has complete edges. The neighbour may
    # then write this PE's next edges, because this PE has read the edges of this step.
    if me > 0:
        shm.signal_add(ctx, arrived + 1, 1, me - 1)
    if me < n - 1:
        shm.signal_add(ctx, arrived, 1, me + 1)


def plate(height: int, width: int) -> torch.Tensor:
    """A cold plate with one hot edge and one lukewarm edge."""
    made = torch.zeros(height, width)
    made[0, :], made[:, 0] = 1.0, 0.5
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=64, help="of each PE")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--plot", metavar="FILE", help="draws the plate; needs matplotlib: pip install matplotlib")
    options = parser.parse_args()
    rows, width = options.rows, options.width

    with pgas.join() as world:
        if world.device is not None:
            torch.cuda.set_device(world.device)
        me, n = world.my_pe, world.n_pes
        start = plate(n * rows + 2, width)
        grids = [world.empty((rows + 2, width), "float32", like="torch") for _ in range(2)]
        for grid in grids:
            grid.copy_(start[me * rows:me * rows + rows + 2])
        arrived = world.zeros(2, "int64", like="torch")
        if world.device is not None:
            torch.cuda.synchronize()
        world.barrier(stream=None)  # no PE stores an edge into a plate that does not exist yet

        context, blocks = shm.context(world), triton.cdiv(width, BLOCK)
        for i in range(options.steps):
            step[(blocks,)](context, grids[i % 2], grids[1 - i % 2], arrived, i * blocks, rows, width, BLOCK)
        result = grids[options.steps % 2]

        expected = start.to(result.device)
        for _ in range(options.steps):
            inner = 0.25 * (expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:])
            expected[1:-1, 1:-1] = inner
        difference = float((result[1:-1] - expected[me * rows + 1:(me + 1) * rows + 1]).abs().max())
        if difference > 1e-5:
            raise SystemExit(f"PE {me}: the plate differs by {difference} from one PE's")
        print(f"PE {me}: {options.steps} steps, as on one PE")

        world.barrier(stream=None)
        if options.plot and me == 0:
            draw(torch.cat([world.peer(result, pe)[1:-1].cpu() for pe in range(n)]), rows, options.plot)
        world.barrier(stream=None)


def draw(whole: torch.Tensor, rows: int, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 6), layout="constrained")
    figure.colorbar(axes.imshow(whole.numpy(), cmap="inferno", aspect="auto"), label="temperature")
    for y in range(rows, whole.shape[0], rows):
        axes.axhline(y - 0.5, color="white", linewidth=0.7, linestyle=":")
    axes.set(title=f"{whole.shape[0] // rows} PEs, a slab each", xlabel="column", ylabel="row")
    figure.savefig(file, dpi=120)


main()
