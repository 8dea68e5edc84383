// Buffers that the members of a team register together and release separately. PEs are threads of the test.
#include "pgas/registration.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

#include "holdings.hpp"
#include "pgas/shared_memory.hpp"
#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t word = sizeof(std::uint64_t);

/// Memory that one PE makes, and its alias in the team.
struct buffer {
  buffer(world& w, const team& t, std::size_t bytes = 2 * MiB)
      : memory(shared_memory::make({w.device()}, bytes)), alias(t, memory.data(), bytes) {}
  [[nodiscard]] std::uint64_t* own() const { return static_cast<std::uint64_t*>(memory.data()); }
  [[nodiscard]] std::uint64_t* shared() const { return static_cast<std::uint64_t*>(alias.data()); }

  shared_memory memory;
  registration alias;
};

/// A team of two neighbours. If n is odd, the last PE has a team of its own.
team pair_of(world& w) { return w.team().split(w.my_pe() / 2, 0); }

TEST(registration, of_a_team_is_its_members_memory_and_nobody_elses) {
  expect_no_error(run_worlds(5, [](world& w) {
    const int me = w.my_pe();
    const team evens = w.team().split(me % 2, -me);  // the team numbers its members in the reverse order of the world
    const buffer mine(w, evens, (me % 2 == 0 ? 4 : 2) * MiB);
    const std::size_t last = mine.alias.size() / word - 1;
    const int right = evens.world_pe((evens.my_pe() + 1) % evens.n_pes());
    for (const std::size_t i : {std::size_t{0}, last}) put(w, mine.shared() + i, mine.own() + i, 0, right);
    p(w, mine.shared(), std::uint64_t{100} + static_cast<std::uint64_t>(me), right);
    p(w, mine.shared() + last, std::uint64_t{200} + static_cast<std::uint64_t>(me), right);
    barrier(evens);
    const auto left = static_cast<std::uint64_t>(evens.world_pe((evens.my_pe() + evens.n_pes() - 1) % evens.n_pes()));
    EXPECT_EQ(mine.own()[0], 100 + left);
    EXPECT_EQ(mine.own()[last], 200 + left);
    std::uint64_t* const remote = w.ptr(mine.shared(), right);
    ASSERT_NE(remote, nullptr);
    EXPECT_EQ(*remote, 100 + static_cast<std::uint64_t>(me));
    const int stranger = (me + 1) % 2;
    EXPECT_EQ(w.ptr(mine.shared(), stranger), nullptr);
    EXPECT_FALSE(w.accessible(mine.shared(), stranger));
    EXPECT_EQ(code_of([&] { p(w, mine.shared(), std::uint64_t{1}, stranger); }), code::outside_heap);
    EXPECT_EQ(registrations(evens).registered, 1u);
    EXPECT_EQ(registrations(w).registered, 0u);
    barrier(evens);
  }));
}

TEST(registration, ends_when_all_have_dropped_it_in_whatever_order) {
  expect_no_error(run_worlds(4, [](world& w) {
    const auto me = static_cast<std::size_t>(w.my_pe());
    const team all = w.team().split(0, 0);
    std::vector<buffer> held;
    for (std::size_t i = 0; i < 8; ++i) held.emplace_back(w, all);
    EXPECT_EQ(registrations(all).bytes, 16 * MiB);
    // PE p keeps registration p, and releases the other registrations in a different order on each PE.
    std::vector<std::size_t> order(held.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(me)));
    for (const std::size_t i : order)
      if (i != me) held[i].alias = {};
    EXPECT_EQ(registrations(all).released, 7u);
    EXPECT_EQ(collect_released(all), 4u);
    EXPECT_EQ(registrations(all).registered, 4u);
    EXPECT_EQ(registrations(all).released, 3u);
    EXPECT_EQ(collect_released(all), 0u);
    held[me].alias.release();
    EXPECT_FALSE(held[me].alias);
    EXPECT_EQ(collect_released(all), 4u);
    EXPECT_EQ(registrations(all).registered, 0u);
  }));
}

TEST(registration, what_a_peer_still_uses_stays_though_its_owner_has_dropped_all) {
  expect_no_error(run_worlds(2, [](world& w) {
    std::optional<buffer> mine(std::in_place, w, w.team());
    std::uint64_t* const alias = mine->shared();
    if (w.my_pe() == 0) mine.reset();  // releases the registration, and then frees the memory
    w.barrier_all();
    EXPECT_EQ(collect_released(w), 0u);
    if (w.my_pe() == 1) {
      p(w, alias, std::uint64_t{77}, 0);
      EXPECT_EQ(g(w, alias, 0), 77u);
      EXPECT_EQ(*w.ptr(alias, 0), 77u);
    }
    w.barrier_all();
    mine.reset();
    EXPECT_EQ(collect_released(w), 1u);
    EXPECT_EQ(w.ptr(alias, w.my_pe()), nullptr);
  }));
}

