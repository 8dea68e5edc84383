// A program may use the names of pgas and of CUDA without a prefix, in any order of the headers. Compiled, not run.
#if !defined(TOOLKIT_LAST)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <pgas/device.hpp>

#if defined(TOOLKIT_LAST)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

using namespace pgas;

PGAS_FN void send_halves(const context& ctx, half* to, const half* from, std::int32_t pe) {
  put(ctx, this_thread{}, to, from, 8, pe);
  p(ctx, to + 8, g(ctx, from, pe), pe);
}

PGAS_FN void add_numbers(const context& ctx, float16* alone, float16_pair* two, bfloat16* brain,
                         bfloat16_pair* brains) {
  atomic_add(ctx, alone, float16(0.5F), 0);
  atomic_add(ctx, two, float16_pair{}, 0);
  atomic_add(ctx, brain, bfloat16(0.5F), 0);
  atomic_add(ctx, brains, bfloat16_pair{}, 0);
}

#if defined(__CUDACC__)

__global__ void by_block(context ctx, half* to, const half* from, half2* two, nv_bfloat162* brains) {
  const block all = this_block();
  const warp mine = this_warp(all);
  put(ctx, cooperative_groups::this_thread_block(), to, from, 8, 1);
  if (mine.thread_rank() == 0) send_halves(ctx, to, from, 1);
  atomic_add(ctx, to, half(0.5F), 1);
  atomic_add(ctx, two, half2{}, 1);
  atomic_add(ctx, brains, nv_bfloat162{}, 1);
  barrier(ctx, all);
}

#else

half first_of(const half2& both) { return both.x; }
void by_thread(const context& ctx, half* memory, float16* number, float16_pair* two, bfloat16* brain,
               bfloat16_pair* brains) {
  send_halves(ctx, memory, memory, 1);
  add_numbers(ctx, number, two, brain, brains);
}

#endif
