// Grids beside which the proxy's kernel finds a place.
#include <gtest/gtest.h>

#include "host/topology/device_info.hpp"

namespace pgas::unit_test {
namespace {

using detail::blocks_beside_proxy;

detail::device_properties h200(unsigned proxy_registers = 40) {
  detail::device_properties gpu;
  gpu.registers = 65536;
  gpu.proxy_registers = proxy_registers;
  return gpu;
}

TEST(room, is_one_block_where_a_block_is_more_than_the_proxy_needs) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 8, .threads = 256, .registers = 32}, h200()),
            8 * 132u - 1);
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 1, .threads = 1024, .registers = 64}, h200()), 131u);
}

TEST(room, is_left_on_one_multiprocessor_wherever_blocks_go) {
  // 4 of 5 blocks of 4 warps with 104 registers leave a partition (16384 registers) 3072: too few for 128 a thread.
  const detail::resident_kernel kernel{.multiprocessors = 10, .each = 5, .threads = 128, .registers = 104};
  EXPECT_EQ(blocks_beside_proxy(kernel, h200(90)), 5 * 10u - 1);
  EXPECT_EQ(blocks_beside_proxy(kernel, h200(128)), 4 * 10u - 1);  // at most 39: somewhere there are no more than 3
}

TEST(room, of_a_gpu_with_one_multiprocessor_that_one_block_fills_is_none) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 1, .each = 1, .threads = 1024, .registers = 64}, h200()), 0u);
}

TEST(room, is_none_for_a_kernel_of_which_no_block_fits) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 0, .threads = 1024, .registers = 128}, h200()), 0u);
}

}  // namespace
}  // namespace pgas::unit_test
