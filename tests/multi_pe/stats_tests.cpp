// world.stats() counts a known number of operations exactly, on every PE, on direct and on proxied routes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

using pgas::operation_counts;
using pgas::world_stats;

operation_counts operator-(const operation_counts& a, const operation_counts& b) {
  return {a.puts - b.puts,           a.put_bytes - b.put_bytes, a.gets - b.gets,
          a.get_bytes - b.get_bytes, a.atomics - b.atomics,     a.signals - b.signals};
}

void expect_equal(const operation_counts& found, const operation_counts& expected, const std::string& context) {
  EXPECT_EQ(found.puts, expected.puts) << context;
  EXPECT_EQ(found.put_bytes, expected.put_bytes) << context;
  EXPECT_EQ(found.gets, expected.gets) << context;
  EXPECT_EQ(found.get_bytes, expected.get_bytes) << context;
  EXPECT_EQ(found.atomics, expected.atomics) << context;
  EXPECT_EQ(found.signals, expected.signals) << context;
}

std::uint64_t calls_of(const world_stats& stats, const std::string& name) {
  for (const pgas::call_stats& call : stats.calls)
    if (call.name == name) return call.calls;
  return 0;
}

/// Each PE executes one operation more than the PE before it, so that the test detects counters of wrong PEs.
std::uint64_t times(int pe) { return static_cast<std::uint64_t>(pe) + 1; }

TEST(Stats, of_host_operations_are_exact_by_pe_and_kind) {
  pgas::world world = pgas::world::join();
  auto words = world.allocate<std::uint64_t>(1024, pgas::initialize::zero);
  auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  const std::vector<std::uint64_t> from(256, 7);
  std::vector<std::uint64_t> here(256);
  std::uint64_t* const to = words.data();
  world.barrier_all();
  const world_stats before = world.stats();
  for (int pe = 0; pe < world.n_pes(); ++pe)
    for (std::uint64_t i = 0; i < times(pe); ++i) {
      pgas::put(world, to, from.data(), 100, pe);                  // 800 bytes
      pgas::put_nbi(world, to + 100, from.data(), 5, pe);          // 40
      pgas::p(world, to + 105, std::uint64_t{1}, pe);              // 8
      pgas::iput(world, to + 200, from.data(), 2, 1, 4, pe);       // 32
      pgas::get(world, here.data(), to, 16, pe);                   // 128
      pgas::get_nbi(world, here.data(), to, 2, pe);                // 16
      static_cast<void>(pgas::g(world, to + 105, pe));             // 8
      pgas::iget(world, here.data() + 50, to + 200, 1, 2, 3, pe);  // 24
      pgas::atomic_inc(world, to + 300, pe);
      static_cast<void>(pgas::atomic_fetch_add(world, to + 300, std::uint64_t{2}, pe));
      static_cast<void>(pgas::atomic_compare_swap(world, to + 301, std::uint64_t{0}, std::uint64_t{1}, pe));
      pgas::atomic_fetch_nbi(world, here.data() + 60, to + 300, pe);
      pgas::put_signal(world, to + 400, from.data(), 3, signal.data(), 1, pgas::signal_op::add, pe);  // 24
      pgas::put_signal(world, to + 400, from.data(), 0, signal.data(), 1, pgas::signal_op::add, pe);
      pgas::signal_add(world, signal.data(), 1, pe);
      pgas::put(world, to, from.data(), 0, pe);  // a put of zero bytes
      EXPECT_THROW(pgas::put(world, to + 1020, from.data(), 100'000'000, pe), pgas::error);
    }
  pgas::quiet(world);
  const world_stats after = world.stats();
  ASSERT_EQ(after.peers.size(), static_cast<std::size_t>(world.n_pes()));
  EXPECT_EQ(after.pe, world.my_pe());
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    const std::uint64_t k = times(pe);
    const auto index = static_cast<std::size_t>(pe);
    const std::string context = "PE " + std::to_string(pe);
    EXPECT_EQ(after.peers[index].direct, world.pe(pe).direct) << context;
    const operation_counts expected{5 * k, 904 * k, 4 * k, 176 * k, 4 * k, 3 * k};
    expect_equal(after.peers[index].host - before.peers[index].host, expected, context);
    expect_equal(after.peers[index].streams - before.peers[index].streams, {}, context + " on streams");
    // The proxy counts the same operations, but counts signals without data as updates.
    const operation_counts proxied{5 * k, 904 * k, 4 * k, 176 * k, 5 * k, 2 * k};
    expect_equal(after.peers[index].proxy - before.peers[index].proxy,
                 world.pe(pe).direct ? operation_counts{} : proxied, context + " by the proxy");
  }
  world.barrier_all();
}

TEST(Stats, of_operations_on_streams_are_kept_apart) {
  pgas::world world = pgas::world::join();
  pgas::stream stream(world);
  auto words = world.allocate<std::uint64_t>(64, pgas::initialize::zero);
  auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  auto mine = world.allocate<std::uint64_t>(64, pgas::initialize::zero);
  world.barrier_all();
  const world_stats before = world.stats();
  for (int pe = 0; pe < world.n_pes(); ++pe)
    for (std::uint64_t i = 0; i < times(pe); ++i) {
      pgas::put(world, stream, words.data(), mine.data(), 10, pe);
      pgas::get(world, stream, mine.data() + 32, words.data(), 20, pe);
      pgas::atomic_add(world, stream, words.data() + 30, std::uint64_t{1}, pe);
      pgas::signal_set(world, stream, signal.data(), 1, pe);
      pgas::put_signal(world, stream, words.data() + 40, mine.data(), 1, signal.data(), 1, pgas::signal_op::add, pe);
    }
  stream.synchronize();
  const world_stats after = world.stats();
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    const std::uint64_t k = times(pe);
    const auto index = static_cast<std::size_t>(pe);
    const std::string context = "PE " + std::to_string(pe);
    expect_equal(after.peers[index].streams - before.peers[index].streams, {2 * k, 88 * k, k, 160 * k, k, 2 * k},
                 context);
    expect_equal(after.peers[index].host - before.peers[index].host, {}, context + " by the host");
    const operation_counts proxy = after.peers[index].proxy - before.peers[index].proxy;
    EXPECT_EQ(proxy.put_bytes, world.pe(pe).direct ? 0 : 88 * k) << context;
    EXPECT_EQ(proxy.get_bytes, world.pe(pe).direct ? 0 : 160 * k) << context;
  }
  EXPECT_EQ(calls_of(after, "synchronize"), calls_of(before, "synchronize") + 1);
  world.barrier_all();
}

