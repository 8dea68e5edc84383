// The number of blocks that a PE may use if several PEs share a device, or if the proxy's kernel needs room.
#include "host/launch/block_limits.hpp"

#include <gtest/gtest.h>

#include "unit/gpu_descriptor.hpp"

namespace pgas::unit_test {
namespace {

using detail::blocks_beside_proxy;
using detail::device_descriptor;
using detail::device_user;

/// `n` processes with one PE each on one GPU.
std::vector<device_user> processes(int n, unsigned multiprocessors, bool side_by_side) {
  std::vector<device_user> users;
  for (int i = 0; i < n; ++i) users.push_back({0, 100 + i, gpu_descriptor("a", multiprocessors, side_by_side)});
  return users;
}

detail::device_properties h200(unsigned proxy_registers = 40) {
  detail::device_properties gpu;
  gpu.registers = 65536;
  gpu.proxy_registers = proxy_registers;
  return gpu;
}

TEST(lacks_queue_for_proxy, under_mps_unless_more_are_asked_for) {
  const detail::device_properties by_turns = gpu_descriptor("a", 132).properties;
  const detail::device_properties under_mps = gpu_descriptor("a", 132, true).properties;
  EXPECT_FALSE(detail::lacks_queue_for_proxy(by_turns, std::nullopt));
  EXPECT_TRUE(detail::lacks_queue_for_proxy(under_mps, std::nullopt));
  EXPECT_TRUE(detail::lacks_queue_for_proxy(under_mps, "2"));
  EXPECT_FALSE(detail::lacks_queue_for_proxy(under_mps, "4"));
  EXPECT_FALSE(detail::lacks_queue_for_proxy(under_mps, "32"));
}

TEST(blocks_beside_proxy, is_one_block_where_a_block_is_more_than_the_proxy_needs) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 8, .threads = 256, .registers = 32}, h200()),
            8 * 132u - 1);
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 1, .threads = 1024, .registers = 64}, h200()), 131u);
}

TEST(blocks_beside_proxy, is_left_on_one_multiprocessor_wherever_blocks_go) {
  // A block has 4 warps, one in each partition of a multiprocessor. If 4 of the 5 blocks run, they leave 3072 of the
  // 16384 registers of each partition, which is too few for a warp with 128 registers per thread.
  const detail::resident_kernel kernel{.multiprocessors = 10, .each = 5, .threads = 128, .registers = 104};
  EXPECT_EQ(blocks_beside_proxy(kernel, h200(90)), 5 * 10u - 1);
  // With at most 39 blocks, some multiprocessor has no more than 3 blocks.
  EXPECT_EQ(blocks_beside_proxy(kernel, h200(128)), 4 * 10u - 1);
}

TEST(blocks_beside_proxy, of_a_gpu_with_one_multiprocessor_that_one_block_fills_is_none) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 1, .each = 1, .threads = 1024, .registers = 64}, h200()), 0u);
}

TEST(blocks_beside_proxy, is_none_for_a_kernel_of_which_no_block_fits) {
  EXPECT_EQ(blocks_beside_proxy({.multiprocessors = 132, .each = 0, .threads = 1024, .registers = 128}, h200()), 0u);
}

TEST(concurrent_pes, a_pe_alone_has_its_gpu) {
  const std::vector<device_user> users = {
      {0, 1, gpu_descriptor("a", 132)}, {0, 2, gpu_descriptor("b", 132)}, {1, 1, gpu_descriptor("a", 132)}};
  for (std::size_t me = 0; me < users.size(); ++me) EXPECT_EQ(concurrent_pes(users, me), 1u);
  EXPECT_EQ(max_collective_blocks(users), 32u);
}

TEST(concurrent_pes, processes_that_take_turns_have_all_of_it) {
  EXPECT_EQ(concurrent_pes(processes(4, 132, false), 2), 1u);
  EXPECT_EQ(max_collective_blocks(processes(4, 132, false)), 32u);
}

TEST(time_sliced, only_processes_that_share_a_gpu_without_mps) {
  std::vector<device_user> users = processes(2, 132, false);
  for (device_user& each : users) each.info.properties.kind = heap_kind::cuda;
  EXPECT_TRUE(time_sliced(users, 0));
  EXPECT_TRUE(time_sliced(users, 1));
  users[1].process = users[0].process;
  EXPECT_FALSE(time_sliced(users, 0)) << "one process";
  users[1] = users[0];
  users[1].host = 1;
  EXPECT_FALSE(time_sliced(users, 0)) << "another host";
  for (device_user& each : users = processes(2, 132, true)) each.info.properties.kind = heap_kind::cuda;
  EXPECT_FALSE(time_sliced(users, 0)) << "under MPS";
  EXPECT_FALSE(time_sliced(std::vector<device_user>(2), 0)) << "on the host";
}

TEST(concurrent_pes, processes_side_by_side_share) {
  EXPECT_EQ(concurrent_pes(processes(4, 132, true), 2), 4u);
  EXPECT_EQ(max_collective_blocks(processes(2, 132, true)), 32u);
  EXPECT_EQ(max_collective_blocks(processes(4, 132, true)), 16u);
  EXPECT_EQ(max_collective_blocks(processes(100, 132, true)), 1u);
}

// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE gives all processes the same multiprocessors, not separate ones.
TEST(concurrent_pes, processes_with_a_part_each_share_it_all_the_same) {
  EXPECT_EQ(concurrent_pes(processes(2, 66, true), 0), 2u);
  EXPECT_EQ(max_collective_blocks(processes(2, 66, true)), 16u);
  EXPECT_EQ(max_collective_blocks(processes(4, 33, true)), 4u);
}

TEST(concurrent_pes, the_smallest_part_holds_the_blocks_of_all) {
  const std::vector<device_user> users = {{0, 1, gpu_descriptor("a", 66, true)}, {0, 2, gpu_descriptor("a", 32, true)}};
  EXPECT_EQ(66 / concurrent_pes(users, 0), 13u);  // of 16
  EXPECT_EQ(32 / concurrent_pes(users, 1), 16u);
}

TEST(concurrent_pes, pes_of_one_process_share_what_it_has) {
  const device_descriptor info = gpu_descriptor("a", 132);
  const std::vector<device_user> users = {{0, 1, info}, {0, 1, info}, {0, 2, info}};
  EXPECT_EQ(concurrent_pes(users, 0), 2u);
  EXPECT_EQ(concurrent_pes(users, 2), 1u);
}

TEST(max_collective_blocks, the_smallest_device_decides_for_all) {
  EXPECT_EQ(max_collective_blocks(
                std::vector<device_user>{{0, 1, gpu_descriptor("a", 132)}, {1, 1, gpu_descriptor("b", 16)}}),
            8u);
  EXPECT_EQ(max_collective_blocks(std::vector<device_user>{{0, 1, gpu_descriptor("a", 1)}}), 1u);
  EXPECT_EQ(max_collective_blocks(std::vector<device_user>{{0, 1, device_descriptor{}}}), 32u);  // the host heap
}

}  // namespace
}  // namespace pgas::unit_test
