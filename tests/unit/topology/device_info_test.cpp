// What PEs say of their devices, and what each may count on where several share one.
#include "host/topology/device_info.hpp"

#include <gtest/gtest.h>

#include "pgas/error.hpp"

namespace pgas::unit_test {
namespace {

using detail::decode_device_info;
using detail::device_info;
using detail::device_user;

device_info offer_of(const std::string& uuid, unsigned multiprocessors, bool side_by_side = false) {
  device_info info;
  info.kind = heap_kind::cuda;
  info.properties.name = "GPU";
  info.properties.uuid = uuid;
  info.properties.multiprocessors = multiprocessors;
  info.properties.runs_processes_at_once = side_by_side;
  return info;
}

/// `n` processes of one PE each on one GPU.
std::vector<device_user> processes(int n, unsigned multiprocessors, bool side_by_side) {
  std::vector<device_user> users;
  for (int i = 0; i < n; ++i) users.push_back({0, 100 + i, offer_of("a", multiprocessors, side_by_side)});
  return users;
}

TEST(device_info, arrives_as_it_was_sent) {
  device_info mine = offer_of("GPU-1", 132, true);
  mine.refusal = "none at all";
  const device_info there = decode_device_info(encode(mine), 3);
  EXPECT_EQ(there.kind, heap_kind::cuda);
  EXPECT_EQ(there.properties.name, "GPU");
  EXPECT_EQ(there.properties.uuid, "GPU-1");
  EXPECT_EQ(there.properties.multiprocessors, 132u);
  EXPECT_TRUE(there.properties.runs_processes_at_once);
  EXPECT_EQ(there.refusal, "none at all");
}

TEST(device_info, what_is_none_is_refused) {
  blob cut = encode(offer_of("a", 1));
  cut.pop_back();
  blob letter = encode(offer_of("a", 1));
  letter[0] = std::byte{'x'};
  for (const blob& bytes : {blob{}, cut, letter}) {
    try {
      static_cast<void>(decode_device_info(bytes, 3));
      ADD_FAILURE() << bytes.size() << " bytes";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code::bootstrap_protocol);
      EXPECT_EQ(e.pe(), 3);
    }
  }
}

TEST(concurrent_pes, a_pe_alone_has_its_gpu) {
  const std::vector<device_user> users = {
      {0, 1, offer_of("a", 132)}, {0, 2, offer_of("b", 132)}, {1, 1, offer_of("a", 132)}};
  for (std::size_t me = 0; me < users.size(); ++me) EXPECT_EQ(concurrent_pes(users, me), 1u);
  EXPECT_EQ(max_collective_blocks(users), 32u);
}

TEST(concurrent_pes, processes_that_take_turns_have_all_of_it) {
  EXPECT_EQ(concurrent_pes(processes(4, 132, false), 2), 1u);
  EXPECT_EQ(max_collective_blocks(processes(4, 132, false)), 32u);
}

TEST(takes_turns, only_processes_that_share_a_gpu_without_mps) {
  std::vector<device_user> users = processes(2, 132, false);
  for (device_user& each : users) each.info.properties.kind = heap_kind::cuda;
  EXPECT_TRUE(takes_turns(users, 0));
  EXPECT_TRUE(takes_turns(users, 1));
  users[1].process = users[0].process;
  EXPECT_FALSE(takes_turns(users, 0)) << "one process";
  users[1] = users[0];
  users[1].host = 1;
  EXPECT_FALSE(takes_turns(users, 0)) << "another host";
  for (device_user& each : users = processes(2, 132, true)) each.info.properties.kind = heap_kind::cuda;
  EXPECT_FALSE(takes_turns(users, 0)) << "under MPS";
  EXPECT_FALSE(takes_turns(std::vector<device_user>(2), 0)) << "on the host";
}

TEST(concurrent_pes, processes_side_by_side_share) {
  EXPECT_EQ(concurrent_pes(processes(4, 132, true), 2), 4u);
  EXPECT_EQ(max_collective_blocks(processes(2, 132, true)), 32u);
  EXPECT_EQ(max_collective_blocks(processes(4, 132, true)), 16u);
  EXPECT_EQ(max_collective_blocks(processes(100, 132, true)), 1u);
}

// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE gives every process the same multiprocessors, not some of its own.
TEST(concurrent_pes, processes_with_a_part_each_share_it_all_the_same) {
  EXPECT_EQ(concurrent_pes(processes(2, 66, true), 0), 2u);
  EXPECT_EQ(max_collective_blocks(processes(2, 66, true)), 16u);
  EXPECT_EQ(max_collective_blocks(processes(4, 33, true)), 4u);
}

TEST(concurrent_pes, the_smallest_part_holds_the_blocks_of_all) {
  const std::vector<device_user> users = {{0, 1, offer_of("a", 66, true)}, {0, 2, offer_of("a", 32, true)}};
  EXPECT_EQ(66 / concurrent_pes(users, 0), 13u);  // of 16
  EXPECT_EQ(32 / concurrent_pes(users, 1), 16u);
}

TEST(concurrent_pes, pes_of_one_process_share_what_it_has) {
  const device_info info = offer_of("a", 132);
  const std::vector<device_user> users = {{0, 1, info}, {0, 1, info}, {0, 2, info}};
  EXPECT_EQ(concurrent_pes(users, 0), 2u);
  EXPECT_EQ(concurrent_pes(users, 2), 1u);
}

TEST(max_collective_blocks, the_smallest_device_decides_for_all) {
  EXPECT_EQ(max_collective_blocks(std::vector<device_user>{{0, 1, offer_of("a", 132)}, {1, 1, offer_of("b", 16)}}), 8u);
  EXPECT_EQ(max_collective_blocks(std::vector<device_user>{{0, 1, offer_of("a", 1)}}), 1u);
  EXPECT_EQ(max_collective_blocks(std::vector<device_user>{{0, 1, device_info{}}}), 32u);  // the host
}

}  // namespace
}  // namespace pgas::unit_test
