// The number of collective rounds in which PEs join: all-gathers over the bootstrap, and exchanges over the tree.
#include <gtest/gtest.h>

#include <atomic>
#include <string_view>

#include "common/join_step_hook.hpp"
#include "pgas/world.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

/// The rounds of this process's PE.
int rounds = 0;

void count_exchange(const char* step) { rounds += std::string_view(step) == "exchange" ? 1 : 0; }

class counting_bootstrap : public outer_bootstrap {
 public:
  using outer_bootstrap::outer_bootstrap;
  std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    ++rounds;
    return outer_bootstrap::all_gather(mine);
  }
  void barrier() override {
    ++rounds;
    outer_bootstrap::barrier();
  }
};

/// During the lifetime of the object, exchanges over the tree are counted.
struct counted_exchanges {
  counted_exchanges() { detail::at_join_step = count_exchange; }
  ~counted_exchanges() { detail::at_join_step = nullptr; }
};

class joining_rounds : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, joining_rounds, testing::Values(2, 3, 4, 8, 17));

TEST_P(joining_rounds, are_at_most_four_for_pes_that_share_memory) {
  const counted_exchanges counted;
  // Processes, because PEs that are threads have their heaps at different addresses, and compare them.
  const auto ends = run_processes(GetParam(), [](bootstrap& exchange) {
    config settings = quick();
    settings.heap = heap_kind::host;
    rounds = 0;
    world joined = world::join(std::make_unique<counting_bootstrap>(exchange), settings);
    require(rounds == 4, "4 rounds, not " + std::to_string(rounds));
    joined.barrier_all();  // the memory of all PEs can be used
    joined.leave();
  });
  for (const process_end& end : ends) EXPECT_EQ(end.message, "");
}

}  // namespace
}  // namespace pgas::unit_test
