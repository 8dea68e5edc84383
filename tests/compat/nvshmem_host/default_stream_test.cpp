// The order between CUDA's legacy default stream and host calls, with a fake driver whose stream is a thread.
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <thread>
#include <utility>
#include <vector>

#include "fake_driver.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Work of the stream. The work begins immediately, takes a while, and calls `last` at its end.
class StreamWork {
 public:
  explicit StreamWork(std::function<void()> last) {
    fake_driver_set_busy(true);
    thread_ = std::thread([this, last = std::move(last)] {
      std::this_thread::sleep_for(50ms);
      last();
      done_ = true;
      fake_driver_set_busy(false);
    });
  }
  ~StreamWork() { thread_.join(); }
  [[nodiscard]] bool done() const { return done_; }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

/// Tests with this value of PGAS_DEFAULT_STREAM_WAIT.
template <int Milliseconds>
class Waiting : public Nvshmem {
 protected:
  void SetUp() override {
    ::setenv("PGAS_DEFAULT_STREAM_WAIT", (std::to_string(Milliseconds) + "ms").c_str(), 1);
    Nvshmem::SetUp();
    nvshmem_barrier_all();
  }
  void TearDown() override {
    fake_driver_set_busy(false);
    fake_driver_set_capturing(false);
    fake_driver_set_capture_begun(false);
    Nvshmem::TearDown();
  }
};
using DefaultStream = Waiting<20'000>;
using DefaultStreamInVain = Waiting<200>;
using DefaultStreamUnwatched = Waiting<0>;

/// The sequence is: cudaMemset(word); nvshmem_barrier_all(); a kernel that signals the neighbour.
TEST_F(DefaultStream, a_word_cleared_before_a_barrier_keeps_the_signal_behind_it) {
  Symmetric<uint64_t> word(1);
  {
    const StreamWork clear([&] { *static_cast<volatile uint64_t*>(static_cast<uint64_t*>(word)) = 0; });
    nvshmem_barrier_all();
    nvshmem_uint64_p(word, 1, (me + 1) % n);
  }
  nvshmem_barrier_all();
  EXPECT_EQ(*word, 1u);
}

TEST_F(DefaultStream, all_that_meets_on_the_host_comes_after_it) {
  void* memory = nvshmem_malloc(16);
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"barrier_all", [] { nvshmem_barrier_all(); }},
      {"barrier", [] { nvshmem_barrier(NVSHMEM_TEAM_WORLD); }},
      {"sync_all", [] { nvshmem_sync_all(); }},
      {"sync", [] { nvshmem_sync(NVSHMEM_TEAM_WORLD); }},
      {"team_sync", [] { nvshmem_team_sync(NVSHMEM_TEAM_WORLD); }},
      {"free", [&] { nvshmem_free(memory); }},
      {"malloc", [&] { memory = nvshmem_malloc(16); }},
      {"free", [&] { nvshmem_free(memory); }},
      {"calloc", [&] { memory = nvshmem_calloc(4, 4); }},
      {"free", [&] { nvshmem_free(memory); }},
      {"align", [&] { memory = nvshmem_align(64, 16); }},
      {"broadcastmem", [&] { nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, memory, memory, 4, 0); }},
  };
  for (const auto& [name, call] : calls) {
    const StreamWork work([] {});
    call();
    EXPECT_TRUE(work.done()) << name;
  }
  nvshmem_free(memory);
}

TEST_F(DefaultStreamInVain, a_kernel_that_waits_for_this_host_holds_up_nothing_for_ever) {
  fake_driver_set_busy(true);
  testing::internal::CaptureStderr();
  const auto began = clock::now();
  nvshmem_barrier_all();
  const auto took = clock::now() - began;
  nvshmem_barrier_all();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 10s);
  const auto first = said.find("still busy after 200ms (PGAS_DEFAULT_STREAM_WAIT)");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("still busy", first + 1), std::string::npos) << "a process says it once: " << said;
}

TEST_F(DefaultStream, a_graph_that_is_captured_is_left_alone) {
  fake_driver_set_busy(true);
  fake_driver_set_capturing(true);
  const int before = fake_driver_queries();
  nvshmem_barrier_all();
  EXPECT_EQ(fake_driver_queries(), before);
}

TEST_F(DefaultStream, a_capture_that_begins_meanwhile_is_no_failure_of_the_gpu) {
  fake_driver_set_capture_begun(true);
  const int before = fake_driver_queries();
  nvshmem_barrier_all();
  EXPECT_GT(fake_driver_queries(), before);
}

TEST_F(DefaultStreamUnwatched, nobody_asks) {
  fake_driver_set_busy(true);
  const int before = fake_driver_queries();
  nvshmem_barrier_all();
  EXPECT_EQ(fake_driver_queries(), before);
}

/// PE 1 dies while PE 0 waits for its stream.
int wait_for_the_dead() {
  ::setenv("PGAS_DEFAULT_STREAM_WAIT", "60s", 1);
  nvshmem_init();
  nvshmem_barrier_all();
  if (nvshmem_my_pe() == 1) ::_exit(3);
  fake_driver_set_busy(true);
  const auto began = clock::now();
  const int status = nvshmem_barrier(NVSHMEM_TEAM_WORLD);
  if (status != NVSHMEMX_SUCCESS && clock::now() - began < 3s) std::cout << "told in time" << std::endl;
  ::_exit(0);
}

/// A kernel of PE 0 has failed. Neither PE detects the failure without a call. PE 0 calls a collective, while PE 1
/// waits for PE 0 in a collective or makes no calls.
int meet_the_failed(const char* how) {
  nvshmem_init();
  nvshmem_barrier_all();
  if (nvshmem_my_pe() == 1 && std::strcmp(how, "compute") == 0)
    for (;;) ::pause();
  fake_driver_set_failed(nvshmem_my_pe() == 0);
  if (std::strcmp(how, "status") == 0) {
    if (nvshmem_barrier(NVSHMEM_TEAM_WORLD) == NVSHMEMX_SUCCESS) return 0;
    for (;;) ::pause();
  }
  nvshmem_barrier_all();
  nvshmem_finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "dead") == 0) return wait_for_the_dead();
  if (argc == 3 && std::strcmp(argv[1], "failed") == 0) return meet_the_failed(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
