// Calls every device operation with several kinds of groups, to check that the compilers accept them in each language.
// The calls are not run; tests/device and tests/conformance run the operations.
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <cooperative_groups.h>
#endif

#include "every_operation.hpp"

using pgas_test::do_every_operation;
using pgas_test::workplace;

#if defined(__CUDACC__)

extern "C" __global__ void by_thread(pgas::context ctx, workplace* here, int* result) {
  *result = do_every_operation(ctx, *here);
}
extern "C" __global__ void by_block(pgas::context ctx, workplace* here, int* result) {
  *result = do_every_operation(ctx, *here, pgas::this_block());
}
extern "C" __global__ void by_warpgroup(pgas::context ctx, workplace* here, int* result) {
  *result = do_every_operation(ctx, *here, pgas::this_warpgroup(pgas::this_block()));
}
extern "C" __global__ void by_thread_directly(pgas::direct_context ctx, workplace* here, int* result) {
  *result = do_every_operation<pgas_test::naming::peer>(ctx, *here);
}
#if !defined(__CUDACC_RTC__)
extern "C" __global__ void by_tile(pgas::context ctx, workplace* here, int* result) {
  const auto block = cooperative_groups::this_thread_block();
  *result = do_every_operation(ctx, *here, cooperative_groups::tiled_partition<32>(block));
}
#endif

#else

int directly(const pgas::direct_context& ctx, workplace& here, const pgas::block& block) {
  return do_every_operation<pgas_test::naming::peer>(ctx, here, block);
}

int by_all(const pgas::context& ctx, workplace& here, const pgas::block& block) {
  return do_every_operation(ctx, here) + do_every_operation(ctx, here, pgas::this_thread{}) +
         do_every_operation(ctx, here, pgas::this_warp(block)) + do_every_operation(ctx, here, block) +
         do_every_operation(ctx, here, pgas::this_warpgroup(block)) +
         do_every_operation(ctx, here, pgas::named_group(1, block.size(), block.thread_rank())) +
         do_every_operation(ctx, here, pgas::this_grid(block));
}

#endif