TEST(Stats, a_list_takes_one_command_for_5461_blocks) {
  constexpr std::size_t n = 6000;
  pgas::world world = pgas::world::join();
  auto theirs = world.allocate<std::uint64_t>(2 * n, pgas::initialize::zero);
  auto mine = world.allocate<std::uint64_t>(n, pgas::initialize::zero);
  world.barrier_all();
  using to_side = pgas::page_side<void, std::int32_t>;
  using from_side = pgas::page_side<const void, std::int32_t>;
  for (int pe = 0; pe < world.n_pes(); ++pe)
    for (const auto& [blocks, commands] : {std::pair{std::size_t{5461}, std::uint64_t{1}}, {n, 2}}) {
      const auto index = static_cast<std::size_t>(pe);
      const operation_counts before = world.stats().peers[index].proxy;
      pgas::put_list(world, {to_side{theirs.data(), 16}, from_side{mine.data(), 8}, 8, blocks}, pe);
      pgas::get_list(world, {to_side{mine.data(), 8}, from_side{theirs.data(), 16}, 8, blocks}, pe);
      const operation_counts after = world.stats().peers[index].proxy;
      const operation_counts expected{commands, 8 * blocks, commands, 8 * blocks, 0, 0};
      expect_equal(after - before, world.pe(pe).direct ? operation_counts{} : expected, "PE " + std::to_string(pe));
    }
  world.barrier_all();
}

TEST(Stats, of_many_threads_are_exact) {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each = 2000;
  pgas::world world = pgas::world::join();
  const int right = (world.my_pe() + 1) % world.n_pes();
  auto words = world.allocate<std::uint64_t>(threads, pgas::initialize::zero);
  world.barrier_all();
  const operation_counts before = world.stats().peers[static_cast<std::size_t>(right)].host;
  std::vector<std::thread> all;
  for (std::uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each; ++i) pgas::p(world, words.data() + t, i, right);
    });
  for (std::thread& item : all) item.join();
  const operation_counts after = world.stats().peers[static_cast<std::size_t>(right)].host;
  expect_equal(after - before, {threads * each, threads * each * 8, 0, 0, 0, 0}, "the right one");
  world.barrier_all();
}

TEST(Stats, have_calls_heap_and_state) {
  pgas::world world = pgas::world::join();
  const world_stats first = world.stats();
  for (int i = 0; i < 3; ++i) world.barrier_all();
  pgas::barrier(world.team());
  auto words = world.allocate<std::uint64_t>(1000);
  const world_stats now = world.stats();
  EXPECT_EQ(calls_of(now, "pgas::barrier_all"), calls_of(first, "pgas::barrier_all") + 3);
  EXPECT_EQ(calls_of(now, "pgas::barrier"), calls_of(first, "pgas::barrier") + 1);
  EXPECT_EQ(calls_of(now, "pgas::allocate"), calls_of(first, "pgas::allocate") + 1);
  const pgas::heap_usage usage = world.usage();
  EXPECT_EQ(now.heap.used, usage.used);
  EXPECT_EQ(now.heap.mapped, usage.mapped);
  EXPECT_EQ(now.heap.limit, usage.limit);
  EXPECT_EQ(now.heap.largest_free, usage.largest_free);
  EXPECT_EQ(now.heap.allocations, first.heap.allocations + 1);
  EXPECT_EQ(now.heap_reserved, world.layout().stride);
  EXPECT_GE(now.fragmentation(), 0.0);
  EXPECT_LT(now.fragmentation(), 1.0);
  EXPECT_EQ(now.errors, 0u);
  EXPECT_FALSE(now.failed);
  for (const pgas::peer_stats& peer : now.peers) EXPECT_EQ(peer.silence.count(), -1) << "all are on this host";
  for (const pgas::call_stats& call : now.calls) EXPECT_EQ(call.running.count(), 0) << call.name;
  words.reset();
  world.leave();
  EXPECT_THROW(static_cast<void>(world.stats()), pgas::error);
}

TEST(Stats, are_told_while_another_thread_waits) {
  pgas::world world = pgas::world::join();
  auto word = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  world.barrier_all();
  std::thread waits([&] { pgas::wait_until(world, word.data(), pgas::cmp::eq, std::uint64_t{1}); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool seen = false;
  while (!seen && std::chrono::steady_clock::now() < end)
    for (const pgas::call_stats& call : world.stats().calls)
      seen = seen || (call.name == "wait_until" && call.running.count() > 0);
  EXPECT_TRUE(seen);
  EXPECT_EQ(world.stats().idle.count(), 0);
  const std::uint64_t before = calls_of(world.stats(), "wait_until");
  pgas::p(world, word.data(), std::uint64_t{1}, world.my_pe());
  waits.join();
  EXPECT_EQ(calls_of(world.stats(), "wait_until"), before + 1);
  world.barrier_all();
}

}  // namespace
