// Words that streams of the host heap write and wait for.
#include "device/stream_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "code_of.hpp"
#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {
namespace {

using detail::await_word;
using detail::make_cpu_device;
using detail::make_cpu_stream_words;
using pgas_test::code_of;
using std::chrono::milliseconds;

const std::function<void()> no_check = [] {};

TEST(cpu_stream_words, without_a_stream_is_written_at_once_and_awaited_by_the_caller) {
  std::uint64_t memory = 0;
  const auto words = make_cpu_stream_words();
  EXPECT_EQ(words->address(&memory), &memory);
  EXPECT_FALSE(words->wait_on_device());
  words->write(nullptr, &memory, 7, nullptr);
  EXPECT_EQ(memory, 7U);
  words->wait(nullptr, &memory, 7, no_check);
  words->wait(nullptr, &memory, 3, no_check);
}

TEST(cpu_stream_words, is_written_after_the_earlier_work_of_the_stream) {
  const auto device = make_cpu_device();
  const auto word_memory = std::make_unique<std::uint64_t>(0);
  const auto words = make_cpu_stream_words();
  detail::stream_handle stream = device->create_stream();
  std::atomic<bool> open{false};
  run_grid_on_cpu(*device, stream, {1, 1}, [&](const cpu_block&) {
    while (!open) std::this_thread::sleep_for(milliseconds(1));
  });
  std::vector<int> from(100000, 5);
  std::vector<int> to(from.size());
  device->copy(to.data(), from.data(), from.size() * sizeof(int), stream);
  words->write(stream, word_memory.get(), 1, nullptr);
  EXPECT_EQ(std::atomic_ref(*word_memory).load(), 0U);
  open = true;
  await_word(word_memory.get(), 1, no_check);
  EXPECT_EQ(to, from);
  device->destroy_stream(stream);
}

TEST(cpu_stream_words, hands_data_from_stream_to_stream_both_ways) {
  const auto device = make_cpu_device();
  struct {
    alignas(64) std::uint64_t full = 0;
    alignas(64) std::uint64_t free = 0;
  } memory;
  const auto words = make_cpu_stream_words();
  detail::stream_handle producer = device->create_stream();
  detail::stream_handle consumer = device->create_stream();
  constexpr std::uint64_t rounds = 300;
  std::vector<std::uint64_t> source(rounds + 1);
  std::vector<std::uint64_t> taken(rounds + 1);
  for (std::uint64_t i = 1; i <= rounds; ++i) source[i] = i * i;
  std::uint64_t slot = 0;
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    words->wait(producer, &memory.free, i - 1, no_check);
    device->copy(&slot, &source[i], sizeof(slot), producer);
    words->write(producer, &memory.full, i, nullptr);
    words->wait(consumer, &memory.full, i, no_check);
    device->copy(&taken[i], &slot, sizeof(slot), consumer);
    words->write(consumer, &memory.free, i, nullptr);
  }
  device->synchronize(producer);
  device->synchronize(consumer);
  EXPECT_EQ(taken, source);
  device->destroy_stream(producer);
  device->destroy_stream(consumer);
}

TEST(cpu_stream_words, a_check_that_throws_ends_the_wait_and_is_the_error_of_the_stream) {
  const auto device = make_cpu_device();
  std::uint64_t memory = 0;
  const auto words = make_cpu_stream_words();
  const auto lost = [] { throw error(code::peer_lost, "process 17 has ended"); };
  EXPECT_EQ(code_of([&] { words->wait(nullptr, &memory, 1, lost); }), code::peer_lost);
  detail::stream_handle stream = device->create_stream();
  words->wait(stream, &memory, 1, lost);
  EXPECT_EQ(code_of([&] { device->synchronize(stream); }), code::peer_lost);
  device->synchronize(stream);
  device->destroy_stream(stream);
}

TEST(cpu_stream_words, lives_until_it_has_been_written) {
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
    make_cpu_stream_words()->write(stream, memory.get(), 1, memory);
  }
  EXPECT_FALSE(watched.expired());
  open = true;
  device->synchronize(stream);
  device->destroy_stream(stream);
  EXPECT_TRUE(watched.expired());
}

TEST(cpu_stream_words, a_value_near_the_end_of_the_range_releases_all_waits) {
  std::uint64_t memory = (std::uint64_t{1} << 63) - 1;
  await_word(&memory, 0, no_check);
  await_word(&memory, 1, no_check);
  await_word(&memory, std::uint64_t{1} << 62, no_check);
}

}  // namespace
}  // namespace pgas::unit_test
