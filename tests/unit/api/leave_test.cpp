// Leaving a world whose streams have work.
#include <chrono>
#include <thread>

#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

TEST(Leave, AWaitOnAStreamThatNobodyEndsFailsTheWorld) {
  config settings = small_world();
  settings.join_timeout = std::chrono::seconds(3);
  const auto ends = run_worlds(
      2,
      [](world& w) {
        auto word = w.allocate<signal_t>(1, initialize::zero);
        stream on(w);
        wait_until(w, on, word.data(), cmp::ge, signal_t{1});
        w.leave();
        ADD_FAILURE() << "left while a stream waits";
      },
      settings);
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout) << end->what();
  }
}

TEST(Leave, WaitsForStreamsWhoseWaitsAnotherPeEnds) {
  expect_no_error(run_worlds(2, [](world& w) {
    auto word = w.allocate<signal_t>(1, initialize::zero);
    auto data = w.allocate<int>(1, initialize::zero);
    const int value = 7;
    stream on(w);
    wait_until(w, on, word.data(), cmp::ge, signal_t{1});
    put(w, on, data.data(), &value, 1, w.my_pe());
    if (w.my_pe() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    signal_set(w, word.data(), 1, 1 - w.my_pe());
    w.leave();
  }));
}

// One thread may call shmem_global_exit() while another thread calls shmem_finalize().
TEST(Leave, AnAbortByAnotherThreadReachesTheLauncherAndThePeers) {
  for (int round = 0; round < 20; ++round)
    static_cast<void>(run_worlds(2, [](world& w) {
      std::thread other;
      if (w.my_pe() == 0) other = std::thread([&w] { w.abort("the end"); });
      try {
        w.leave();
      } catch (const error& failure) {
        EXPECT_EQ(failure.code(), code::aborted) << failure.what();
      }
      if (other.joinable()) other.join();
    }));
}

}  // namespace
}  // namespace pgas_world_test
