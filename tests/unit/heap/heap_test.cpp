// The symmetric heap with threads as PEs: the guarantees about addresses, sizes and growth.
#include "host/heap/heap.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

class heap_of : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, heap_of, testing::Values(1, 2, 4, 8));

TEST_P(heap_of, everyone_reads_and_writes_everyones_memory) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(GetParam(), [](bootstrap& exchange) {
    heap_pe at(exchange);
    EXPECT_EQ(at.heap->usage().mapped, 0u) << "no memory before the first allocation";
    auto* mine = at.allocate<std::uint64_t>(1000);
    EXPECT_EQ(reinterpret_cast<std::byte*>(mine), at.heap->slot(at.me)) << "the first allocation is at the start";
    auto* large = at.allocate<std::uint64_t>(MiB);  // 8 MiB, so another segment is needed
    for (int pe = 0; pe < at.n; ++pe) {
      at.remote(mine, pe)[at.me] = static_cast<std::uint64_t>(1000 * at.me + pe);
      at.remote(large, pe)[MiB - 1 - static_cast<std::size_t>(at.me)] = static_cast<std::uint64_t>(at.me);
    }
    at.pe.control_plane.barrier();
    for (int pe = 0; pe < at.n; ++pe) {
      EXPECT_EQ(mine[pe], static_cast<std::uint64_t>(1000 * pe + at.me));
      EXPECT_EQ(large[MiB - 1 - static_cast<std::size_t>(pe)], static_cast<std::uint64_t>(pe));
    }
    at.heap->free(mine);
    at.heap->free(large);
    EXPECT_EQ(at.heap->usage().used, 0u);
    EXPECT_EQ(at.heap->usage().allocations, 0u);
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(heap_of, offsets_are_the_same_everywhere) {
  std::vector<std::vector<std::ptrdiff_t>> offsets(static_cast<std::size_t>(GetParam()));
  expect_no_error(run_threads(GetParam(), [&](bootstrap& exchange) {
    heap_pe at(exchange);
    auto& mine = offsets[static_cast<std::size_t>(at.me)];
    std::vector<void*> live;
    std::uint32_t random = 7;
    for (int i = 0; i < 200; ++i) {
      random = random * 1664525u + 1013904223u;
      if (random >> 30 == 0 && !live.empty()) {
        at.heap->free(live.back());
        live.pop_back();
        continue;
      }
      const std::size_t bytes = 1 + (random >> 8) % 100'000;
      const std::size_t alignment = std::size_t{1} << ((random >> 4) % 13);
      void* p = at.heap->allocate(bytes, alignment);
      const auto address = reinterpret_cast<std::uintptr_t>(p);
      EXPECT_EQ(address % std::max<std::size_t>(alignment, bytes >= 512 ? 512 : 16), 0u);
      mine.push_back(static_cast<std::byte*>(p) - at.heap->slot(at.me));
      live.push_back(p);
    }
    at.leave();
  }));
  for (const auto& theirs : offsets) EXPECT_EQ(theirs, offsets[0]);
}

TEST(heap, alignment_is_as_promised_and_odd_ones_are_refused) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange);
    const auto address = [&](std::size_t bytes, std::size_t alignment) {
      return reinterpret_cast<std::uintptr_t>(at.heap->allocate(bytes, alignment));
    };
    EXPECT_EQ(address(1, 1) % 16, 0u);
    EXPECT_EQ(address(1, 2 * MiB) % (2 * MiB), 0u);
    EXPECT_EQ(address(512, 1) % 512, 0u);
    EXPECT_EQ(address(3 * MiB, 1) % (2 * MiB), 0u);
    EXPECT_EQ(address(100, 4096) % 4096, 0u);
    EXPECT_EQ(address(8, 16 * MiB) % (16 * MiB), 0u);
    EXPECT_EQ(address(5 * MiB, 128 * MiB) % (128 * MiB), 0u);
    const std::size_t beyond = std::size_t{1} << (at.heap->log2_stride() + 1);
    for (const std::size_t bad : {std::size_t{0}, std::size_t{3}, std::size_t{48}, beyond, ~std::size_t{0}}) {
      const auto refused = thrown_by([&] { static_cast<void>(at.heap->allocate(8, bad)); });
      ASSERT_TRUE(refused);
      EXPECT_EQ(refused->code(), code::invalid_argument);
    }
    EXPECT_EQ(at.heap->allocate(0, 16), nullptr);
    at.heap->free(nullptr);
    at.leave();
  }));
}

