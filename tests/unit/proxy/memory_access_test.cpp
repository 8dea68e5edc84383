#include "host/proxy/memory_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

/// A kind of memory_access and its device.
struct kind {
  const char* name;
  std::unique_ptr<detail::device> (*make)();  ///< null: host memory
  detail::pinned_sizes pinned{};
};
template <class Device>
std::unique_ptr<detail::device> a() {
  return std::make_unique<Device>();
}
constexpr detail::pinned_sizes few_bytes{.staging_bytes = 100, .updates = 3, .buffer_bytes = 256};
const kind kinds[] = {{"the_host", nullptr},
                      {"a_device", &detail::make_cpu_device},
                      {"a_lazy_device", &a<lazy_device>},
                      {"a_lazy_device_with_little_staging", &a<lazy_device>, few_bytes}};

class proxy_memories : public ::testing::TestWithParam<kind> {
 protected:
  void read(void* to, const void* from, const detail::block_list& blocks) {
    memory_->read(to, from, blocks);
    memory_->complete();
    EXPECT_FALSE(memory_->pending());
  }
  void update(std::uint64_t& word, detail::atomic_update how, std::uint64_t value, std::byte* old = nullptr) {
    detail::batched_atomic what;
    what.at = &word;
    what.how = how;
    what.value = value;
    memory_->update(what, old);
  }

  std::unique_ptr<detail::device> device_ = GetParam().make != nullptr ? GetParam().make() : nullptr;
  std::unique_ptr<detail::memory_access> memory_ = device_ != nullptr
                                                       ? detail::make_device_memory_access(*device_, GetParam().pinned)
                                                       : detail::make_host_memory_access();
};
INSTANTIATE_TEST_SUITE_P(memory, proxy_memories, ::testing::ValuesIn(kinds),
                         [](const auto& which) { return std::string(which.param.name); });

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
        read(back.data() + shift, memory.data() + at, {bytes});
        ASSERT_EQ(std::memcmp(back.data() + shift, data.data() + shift, bytes), 0);
        ASSERT_EQ(back[bytes + shift], std::byte{0xdd});
      }
    }
  }
}

TEST_P(proxy_memories, strided_blocks_go_both_ways) {
  const std::vector<std::byte> data = pattern(5 * 12, 1);
  std::vector<std::byte> memory(200);
  for (const std::ptrdiff_t step : {12, 20, -15}) {
    std::byte* const first = memory.data() + (step < 0 ? 100 : 8);
    memory_->write(first, data.data(), {12, 5, step});
    std::vector<std::byte> back(data.size());
    read(back.data(), first, {12, 5, step});
    EXPECT_EQ(back, data);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(std::memcmp(first + i * step, data.data() + i * 12, 12), 0) << step;
  }
}

TEST_P(proxy_memories, more_than_a_buffer_at_once) {
  const std::vector<std::byte> data = pattern(5'000'001, 1);
  std::vector<std::byte> memory(data.size() + 8);
  memory_->write(memory.data() + 3, data.data(), {data.size()});
  std::vector<std::byte> back(data.size());
  read(back.data(), memory.data() + 3, {back.size()});
  EXPECT_EQ(back, data);
  EXPECT_EQ(std::memcmp(memory.data() + 3, data.data(), data.size()), 0);
}

TEST_P(proxy_memories, an_update_comes_after_earlier_writes) {
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
    update(word, how, round % 2 == 0 ? 2 * round - 1 : 1);
    memory_->complete();
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
  for (int i = 0; i < 5000; ++i) update(word, detail::atomic_update::add, 1);
  memory_->complete();
  other.join();
  EXPECT_EQ(word, 10'000u);
}

TEST_P(proxy_memories, everything_takes_effect_in_the_order_of_the_calls) {
  constexpr std::size_t rounds = 50;
  alignas(8) std::uint64_t word = 0;
  std::vector<std::uint64_t> found(5 * rounds);
  const auto place = [&](std::size_t i) { return reinterpret_cast<std::byte*>(&found[i]); };
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t value = 100 * i;
    memory_->write(&word, &value, {8});
    update(word, detail::atomic_update::add, 1);
    update(word, detail::atomic_update::add, 2, place(5 * i));
    memory_->read(place(5 * i + 1), &word, {8});
    update(word, detail::atomic_update::set, value + 10);
    update(word, detail::atomic_update::swap, value + 20, place(5 * i + 2));
    update(word, detail::atomic_update::set, value + 30);
    memory_->read(place(5 * i + 3), &word, {8});
    memory_->write(&word, &found[0], {0});
    update(word, detail::atomic_update::fetch, 0, place(5 * i + 4));
  }
  memory_->complete();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t expected[] = {100 * i + 1, 100 * i + 3, 100 * i + 10, 100 * i + 30, 100 * i + 30};
    for (std::size_t k = 0; k < std::size(expected); ++k) ASSERT_EQ(found[5 * i + k], expected[k]) << i << ' ' << k;
  }
}

