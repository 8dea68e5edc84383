// The proxy thread sleeps while it can only wait for its peers.
#include "host/proxy/proxy_thread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "pgas/detail/proxy_ring.hpp"
#include "unit/proxy/idle_transport.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A network whose other PEs are stopped: it accepts all messages and forwards none.
class stuck_transport final : public idle_transport {
 public:
  struct sleeps {
    std::atomic<int> count{0};
    std::atomic<nanoseconds> longest{nanoseconds(0)};  ///< the longest limit of the waits
  };
  explicit stuck_transport(sleeps& seen) : seen_(seen) {}

  void wait(nanoseconds limit) override {
    seen_.longest = std::max(seen_.longest.load(), limit);
    ++seen_.count;
    std::this_thread::sleep_for(std::min<nanoseconds>(limit, milliseconds(1)));
  }

 private:
  sleeps& seen_;
};

TEST(proxy_thread, sleeps_for_a_short_time_while_its_commands_wait_for_peers) {
  constexpr int commands = 1000;
  stuck_transport::sleeps seen;
  std::vector<std::byte> slot(std::size_t{1} << 16);
  detail::proxy_settings settings;
  settings.me = 0;
  settings.n = 2;
  settings.slot = slot.data();
  settings.contains = [](std::uint64_t, std::uint64_t) { return true; };
  const std::unique_ptr<detail::memory_access> memory = detail::make_host_memory_access();
  log::logger log(log_level::error);
  detail::host_ring ring(11, 4);
  detail::proxy_thread proxy(std::move(settings), std::make_unique<stuck_transport>(seen), *memory, log);
  proxy.connect({{}, {}});
  proxy.add_ring(ring.consumer());
  const producer here(ring.producers());
  const std::vector<std::byte> data(8000);
  for (int i = 0; i < commands; ++i) here.push(put(1, 64, data.data(), data.size()));
  const auto taken = [&] { return load_acquire(here.ring().progress->taken); };
  std::uint64_t before = 0;
  wait_for("a command that can't be taken", [&] {
    std::this_thread::sleep_for(milliseconds(20));
    return taken() != 0 && taken() == std::exchange(before, taken());
  });
  ASSERT_LT(taken(), static_cast<std::uint64_t>(commands));

  const auto sleeps_on = [&] {
    seen.longest = nanoseconds(0);
    const int slept = seen.count;
    for (int i = 0; i < 1000 && seen.count < slept + 10; ++i) std::this_thread::sleep_for(milliseconds(10));
    return seen.count >= slept + 10;
  };
  EXPECT_TRUE(sleeps_on()) << "commands that can't be taken keep the proxy awake";
  EXPECT_LE(seen.longest.load(), milliseconds(1));
  proxy.remove_ring(ring.consumer());
  EXPECT_TRUE(sleeps_on());
  EXPECT_LE(seen.longest.load(), milliseconds(1)) << "it has messages to send, if no ring";
  proxy.stop(milliseconds(10));
}

}  // namespace
}  // namespace pgas::testing