TEST(heap, grows_by_segments_and_says_so) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange);
    auto* first = at.allocate<std::byte>(100);
    EXPECT_EQ(at.heap->usage().mapped, 4 * MiB) << "the first segment is as large as configured";
    auto* second = at.allocate<std::byte>(20 * MiB);
    EXPECT_EQ(at.heap->usage().mapped, 22 * MiB) << "aligned to 2 MiB, the free end of the first segment counts";
    auto* third = at.allocate<std::byte>(MiB);
    EXPECT_EQ(at.heap->usage().mapped, 22 * MiB) << "fits before the second";
    auto* fourth = at.allocate<std::byte>(4 * MiB);
    EXPECT_EQ(at.heap->usage().mapped, 34 * MiB) << "half as much again, rounded up to 2 MiB";
    EXPECT_EQ(at.grown_to, (std::vector<std::size_t>{4 * MiB, 22 * MiB, 34 * MiB}));
    EXPECT_EQ(at.heap->usage().limit, 256 * MiB);
    EXPECT_EQ(at.heap->usage().allocations, 4u);
    // The range crosses the border between two segments.
    std::memset(at.remote(second, 1 - at.me), 1 + at.me, 20 * MiB);
    at.pe.control_plane.barrier();
    EXPECT_EQ(std::count(second, second + 20 * MiB, static_cast<std::byte>(2 - at.me)),
              static_cast<std::ptrdiff_t>(20 * MiB));
    for (std::byte* p : {first, second, third, fourth}) at.heap->free(p);
    EXPECT_EQ(at.heap->usage().largest_free, 34 * MiB);
    at.leave();
  }));
}

TEST(heap, contains_only_what_is_mapped_of_the_own_slot) {
  run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange);
    EXPECT_FALSE(at.heap->contains(at.heap->slot(at.me), 1));
    static_cast<void>(at.allocate<char>(10));
    std::byte* start = at.heap->slot(at.me);
    EXPECT_TRUE(at.heap->contains(start, 4 * MiB));
    EXPECT_TRUE(at.heap->contains(start + 4 * MiB - 1, 1));
    EXPECT_TRUE(at.heap->contains(start + 4 * MiB, 0));
    EXPECT_FALSE(at.heap->contains(start, 4 * MiB + 1));
    EXPECT_FALSE(at.heap->contains(start + 4 * MiB, 1));
    EXPECT_FALSE(at.heap->contains(start - 1, 1));
    EXPECT_FALSE(at.heap->contains(start + 8, std::numeric_limits<std::size_t>::max()));
    EXPECT_FALSE(at.heap->contains(at.heap->slot(1 - at.me), 1));
    EXPECT_FALSE(at.heap->contains(nullptr, 1));
    at.leave();
  });
}

TEST(heap, nothing_behind_a_peers_part_can_be_touched) {
  run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange);
    static_cast<void>(at.allocate<char>(10));
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    for (int pe = 0; pe < 2; ++pe) {
      // The test lets Linux read the byte. If the byte cannot be read, Linux reports EFAULT, whereas a load would
      // crash.
      EXPECT_EQ(::write(pipe[1], at.heap->slot(pe) + 4 * MiB - 1, 1), 1);
      EXPECT_EQ(::write(pipe[1], at.heap->slot(pe) + 4 * MiB, 1), -1);
      EXPECT_EQ(errno, EFAULT);
    }
    ::close(pipe[0]);
    ::close(pipe[1]);
    at.pe.control_plane.barrier();
    at.leave();
  });
}

