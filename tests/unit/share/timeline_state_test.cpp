// A timeline as one process uses it, with streams of the host in place of GPU streams.
#include "host/share/timeline_state.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "code_of.hpp"
#include "comes.hpp"
#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"

namespace {

using namespace std::chrono_literals;
using pgas::code;
using pgas::memory_place;
using pgas::timeline;
using pgas::detail::shared_page;
using pgas::detail::stream_words;
using pgas::detail::ticket_kind;
using pgas::detail::timeline_page;
using pgas::detail::timeline_state;
using pgas_test::code_of;
using pgas_test::comes;
using pgas_test::text_of;

/// Words that behave like the words of a GPU. A stream does not keep the pages of a word alive, a wait calls no check
/// function, and only a write to the word ends the wait.
class device_words final : public stream_words {
 public:
  [[nodiscard]] std::uint64_t* address(std::uint64_t* word) const noexcept override { return word; }
  void write(void* stream, std::uint64_t* word, std::uint64_t value, std::shared_ptr<const void>) override {
    if (refuses) throw pgas::error(code::device_failed, "the stream takes nothing");
    on_host_->write(stream, word, value, nullptr);
  }
  void wait(void*, std::uint64_t*, std::uint64_t, std::function<void()>) override {}
  [[nodiscard]] bool wait_on_device() const noexcept override { return true; }
  bool refuses = false;

 private:
  std::unique_ptr<stream_words> on_host_ = pgas::detail::make_cpu_stream_words();
};

struct test_timeline {
  device_words* words = new device_words;
  std::shared_ptr<timeline_state> state = [this] {
    shared_page page = shared_page::make(ticket_kind::timeline, sizeof(timeline_page));
    ::new (page.data()) timeline_page{};
    return timeline_state::owned(
        std::make_unique<timeline_state>(std::move(page), memory_place::host(), std::unique_ptr<stream_words>(words)));
  }();
  std::string ticket() { return state->shared().make_ticket({}); }
};

/// A process that records 3 in a timeline and is killed.
pid_t lose_a_recorder(const std::string& ticket) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    try {
      timeline::open(ticket).set(2);
      timeline kept = timeline::open(ticket);
      kept.set(3);
      for (;;) ::pause();
    } catch (const pgas::error&) {
      ::_exit(1);
    }
  }
  return child;
}

TEST(TimelineState, WhatAStreamRefusedIsNotRecorded) {
  test_timeline item;
  item.state->record(nullptr, 1);
  item.words->refuses = true;
  EXPECT_EQ(code_of([&] { item.state->record(nullptr, 2); }), code::device_failed);
  EXPECT_EQ(item.state->recorded(), 1U);
  EXPECT_EQ(item.state->query(), 1U);
}

TEST(TimelineState, AfterAReleaseTheValueAndTheLostProcessStay) {
  test_timeline item;
  const std::string ticket = item.ticket();
  const pid_t child = lose_a_recorder(ticket);
  ASSERT_TRUE(comes([&] { return item.state->query() == 3; }));
  ASSERT_TRUE(comes([&] { return !item.state->find_loss(); }));
  const timeline other = timeline::open(ticket);
  item.state->wait(nullptr, 5);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop)
      if (other.query() != 3) ++wrong;
  });
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(comes([&] { return pgas::detail::load_relaxed(item.state->word()) >= 5; }));
  const std::string process = "process " + std::to_string(child) + " ";
  EXPECT_NE(text_of([&] { item.state->check_waits(); }).find(process), std::string::npos);
  EXPECT_NE(text_of([&] { other.check(); }).find(process), std::string::npos) << text_of([&] { other.check(); });
  item.state.reset();  // the end of the timeline's maker changes neither the word nor the loss
  EXPECT_EQ(other.query(), 3U);
  EXPECT_NE(text_of([&] { other.check(); }).find(process), std::string::npos) << text_of([&] { other.check(); });
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