TEST(registration, ends_at_each_call_in_which_members_exchange_something) {
  expect_no_error(run_worlds(3, [](world& w) {
    const team all = w.team().split(0, 0);
    void* const freed = all.allocate_bytes(100);
    const buffer last(w, all);
    void* const raw = register_symmetric(all, last.memory.data(), last.memory.size());
    const auto after_a_drop = [&](auto&& call) {
      buffer(w, all).alias.release();
      EXPECT_EQ(registrations(all).released, 1u);
      barrier(all);  // a barrier does not inform the other PEs of the release
      EXPECT_EQ(registrations(all).released, 1u);
      call();
      EXPECT_EQ(registrations(all).released, 0u);
    };
    after_a_drop([&] { static_cast<void>(collect_released(all)); });
    std::optional<buffer> another;
    after_a_drop([&] { another.emplace(w, all); });
    another.reset();
    EXPECT_EQ(collect_released(all), 1u);
    after_a_drop([&] { unregister_symmetric(all, raw); });
    after_a_drop([&] { all.free(freed); });
    after_a_drop([&] { EXPECT_NE(all.allocate_bytes(12 * MiB), nullptr); });
    after_a_drop([&] { const team inner = all.split(0, 0); });
    EXPECT_EQ(registrations(all).registered, 1u);
  }));
}

TEST(registration, dropped_by_other_threads_while_more_are_made) {
  expect_no_error(run_worlds(3, [](world& w) {
    const team all = w.team().split(0, 0);
    std::mutex mutex;
    std::vector<registration> bin;
    std::atomic<bool> done{false};
    const shared_memory memory = shared_memory::make({w.device()}, 2 * MiB);
    std::vector<std::thread> droppers;
    for (int i = 0; i < 2; ++i)
      droppers.emplace_back([&] {
        while (!done) {
          std::optional<registration> dropped;
          const std::lock_guard lock(mutex);
          if (bin.empty()) {
            std::this_thread::yield();
            continue;
          }
          dropped = std::move(bin.back());
          bin.pop_back();
        }
      });
    for (int round = 0; round < 100; ++round) {
      registration result(all, memory.data(), memory.size());
      p(w, static_cast<std::uint64_t*>(result.data()), std::uint64_t{1}, (w.my_pe() + 1) % 3);
      const std::lock_guard lock(mutex);
      bin.push_back(std::move(result));
    }
    done = true;
    for (std::thread& each : droppers) each.join();
    bin.clear();
    static_cast<void>(collect_released(all));
    EXPECT_EQ(registrations(all).registered, 0u);
  }));
}

TEST(registration, many_dropped_in_different_orders_neither_grow_nor_mismatch) {
  const auto before = pgas::unit_test::count_holdings();
  expect_no_error(run_worlds(3, [](world& w) {
    const team all = w.team().split(0, 0);
    const shared_memory memory = shared_memory::make({w.device()}, 2 * MiB);
    std::mt19937 mine(static_cast<unsigned>(w.my_pe()));
    std::vector<registration> held;
    for (int i = 0; i < 1000; ++i) {
      held.emplace_back(all, memory.data(), memory.size());
      p(w, static_cast<std::uint64_t*>(held.back().data()), std::uint64_t(i), (w.my_pe() + 1) % 3);
      std::swap(held.back(), held[mine() % held.size()]);
      if (held.size() > 8) held.pop_back();
      // Each of the three PEs holds at most 8 registrations. The PEs can hold different registrations.
      EXPECT_LE(registrations(all).registered, 3 * 8 + 2u);
    }
    held.clear();
    static_cast<void>(collect_released(all));
    EXPECT_EQ(registrations(all).registered, 0u);
  }));
  EXPECT_EQ(pgas::unit_test::settle_at(before), before);
}

