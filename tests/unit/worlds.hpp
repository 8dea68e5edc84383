/// @file
/// Worlds whose PEs are threads of the test, so that the thread sanitizer sees the accesses of all PEs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "code_of.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "unit/connect/pes.hpp"

namespace pgas_world_test {

using namespace pgas;
using pgas_test::code_of;
using unit_test::expect_no_error;

inline config small_world() {
  config settings;
  settings.heap = heap_kind::host;
  settings.heap_limit = std::size_t{64} << 20;
  settings.segment_size = std::size_t{4} << 20;
  settings.wait_timeout = std::chrono::seconds(60);
  settings.log = log_level::error;
  return settings;
}

/// Joins a world over a bootstrap that outlives the world.
inline world join(bootstrap& exchange, const config& settings = small_world()) {
  return world::join(std::make_unique<unit_test::outer_bootstrap>(exchange), settings);
}

/// Runs `body(world)` on n PEs at the same time, each in a thread. Returns the pgas::error that each PE threw, if any.
/// Other exceptions fail the test. A PE that did not throw leaves the world.
inline std::vector<std::optional<error>> run_worlds(int n, const std::function<void(world&)>& body,
                                                    const config& settings = small_world()) {
  return unit_test::run_threads(n, [&](bootstrap& exchange) {
    world w = join(exchange, settings);
    body(w);
    w.leave();
  });
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
