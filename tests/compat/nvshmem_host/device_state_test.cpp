// The times at which the copies of the device state are written.
#include "host/compat/nvshmem/device_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using pgas::compat::state_registry;

std::vector<int> seen;  // the n_pes of each written state, in order; 0 for an empty state
int fails = 0;

int first(const pgas_nvshmem_state* state) {
  seen.push_back(state->context.n_pes());
  return fails;
}
int second(const pgas_nvshmem_state* state) {
  seen.push_back(100 + state->context.n_pes());
  return 0;
}

pgas_nvshmem_state state_of(int n) {
  pgas_nvshmem_state state{};
  state.context.team_.n_pes_ = n;
  return state;
}

class compat_state : public testing::Test {
 protected:
  void SetUp() override {
    seen.clear();
    fails = 0;
  }
  // Publishes a world with the given number of PEs.
  void publish(int n) {
    registry.publish(world, [n] { return state_of(n); });
  }

  pgas::world world = pgas::world::join(std::move(pgas::make_thread_bootstraps(1).front()));
  state_registry registry;
};

TEST_F(compat_state, units_that_come_early_wait_and_those_that_come_late_are_told_at_once) {
  registry.add(first);
  EXPECT_TRUE(seen.empty());
  publish(4);
  EXPECT_EQ(seen, std::vector<int>({4}));
  registry.add(second);
  EXPECT_EQ(seen, std::vector<int>({4, 104}));
  publish(5);
  EXPECT_EQ(seen, std::vector<int>({4, 104, 5, 105}));
}

TEST_F(compat_state, the_end_empties_all_and_later_units_wait_again) {
  registry.add(first);
  publish(4);
  registry.withdraw();
  EXPECT_EQ(seen, std::vector<int>({4, 0}));
  registry.add(second);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(compat_state, a_unit_that_was_taken_back_is_left_alone) {
  registry.add(first);
  registry.add(first);
  registry.remove(first);
  publish(2);
  EXPECT_EQ(seen, std::vector<int>({2}));
  registry.remove(first);
  registry.remove(second);
  publish(3);
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(compat_state, a_unit_that_cannot_be_written_is_an_error_except_at_the_end) {
  registry.add(first);
  fails = 98;
  EXPECT_THROW(publish(2), pgas::error);
  registry.withdraw();
  EXPECT_EQ(seen, std::vector<int>({2, 0}));
}

TEST_F(compat_state, a_unit_for_direct_peers_only_says_so_where_some_are_not) {
  registry.add(first);
  fails = pgas_nvshmem_not_direct;
  try {
    publish(2);
    FAIL() << "no error";
  } catch (const pgas::error& said) {
    EXPECT_EQ(said.code(), pgas::code::peer_unreachable);
    EXPECT_NE(std::string(said.what()).find("compile it without PGAS_NVSHMEM_DIRECT"), std::string::npos);
  }
}

TEST_F(compat_state, a_unit_that_cannot_be_written_while_it_is_loaded_is_tried_again_with_the_next) {
  publish(4);
  fails = 98;
  registry.add(first);
  EXPECT_EQ(seen, std::vector<int>({4}));
  EXPECT_THROW(registry.complete(), pgas::error);
  fails = 0;
  registry.add(second);
  EXPECT_EQ(seen, std::vector<int>({4, 4, 4, 104}));
  registry.complete();
  EXPECT_EQ(seen.size(), 4u);
}

TEST_F(compat_state, a_unit_that_cannot_be_written_does_not_prevent_later_units) {
  registry.add(first);
  registry.add(second);
  fails = 98;
  EXPECT_THROW(publish(2), pgas::error);
  EXPECT_EQ(seen, std::vector<int>({2}));
  fails = 0;
  registry.complete();
  EXPECT_EQ(seen, std::vector<int>({2, 2, 102}));
}

TEST_F(compat_state, what_was_never_published_is_not_taken_back) {
  registry.add(first);
  registry.withdraw();
  EXPECT_TRUE(seen.empty());
  EXPECT_THROW(registry.publish(world, []() -> pgas_nvshmem_state { throw pgas::error(pgas::code::aborted, "no"); }),
               pgas::error);
  registry.withdraw();
  EXPECT_TRUE(seen.empty());
}

TEST_F(compat_state, of_several_that_publish_at_once_the_newest_is_written_last) {
  registry.add(first);
  std::atomic<int> changes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        ++changes;
        registry.publish(world, [&] { return state_of(changes); });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), 200u);
  EXPECT_EQ(seen.back(), 200);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_F(compat_state, code_that_was_never_registered_cannot_be_unregistered) {
  int handle = 0;
  EXPECT_THROW(registry.remove({&handle, false}), pgas::error);
}

}  // namespace
