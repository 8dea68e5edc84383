"""Round trip of put_signal between two PEs in Triton, beside the same loop in CUDA C++ on the same words, in the same run.

    pgasrun -n 2 python latency.py            prints microseconds of both, and fails if Triton's takes over 10 % more
    pgasrun -n 2 pgas-perf -b 8 -e 8K put_signal_pp     the same in pgas-perf (scope block)

Both kernels have one block of 128 threads; times are medians of launches of ROUNDS round trips, in turns.
"""

import argparse
import json
import statistics
import sys

import cupy
import numpy
import pgas
import pgas.cupy
import pgas.triton as shm
import torch
import triton
import triton.language as tl

ROUNDS = 2000
LAUNCHES = 9
THREADS = 128
SIZES = (2, 256, 2048)  # the number of elements of 4 bytes

SOURCE = r"""
#include <pgas/device.hpp>

extern "C" __global__ void ring(pgas::context ctx, int* dst, const int* src, int count, pgas::signal_t* sig, long long first, int rounds) {
  const int right = (ctx.my_pe() + 1) % ctx.n_pes();
  const int ahead = ctx.my_pe() == 0;
  for (int i = 0; i < rounds; ++i) {
    pgas::wait_until(ctx, pgas::block(), sig, pgas::cmp::ge, pgas::signal_t(first + i - ahead));
    pgas::put_signal(ctx, pgas::block(), dst, src, count, sig, first + i, pgas::signal_op::set, right);
  }
  pgas::wait_until(ctx, pgas::block(), sig, pgas::cmp::ge, pgas::signal_t(first + rounds - 1));
}
"""


@triton.jit
def ring(ctx, dst, src, count, sig, first, rounds, BLOCK: tl.constexpr):
    """Passes a message around a ring. PE 0 sends the first message; every other PE sends after it has received. No
    call is under an `if`, so that the compiler reads the context's fields before the loop."""
    right = (shm.my_pe(ctx) + 1) % shm.n_pes(ctx)
    ahead = (shm.my_pe(ctx) == 0).to(tl.int64)
    for i in range(rounds):
        shm.wait_until(ctx, sig, "ge", first + i - ahead)
        shm.put_signal(ctx, dst, src, count, sig, first + i, "set", right, BLOCK=BLOCK)
    shm.wait_until(ctx, sig, "ge", first + rounds - 1)


class Bench:
    def __init__(self, world, most):
        self.most = most
        self.world = world
        self.dst, self.src = (world.zeros(max(SIZES), "int32", like="torch") for _ in range(2))
        self.next = 3  # odd, because Triton compiles again for 1 and for multiples of 16
        self.sig = world.full(1, self.next - 1, "int64", like="torch")  # the value before the first message
        self.context, self.cuda_context = shm.context(world), pgas.cupy.context(world)
        self.cuda = pgas.cupy.raw_module(SOURCE).get_function("ring")

    def by_triton(self, count):
        ring[(1,)](self.context, self.dst, self.src, count, self.sig, self.next, ROUNDS, BLOCK=min(self.most, max(128, count)),
                   num_warps=THREADS // 32)

    def by_cuda(self, count):
        pointers = [numpy.uint64(each.data_ptr()) for each in (self.dst, self.src, self.sig)]
        self.cuda((1,), (THREADS,), (self.cuda_context, pointers[0], pointers[1], numpy.int32(count), pointers[2], numpy.int64(self.next),
                                     numpy.int32(ROUNDS)))

    def microseconds(self, launch, count):
        """Returns the time of one round trip. CuPy and Triton launch on the default stream, as torch's events do."""
        torch.cuda.synchronize()
        self.world.barrier(stream=None)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch(count)
        end.record()
        torch.cuda.synchronize()
        self.world.check()
        self.next += ROUNDS
        return begin.elapsed_time(end) * 1000 / ROUNDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=1.1, help="most of Triton's time over CUDA's")
    parser.add_argument("--block", type=int, default=2048, help="most elements that Triton copies at a time")
    options = parser.parse_args()
    worst = 0.0
    with pgas.join() as world:
        torch.cuda.set_device(world.device)
        cupy.cuda.Device(world.device).use()
        bench = Bench(world, options.block)
        for count in SIZES:
            times = {"triton": [], "cuda": []}
            for i in range(LAUNCHES + 1):
                for name, launch in (("triton", bench.by_triton), ("cuda", bench.by_cuda)):
                    took = bench.microseconds(launch, count)
                    if i > 0:  # the first call compiles
                        times[name].append(took)
            found = {name: statistics.median(each) for name, each in times.items()}
            ratio = found["triton"] / found["cuda"]
            worst = max(worst, ratio)
            if world.my_pe == 0:
                print(json.dumps({"bytes": 4 * count, "triton_us": round(found["triton"], 3), "cuda_us": round(found["cuda"], 3),
                                  "ratio": round(ratio, 3)}), flush=True)
    return 0 if worst <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
