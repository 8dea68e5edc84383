// An object that streams may still use is released when the streams have executed the work that may use the object, and
// not earlier.
#include "host/share/deferred_release.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "comes.hpp"
#include "device/cpu_grid.hpp"
#include "device/device.hpp"
#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"

namespace {

using namespace std::chrono_literals;
using pgas::memory_place;
using pgas::opened_memory;
using pgas::shared_memory;
using pgas::detail::deferred_object;
using pgas::detail::deferred_release;
using pgas::detail::enqueued_work;
using pgas_test::comes;

/// Simulated streams. The work before a mark has run when the number of done steps reaches the number of steps that
/// were enqueued before the mark.
struct streams {
  std::atomic<int> enqueued{0};
  std::atomic<int> done{0};
  std::atomic<int> refusals{0};  ///< the number of marks that cannot be taken
  std::atomic<int> marks{0};     ///< the number of marks that were taken

  struct work final : enqueued_work {
    work(const streams& its, int end) : streams_(its), until(end) {}
    bool has_passed() override { return streams_.done >= until; }
    const streams& streams_;
    const int until;
  };
  std::unique_ptr<enqueued_work> mark() {
    if (refusals > 0) {
      --refusals;
      throw pgas::error(pgas::code::capturing, "a stream is being captured");
    }
    auto taken = std::make_unique<work>(*this, enqueued);
    ++marks;
    return taken;
  }
};

struct object final : deferred_object {
  object(std::atomic<int>& count, std::atomic<bool>& opened) : destroyed(count), open_elsewhere(opened) {}
  ~object() override { ++destroyed; }
  bool can_end() noexcept override { return !open_elsewhere; }
  std::atomic<int>& destroyed;
  std::atomic<bool>& open_elsewhere;
};

class DeferredRelease : public testing::Test {
 protected:
  deferred_object* make_object() { return std::make_unique<object>(destroyed_, open_elsewhere_).release(); }
  streams streams_;
  std::atomic<int> destroyed_{0};
  std::atomic<bool> open_elsewhere_{false};
  deferred_release release_{[this] { return streams_.mark(); }};
};

TEST_F(DeferredRelease, IsAtOnceWhereStreamsAreIdle) {
  release_.drop(make_object());
  EXPECT_EQ(destroyed_, 1);
  EXPECT_EQ(release_.kept(), 0U);
}

TEST_F(DeferredRelease, WaitsForWhatHadBeenEnqueuedAndForNoMore) {
  streams_.enqueued = 1;
  release_.drop(make_object());
  // One mark is for the check whether streams are idle, and one mark is for the object.
  ASSERT_TRUE(comes([this] { return streams_.marks == 2; }));
  EXPECT_EQ(destroyed_, 0);
  streams_.enqueued = 2;
  release_.drop(make_object());
  ASSERT_TRUE(comes([this] { return streams_.marks == 3; }));
  streams_.done = 1;
  EXPECT_TRUE(comes([this] { return destroyed_ == 1; }));  // the object is destroyed without a call of the program
  std::this_thread::sleep_for(150ms);
  EXPECT_EQ(destroyed_, 1);
  streams_.done = 2;
  EXPECT_TRUE(comes([this] { return destroyed_ == 2; }));
}

TEST_F(DeferredRelease, WaitsWhileAnotherProcessHasTheObjectOpen) {
  open_elsewhere_ = true;
  release_.drop(make_object());
  release_.collect();
  EXPECT_EQ(destroyed_, 0);
  EXPECT_EQ(release_.kept(), 1U);
  open_elsewhere_ = false;
  EXPECT_TRUE(comes([this] { return destroyed_ == 1; }));
}

TEST_F(DeferredRelease, TakesTheMarkLaterWhereItCannotBeTakenNow) {
  streams_.refusals = 3;
  release_.drop(make_object());
  EXPECT_EQ(destroyed_, 0);
  EXPECT_TRUE(comes([this] { return destroyed_ == 1; }));
}

TEST_F(DeferredRelease, DroppingDoesNotWaitForStreams) {
  streams_.enqueued = 1;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) release_.drop(make_object());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  EXPECT_EQ(destroyed_, 0);
  EXPECT_FALSE(release_.await_all(5ms));
  streams_.done = 1;
  EXPECT_TRUE(release_.await_all(5s));
  EXPECT_EQ(destroyed_, 1000);
}

TEST_F(DeferredRelease, TheEndOfTheProcessWaitsForNoStream) {
  streams_.enqueued = 1;
  release_.drop(make_object());
  release_.stop();
  release_.drop(make_object());
  EXPECT_EQ(destroyed_, 0);
  EXPECT_EQ(release_.kept(), 2U);
  streams_.done = 1;
  EXPECT_TRUE(release_.await_all(5s));
}

TEST_F(DeferredRelease, AChildOfForkLeavesItsParentsObjectsAlone) {
  streams_.enqueued = 1;
  deferred_object* const item = make_object();
  release_.drop(make_object());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    streams_.done = 1;
    release_.drop(item);
    ::_exit(destroyed_);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  release_.drop(item);
  streams_.done = 1;
  EXPECT_TRUE(comes([this] { return destroyed_ == 2; }));
}

TEST_F(DeferredRelease, AChildOfForkHasAReleaseOfItsOwnWhateverItsParentsThreadsDid) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) static_cast<void>(deferred_release::of_host_streams().kept());
  });
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);
      deferred_release::of_host_streams().drop(make_object());
      ::_exit(destroyed_ == 1 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
}

/// A stream of the host that reads memory after `open` is set.
class slow_reader {
 public:
  explicit slow_reader(const void* at) : stream_(device_->create_stream()) {
    run_grid_on_cpu(*device_, stream_, {1, 1}, [this, at](const pgas::cpu_block&) {
      while (!open_) std::this_thread::sleep_for(1ms);
      std::memcpy(&read_, at, sizeof read_);
    });
  }
  ~slow_reader() {
    open_ = true;
    device_->destroy_stream(stream_);
  }
  int read() {
    open_ = true;
    device_->synchronize(stream_);
    return read_;
  }

 private:
  std::unique_ptr<pgas::detail::device> device_ = pgas::detail::make_cpu_device();
  pgas::detail::stream_handle stream_;
  std::atomic<bool> open_{false};
  int read_ = 0;
};

bool is_mapped(void* at) {
  unsigned char resident = 0;
  return ::mincore(at, 4096, &resident) == 0;
}

TEST(DroppedMemory, StaysWhileAStreamOfTheHostUsesIt) {
  shared_memory mine = shared_memory::make(memory_place::host(), 4096);
  opened_memory theirs = opened_memory::open(mine.ticket());
  static_cast<int*>(mine.data())[0] = 42;
  void* const here = mine.data();
  void* const remote = theirs.data();
  {
    slow_reader of_maker(here);
    slow_reader of_importer(remote);
    theirs = opened_memory();
    mine = shared_memory();
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(of_importer.read(), 42);
    EXPECT_EQ(of_maker.read(), 42);
  }
  EXPECT_TRUE(comes([&] { return !is_mapped(here) && !is_mapped(remote); }));
}

TEST(DroppedMemory, IsListedAsOpenUntilItIsUnmapped) {
  shared_memory mine = shared_memory::make(memory_place::host(), 4096);
  opened_memory theirs = opened_memory::open(mine.ticket());
  slow_reader reader(theirs.data());
  theirs = opened_memory();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(mine.opened_by().size(), 1U);
  static_cast<void>(reader.read());
  EXPECT_TRUE(comes([&] { return mine.opened_by().empty(); }));
}

}  // namespace
