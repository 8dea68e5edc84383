// Memory that PEs make separately and register with teams. The tests run with any number of PEs, under any launcher, on
// either heap.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../code_of.hpp"
#include "../holdings.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

namespace {

using pgas::code;
using pgas_test::code_of;

constexpr std::size_t MiB = std::size_t{1} << 20;

// A ring of puts and atomic operations into registered memory, with the PE numbers of the context's team.
struct ring {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::int64_t* cells, std::size_t last) const {
    const int right = (ctx.my_pe() + 1) % ctx.n_pes();
    if (block.thread_rank() == 0) {
      pgas::p(ctx, cells, static_cast<std::int64_t>(100 + ctx.my_pe()), right);
      pgas::p(ctx, cells + last, static_cast<std::int64_t>(200 + ctx.my_pe()), right);
      static_cast<void>(pgas::atomic_fetch_add(ctx, cells + 2, static_cast<std::int64_t>(1 + ctx.my_pe()), 0));
    }
    pgas::barrier(ctx, block, ctx.team());
  }
};

class TeamRegistration : public testing::Test {
 protected:
  TeamRegistration()
      : world(pgas::world::join()),
        me(world.my_pe()),
        n(world.n_pes()),
        zeros(world.allocate<std::byte>(8 * MiB, pgas::initialize::zero)),
        word(world.allocate<std::int64_t>(1)) {}

  // Memory of zeros that only this PE knows, of the same kind as the memory of heaps.
  [[nodiscard]] pgas::shared_memory make(std::size_t bytes) {
    pgas::shared_memory result = pgas::shared_memory::make({world.device()}, bytes);
    pgas::get(world, static_cast<std::byte*>(result.data()), zeros.data(), bytes, me);
    return result;
  }

  // Reads memory at the program's own address, which can be an address of GPU memory.
  [[nodiscard]] std::int64_t read(const pgas::shared_memory& memory, std::size_t cell) {
    pgas::put(world, word.data(), static_cast<const std::int64_t*>(memory.data()) + cell, 1, me);
    return pgas::g(world, word.data(), me);
  }

  // Kernels and host calls of a team's members use the registered memory. The results are read at the memory's original
  // address.
  void use(const pgas::team& team, std::int64_t* alias, const pgas::shared_memory& memory) {
    const std::size_t last = memory.size() / sizeof(std::int64_t) - 1;
    pgas::launch(world, {.blocks = 1, .threads = 32}, ring{}, team.context(), alias, last);
    world.synchronize();
    const int left = (team.my_pe() + team.n_pes() - 1) % team.n_pes();
    EXPECT_EQ(read(memory, 0), 100 + left);
    EXPECT_EQ(read(memory, last), 200 + left);
    if (team.my_pe() == 0) {
      EXPECT_EQ(read(memory, 2), team.n_pes() * (team.n_pes() + 1) / 2);
    }
    pgas::barrier(team);
    const int right = team.world_pe((team.my_pe() + 1) % team.n_pes());
    pgas::p(world, alias + 5, static_cast<std::int64_t>(300 + team.my_pe()), right);
    pgas::barrier(team);
    EXPECT_EQ(read(memory, 5), 300 + left);
    EXPECT_EQ(pgas::g(world, alias, right), 100 + team.my_pe());
    pgas::barrier(team);
  }

  pgas::world world;
  const int me;
  const int n;
  const pgas::symmetric<std::byte> zeros;
  const pgas::symmetric<std::int64_t> word;
};

