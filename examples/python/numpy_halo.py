"""Heat in a square plate, whose rows are divided among the PEs. In each step a PE puts its outer rows into its
neighbours' halos and signals the neighbours. A PE waits only for its neighbours. NumPy on the host heap: no GPU is
needed.

    pgasrun -n 4 python numpy_halo.py [--size 256] [--steps 200]
"""

import argparse

import numpy as np

import pgas

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--size", type=int, default=256)
parser.add_argument("--steps", type=int, default=200)
given = parser.parse_args()


def step(plate, new):
    new[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])


with pgas.join(like="numpy", heap="host") as world:
    me, n = world.my_pe, world.n_pes
    rows = [given.size * (pe + 1) // n - given.size * pe // n for pe in range(n)]
    mine = rows[me]
    # Two alternating plates with the same size on all PEs. Each plate has one row above and one row below for the neighbours' values.
    plates = world.zeros((2, max(rows) + 2, given.size), "float64")
    arrived = world.zeros(2, "uint64")  # signals from above and from below
    plates[:, :, 0] = 1  # the left edge is hot

    for number in range(1, given.steps + 1):
        old, new = plates[number % 2][:mine + 2], plates[1 - number % 2][:mine + 2]
        step(old, new)
        there = plates[1 - number % 2]
        if me > 0:  # my first row belongs below the last row of my upper neighbour
            above = rows[me - 1]
            world.put_signal(there[above + 1], new[1], arrived[1:2], number, me - 1)
        if me < n - 1:
            world.put_signal(there[0], new[mine], arrived[0:1], number, me + 1)
        if me > 0:
            world.wait_until(arrived[0:1], ">=", number)
        if me < n - 1:
            world.wait_until(arrived[1:2], ">=", number)

    heat = world.full(1, plates[1 - given.steps % 2][1:mine + 1].sum())
    world.all_reduce(heat)
    if me == 0:
        print(f"{given.size} x {given.size}, {given.steps} steps: the plate holds {heat[0] / given.size**2:.6f}")
