// Heaps whose addresses the device chooses (PGAS_MEM_HANDLE=cuda_ipc): one memory block for each PE at any address.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

config by_blocks() {
  config settings = small_heap();
  settings.heap_limit = 64 * MiB;
  settings.mem_handle = handle_kind::cuda_ipc;
  return settings;
}

class blocks_of : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, blocks_of, testing::Values(1, 2, 4, 8));

TEST_P(blocks_of, are_reached_by_their_distances_wherever_they_lie) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(GetParam(), [](bootstrap& exchange) {
    heap_pe at(exchange, by_blocks());
    EXPECT_EQ(at.device.segments, at.n) << "one block for each PE";
    EXPECT_EQ(at.device.mappings, 0);
    EXPECT_FALSE(at.heap->in_a_row());
    const auto distances = at.heap->distances();
    ASSERT_EQ(distances.size(), static_cast<std::size_t>(at.n));
    EXPECT_EQ(distances[static_cast<std::size_t>(at.me)], 0);
    auto* mine = at.allocate<std::uint64_t>(1000);
    auto* large = at.allocate<std::uint64_t>(2 * MiB);
    EXPECT_EQ(reinterpret_cast<std::byte*>(mine), at.heap->slot(at.me)) << "the first allocation is at the start";
    // The address as kernels compute it.
    const auto remote = [&](std::uint64_t* local, int pe) {
      const std::intptr_t units = distances[static_cast<std::size_t>(pe)];
      return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(local) +
                                              (static_cast<std::uintptr_t>(units) << at.heap->log2_stride()));
    };
    for (int pe = 0; pe < at.n; ++pe) {
      EXPECT_EQ(remote(mine, pe), at.remote(mine, pe));
      remote(mine, pe)[at.me] = static_cast<std::uint64_t>(1000 * at.me + pe);
      remote(large, pe)[2 * MiB - 1 - static_cast<std::size_t>(at.me)] = static_cast<std::uint64_t>(at.me);
    }
    at.pe.control_plane.barrier();
    for (int pe = 0; pe < at.n; ++pe) {
      EXPECT_EQ(mine[pe], static_cast<std::uint64_t>(1000 * pe + at.me));
      EXPECT_EQ(large[2 * MiB - 1 - static_cast<std::size_t>(pe)], static_cast<std::uint64_t>(pe));
    }
    at.pe.control_plane.barrier();
    at.heap->close_peers();
    EXPECT_EQ(at.device.segments, 1);
    EXPECT_EQ(mine[0], static_cast<std::uint64_t>(at.me)) << "this PE's own stays";
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(blocks, hold_what_was_asked_for_and_no_more) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange, by_blocks());
    void* const all = at.heap->allocate(64 * MiB, 16);
    EXPECT_EQ(at.heap->usage().mapped, 64 * MiB);
    EXPECT_TRUE(at.heap->contains(all, 64 * MiB));
    EXPECT_FALSE(at.heap->contains(all, 64 * MiB + 1)) << "the rest of the block is for teams";
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(1, 16)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::out_of_memory);
    EXPECT_NE(std::string(end->what()).find("the limit is 64.0 MiB (PGAS_HEAP_LIMIT)"), std::string::npos)
        << end->what();
    at.heap->free(all);
    EXPECT_EQ(at.heap->allocate(64 * MiB, 16), all);
    at.leave();
  }));
}

TEST(blocks, have_a_usual_size_where_none_was_asked_for) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    config settings = by_blocks();
    settings.heap_limit = 0;
    heap_pe at(exchange, settings, [](faulty_device& device) { device.memory = std::size_t{1} << 40; });
    static_cast<void>(at.allocate<char>(1));
    EXPECT_EQ(at.heap->usage().mapped, 1024 * MiB);
    EXPECT_EQ(at.heap->slot_bytes(), (1024 + 256) * MiB);
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(1025 * MiB, 16)); });
    ASSERT_TRUE(end);
    EXPECT_NE(std::string(end->what()).find("PGAS_HEAP_LIMIT changes it"), std::string::npos) << end->what();
    at.leave();
  }));
}

TEST(blocks, align_each_pes_own_memory) {
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    heap_pe at(exchange, by_blocks());
    EXPECT_EQ(at.heap->memory().largest_alignment(), 4 * MiB);
    static_cast<void>(at.allocate<char>(1));
    void* const wide = at.heap->allocate(100, 4 * MiB);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % (4 * MiB), 0u);
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(100, 8 * MiB)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::invalid_argument);
    EXPECT_NE(std::string(end->what()).find("a larger PGAS_HEAP_LIMIT"), std::string::npos) << end->what();
    at.remote(static_cast<int*>(wide), (at.me + 1) % 4)[0] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(static_cast<int*>(wide)[0], (at.me + 3) % 4);
    at.leave();
  }));
}

