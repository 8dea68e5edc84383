// Failed work on one PE's device: collective calls report the failure to all PEs immediately.
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pgas/compat_support.hpp"
#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

/// A kernel that fails.
struct failing {
  template <class Block>
  PGAS_FN void operator()(Block, pgas::context, std::atomic<bool>* begun) const {
    begun->store(true);
    throw std::runtime_error("an illegal address");
  }
};

TEST(FailedWork, EndsTheWorldWherePesMeet) {
  const std::vector<std::pair<const char*, std::function<void(world&)>>> collectives{
      {"barrier_all", [](world& w) { w.barrier_all(); }},
      {"barrier", [](world& w) { barrier(w.team()); }},
      {"sync", [](world& w) { sync(w.team()); }},
      {"allocate", [](world& w) { static_cast<void>(w.allocate<int>(1)); }},
      {"broadcast",
       [](world& w) {
         auto data = w.allocate<int>(2);
         broadcast(w.team(), data.data(), data.data() + 1, 1, 0);
       }},
      {"leave", [](world& w) { w.leave(); }},
  };
  for (const auto& [name, collective] : collectives) {
    const auto ends = run_worlds(3, [&collective = collective](world& w) {
      std::atomic<bool> begun{false};
      stream on(w);
      if (w.my_pe() == 1) {
        launch(w, {.blocks = 1, .threads = 1, .on = &on}, failing{}, w.context(), &begun);
        while (!begun || !detail::is_idle(w, on)) std::this_thread::yield();
      }
      const auto from = std::chrono::steady_clock::now();
      try {
        collective(w);
      } catch (const error&) {
        EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(10));
        // This PE stays alive for a moment, so that the other PEs do not learn of the failure from the end of this PE.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        throw;
      }
    });
    for (const auto& end : ends) {
      ASSERT_TRUE(end) << name;
      EXPECT_EQ(end->code(), code::device_failed) << name << ": " << end->what();
      EXPECT_NE(std::string(end->what()).find("an illegal address"), std::string::npos) << name << ": " << end->what();
    }
  }
}

}  // namespace
}  // namespace pgas_world_test
