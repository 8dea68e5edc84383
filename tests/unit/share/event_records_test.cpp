// The records of an interprocess event, with streams of the host in place of GPU streams.
#include "host/share/event_records.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "code_of.hpp"
#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {
namespace {

using detail::event_records;
using detail::record_page;
using std::chrono::milliseconds;

constexpr std::uint64_t name_of_7 = (std::uint64_t{1} << 32) | 7;
constexpr std::uint64_t name_of_8 = (std::uint64_t{1} << 32) | 8;

/// An event as two processes with the pids 7 and 8 use it. Also a stream whose first work lasts until `open_` is true.
class event_records_test : public testing::Test {
 protected:
  void block(detail::stream_handle stream) {
    run_grid_on_cpu(*device_, stream, {1, 1}, [this](const cpu_block&) {
      while (!open_) std::this_thread::sleep_for(milliseconds(1));
    });
  }
  event_records part(std::uint64_t name) {
    return event_records(*page_, detail::make_cpu_stream_words(), name, [this](std::uint64_t id) {
      return ended_.contains(id) ? std::optional<pid_t>(static_cast<pid_t>(id & 0xffff)) : std::nullopt;
    });
  }

  std::unique_ptr<detail::device> device_ = detail::make_cpu_device();
  std::unique_ptr<record_page> page_ = std::make_unique<record_page>();
  std::set<std::uint64_t> ended_;
  std::atomic<bool> open_{false};
  const std::function<void()> nothing_ = [] {};
};

TEST_F(event_records_test, a_wait_is_for_the_last_record_of_whichever_process) {
  event_records seven = part(name_of_7);
  event_records eight = part(name_of_8);
  detail::stream_handle stream = device_->create_stream();
  detail::stream_handle waiting = device_->create_stream();
  block(stream);
  EXPECT_EQ(seven.record(stream, nothing_), 1U);
  EXPECT_EQ(eight.count(), 1U);
  eight.wait(waiting);
  EXPECT_FALSE(eight.reached(1));
  open_ = true;
  device_->synchronize(waiting);
  EXPECT_TRUE(eight.reached(1));
  EXPECT_EQ(eight.record(nullptr, nothing_), 2U);
  EXPECT_EQ(seven.count(), 2U);
  EXPECT_EQ(seven.lost_wait(), std::nullopt);
  device_->synchronize(stream);
  device_->destroy_stream(stream);
  device_->destroy_stream(waiting);
}

TEST_F(event_records_test, the_end_of_a_recorder_ends_waits_and_names_the_recorder) {
  event_records seven = part(name_of_7);
  event_records eight = part(name_of_8);
  detail::stream_handle stream = device_->create_stream();
  detail::stream_handle waiting = device_->create_stream();
  block(stream);
  seven.record(nullptr, nothing_);
  seven.record(stream, nothing_);
  eight.wait(waiting);
  EXPECT_EQ(eight.release_lost(), std::nullopt);
  EXPECT_EQ(eight.lost_wait(), std::nullopt);
  ended_.insert(name_of_7);
  EXPECT_EQ(eight.release_lost(), std::optional<pid_t>(7));
  device_->synchronize(waiting);
  EXPECT_EQ(eight.lost_wait(), std::optional<pid_t>(7));
  EXPECT_EQ(eight.release_lost(), std::nullopt);
  // The event continues with another recorder, and the next wait reports no loss. CUDA's event cannot continue.
  EXPECT_EQ(eight.record(nullptr, [] { FAIL() << "a stream that records CUDA's event would stop"; }), 3U);
  eight.wait(waiting);
  device_->synchronize(waiting);
  EXPECT_EQ(eight.lost_wait(), std::nullopt);
  open_ = true;
  device_->synchronize(stream);
  device_->destroy_stream(stream);
  device_->destroy_stream(waiting);
}

TEST_F(event_records_test, a_second_process_that_finds_the_end_leaves_the_mark) {
  event_records seven = part(name_of_7);
  event_records eight = part(name_of_8);
  // `eight` writes the word after this process has read it and before this process tries to write it.
  event_records nine(*page_, detail::make_cpu_stream_words(), name_of_8 + 1, [&](std::uint64_t) {
    static_cast<void>(eight.release_lost());
    return std::optional<pid_t>(7);
  });
  detail::stream_handle stream = device_->create_stream();
  detail::stream_handle waiting = device_->create_stream();
  block(stream);
  seven.record(stream, nothing_);
  eight.wait(waiting);
  ended_.insert(name_of_7);
  EXPECT_EQ(nine.release_lost(), std::nullopt);
  device_->synchronize(waiting);
  EXPECT_EQ(eight.lost_wait(), std::optional<pid_t>(7));
  // The stream of the lost process continues and ends its work. The event still reports the loss.
  open_ = true;
  device_->synchronize(stream);
  EXPECT_EQ(eight.lost_wait(), std::optional<pid_t>(7));
  device_->destroy_stream(stream);
  device_->destroy_stream(waiting);
}

TEST_F(event_records_test, a_recorder_waits_while_too_many_are_under_way) {
  event_records seven = part(name_of_7);
  detail::stream_handle stream = device_->create_stream();
  block(stream);
  std::atomic<std::uint64_t> result{0};
  std::thread recorder([&] {
    for (std::uint64_t n = 1; n <= 2 * record_page::most_under_way; ++n) result = seven.record(stream, nothing_);
  });
  while (result < record_page::most_under_way) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(result, record_page::most_under_way);
  open_ = true;
  recorder.join();
  seven.wait(stream);
  device_->synchronize(stream);
  EXPECT_TRUE(seven.reached(2 * record_page::most_under_way));
  device_->destroy_stream(stream);
}

TEST_F(event_records_test, a_process_that_ends_while_it_records_delays_no_other_process) {
  event_records eight = part(name_of_8);
  page_->recording = name_of_7;  // the process ends before its record
  ended_.insert(name_of_7);
  EXPECT_EQ(eight.record(nullptr, nothing_), 1U);
  // The process ends after it has claimed the number and before its stream has enqueued the write of the word.
  page_->recording = name_of_7;
  page_->slot_of(2).recorder = name_of_7;
  page_->records = 2;
  detail::stream_handle waiting = device_->create_stream();
  eight.wait(waiting);
  EXPECT_EQ(eight.release_lost(), std::optional<pid_t>(7));
  device_->synchronize(waiting);
  EXPECT_EQ(eight.lost_wait(), std::optional<pid_t>(7));
  EXPECT_EQ(eight.record(nullptr, nothing_), 3U);
  device_->destroy_stream(waiting);
}

TEST_F(event_records_test, an_event_that_fails_leaves_no_record) {
  event_records seven = part(name_of_7);
  EXPECT_EQ(pgas_test::code_of([&] { seven.record(nullptr, [] { throw error(code::device_failed, "no event"); }); }),
            code::device_failed);
  EXPECT_EQ(seven.count(), 0U);
  EXPECT_EQ(part(name_of_8).record(nullptr, nothing_), 1U);
}

TEST_F(event_records_test, many_recorders_get_a_number_each) {
  constexpr int threads = 4;
  constexpr std::uint64_t each = 3000;
  std::vector<std::thread> all;
  std::atomic<std::uint64_t> sum{0};
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      event_records mine = part(name_of_7 + static_cast<std::uint64_t>(t));
      for (std::uint64_t n = 0; n < each; ++n) sum += mine.record(nullptr, nothing_);
    });
  for (std::thread& item : all) item.join();
  const std::uint64_t last = threads * each;
  EXPECT_EQ(part(name_of_7).count(), last);
  EXPECT_EQ(sum, last * (last + 1) / 2);
  EXPECT_TRUE(part(name_of_7).reached(last));
}

}  // namespace
}  // namespace pgas::unit_test
