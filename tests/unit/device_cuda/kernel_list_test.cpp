// Every kernel of the library is in the list of kernels that are loaded at join.
#include <gtest/gtest.h>

#include <set>

#include "device/both_backends/execute_collective.hpp"
#include "device/cuda/kernels/kernels.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

/// References that make the linker include the kernels, which it would otherwise leave in the archive.
[[maybe_unused]] const volatile auto launches_operations = &cuda::launch_operation;
[[maybe_unused]] const volatile auto launches_collectives = &cuda::launch_collective;
[[maybe_unused]] const volatile auto launches_stack_user = &cuda::launch_stack_user;

TEST(kernel_list, has_every_kernel_once) {
  const auto& listed = cuda::library_kernels();
  constexpr std::size_t reductions = 3;  // the groups integers, reals, pairs
  // One-sided operations, strided copies, updates, collectives that move data, a stack, the clock.
  constexpr std::size_t others = 6;
  EXPECT_EQ(listed.size(), reductions + others);
  EXPECT_EQ(std::set<const void*>(listed.begin(), listed.end()).size(), listed.size());
}

TEST(kernel_list, what_has_no_kernel_is_refused_before_a_device_is_needed) {
  collective_request request;
  request.what = collective_kind::reduce;
  request.op = reduction::maxloc;
  request.type = number_type::f16;
  EXPECT_EQ(cuda::launch_collective({}, {}, request, nullptr, nullptr), cudaErrorInvalidValue);
  request.op = reduction::none;
  EXPECT_EQ(cuda::launch_collective({}, {}, request, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST(kernel_list, members_that_only_meet_are_one_warp) {
  collective_request request;
  for (const collective_kind what : {collective_kind::barrier, collective_kind::sync}) {
    request.what = what;
    EXPECT_EQ(cuda::threads_for(request), 32u);
  }
  request.what = collective_kind::broadcast;
  EXPECT_EQ(cuda::threads_for(request), cuda::max_collective_threads);
}

TEST(kernel_list, blocks_come_with_the_data) {
  team_view team;
  team.n_pes_ = 4;
  collective_request request;
  request.most_blocks = team_state_layout::most_blocks;
  EXPECT_EQ(cuda::blocks_for(request, team), 1u);
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  request.count = 1000;
  EXPECT_EQ(cuda::blocks_for(request, team), 1u);
  request.count = 50'000;  // 400 kB in and 400 kB out
  EXPECT_EQ(cuda::blocks_for(request, team), 13u);
  request.count = std::size_t{1} << 40;
  EXPECT_EQ(cuda::blocks_for(request, team), team_state_layout::most_blocks);
  request.most_blocks = 8;  // the limit for PEs that share a GPU
  EXPECT_EQ(cuda::blocks_for(request, team), 8u);
}

TEST(kernel_list, blocks_are_as_many_as_pushes_need) {
  team_view team;
  team.staging_offset_ = 1 << 20;
  collective_request request;
  request.most_blocks = team_state_layout::most_blocks;
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  const float* const src = nullptr;  // a null pointer is as aligned as an allocation
  for (const int n : {2, 3, 4, 7, 8, 64}) {
    team.n_pes_ = n;
    const std::size_t most = (std::size_t{team_state_layout::most_blocks} << log2_oneshot_bytes(n)) / 4;
    for (const std::size_t count : {std::size_t{1}, most / 7, most / 2 + 1, most - 1, most, most + 1}) {
      request.count = count;
      const partition all = block_partition(src, count, cuda::blocks_for(request, team));
      EXPECT_EQ(fits_oneshot(team, src, all), count <= most) << count << " elements of " << n << " members";
    }
  }
}

TEST(kernel_list, blocks_are_as_many_as_packets_need) {
  team_view team;
  team.staging_offset_ = 1 << 20;
  collective_request request;
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  const float* const src = nullptr;
  for (const int n : {2, 3, 4, 8, 16}) {
    team.n_pes_ = n;
    for (const unsigned blocks : {32U, 8U, 1U}) {
      request.most_blocks = blocks;
      const std::size_t most = std::size_t{8 << 10} * blocks / 4 / static_cast<std::size_t>(n);
      for (const std::size_t count : {std::size_t{1}, most / 5, most / 2, most - most / 8}) {
        request.count = count;
        const partition all = block_partition(src, count, cuda::blocks_for(request, team));
        EXPECT_LE(ll_units(all.each * 4) * ll_unit_packed_bytes * static_cast<std::uint64_t>(n),
                  team_state_layout::packet_buffer_bytes(true))
            << count << " elements of " << n << " members by " << blocks << " blocks";
      }
    }
  }
}

}  // namespace
}  // namespace pgas::unit_test