TEST_F(TeamRegistration, shares_what_each_member_has_made_alone) {
  const pgas::team half = world.team().split(me % 2, -me);
  const std::size_t bytes = (me % 2 == 0 ? 2 : 4) * MiB;
  pgas::shared_memory memory = make(bytes);
  pgas::registration alias(half, memory.data(), bytes);
  use(half, static_cast<std::int64_t*>(alias.data()), memory);
  if (n > 1) {
    const int stranger = (me + 1) % 2;
    EXPECT_EQ(code_of([&] { pgas::p(world, static_cast<std::int64_t*>(alias.data()), std::int64_t{1}, stranger); }),
              code::outside_heap);
    EXPECT_EQ(world.ptr(static_cast<std::int64_t*>(alias.data()), stranger), nullptr);
  }
  alias.release();
  EXPECT_EQ(pgas::collect_released(half), 1u);
  EXPECT_FALSE(world.accessible(memory.data(), me));
}

TEST_F(TeamRegistration, of_the_same_memory_with_a_team_and_with_all_has_two_ends) {
  const pgas::team half = world.team().split(me % 2, 0);
  pgas::shared_memory memory = make(2 * MiB);
  pgas::registration of_half(half, memory.data(), memory.size());
  pgas::registration of_all(world, memory.data(), memory.size());
  use(half, static_cast<std::int64_t*>(of_half.data()), memory);
  of_half.release();
  EXPECT_EQ(pgas::collect_released(half), 1u);
  // Team operations add to one word. This PE sets the word to 0 between two barriers, because other PEs write to the
  // word after the second barrier.
  world.barrier_all();
  pgas::p(world, static_cast<std::int64_t*>(of_all.data()) + 2, std::int64_t{0}, me);
  world.barrier_all();
  use(world.team(), static_cast<std::int64_t*>(of_all.data()), memory);
}

TEST_F(TeamRegistration, outlives_the_memory_object_of_its_owner) {
  std::optional<pgas::shared_memory> memory(make(2 * MiB));
  pgas::registration alias(world, memory->data(), memory->size());
  auto* const cells = static_cast<std::int64_t*>(alias.data());
  memory.reset();
  pgas::p(world, cells + 7, std::int64_t{70 + me}, (me + 1) % n);
  world.barrier_all();
  EXPECT_EQ(pgas::g(world, cells + 7, me), 70 + (me + n - 1) % n);
  // Peers continue to use memory that one PE has released, until the next call in which all members take part.
  const bool keeps = me != 0;
  pgas::registration kept;
  if (keeps) kept = std::move(alias);
  alias.release();
  EXPECT_EQ(pgas::collect_released(world), n == 1 ? 1u : 0u);
  if (keeps) {
    pgas::p(world, cells + me, std::int64_t{me}, 0);
    EXPECT_EQ(pgas::g(world, cells + me, 0), me);
  }
  world.barrier_all();
  kept.release();
  EXPECT_EQ(pgas::collect_released(world), n == 1 ? 0u : 1u);
}

TEST_F(TeamRegistration, what_was_put_before_the_release_has_arrived_when_the_registration_ends) {
  constexpr std::size_t cells = 8 * MiB / sizeof(std::int64_t);
  const pgas::shared_memory memory = make(8 * MiB);
  for (int round = 0; round < 5; ++round) {
    pgas::registration alias(world, memory.data(), memory.size());
    const std::vector<std::int64_t> data(cells, 1000 * round + me);
    pgas::put_nbi(world, static_cast<std::int64_t*>(alias.data()), data.data(), cells, (me + 1) % n);
    alias.release();
    ASSERT_EQ(pgas::collect_released(world), 1u);
    for (const std::size_t cell : {std::size_t{0}, cells / 2, cells - 1})
      EXPECT_EQ(read(memory, cell), 1000 * round + (me + n - 1) % n) << cell;
    world.barrier_all();
  }
}

