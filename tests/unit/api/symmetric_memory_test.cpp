// Reallocated memory, allocations at different addresses, and queries of symmetric memory.
#include <cstring>
#include <numeric>

#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

/// Bytes that depend on the PE and the position.
unsigned char mark(int pe, std::size_t i) {
  return static_cast<unsigned char>(static_cast<std::size_t>(pe) * 31 + i * 7 + i / 251);
}

void fill(world& w, unsigned char* at, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) at[i] = mark(w.my_pe(), i);
  w.barrier_all();
}

std::size_t wrong_bytes(world& w, const unsigned char* at, std::size_t n, int pe) {
  std::vector<unsigned char> seen(n);
  get(w, seen.data(), at, n, pe);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += seen[i] != mark(pe, i);
  return wrong;
}

TEST(world_memory, reallocate_keeps_the_contents_up_to_the_smaller_size) {
  expect_no_error(run_worlds(3, [](world& w) {
    for (const std::size_t before : {1u, 100u, 512u, 5000u, 3u << 20}) {
      for (const std::size_t after : {1u, 99u, 512u, 4097u, 5u << 20}) {
        auto* old = static_cast<unsigned char*>(w.allocate_bytes(before));
        fill(w, old, before);
        auto* const now = static_cast<unsigned char*>(w.reallocate_bytes(old, after));
        const int next = (w.my_pe() + 1) % w.n_pes();
        EXPECT_EQ(wrong_bytes(w, now, std::min(before, after), next), 0u) << before << " to " << after;
        // The whole new block can be used.
        p(w, now + after - 1, 42, next);
        w.barrier_all();
        EXPECT_EQ(now[after - 1], 42);
        w.free(now);
      }
    }
  }));
}

TEST(world_memory, reallocate_waits_for_what_others_are_putting_into_the_old_block) {
  expect_no_error(run_worlds(2, [](world& w) {
    constexpr std::size_t bytes = 4u << 20;
    std::vector<unsigned char> marks(bytes);
    for (std::size_t i = 0; i < bytes; ++i) marks[i] = mark(0, i);
    for (const std::size_t after : {bytes, 2 * bytes, bytes / 2}) {
      auto* const old = static_cast<unsigned char*>(w.allocate_bytes(bytes));
      w.barrier_all();
      if (w.my_pe() == 0)
        for (int i = 0; i < 40; ++i) put_nbi(w, old, i < 39 ? old : marks.data(), bytes, 1);
      auto* const now = static_cast<unsigned char*>(w.reallocate_bytes(old, after));
      if (w.my_pe() == 1) {
        EXPECT_EQ(std::memcmp(now, marks.data(), std::min(after, bytes)), 0) << after;
      }
      w.free(now);
    }
  }));
}

TEST(world_memory, reallocate_frees_the_old_block_and_knows_null_and_zero) {
  expect_no_error(run_worlds(2, [](world& w) {
    const heap_usage before = w.usage();
    void* block = w.reallocate_bytes(nullptr, 1000);
    EXPECT_NE(block, nullptr);
    for (std::size_t size = 2000; size < 100'000; size += 1777) block = w.reallocate_bytes(block, size);
    EXPECT_EQ(w.usage().allocations, before.allocations + 1);
    EXPECT_EQ(w.reallocate_bytes(block, 0), nullptr);
    EXPECT_EQ(w.usage().allocations, before.allocations);
    EXPECT_EQ(w.usage().used, before.used);
    EXPECT_EQ(w.reallocate_bytes(nullptr, 0), nullptr);
  }));
}

TEST(world_memory, reallocate_respects_the_alignment) {
  expect_no_error(run_worlds(2, [](world& w) {
    void* block = w.allocate_bytes(64);
    for (const std::size_t alignment : {16u, 4096u, 2u << 20, 16u << 20}) {
      block = w.reallocate_bytes(block, 64, 1, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
    }
    w.free(block);
  }));
}

TEST(world_memory, reallocate_that_fails_leaves_the_old_block_valid_everywhere) {
  expect_no_error(run_worlds(3, [](world& w) {
    auto* const block = static_cast<unsigned char*>(w.allocate_bytes(10'000));
    fill(w, block, 10'000);
    const heap_usage before = w.usage();
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block, std::size_t{1} << 40); }), code::out_of_memory);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block, ~std::size_t{0}, 8); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block, 100, 1, 24); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block + 16, 100); }), code::invalid_free);
    int local = 0;
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(&local, 100); }), code::invalid_free);
    // Only one PE passes a wrong argument, and all PEs get the error.
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(w.my_pe() == 1 ? block + 1 : block, 100); }),
              code::invalid_free);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block, w.my_pe() == 2 ? 200 : 100); }),
              code::asymmetric_call);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(w.my_pe() == 0 ? nullptr : block, 100); }),
              code::asymmetric_call);
    EXPECT_EQ(w.usage().used, before.used);
    for (int pe = 0; pe < w.n_pes(); ++pe) EXPECT_EQ(wrong_bytes(w, block, 10'000, pe), 0u);
    w.free(block);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(block, 100); }), code::invalid_free);
  }));
}