TEST(registration, more_at_once_than_fit_into_one_exchange) {
  config settings = small_world();
  settings.heap_stride = std::size_t{8} << 30;
  expect_no_error(run_worlds(
      2,
      [](world& w) {
        const shared_memory memory = shared_memory::make({w.device()}, 2 * MiB);
        std::vector<registration> held;
        for (int i = 0; i < 560; ++i) held.emplace_back(w, memory.data(), memory.size());
        if (w.my_pe() == 0) std::reverse(held.begin(), held.end());
        while (held.size() > 20) held.pop_back();
        EXPECT_EQ(registrations(w).released, 540u);
        EXPECT_EQ(collect_released(w), 520u) << "the others have been released by one PE only";
        EXPECT_EQ(registrations(w).registered, 40u);
      },
      settings));
}

TEST(registration, that_one_pe_never_releases_is_named_when_addresses_run_out) {
  expect_no_error(run_worlds(3, [](world& w) {
    const team all = w.team().split(0, 0);
    const shared_memory memory = shared_memory::make({w.device()}, 16 * MiB);
    std::vector<registration> held;
    std::optional<error> full;
    for (int i = 0; i < 1000 && !full; ++i) {
      try {
        registration result(all, memory.data(), memory.size());
        if (w.my_pe() == 1) held.push_back(std::move(result));
      } catch (const error& thrown) {
        full = thrown;
      }
    }
    ASSERT_TRUE(full);
    EXPECT_EQ(full->code(), code::out_of_memory);
    EXPECT_NE(std::string(full->what()).find("PE 1 has not released the registration of 16.0 MiB"), std::string::npos)
        << full->what();
    EXPECT_NE(std::string(full->what()).find("which PE 0 has released"), std::string::npos) << full->what();
    held.clear();
    const registration again(all, memory.data(), memory.size());
    EXPECT_EQ(registrations(all).registered, 1u);
  }));
}

TEST(registration, of_the_same_memory_with_several_teams_and_twice_with_one) {
  expect_no_error(run_worlds(4, [](world& w) {
    const team pair = pair_of(w);
    buffer mine(w, pair);
    const registration again(pair, mine.memory.data(), mine.memory.size());
    const registration of_all(w, mine.memory.data(), mine.memory.size());
    EXPECT_NE(again.data(), mine.alias.data());
    EXPECT_NE(again.data(), of_all.data());
    if (pair.my_pe() == 0) p(w, mine.shared(), std::uint64_t{5}, w.my_pe() + 1);
    w.barrier_all();
    EXPECT_EQ(g(w, static_cast<std::uint64_t*>(again.data()), w.my_pe() | 1), 5u);
    EXPECT_EQ(g(w, static_cast<std::uint64_t*>(of_all.data()), 3), 5u);
    w.barrier_all();
    mine.alias.release();
    EXPECT_EQ(collect_released(pair), 1u);
    EXPECT_EQ(g(w, static_cast<std::uint64_t*>(again.data()), w.my_pe() | 1), 5u);
    EXPECT_EQ(code_of([&] { const registration alias(pair, again.data(), again.size()); }), code::invalid_argument);
    w.barrier_all();
  }));
}

TEST(registration, is_refused_where_sizes_differ_or_a_piece_is_not_whole) {
  expect_no_error(run_worlds(4, [](world& w) {
    const team back = w.team().split(0, -w.my_pe());
    const shared_memory memory = shared_memory::make({w.device()}, (w.my_pe() == 2 ? 6 : 4) * MiB);
    try {
      const registration alias(back, memory.data(), memory.size());
      ADD_FAILURE() << "registered";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), code::asymmetric_call);
      EXPECT_EQ(thrown.pe(), 2);
      const std::string text = thrown.what();
      EXPECT_NE(text.find("PE 3 registers 4194304 bytes"), std::string::npos) << text;
      EXPECT_NE(text.find("PE 2 registers 6291456 bytes"), std::string::npos) << text;
    }
    EXPECT_EQ(code_of([&] { const registration part(back, memory.data(), 2 * MiB); }), code::invalid_argument);
    const shared_memory small = shared_memory::make({w.device()}, 100);  // the 100 bytes are in a piece of 2 MiB
    EXPECT_EQ(code_of([&] { const registration alias(back, small.data(), small.size()); }), code::invalid_argument);
    { const registration alias(back, small.data(), 2 * MiB); }
    EXPECT_EQ(collect_released(back), 1u);
    EXPECT_EQ(code_of([&] { unregister_symmetric(back, memory.data()); }), code::invalid_free);
    const buffer good(w, back);
    EXPECT_EQ(code_of([&] { unregister_symmetric(w, good.alias.data()); }), code::invalid_free) << "of another team";
    EXPECT_EQ(code_of([&] { unregister_symmetric(back, w.my_pe() == 1 ? nullptr : good.alias.data()); }),
              code::asymmetric_call);
    EXPECT_EQ(registrations(back).registered, 1u);
  }));
}