TEST(blocks, have_room_for_teams_that_comes_back) {
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    heap_pe at(exchange, by_blocks());
    int* const common = at.allocate<int>(100);
    common[99] = 7;
    const std::vector<int> members = at.me % 2 == 0 ? std::vector<int>{0, 2} : std::vector<int>{1, 3};
    const detail::control_group half(at.pe.control_plane, 1000 + static_cast<std::uint64_t>(at.me % 2), members);
    for (int round = 0; round < 3; ++round) {
      const auto memory = at.heap->make_allocator(half);
      auto* const p = static_cast<int*>(memory->allocate(16 * MiB, 16));
      EXPECT_GE(reinterpret_cast<std::byte*>(p) - at.heap->slot(at.me), static_cast<std::ptrdiff_t>(64 * MiB));
      EXPECT_TRUE(at.heap->contains(p, 16 * MiB));
      EXPECT_FALSE(at.heap->peer_has(p, (at.me + 1) % 4));
      at.remote(p, (at.me + 2) % 4)[4 * MiB - 1] = at.me + round;
      half.barrier();
      EXPECT_EQ(p[4 * MiB - 1], (at.me + 2) % 4 + round);
      const auto end = thrown_by([&] { static_cast<void>(memory->allocate(32 * MiB, 16)); });
      ASSERT_TRUE(end);
      EXPECT_EQ(end->code(), code::out_of_memory);
      EXPECT_NE(std::string(end->what()).find("memory for teams"), std::string::npos) << end->what();
      half.barrier();
      memory->clear();
    }
    EXPECT_EQ(common[99], 7);
    at.leave();
  }));
}

TEST(blocks, take_no_memory_of_the_program) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange, by_blocks());
    char memory[16] = {};
    const auto end = thrown_by([&] { static_cast<void>(at.heap->registered_buffers().add(memory, 2 * MiB)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::handle_exchange);
    for (const char* way_out : {"cuda_ipc", "world::allocate()", "pgas::shared_memory", "PGAS_MEM_HANDLE"})
      EXPECT_NE(std::string(end->what()).find(way_out), std::string::npos) << end->what();
    EXPECT_NE(at.allocate<int>(1), nullptr);
    at.leave();
  }));
}

class blocks_fail : public testing::TestWithParam<std::tuple<step, int>> {};
// The first call of each step belongs to the probe. The heap then calls import_segment for each of two peers.
INSTANTIATE_TEST_SUITE_P(at, blocks_fail,
                         testing::Values(std::tuple(step::create, 2), std::tuple(step::export_segment, 2),
                                         std::tuple(step::import_segment, 2), std::tuple(step::import_segment, 3)));

TEST_P(blocks_fail, on_one_pe_and_leave_nothing_on_any) {
  const auto [which, nth] = GetParam();
  const holdings before = count_holdings();
  expect_no_error(run_threads(3, [which = which, nth = nth](bootstrap& exchange) {
    joined_pe pe(exchange, by_blocks());
    faulty_device device;
    if (pe.control_plane.my_pe() == 1) device.fail_at(which, nth, code::out_of_memory);
    const auto end = thrown_by([&] { detail::heap result(device, pe.control_plane, by_blocks(), pe.log, {}); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::out_of_memory) << end->what();
    EXPECT_EQ(end->pe(), 1);
    EXPECT_EQ(device.segments, 0);
    EXPECT_EQ(device.reservations, 0);
    device.heal();
    detail::heap again(device, pe.control_plane, by_blocks(), pe.log, {});
    EXPECT_NE(again.allocate(100, 16), nullptr);
    pe.control_plane.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(blocks, are_the_last_resort_and_a_warning_unless_asked_for) {
  for (const bool asked : {false, true}) {
    const scratch_folder logs;
    expect_no_error(run_threads(3, [&](bootstrap& exchange) {
      config settings = by_blocks();
      settings.log = log_level::info;
      settings.log_file = logs.path() + "/log";
      if (!asked) settings.mem_handle = handle_kind::automatic;
      heap_pe at(exchange, settings, [&](faulty_device& device) {
        device.kinds = {handle_kind::posix_fd, handle_kind::cuda_ipc};
        if (exchange.rank() == 1) device.refuse(step::import_segment, handle_kind::posix_fd);
      });
      EXPECT_EQ(at.heap->kind(), handle_kind::cuda_ipc);
      at.leave();
    }));
    const auto lines = lines_of(logs.path() + "/log");
    EXPECT_EQ(count_with(lines, asked ? "info: memory is shared by cuda_ipc" : "warn: memory is shared by cuda_ipc"),
              1u);
    EXPECT_EQ(count_with(lines, "PGAS_HEAP_LIMIT"), 1u);
    EXPECT_EQ(count_with(lines, "tried before: posix_fd: PE 1 "), asked ? 0u : 1u);
  }
}

TEST(blocks, are_not_taken_where_something_better_works) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    heap_pe at(exchange, settings, [](faulty_device& device) {
      device.kinds = {handle_kind::posix_fd, handle_kind::cuda_ipc};
    });
    EXPECT_EQ(at.heap->kind(), handle_kind::posix_fd);
    EXPECT_TRUE(at.heap->in_a_row());
    at.leave();
  }));
}

}  // namespace
}  // namespace pgas::unit_test
