// One-sided operations on the CPU backend: every kind, every type, every alignment.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/grid.hpp"
#include "pgas/error.hpp"
#include "unit/connect/pes.hpp"
#include "unit/device_cpu/requests.hpp"

namespace pgas::unit_test {
namespace {

TEST(cpu_atomic, does_every_operation_on_every_type) {
  const auto on = make_cpu_device();
  const auto run = [&](how what, type as, auto start, auto value, auto condition) {
    using T = decltype(start);
    using bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    struct {
      alignas(8) T target;
      T behind;
    } memory{start, start};
    const std::uint64_t old =
        on->fetch(atomic_on(what, as, &memory.target, std::bit_cast<bits>(value), std::bit_cast<bits>(condition)));
    if (what != how::set || sizeof(T) > 2) {
      EXPECT_EQ(old, std::bit_cast<bits>(start)) << "the old value";
    }
    EXPECT_EQ(std::bit_cast<bits>(memory.behind), std::bit_cast<bits>(start));
    return memory.target;
  };
  const std::uint32_t w = 0xf0f0;
  EXPECT_EQ(run(how::fetch, type::u32, w, w, w), w);
  EXPECT_EQ(run(how::set, type::u32, w, 5u, w), 5u);
  EXPECT_EQ(run(how::add, type::u32, w, ~0u, w), w - 1);
  EXPECT_EQ(run(how::bit_and, type::u32, w, 0xff00u, w), 0xf000u);
  EXPECT_EQ(run(how::bit_or, type::u32, w, 0x0f00u, w), 0xfff0u);
  EXPECT_EQ(run(how::bit_xor, type::u32, w, 0xffffu, w), 0x0f0fu);
  EXPECT_EQ(run(how::swap, type::u32, w, 9u, w), 9u);
  EXPECT_EQ(run(how::compare_swap, type::u32, w, 9u, w), 9u);
  EXPECT_EQ(run(how::compare_swap, type::u32, w, 9u, w + 1), w);
  const std::uint64_t d = 0xf0f0'0000'0000'0001;
  EXPECT_EQ(run(how::fetch, type::u64, d, d, d), d);
  EXPECT_EQ(run(how::set, type::u64, d, std::uint64_t{5}, d), 5u);
  EXPECT_EQ(run(how::add, type::u64, d, ~std::uint64_t{0}, d), d - 1);
  EXPECT_EQ(run(how::bit_and, type::u64, d, std::uint64_t{1}, d), 1u);
  EXPECT_EQ(run(how::bit_or, type::u64, d, std::uint64_t{2}, d), d + 2);
  EXPECT_EQ(run(how::bit_xor, type::u64, d, d, d), 0u);
  EXPECT_EQ(run(how::swap, type::u64, d, std::uint64_t{7}, d), 7u);
  EXPECT_EQ(run(how::compare_swap, type::u64, d, std::uint64_t{7}, d), 7u);
  EXPECT_EQ(run(how::fetch, type::f32, 1.5f, 0.f, 0.f), 1.5f);
  EXPECT_EQ(run(how::set, type::f32, 1.5f, 2.5f, 0.f), 2.5f);
  EXPECT_EQ(run(how::add, type::f32, 1.5f, 2.25f, 0.f), 3.75f);
  EXPECT_EQ(run(how::swap, type::f32, 1.5f, 2.5f, 0.f), 2.5f);
  EXPECT_EQ(run(how::compare_swap, type::f32, 1.5f, 2.5f, 1.5f), 2.5f);
  EXPECT_EQ(run(how::add, type::f64, 1.5, 1e300, 0.), 1e300 + 1.5);
  EXPECT_EQ(run(how::swap, type::f64, 1.5, -0.25, 0.), -0.25);
  EXPECT_EQ(run(how::min, type::i32, 5, -7, 0), -7);
  EXPECT_EQ(run(how::min, type::u32, 5u, ~0u, 0u), 5u);
  EXPECT_EQ(run(how::max, type::i64, std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{0}), std::int64_t{1} << 40);
  EXPECT_EQ(run(how::max, type::u64, d, d + 1, d), d + 1);
  EXPECT_EQ(run(how::max, type::f32, -1.5f, 2.5f, 0.f), 2.5f);
  EXPECT_EQ(run(how::min, type::f64, 1.5, -2.5, 0.), -2.5);
  EXPECT_EQ(float(run(how::add, type::f16, float16(1.5f), float16(2.f), float16(0.f))), 3.5f);
  EXPECT_EQ(float(run(how::set, type::bf16, bfloat16(1.5f), bfloat16(2.f), bfloat16(0.f))), 2.f);
  const float16_pair sum = run(how::add, type::f16x2, float16_pair{float16(1.f), float16(2.f)},
                               float16_pair{float16(10.f), float16(20.f)}, float16_pair{});
  EXPECT_EQ(float(sum.x), 11.f);
  EXPECT_EQ(float(sum.y), 22.f);
}

TEST(cpu_operation, stores_values_of_every_size_at_every_alignment) {
  const auto on = make_cpu_device();
  for (std::size_t bytes = 1; bytes <= 16; ++bytes)
    for (std::size_t at = 0; at < 8; ++at) {
      alignas(16) std::array<unsigned char, 40> memory{};
      memory.fill(0xee);
      operation_request store;
      store.to = memory.data() + 8 + at;
      store.bytes = bytes;
      std::array<unsigned char, 16> value{};
      std::iota(value.begin(), value.end(), static_cast<unsigned char>(1));
      std::memcpy(store.value, value.data(), 16);
      on->enqueue(store, nullptr);
      on->synchronize(nullptr);
      for (std::size_t i = 0; i < memory.size(); ++i)
        ASSERT_EQ(memory[i], i < 8 + at || i >= 8 + at + bytes ? 0xee : i - 8 - at + 1) << bytes << " bytes at " << at;
    }
}

TEST(cpu_operation, copies_blocks_at_any_distance) {
  const auto on = make_cpu_device();
  for (const std::size_t bytes : {1u, 3u, 4u, 8u, 24u, 100u})
    for (const std::ptrdiff_t gap : {0, 1, 8})
      for (const bool backwards : {false, true})
        for (const std::size_t count : {1u, 2u, 33u}) {
          const auto step = static_cast<std::ptrdiff_t>(bytes) + gap;
          std::vector<unsigned char> from(static_cast<std::size_t>(step) * count);
          std::iota(from.begin(), from.end(), static_cast<unsigned char>(7));
          std::vector<unsigned char> to(bytes * count, 0);
          operation_request copy;
          copy.what = operation_request::kind::strided;
          copy.to = to.data();
          copy.from = from.data() + (backwards ? step * static_cast<std::ptrdiff_t>(count - 1) : 0);
          copy.bytes = bytes;
          copy.count = count;
          copy.to_step = static_cast<std::ptrdiff_t>(bytes);
          copy.from_step = backwards ? -step : step;
          on->enqueue(copy, nullptr);
          on->synchronize(nullptr);
          for (std::size_t i = 0; i < count; ++i) {
            const std::size_t block = backwards ? count - 1 - i : i;
            ASSERT_EQ(std::memcmp(&to[i * bytes], &from[block * static_cast<std::size_t>(step)], bytes), 0)
                << bytes << ' ' << i;
          }
        }
}

TEST(cpu_operation, snapshots_words_whole) {
  const auto on = make_cpu_device();
  const std::vector<std::uint64_t> words{1, 2, 3};
  std::vector<std::uint64_t> seen(3);
  on->snapshot(seen.data(), words.data(), 3, 8);
  EXPECT_EQ(seen, words);
  std::vector<std::uint16_t> narrow(4);
  on->snapshot(narrow.data(), words.data(), 4, 2);
  EXPECT_EQ(narrow, (std::vector<std::uint16_t>{1, 0, 0, 0}));
  std::vector<std::uint32_t> middle(3);
  on->snapshot(middle.data(), words.data(), 3, 4);
  EXPECT_EQ(middle, (std::vector<std::uint32_t>{1, 0, 2}));
}

}  // namespace
}  // namespace pgas::unit_test