TEST(registration, is_refused_where_the_device_chooses_addresses) {
  config settings = small_world();
  settings.mem_handle = handle_kind::cuda_ipc;
  expect_no_error(run_worlds(
      2,
      [](world& w) {
        const team both = w.team().split(0, 0);
        const shared_memory memory = shared_memory::make({w.device()}, 2 * MiB);
        EXPECT_EQ(code_of([&] { const registration alias(both, memory.data(), memory.size()); }),
                  code::handle_exchange);
        EXPECT_EQ(collect_released(both), 0u);
      },
      settings));
}

TEST(registration, unregistered_at_once_may_still_be_released) {
  expect_no_error(run_worlds(2, [](world& w) {
    buffer mine(w, w.team());
    if (w.my_pe() == 0) mine.alias.release();
    void* const alias = w.my_pe() == 0 ? nullptr : mine.alias.data();
    EXPECT_EQ(code_of([&] { unregister_symmetric(w, alias); }), code::asymmetric_call);
    EXPECT_EQ(registrations(w).registered, 1u);
    buffer other(w, w.team());
    void* const both = other.alias.data();
    other.alias.release();
    unregister_symmetric(w, both);  // the other PEs have also released this registration
    EXPECT_EQ(registrations(w).registered, 1u);
    mine.alias.release();
    EXPECT_EQ(collect_released(w), 1u);
  }));
}

TEST(registration, alive_at_the_end_of_its_team_or_its_world_leaves_nothing) {
  const auto before = pgas::unit_test::count_holdings();
  expect_no_error(run_worlds(4, [](world& w) {
    team pair = pair_of(w);
    buffer of_pair(w, pair);
    static_cast<void>(register_symmetric(pair, of_pair.memory.data(), of_pair.memory.size()));
    pair.destroy();
    EXPECT_EQ(w.ptr(of_pair.shared(), w.my_pe()), nullptr);
    of_pair.alias.release();
    EXPECT_EQ(code_of([&] { const buffer late(w, pair); }), code::invalid_argument);
  }));
  EXPECT_EQ(pgas::unit_test::settle_at(before), before);
  expect_no_error(run_worlds(3, [](world& w) {
    std::optional<team> all(w.team().split(0, 0));
    buffer of_team(w, *all);
    buffer of_world(w, w.team());
    if (w.my_pe() == 1) of_team.alias.release();
    w.leave();
    all.reset();
    of_world.alias.release();  // the registration of the team is released after the world has ended
  }));
  EXPECT_EQ(pgas::unit_test::settle_at(before), before);
}

TEST(registration, in_a_world_that_fails_can_be_dropped) {
  const auto before = pgas::unit_test::count_holdings();
  const auto ends = run_worlds(3, [](world& w) {
    const team all = w.team().split(0, 0);
    buffer mine(w, all);
    if (w.my_pe() == 1) throw error(code::system, "this PE gives up");
    for (;;) buffer(w, all).alias.release();
  });
  for (const std::size_t pe : {std::size_t{0}, std::size_t{2}}) {
    ASSERT_TRUE(ends[pe]);
    EXPECT_EQ(ends[pe]->code(), code::aborted) << ends[pe]->what();
    EXPECT_EQ(ends[pe]->pe(), 1) << ends[pe]->what();
  }
  EXPECT_EQ(pgas::unit_test::settle_at(before), before);
}

TEST(registration, several_teams_at_once_from_several_threads) {
  expect_no_error(run_worlds(3, [](world& w) {
    std::vector<team> pairs;
    for (int first = 0; first < 3; ++first)
      pairs.push_back(w.team().split_list(std::vector<int>{first, (first + 1) % 3}));
    in_threads(3, [&](int i) {
      const team& pair = pairs[static_cast<std::size_t>(i)];
      if (!pair) return;
      const int other = pair.world_pe(1 - pair.my_pe());
      for (int round = 0; round < 30; ++round) {
        const buffer item(w, pair);
        buffer two(w, pair, 4 * MiB);
        if (pair.my_pe() == round % 2) two.alias.release();
        p(w, item.shared(), static_cast<std::uint64_t>(round), other);
        barrier(pair);
        EXPECT_EQ(*item.own(), static_cast<std::uint64_t>(round));
      }
    });
  }));
}

}  // namespace
}  // namespace pgas_world_test
