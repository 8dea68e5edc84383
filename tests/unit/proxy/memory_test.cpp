#include "host/proxy/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "pgas/detail/ptx.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

/// Both kinds, the second one over the CPU's device.
class proxy_memories : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<detail::device> device_ = detail::make_cpu_device();
  std::unique_ptr<detail::proxy_memory> memory_ =
      GetParam() ? detail::make_device_proxy_memory(*device_) : detail::make_host_proxy_memory();
};
INSTANTIATE_TEST_SUITE_P(of, proxy_memories, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "a_device" : "the_host"; });

TEST_P(proxy_memories, bytes_of_any_number_and_place_go_both_ways) {
  std::vector<std::byte> memory(200);
  for (std::size_t at = 1; at < 18; ++at) {
    for (std::size_t bytes = 0; bytes < 70; ++bytes) {
      for (const std::size_t shift : {0u, 3u}) {
        const std::vector<std::byte> data = pattern(bytes + shift + 1, static_cast<unsigned>(bytes));
        std::fill(memory.begin(), memory.end(), std::byte{0xee});
        memory_->write(memory.data() + at, data.data() + shift, {bytes});
        memory_->complete();
        ASSERT_EQ(std::memcmp(memory.data() + at, data.data() + shift, bytes), 0) << bytes << " at " << at;
        ASSERT_EQ(memory[at - 1], std::byte{0xee});
        ASSERT_EQ(memory[at + bytes], std::byte{0xee});
        std::vector<std::byte> back(bytes + shift + 1, std::byte{0xdd});
        memory_->read(back.data() + shift, memory.data() + at, {bytes});
        ASSERT_EQ(std::memcmp(back.data() + shift, data.data() + shift, bytes), 0);
        ASSERT_EQ(back[bytes + shift], std::byte{0xdd});
      }
    }
  }
}

TEST_P(proxy_memories, blocks_lie_at_their_distance) {
  const std::vector<std::byte> data = pattern(5 * 12, 1);
  std::vector<std::byte> memory(200);
  for (const std::ptrdiff_t step : {12, 20, -15}) {
    std::byte* const first = memory.data() + (step < 0 ? 100 : 8);
    memory_->write(first, data.data(), {12, 5, step});
    std::vector<std::byte> back(data.size());
    memory_->read(back.data(), first, {12, 5, step});
    EXPECT_EQ(back, data);
    memory_->complete();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(std::memcmp(first + i * step, data.data() + i * 12, 12), 0) << step;
  }
}

TEST_P(proxy_memories, more_than_a_buffer_at_once) {
  const std::vector<std::byte> data = pattern(5'000'001, 1);
  std::vector<std::byte> memory(data.size() + 8);
  memory_->write(memory.data() + 3, data.data(), {data.size()});
  std::vector<std::byte> back(data.size());
  memory_->read(back.data(), memory.data() + 3, {back.size()});
  EXPECT_EQ(back, data);
  memory_->complete();
  EXPECT_EQ(std::memcmp(memory.data() + 3, data.data(), data.size()), 0);
}

TEST_P(proxy_memories, an_update_comes_after_what_was_written) {
  std::vector<std::byte> memory(4096);
  alignas(8) std::uint64_t word = 0;
  std::thread reader([&] {
    for (std::uint64_t round = 1; round <= 100; ++round) {
      wait_for("the word", [&] { return detail::load_relaxed(&word) >= 2 * round - 1; });
      detail::fence_acquire();
      const std::vector<std::byte> expected = pattern(memory.size(), static_cast<unsigned>(round));
      ASSERT_EQ(memory, expected);
      detail::fence_release();
      detail::store_relaxed(&word, 2 * round);
    }
  });
  for (std::uint64_t round = 1; round <= 100; ++round) {
    const std::vector<std::byte> data = pattern(memory.size(), static_cast<unsigned>(round));
    memory_->write(memory.data(), data.data(), {data.size()});
    const auto how = round % 2 == 0 ? detail::atomic_update::set : detail::atomic_update::add;
    static_cast<void>(memory_->update(&word, how, detail::word_kind::u64, round % 2 == 0 ? 2 * round - 1 : 1, 0));
    wait_for("the reader", [&] { return detail::load_relaxed(&word) == 2 * round; });
    detail::fence_acquire();
  }
  reader.join();
}

TEST_P(proxy_memories, updates_are_atomic_with_those_of_the_host) {
  alignas(8) std::uint64_t word = 0;
  std::thread other([&] {
    for (int i = 0; i < 5000; ++i) std::atomic_ref(word).fetch_add(1);
  });
  for (int i = 0; i < 5000; ++i)
    static_cast<void>(memory_->update(&word, detail::atomic_update::add, detail::word_kind::u64, 1, 0));
  other.join();
  EXPECT_EQ(word, 10'000u);
}

}  // namespace
}  // namespace pgas::testing