TEST(heap, out_of_memory_says_how_much_is_there_and_changes_nothing) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.heap_limit = 16 * MiB;
    heap_pe at(exchange, settings);
    auto* kept = at.allocate<std::byte>(3 * MiB);
    const heap_usage before = at.heap->usage();
    for (const std::size_t bytes : {std::size_t{14} * MiB, 17 * MiB, std::size_t{1} << 46, std::size_t{1} << 63,
                                    ~std::size_t{0}, ~std::size_t{0} - 15}) {
      const auto full = thrown_by([&] { static_cast<void>(at.heap->allocate(bytes, 16)); });
      ASSERT_TRUE(full) << bytes;
      EXPECT_EQ(full->code(), code::out_of_memory);
      EXPECT_EQ(full->pe(), 0) << "the first PE of those that have no room";
      const std::string text = full->what();
      for (const char* wanted : {"PE 0", "requested", "are free", "largest block", "16.0 MiB", "PGAS_HEAP_LIMIT"})
        EXPECT_NE(text.find(wanted), std::string::npos) << text;
      const heap_usage after = at.heap->usage();
      EXPECT_EQ(after.mapped, before.mapped);
      EXPECT_EQ(after.used, before.used);
      EXPECT_EQ(after.allocations, before.allocations);
    }
    // All memory up to the limit can be allocated, although geometric growth would exceed the limit.
    auto* rest = at.allocate<std::byte>(12 * MiB);
    EXPECT_EQ(at.heap->usage().mapped, 16 * MiB);
    at.heap->free(rest);
    at.heap->free(kept);
    EXPECT_NE(at.heap->allocate(16 * MiB, 16), nullptr) << "all of it in one piece";
    at.leave();
  }));
}

TEST(heap, the_tightest_limit_and_the_largest_segment_hold_for_all) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.heap_limit = (exchange.rank() == 1 ? 32 : 64) * MiB;
    settings.segment_size = (exchange.rank() == 2 ? 6 : 4) * MiB;
    heap_pe at(exchange, settings);
    EXPECT_EQ(at.heap->usage().limit, 32 * MiB);
    static_cast<void>(at.allocate<char>(1));
    EXPECT_EQ(at.heap->usage().mapped, 6 * MiB);
    at.leave();
  }));
}

TEST(heap, wrong_frees_are_refused_on_all_pes_and_free_nothing) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange);
    auto* a = at.allocate<std::byte>(4096);
    auto* b = at.allocate<std::byte>(4096);
    at.heap->free(a);
    std::byte local{};
    const auto refused = [&](void* pointer, const char* why) {
      const auto end = thrown_by([&] { at.heap->free(pointer); });
      ASSERT_TRUE(end) << why;
      EXPECT_EQ(end->code(), code::invalid_free) << end->what();
      EXPECT_NE(std::string(end->what()).find(why), std::string::npos) << end->what();
    };
    refused(a, "already freed");
    refused(b + 64, "64 bytes inside an allocation");
    refused(&local, "not an address");
    refused(at.heap->slot((at.me + 1) % 3), "not an address");
    refused(at.heap->slot(at.me) - 1, "not an address");
    EXPECT_EQ(at.heap->usage().allocations, 1u);

    // Only one PE passes a wrong pointer. No PE hangs, and all PEs get an error that names this PE.
    const auto end = thrown_by([&] { at.heap->free(at.me == 1 ? a : b); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::invalid_free);
    EXPECT_EQ(end->pe(), 1);
    EXPECT_EQ(at.heap->usage().allocations, 1u);
    at.heap->free(b);
    at.leave();
  }));
}

