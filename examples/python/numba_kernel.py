"""A Numba kernel that communicates: a prefix sum over PEs. Each PE sends its total to all PEs after it.

    pgasrun -n 2 python numba_kernel.py
"""

import cupy
import pgas
import pgas.numba as shm
from numba import cuda


@shm.jit
def totals_before(ctx, totals, mine, arrived, out):
    """Called by one block. `totals` has space for one number from each PE."""
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    if cuda.threadIdx.x == 0:
        for pe in range(me + 1, n):
            shm.put_signal(ctx, totals[me:], mine, 1, arrived, 1, shm.ADD, pe)
        shm.wait_until(ctx, arrived, shm.GE, me)  # one signal from each PE before this PE
        before = 0.0
        for pe in range(me):
            before += totals[pe]
        out[0] = before


def main() -> None:
    with pgas.join() as world:
        me, n = world.my_pe, world.n_pes
        cupy.cuda.Device(world.device).use()
        cuda.select_device(world.device)
        totals = world.zeros(n, "float64", like="cupy")
        arrived = world.zeros(1, "int64", like="cupy")
        mine, out = cupy.full(1, 10.0 ** me), cupy.zeros(1)
        cupy.cuda.runtime.deviceSynchronize()
        totals_before[1, 32](shm.context(world), totals, mine, arrived, out)
        cuda.synchronize()
        right = sum(10.0 ** pe for pe in range(me))
        if float(out[0]) != right:
            raise SystemExit(f"PE {me}: {float(out[0])} instead of {right}")
        print(f"PE {me}: the PEs before have {right:g}")
        world.barrier(stream=None)


main()
