// The copy loop, for groups larger than any block of the CPU. The test uses no real group: the slices of all threads
// run one after another. With the address sanitizer, all memory around the source is poisoned.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "body_tools.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace {

using pgas::detail::direction;
using pgas_test::sizes;

/// One thread of a simulated group.
struct slice {
  std::uint32_t rank;
  std::uint32_t count;
  [[nodiscard]] std::uint32_t thread_rank() const { return rank; }
  [[nodiscard]] std::uint32_t size() const { return count; }
  static void sync() {}
};

/// Leaves only [from, from + bytes) of `all` readable, with the sanitizer's granularity of 8 bytes.
class fence_around {
 public:
  fence_around([[maybe_unused]] std::vector<std::byte>& all, [[maybe_unused]] std::size_t from,
               [[maybe_unused]] std::size_t bytes)
      : all_(all) {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(all.data(), from / 8 * 8);
    ASAN_POISON_MEMORY_REGION(all.data() + from + bytes, all.size() - from - bytes);
#endif
  }
  ~fence_around() {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(all_.data(), all_.size());
#endif
  }
  fence_around(const fence_around&) = delete;
  fence_around& operator=(const fence_around&) = delete;

 private:
  [[maybe_unused]] std::vector<std::byte>& all_;
};

/// The cases below rely only on a vector's data() being aligned to 16 bytes.
constexpr std::size_t margin = 64;

template <direction Direction, class T>
void copy_case(std::uint32_t threads, std::size_t to_offset, std::size_t from_offset, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  std::vector<std::byte> from(margin + from_offset + bytes + margin);
  std::vector<std::byte> to(margin + to_offset + bytes + margin, std::byte{0xa5});
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(from.data()) % 16, 0u);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(to.data()) % 16, 0u);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::byte>(pgas_test::mix(static_cast<std::uint32_t>(i)));
  std::vector<std::byte> expected = to;
  std::memcpy(expected.data() + margin + to_offset, from.data() + margin + from_offset, bytes);
  {
    const fence_around fenced(from, margin + from_offset, bytes);
    for (std::uint32_t rank = 0; rank < threads; ++rank) {
      pgas::detail::copy<Direction>(slice{rank, threads}, reinterpret_cast<T*>(to.data() + margin + to_offset),
                                    reinterpret_cast<const T*>(from.data() + margin + from_offset), count);
    }
  }
  ASSERT_EQ(std::memcmp(to.data(), expected.data(), to.size()), 0)
      << threads << " threads, to +" << to_offset << ", from +" << from_offset << ", " << bytes << " bytes of units of "
      << pgas::detail::unit_of<T>;
}

class copy_loop : public testing::TestWithParam<std::uint32_t> {};

TEST_P(copy_loop, every_alignment_of_bytes) {
  const std::uint32_t threads = GetParam();
  const std::size_t step = threads > 40 ? 5 : 1;  // few alignments for sizes that take long
  for (std::size_t to = 0; to < 16; to += step) {
    for (std::size_t from = 0; from < 16; from += step) {
      for (const std::size_t bytes :
           sizes{0, 1, 2, 7, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 129, 255, 1000, 4111}) {
        ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, char>(threads, to, from, bytes)));
        ASSERT_NO_FATAL_FAILURE((copy_case<direction::get, char>(threads, to, from, bytes)));
      }
    }
  }
}

TEST_P(copy_loop, every_alignment_of_wider_units) {
  const std::uint32_t threads = GetParam();
  for (const std::size_t count : sizes{1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100, 513, 2051}) {
    for (std::size_t to = 0; to < 16; to += 2) {
      for (std::size_t from = 0; from < 16; from += 2) {
        ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, std::uint16_t>(threads, to, from, count)));
        if (to % 4 == 0 && from % 4 == 0) {
          ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, float>(threads, to, from, count)));
          ASSERT_NO_FATAL_FAILURE((copy_case<direction::get, float>(threads, to, from, count)));
        }
        if (to % 8 == 0 && from % 8 == 0) {
          ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, double>(threads, to, from, count)));
        }
      }
    }
    ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, pgas::detail::vec16>(threads, 0, 0, count)));
    ASSERT_NO_FATAL_FAILURE((copy_case<direction::get, pgas::detail::vec16>(threads, 0, 0, count)));
  }
}

TEST_P(copy_loop, many_tiles) {
  const std::uint32_t threads = GetParam();
  for (const std::size_t bytes : sizes{65536, 65536 + 3, 300'000 + 13}) {
    for (const std::size_t to : sizes{0, 4, 15}) {
      for (const std::size_t from : sizes{0, 4, 8}) {
        ASSERT_NO_FATAL_FAILURE((copy_case<direction::put, char>(threads, to, from, bytes)));
        ASSERT_NO_FATAL_FAILURE((copy_case<direction::get, char>(threads, to, from, bytes)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(threads, copy_loop, testing::Values(1, 2, 7, 31, 32, 33, 96, 256, 511, 512, 1024),
                         testing::PrintToStringParamName());

}  // namespace