// The thread that looks for lost processes reads the word, and then waits for the mutex of the timeline. Meanwhile the
// awaited value arrives, and the process that has written the value ends.
TEST(TimelineState, AValueThatArrivesDuringALookIsNotLost) {
  test_timeline item;
  const std::string ticket = item.ticket();
  int start[2];
  int done[2];
  ASSERT_EQ(::pipe(start) + ::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    try {
      timeline kept = timeline::open(ticket);
      kept.set(3);
      char byte = 0;
      if (::read(start[0], &byte, 1) != 1) ::_exit(1);
      kept.set(5);
      if (::write(done[1], &byte, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    } catch (const pgas::error&) {
      ::_exit(1);
    }
  }
  ASSERT_TRUE(comes([&] { return item.state->query() == 3; }));
  item.state->wait(nullptr, 5);
  // After this time, the thread that looks for lost processes has noted the process.
  std::this_thread::sleep_for(500ms);
  {
    const std::lock_guard held(item.state->mutex());
    std::this_thread::sleep_for(400ms);
    char byte = 0;
    ASSERT_EQ(::write(start[1], &byte, 1), 1);
    ASSERT_EQ(::read(done[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    std::this_thread::sleep_for(200ms);
  }
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(pgas::detail::load_relaxed(item.state->word()), 5U);
  EXPECT_EQ(text_of([&] { item.state->check_waits(); }), "no error");
  EXPECT_EQ(text_of([&] { item.state->wait(nullptr, 5); }), "no error");
  for (const int fd : {start[0], start[1], done[0], done[1]}) ::close(fd);
}

TEST(TimelineState, WhoOpensATimelineAgainIsMissedAgain) {
  test_timeline item;
  const std::string ticket = item.ticket();
  const timeline other = timeline::open(ticket);
  int steps[2];
  ASSERT_EQ(::pipe(steps), 0);
  const auto next_step = [&] { return ::write(steps[1], "", 1) == 1; };
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    try {
      for (const std::uint64_t value : {1U, 2U}) {
        timeline opened = timeline::open(ticket);
        opened.set(value);
        char step = 0;
        if (::read(steps[0], &step, 1) != 1) ::_exit(1);
        opened = timeline();
        if (::read(steps[0], &step, 1) != 1) ::_exit(1);
      }
    } catch (const pgas::error&) {
      ::_exit(1);
    }
  }
  ASSERT_TRUE(comes([&] { return item.state->query() == 1; }));
  ASSERT_FALSE(item.state->find_loss());
  ASSERT_TRUE(next_step());
  ASSERT_TRUE(comes([&] { return item.state->find_loss() == child; }));
  ASSERT_TRUE(next_step());
  ASSERT_TRUE(comes([&] { return item.state->query() == 2; }));
  ASSERT_TRUE(comes([&] { return !item.state->find_loss(); }));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(comes([&] { return item.state->find_loss() == child; }));
  ::close(steps[0]);
  ::close(steps[1]);
}

TEST(TimelineState, WhatWasRecordedBeforeTheDropStillComes) {
  test_timeline item;
  const std::string ticket = item.ticket();
  const timeline other = timeline::open(ticket);
  const auto device = pgas::detail::make_cpu_device();
  const pgas::detail::stream_handle stream = device->create_stream();
  std::atomic<bool> open{false};
  run_grid_on_cpu(*device, stream, {1, 1}, [&](const pgas::cpu_block&) {
    while (!open) std::this_thread::sleep_for(1ms);
  });
  item.state->record(stream, 7);
  item.state.reset();
  EXPECT_EQ(other.query(), 0U);
  EXPECT_EQ(code_of([&] { other.wait_host(8, 20s); }), code::peer_lost);  // no process will record the value
  // the stream is about to record the value
  EXPECT_EQ(code_of([&] { other.wait_host(7, 100ms); }), code::wait_timeout);
  EXPECT_FALSE(other.alive());
  EXPECT_EQ(code_of([&] { static_cast<void>(timeline::open(ticket)); }), code::peer_lost);
  open = true;
  other.wait_host(7, 20s);
  device->destroy_stream(stream);
  EXPECT_TRUE(comes([&] { return code_of([&] { other.wait_host(9, 20s); }) == code::peer_lost; }));
  EXPECT_EQ(other.query(), 7U);
}

TEST(TimelineState, AWaitOfItsMakerForWhatNobodyRecordsEndsAfterTheDrop) {
  test_timeline item;
  const timeline other = timeline::open(item.ticket());
  const auto device = pgas::detail::make_cpu_device();
  const pgas::detail::stream_handle stream = device->create_stream();
  run_grid_on_cpu(*device, stream, {1, 1}, [&](const pgas::cpu_block&) {
    EXPECT_TRUE(comes([&] { return pgas::detail::load_relaxed(other.word()) >= 5; }));
  });
  item.state->wait(stream, 5);
  item.state.reset();
  device->synchronize(stream);
  EXPECT_EQ(other.query(), 0U);
  device->destroy_stream(stream);
}

/// The warnings about waits that are logged while `wait` runs with this PGAS_WAIT_WARNING.
std::string warnings_of(const auto& wait, const char* after = "300ms") {
  ::setenv("PGAS_WAIT_WARNING", after, 1);
  testing::internal::CaptureStderr();
  wait();
  ::unsetenv("PGAS_WAIT_WARNING");
  return testing::internal::GetCapturedStderr();
}
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(TimelineState, ALongWaitOfAThreadIsWarnedOfOnce) {
  test_timeline item;
  item.state->set(2);
  const std::string said =
      warnings_of([&] { EXPECT_EQ(code_of([&] { item.state->wait_host(5, 2s); }), code::wait_timeout); });
  EXPECT_EQ(count(said, "a thread has waited"), 1U) << said;
  EXPECT_EQ(count(said, "for value 5 of the timeline of process " + std::to_string(::getpid())), 1U) << said;
  EXPECT_EQ(count(said, "Its value is 2"), 1U) << said;
}

TEST(TimelineState, ALongWaitOfAStreamIsWarnedOfOnce) {
  timeline on_host = timeline::make(memory_place::host());
  const auto device = pgas::detail::make_cpu_device();
  const pgas::detail::stream_handle stream = device->create_stream();
  test_timeline of_gpu;
  const std::string said = warnings_of([&] {
    on_host.wait(stream, 1);
    of_gpu.state->wait(nullptr, 4);
    std::this_thread::sleep_for(3s);
    on_host.set(1);
    of_gpu.state->set(4);
    device->synchronize(stream);
  });
  EXPECT_EQ(count(said, "a stream has waited"), 1U) << said;
  EXPECT_EQ(count(said, "a stream of a GPU has waited"), 1U) << said;
  EXPECT_EQ(count(said, "no process has recorded a value"), 2U) << said;
  device->destroy_stream(stream);
}

TEST(TimelineState, AShortWaitIsNotWarnedOf) {
  test_timeline item;
  const std::string said =
      warnings_of([&] { EXPECT_EQ(code_of([&] { item.state->wait_host(5, 150ms); }), code::wait_timeout); }, "20s");
  EXPECT_EQ(said, "");
}

}  // namespace