TEST_F(TeamRegistration, of_several_sizes_comes_and_goes_in_any_order) {
  const pgas::team half = world.team().split(me % 2, 0);
  std::mt19937 mine(static_cast<unsigned>(me));
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<pgas::shared_memory, pgas::registration>> held;
    for (std::size_t i = 1; i <= 4; ++i) {
      pgas::shared_memory memory = make(2 * i * MiB);
      pgas::registration alias(half, memory.data(), memory.size());
      held.emplace_back(std::move(memory), std::move(alias));
    }
    for (const auto& [memory, alias] : held) use(half, static_cast<std::int64_t*>(alias.data()), memory);
    std::shuffle(held.begin(), held.end(), mine);
    while (!held.empty()) {
      held.pop_back();
      if (held.size() == 2) static_cast<void>(pgas::collect_released(half));
    }
  }
  static_cast<void>(pgas::collect_released(half));
  EXPECT_EQ(pgas::registrations(half).registered, 0u);
}

TEST_F(TeamRegistration, differing_sizes_name_the_first_pe_that_differs) {
  if (n == 1) GTEST_SKIP() << "one PE can't differ from another";
  const pgas::shared_memory memory = make((me == n - 1 ? 4 : 2) * MiB);
  try {
    const pgas::registration alias(world, memory.data(), memory.size());
    ADD_FAILURE() << "registered";
  } catch (const pgas::error& thrown) {
    EXPECT_EQ(thrown.code(), code::asymmetric_call);
    EXPECT_EQ(thrown.pe(), n - 1);
    EXPECT_NE(std::string(thrown.what()).find("4194304 bytes"), std::string::npos) << thrown.what();
    EXPECT_NE(std::string(thrown.what()).find("2097152 bytes"), std::string::npos) << thrown.what();
  }
  EXPECT_EQ(pgas::registrations(world).registered, 0u);
}

TEST_F(TeamRegistration, of_a_team_that_is_destroyed_ends_with_it) {
  pgas::team half = world.team().split(me % 2, 0);
  const pgas::shared_memory memory = make(2 * MiB);
  pgas::registration alias(half, memory.data(), memory.size());
  use(half, static_cast<std::int64_t*>(alias.data()), memory);
  half.destroy();
  EXPECT_FALSE(world.accessible(alias.data(), me));
  alias.release();
  // The object may outlive the world: it is released after the world has ended.
  alias = {world, memory.data(), memory.size()};
  world.leave();
}

// The resident bytes of this process.
std::size_t resident() {
  std::size_t all = 0;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// REGISTRATIONS=10000 sets the number.
TEST_F(TeamRegistration, many_dropped_in_different_orders_leave_no_trace) {
  const char* const wanted = std::getenv("REGISTRATIONS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 400;
  const pgas::team all = world.team().split(0, 0);
  const pgas::shared_memory memory = make(2 * MiB);
  std::mt19937 mine(static_cast<unsigned>(me));
  std::vector<pgas::registration> held;
  std::optional<pgas::unit_test::holdings> early;
  std::size_t early_bytes = 0;
  for (int i = 0; i < rounds; ++i) {
    held.emplace_back(all, memory.data(), memory.size());
    auto* const cells = static_cast<std::int64_t*>(held.back().data());
    if (i % 16 == 0) pgas::p(world, cells + 1, std::int64_t{i}, (me + 1) % n);
    std::swap(held.back(), held[mine() % held.size()]);
    if (held.size() > 4) held.pop_back();
    // Each PE holds four registrations. Different PEs can hold different registrations.
    ASSERT_LE(pgas::registrations(all).registered, static_cast<std::size_t>(4 * n + 2));
    if (i % (rounds / 4) != rounds / 4 - 1) continue;
    held.clear();
    static_cast<void>(pgas::collect_released(all));
    ASSERT_EQ(pgas::registrations(all).registered, 0u);
    pgas::barrier(all);
    if (!early) {
      early = pgas::unit_test::settled_holdings();
      early_bytes = resident();
    }
    EXPECT_EQ(pgas::unit_test::settle_at(*early), *early) << "after " << i;
    if (world.heap() == pgas::heap_kind::host) {
      EXPECT_LE(resident(), early_bytes + 2 * MiB) << "after " << i;
    }
    pgas::barrier(all);
  }
}

}  // namespace