TEST_P(proxy_memories, narrow_words_leave_their_neighbours_alone) {
  alignas(8) std::uint16_t words[4] = {1, 2, 3, 4};
  alignas(8) std::uint64_t old = ~std::uint64_t{0};
  detail::batched_atomic what;
  what.at = &words[1];
  what.how = detail::atomic_update::set;
  what.as = detail::datatype::f16;
  what.value = 77;
  memory_->update(what, nullptr);
  what.how = detail::atomic_update::fetch;
  memory_->update(what, reinterpret_cast<std::byte*>(&old));
  memory_->complete();
  EXPECT_EQ(old, 77u);
  EXPECT_EQ(words[0], 1);
  EXPECT_EQ(words[1], 77);
  EXPECT_EQ(words[2], 3);
}

/// A lazy device that reports itself as a GPU.
class device_memory : public ::testing::Test {
 protected:
  device_memory() { device_.kind = heap_kind::cuda; }
  void add(std::uint64_t& word, std::byte* old = nullptr) {
    detail::batched_atomic what;
    what.at = &word;
    what.how = detail::atomic_update::add;
    what.value = 1;
    memory_->update(what, old);
  }
  void set(std::uint64_t& word, std::uint64_t value) {
    detail::batched_atomic what;
    what.at = &word;
    what.how = detail::atomic_update::set;
    what.value = value;
    memory_->update(what, nullptr);
  }

  lazy_device device_;
  std::unique_ptr<detail::memory_access> memory_ = detail::make_device_memory_access(device_);
};

TEST_F(device_memory, is_waited_for_once_and_updates_go_together) {
  std::vector<std::uint64_t> words(10);
  std::vector<std::uint64_t> old(1000, 99);
  for (std::size_t i = 0; i < old.size(); ++i) add(words[i % 10], reinterpret_cast<std::byte*>(&old[i]));
  EXPECT_TRUE(memory_->pending());
  EXPECT_EQ(device_.updates, 0u) << "no later work to be ordered with";
  std::vector<std::uint64_t> copy(10);
  memory_->read(copy.data(), words.data(), {80});
  for (int i = 0; i < 5; ++i) add(words[0]);
  EXPECT_EQ(words[0], 0u) << "not synchronized";
  EXPECT_EQ(old[0], 99u);
  EXPECT_EQ(device_.waits, 0u);
  memory_->complete();
  EXPECT_EQ(device_.waits, 1u);
  EXPECT_EQ(device_.updates, 2u);
  EXPECT_EQ(copy, std::vector<std::uint64_t>(10, 100));
  EXPECT_EQ(words[0], 105u);
  for (std::size_t i = 0; i < old.size(); ++i) ASSERT_EQ(old[i], i / 10);
  memory_->complete();
  EXPECT_EQ(device_.waits, 1u) << "nothing was pending";
}

TEST_F(device_memory, words_are_set_without_a_kernel_unless_one_has_to_come_before) {
  std::uint64_t word = 0;
  set(word, 5);
  set(word, 6);
  memory_->complete();
  EXPECT_EQ(word, 6u);
  EXPECT_EQ(device_.updates, 0u);
  add(word);
  set(word, 9);
  add(word);
  memory_->complete();
  EXPECT_EQ(word, 10u);
  EXPECT_EQ(device_.updates, 1u);
}

TEST_F(device_memory, messages_are_filled_without_a_copy_in_between) {
  const std::span<std::byte> messages = memory_->buffers();
  ASSERT_GE(messages.size(), std::size_t{1} << 20);
  const std::vector<std::byte> data = pattern(messages.size(), 3);
  memory_->read(messages.data(), data.data(), {data.size()});
  EXPECT_EQ(device_.copies, 1u);
  EXPECT_EQ(device_.waits, 0u) << "however small the staging memory";
  EXPECT_TRUE(memory_->pending());
  memory_->complete();
  EXPECT_FALSE(memory_->pending());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), messages.begin()));
}

}  // namespace
}  // namespace pgas::testing
