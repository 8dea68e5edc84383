// Words that streams of the host heap write and await.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "code_of.hpp"
#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "device/stream_sync.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {
namespace {

using detail::await_word;
using detail::make_cpu_device;
using detail::make_cpu_stream_word;
using pgas_test::code_of;
using std::chrono::milliseconds;

const std::function<void()> no_check = [] {};

TEST(cpu_stream_word, without_a_stream_is_written_at_once_and_awaited_by_the_caller) {
  std::uint64_t memory = 0;
  const auto word = make_cpu_stream_word(&memory);
  EXPECT_EQ(word->address(), &memory);
  EXPECT_FALSE(word->waits_on_device());
  word->write(nullptr, 7, nullptr);
  EXPECT_EQ(memory, 7U);
  word->wait(nullptr, 7, no_check);
  word->wait(nullptr, 3, no_check);
}

TEST(cpu_stream_word, is_written_after_the_earlier_work_of_the_stream) {
  const auto device = make_cpu_device();
  const auto word_memory = std::make_unique<std::uint64_t>(0);
  const auto word = make_cpu_stream_word(word_memory.get());
  detail::stream_handle stream = device->create_stream();
  std::atomic<bool> open{false};
  run_grid_on_cpu(*device, stream, {1, 1}, [&](const cpu_block&) {
    while (!open) std::this_thread::sleep_for(milliseconds(1));
  });
  std::vector<int> from(100000, 5);
  std::vector<int> to(from.size());
  device->copy(to.data(), from.data(), from.size() * sizeof(int), stream);
  word->write(stream, 1, nullptr);
  EXPECT_EQ(std::atomic_ref(*word_memory).load(), 0U);
  open = true;
  await_word(word_memory.get(), 1, no_check);
  EXPECT_EQ(to, from);
  device->destroy_stream(stream);
}

TEST(cpu_stream_word, hands_data_from_stream_to_stream_both_ways) {
  const auto device = make_cpu_device();
  struct words {
    alignas(64) std::uint64_t full = 0;
    alignas(64) std::uint64_t free = 0;
  } memory;
  const auto full = make_cpu_stream_word(&memory.full);
  const auto free = make_cpu_stream_word(&memory.free);
  detail::stream_handle producer = device->create_stream();
  detail::stream_handle consumer = device->create_stream();
  constexpr std::uint64_t rounds = 300;
  std::vector<std::uint64_t> source(rounds + 1);
  std::vector<std::uint64_t> taken(rounds + 1);
  for (std::uint64_t i = 1; i <= rounds; ++i) source[i] = i * i;
  std::uint64_t slot = 0;
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    free->wait(producer, i - 1, no_check);
    device->copy(&slot, &source[i], sizeof(slot), producer);
    full->write(producer, i, nullptr);
    full->wait(consumer, i, no_check);
    device->copy(&taken[i], &slot, sizeof(slot), consumer);
    free->write(consumer, i, nullptr);
  }
  device->synchronize(producer);
  device->synchronize(consumer);
  EXPECT_EQ(taken, source);
  device->destroy_stream(producer);
  device->destroy_stream(consumer);
}

TEST(cpu_stream_word, a_check_that_throws_ends_the_wait_and_is_the_error_of_the_stream) {
  const auto device = make_cpu_device();
  std::uint64_t memory = 0;
  const auto word = make_cpu_stream_word(&memory);
  const auto lost = [] { throw error(code::peer_lost, "process 17 has ended"); };
  EXPECT_EQ(code_of([&] { word->wait(nullptr, 1, lost); }), code::peer_lost);
  detail::stream_handle stream = device->create_stream();
  word->wait(stream, 1, lost);
  EXPECT_EQ(code_of([&] { device->synchronize(stream); }), code::peer_lost);
  device->synchronize(stream);
  device->destroy_stream(stream);
}

TEST(cpu_stream_word, lives_until_it_has_been_written) {
  const auto device = make_cpu_device();
  detail::stream_handle stream = device->create_stream();
  std::atomic<bool> open{false};
  run_grid_on_cpu(*device, stream, {1, 1}, [&](const cpu_block&) {
    while (!open) std::this_thread::sleep_for(milliseconds(1));
  });
  std::weak_ptr<std::uint64_t> watched;
  {
    const auto memory = std::make_shared<std::uint64_t>(0);
    watched = memory;
    make_cpu_stream_word(memory.get())->write(stream, 1, memory);
  }
  EXPECT_FALSE(watched.expired());
  open = true;
  device->synchronize(stream);
  device->destroy_stream(stream);
  EXPECT_TRUE(watched.expired());
}

TEST(cpu_stream_word, a_value_near_the_end_of_the_range_releases_all_waits) {
  std::uint64_t memory = (std::uint64_t{1} << 63) - 1;
  await_word(&memory, 0, no_check);
  await_word(&memory, 1, no_check);
  await_word(&memory, std::uint64_t{1} << 62, no_check);
}

}  // namespace
}  // namespace pgas::unit_test