TEST(heap, calls_that_differ_are_noticed_wherever_pes_talk) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange);
    auto* a = at.allocate<std::byte>(4096);
    auto* b = at.allocate<std::byte>(4096);
    const auto differ = [&](const std::optional<error>& end, int pe, const std::string& text) {
      ASSERT_TRUE(end);
      EXPECT_EQ(end->code(), code::asymmetric_call) << end->what();
      EXPECT_EQ(end->pe(), pe);
      EXPECT_NE(std::string(end->what()).find(text), std::string::npos) << end->what();
    };
    differ(thrown_by([&] { at.heap->free(at.me == 2 ? a : b); }), 2, "PE 2 frees heap offset 0x0");
    differ(thrown_by([&] { static_cast<void>(at.heap->allocate((at.me == 1 ? 9 : 8) * MiB, 16)); }), 1, "9437184");
    const auto mixed = thrown_by([&] {
      if (at.me == 0)
        at.heap->free(a);
      else
        static_cast<void>(at.heap->allocate(8 * MiB, 16));
    });
    differ(mixed, 1, "PE 0 frees heap offset 0x0 while PE 1 allocates 8388608 bytes");
    EXPECT_EQ(at.heap->usage().mapped, 4 * MiB);
    at.heap->free(a);
    at.heap->free(b);
    static_cast<void>(at.heap->allocate(8 * MiB, 16));
    at.leave();
  }));
}

TEST(heap, with_checks_every_call_is_compared) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.checks = exchange.rank() == 2;  // if one PE requests checks, all PEs are checked
    heap_pe at(exchange, settings);
    auto* a = at.allocate<std::byte>(4096);
    const auto different = [&](std::size_t bytes, std::size_t alignment, const std::string& text) {
      const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(bytes, alignment)); });
      ASSERT_TRUE(end);
      EXPECT_EQ(end->code(), code::asymmetric_call) << end->what();
      EXPECT_EQ(end->pe(), 1);
      EXPECT_NE(std::string(end->what()).find(text), std::string::npos) << end->what();
    };
    different(at.me == 1 ? 100 : 200, 16, "PE 0 allocates 200 bytes aligned to 16 while PE 1 allocates 100 bytes");
    different(200, at.me == 1 ? 64 : 16, "PE 1 allocates 200 bytes aligned to 64");
    different(at.me == 1 ? 0 : 200, 16, "PE 1 allocates 0 bytes");
    const auto end = thrown_by([&] { at.heap->free(at.me == 1 ? nullptr : a); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::asymmetric_call);
    EXPECT_NE(std::string(end->what()).find("PE 1 frees null"), std::string::npos) << end->what();
    EXPECT_EQ(at.heap->usage().allocations, 1u);
    at.heap->free(nullptr);
    at.heap->free(a);
    at.leave();
  }));
}

TEST(heap, a_pe_lost_during_growth_is_named_and_nothing_is_left) {
  const holdings before = count_holdings();
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange);
    static_cast<void>(at.allocate<char>(1));
    if (at.me == 1) return;  // PE 1 ends without leaving the world
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(32 * MiB, 16)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::peer_lost) << end->what();
    EXPECT_EQ(end->pe(), 1);
    EXPECT_EQ(at.heap->usage().mapped, 4 * MiB);
    at.heap->slot(1)[0] = std::byte{1};  // the memory of the dead PE can still be used
  });
  expect_no_error(ends);
  EXPECT_EQ(settle_at(before), before);
}

TEST(heap, two_heaps_at_once_are_independent) {
  auto second = make_thread_bootstraps(2, std::chrono::seconds(30));
  expect_no_error(run_threads(2, [&](bootstrap& exchange) {
    heap_pe item(exchange);
    heap_pe two(*second[static_cast<std::size_t>(exchange.rank())]);
    auto* a = item.allocate<int>(1000);
    auto* b = two.allocate<int>(1000);
    item.remote(a, 1 - item.me)[0] = 10 + item.me;
    two.remote(b, 1 - two.me)[0] = 20 + two.me;
    item.pe.control_plane.barrier();
    two.pe.control_plane.barrier();
    EXPECT_EQ(a[0], 10 + 1 - item.me);
    EXPECT_EQ(b[0], 20 + 1 - two.me);
    EXPECT_FALSE(item.heap->contains(b, 1));
    two.leave();
    static_cast<void>(item.allocate<int>(MiB * 2));
    item.leave();
  }));
}

}  // namespace
}  // namespace pgas::unit_test
