/// @file
/// Worlds whose PEs are threads of the test, so that the thread sanitizer sees the accesses of all PEs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace pgas_world_test {

using namespace pgas;

inline config small_world() {
  config settings;
  settings.heap = heap_kind::host;
  settings.heap_limit = std::size_t{64} << 20;
  settings.segment_size = std::size_t{4} << 20;
  settings.wait_timeout = std::chrono::seconds(60);
  settings.log = log_level::error;
  return settings;
}

/// Runs `body(world)` on n PEs at the same time, each in a thread. Returns the pgas::error that each PE threw, if any.
/// Other exceptions fail the test. A PE that did not throw leaves the world.
inline std::vector<std::optional<error>> run_worlds(int n, const std::function<void(world&)>& body,
                                                    const config& settings = small_world()) {
  auto exchanges = make_thread_bootstraps(n, std::chrono::seconds(30));
  std::vector<std::optional<error>> ends(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (std::size_t pe = 0; pe < ends.size(); ++pe)
    threads.emplace_back([&, pe] {
      try {
        world w = world::join(std::move(exchanges[pe]), settings);
        body(w);
        w.leave();
      } catch (const error& thrown) {
        ends[pe] = thrown;
      } catch (const std::exception& thrown) {
        ADD_FAILURE() << "PE " << pe << ": " << thrown.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return ends;
}

inline void expect_no_error(const std::vector<std::optional<error>>& ends) {
  for (std::size_t pe = 0; pe < ends.size(); ++pe) EXPECT_FALSE(ends[pe]) << "PE " << pe << ": " << ends[pe]->what();
}

/// The code of the error that `call` throws. Empty if it throws none.
template <class Call>
std::optional<code> code_of(const Call& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.code();
  }
  return std::nullopt;
}

/// Runs `body(i)` on n threads of a PE.
inline void in_threads(int n, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&body, i] {
      try {
        body(i);
      } catch (const std::exception& thrown) {
        ADD_FAILURE() << "thread " << i << ": " << thrown.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace pgas_world_test
