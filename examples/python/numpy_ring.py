"""A ring: each PE puts its number into its right neighbour's memory, and sends a signal.

    pgasrun -n 4 python numpy_ring.py
"""

import numpy as np

import pgas

with pgas.join(like="numpy", heap="host") as world:
    right = (world.my_pe + 1) % world.n_pes
    inbox = world.zeros(1024, "int32")
    arrived = world.zeros(1, "uint64")

    world.put_signal(inbox, np.full(1024, world.my_pe, "int32"), arrived, 1, right)
    world.wait_until(arrived, ">=", 1)
    print(f"PE {world.my_pe} of {world.n_pes} has got {inbox.sum() // 1024} from its left")
