"""A kernel in CUDA C++ that calls pgas/device.hpp, compiled by NVRTC and launched by CuPy: a histogram of data on all
PEs.

Each PE owns a part of the bins. Every PE adds its counts to the owner's bins by remote atomics.

    pgasrun -n 2 python cupy_kernel.py
"""

import cupy
import numpy
import pgas
import pgas.cupy

SOURCE = r"""
#include <pgas/device.hpp>

extern "C" __global__ void histogram(pgas::context ctx, const int* values, int n, unsigned* counts, int bins_each) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = values[i];
    pgas::atomic_inc(ctx, counts + bin % bins_each, bin / bins_each);
  }
}
"""


def main() -> None:
    with pgas.join() as world:
        cupy.cuda.Device(world.device).use()
        bins_each, n = 64, 100_000
        counts = world.zeros(bins_each, "uint32", like="cupy")
        bins = bins_each * world.n_pes
        values = [numpy.random.default_rng(pe).integers(0, bins, n, dtype=numpy.int32) for pe in range(world.n_pes)]

        histogram = pgas.cupy.raw_module(SOURCE).get_function("histogram")
        mine = cupy.asarray(values[world.my_pe])
        histogram((16,), (256,), (pgas.cupy.context(world), mine, numpy.int32(n), counts, numpy.int32(bins_each)))
        cupy.cuda.runtime.deviceSynchronize()
        world.barrier(stream=None)

        first = world.my_pe * bins_each
        right = numpy.bincount(numpy.concatenate(values), minlength=bins)[first:first + bins_each]
        if not numpy.array_equal(counts.get(), right):
            raise SystemExit(f"PE {world.my_pe}: wrong counts")
        print(f"PE {world.my_pe}: bins {first} to {first + bins_each - 1} have {int(counts.sum())} of {n * world.n_pes} numbers")
        world.barrier(stream=None)


main()
