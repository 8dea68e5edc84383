// Operations of host threads on proxied PEs. The tests run on either heap, with any number of PEs, also with direct
// peers.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

TEST(ProxiedOperations, of_the_host_do_not_go_through_the_ring_of_kernels) {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  auto words = world.allocate<std::uint64_t>(16, pgas::initialize::zero);
  const pgas::detail::routes* const routes = world.context().routes_;
  const bool seen = world.heap() == pgas::heap_kind::host && routes != nullptr;
  world.barrier_all();
  const std::uint64_t before = seen ? routes->ring.heads->next : 0;
  const std::uint64_t value = 7;
  std::uint64_t back = 0;
  for (int pe = 0; pe < n; ++pe) {
    pgas::put(world, words.data(), &value, 1, pe);
    pgas::p(world, words.data() + 1, value, pe);
    pgas::get(world, &back, words.data() + 1, 1, pe);
    EXPECT_EQ(back, value);
    pgas::atomic_inc(world, words.data() + 2, pe);
    pgas::put_signal(world, words.data() + 3, &value, 1, words.data() + 4, 1, pgas::signal_op::add, pe);
  }
  if (seen) {
    EXPECT_EQ(routes->ring.heads->next, before);
  }
  world.barrier_all();
  pgas::wait_until(world, words.data() + 4, pgas::cmp::eq, static_cast<std::uint64_t>(n));
  EXPECT_EQ(pgas::g(world, words.data() + 2, world.my_pe()), static_cast<std::uint64_t>(n));
  world.barrier_all();
}

TEST(ProxiedOperations, of_many_threads_at_once_are_each_as_if_alone) {
  constexpr std::size_t threads = 4;
  constexpr std::uint64_t rounds = 300;
  pgas::world world = pgas::world::join();
  const int right = (world.my_pe() + 1) % world.n_pes();
  auto words = world.allocate<std::uint64_t>(threads * 64, pgas::initialize::zero);
  auto counter = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  world.barrier_all();
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::uint64_t* const mine = words.data() + 64 * t;
      std::vector<std::uint64_t> values(32);
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        pgas::p(world, mine, round, right);
        std::uint64_t back = 0;
        pgas::get(world, &back, mine, 1, right);
        wrong += back == round ? 0 : 1;
        pgas::atomic_inc(world, counter.data(), right);
        for (auto& each : values) each = round;
        pgas::put_nbi(world, mine + 32, values.data(), values.size(), right);
        pgas::quiet(world);
        pgas::get(world, values.data(), mine + 32, values.size(), right);
        for (const auto each : values) wrong += each == round ? 0 : 1;
      }
    });
  }
  for (std::thread& each : all) each.join();
  EXPECT_EQ(wrong, 0);
  world.barrier_all();
  EXPECT_EQ(pgas::g(world, counter.data(), world.my_pe()), threads * rounds);
  world.barrier_all();
}

TEST(ProxiedOperations, later_ones_to_near_pes_come_behind_a_fence) {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const int me = world.my_pe();
  auto data = world.allocate<std::uint64_t>(1 << 16, pgas::initialize::zero);
  auto flag = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  world.barrier_all();
  const std::vector<std::uint64_t> ones(data.size(), 1);
  if (me == 0) {
    for (int pe = 0; pe < n; ++pe) pgas::put_nbi(world, data.data(), ones.data(), ones.size(), pe);
    pgas::fence(world);
    for (int pe = 0; pe < n; ++pe) pgas::p(world, flag.data(), std::uint64_t{1}, pe);
  }
  pgas::wait_until(world, flag.data(), pgas::cmp::eq, std::uint64_t{1});
  for (const std::size_t at : {std::size_t{0}, data.size() / 2, data.size() - 1})
    EXPECT_EQ(pgas::g(world, data.data() + at, me), 1u);
  if (me == 0) pgas::quiet(world);
  world.barrier_all();
}

}  // namespace