TEST(world_memory, symmetric_objects_are_resized) {
  expect_no_error(run_worlds(2, [](world& w) {
    symmetric<int> numbers = w.allocate<int>(10);
    std::iota(numbers.data(), numbers.data() + 10, 100 * w.my_pe());
    numbers.resize(100'000);
    EXPECT_EQ(numbers.size(), 100'000u);
    EXPECT_EQ(g(w, numbers.data() + 9, 1 - w.my_pe()), 100 * (1 - w.my_pe()) + 9);
    EXPECT_EQ(code_of([&] { numbers.resize(std::size_t{1} << 50); }), code::out_of_memory);
    EXPECT_EQ(numbers.size(), 100'000u);
    EXPECT_EQ(numbers.data()[9], 100 * w.my_pe() + 9);
    w.barrier_all();
    numbers.resize(0);
    EXPECT_FALSE(numbers);
    EXPECT_EQ(code_of([&] { numbers.resize(4); }), code::invalid_argument);
  }));
}

TEST(world_memory, hints_give_cache_lines_of_their_own) {
  expect_no_error(run_worlds(2, [](world& w) {
    const auto line = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / memory_hint_line; };
    std::vector<symmetric<signal_t>> words;
    std::vector<symmetric<char>> others;
    for (int i = 0; i < 20; ++i) {
      others.push_back(w.allocate<char>(static_cast<std::size_t>(i) + 1));
      words.push_back(w.allocate<signal_t>(
          static_cast<std::size_t>(i) + 1,
          i % 2 == 0 ? memory_hint::signal_remote : memory_hint::atomics_remote | memory_hint::signal_remote,
          initialize::zero));
    }
    for (const auto& word : words) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(word.data()) % memory_hint_line, 0u);
      EXPECT_EQ(*word.data(), 0u);
      for (const auto& other : others) {
        const bool apart = line(other.data() + other.size() - 1) < line(word.data()) ||
                           line(word.data() + word.size() - 1) < line(other.data());
        EXPECT_TRUE(apart);
      }
    }
    EXPECT_EQ(w.allocate<signal_t>(3, memory_hint::none).size(), 3u);
    EXPECT_EQ(code_of([&] { std::ignore = w.allocate_bytes(~std::size_t{0}, 1, memory_hint::signal_remote); }),
              code::out_of_memory);
    EXPECT_EQ(code_of([&] { std::ignore = w.allocate_bytes(~std::size_t{0}, 2, memory_hint::signal_remote); }),
              code::invalid_argument);
    EXPECT_EQ(w.allocate_bytes(0, 1, memory_hint::signal_remote), nullptr);
  }));
}

TEST(world_memory, addresses_of_peers) {
  expect_no_error(run_worlds(3, [](world& w) {
    symmetric<int> word = w.allocate<int>(4, initialize::zero);
    const int me = w.my_pe();
    const int next = (me + 1) % 3;
    EXPECT_EQ(w.ptr(word.data(), me), word.data());
    *w.ptr(word.data() + 1, next) = 7 + me;
    w.barrier_all();
    EXPECT_EQ(word.data()[1], 7 + (me + 2) % 3);
    int local = 0;
    EXPECT_EQ(w.ptr(&local, me), nullptr);
    EXPECT_EQ(w.ptr(static_cast<int*>(nullptr), me), nullptr);
    EXPECT_EQ(w.ptr(word.data(), -1), nullptr);
    EXPECT_EQ(w.ptr(word.data(), 3), nullptr);
    EXPECT_EQ(w.ptr(static_cast<const int*>(word.data()), me), word.data());
    EXPECT_TRUE(w.accessible(0) && w.accessible(2));
    EXPECT_FALSE(w.accessible(3) || w.accessible(-1));
    EXPECT_TRUE(w.accessible(word.data(), next));
    EXPECT_FALSE(w.accessible(&local, next) || w.accessible(word.data(), 3) || w.accessible(nullptr, me));
  }));
}

TEST(world_memory, the_layout_says_where_the_heap_lies) {
  expect_no_error(run_worlds(2, [](world& w) {
    const heap_layout where = w.layout();
    EXPECT_EQ(w.device(), -1) << "host memory is on no GPU";
    EXPECT_EQ(where.mapped, w.usage().mapped);
    symmetric<char> block = w.allocate<char>(6 << 20);  // larger than a segment
    EXPECT_GT(w.layout().mapped, where.mapped);
    const auto* const base = static_cast<const char*>(where.base);
    EXPECT_GE(block.data(), base);
    EXPECT_LE(block.data() + block.size(), base + w.layout().mapped);
    EXPECT_LE(w.layout().mapped, where.stride);
    EXPECT_EQ(w.ptr(block.data(), 1) - w.ptr(block.data(), 0), static_cast<std::ptrdiff_t>(where.stride));
    EXPECT_FALSE(w.ptr(base + w.layout().mapped, 0));
  }));
}

TEST(world_memory, questions_about_a_world_that_was_left) {
  expect_no_error(run_worlds(1, [](world& w) {
    symmetric<int> word = w.allocate<int>(1);
    w.leave();
    EXPECT_EQ(code_of([&] { std::ignore = w.layout(); }), code::not_joined);
    EXPECT_EQ(code_of([&] { std::ignore = w.accessible(0); }), code::not_joined);
    EXPECT_EQ(code_of([&] { std::ignore = w.ptr(word.data(), 0); }), code::not_joined);
    EXPECT_EQ(code_of([&] { std::ignore = w.reallocate_bytes(nullptr, 1); }), code::not_joined);
    EXPECT_EQ(code_of([&] { word.resize(2); }), code::not_joined);
  }));
}

}  // namespace
}  // namespace pgas_world_test
