// The host API in separate processes. The tests run with any number of PEs, under any launcher, on either heap.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "../code_of.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::code;
using pgas_test::code_of;

std::vector<unsigned char> random_bytes(std::size_t n, unsigned seed) {
  std::vector<unsigned char> bytes(n);
  std::mt19937 random(seed);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST(World, join_leave_and_join_again) {
  for (int round = 0; round < 3; ++round) {
    pgas::world world = pgas::world::join();
    ASSERT_GE(world.my_pe(), 0);
    ASSERT_LT(world.my_pe(), world.n_pes());
    EXPECT_EQ(world.context().my_pe(), world.my_pe());
    EXPECT_EQ(world.pe(world.my_pe()).pid, getpid());
    world.barrier_all();
    world.leave();
    world.leave();  // the second call has no effect
    EXPECT_EQ(code_of([&] { world.barrier_all(); }), code::not_joined);
    EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate<int>(1)); }), code::not_joined);
  }
}

TEST(World, two_at_once_do_not_mix) {
  pgas::world first = pgas::world::join();
  pgas::world second = pgas::world::join();
  auto a = first.allocate<int>(1, pgas::initialize::zero);
  auto b = second.allocate<int>(1, pgas::initialize::zero);
  const int right = (first.my_pe() + 1) % first.n_pes();
  pgas::p(first, a.data(), 100 + first.my_pe(), right);
  pgas::p(second, b.data(), 200 + second.my_pe(), right);
  first.barrier_all();
  second.barrier_all();
  const int left = (first.my_pe() + first.n_pes() - 1) % first.n_pes();
  EXPECT_EQ(pgas::g(first, a.data(), first.my_pe()), 100 + left);
  EXPECT_EQ(pgas::g(second, b.data(), second.my_pe()), 200 + left);
}

TEST(World, of_threads_beside_the_one_of_processes) {
  pgas::world outer = pgas::world::join();
  constexpr int n = 3;
  auto exchanges = pgas::make_thread_bootstraps(n);
  std::vector<std::thread> threads;
  std::vector<int> received(n, -1);
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      pgas::world inner = pgas::world::join(std::move(exchanges[static_cast<std::size_t>(i)]));
      auto cell = inner.allocate<int>(1, pgas::initialize::zero);
      pgas::p(inner, cell.data(), i, (i + 1) % n);
      inner.barrier_all();
      received[static_cast<std::size_t>(i)] = pgas::g(inner, cell.data(), i);
      inner.barrier_all();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(received, (std::vector<int>{2, 0, 1}));
  outer.barrier_all();
}

TEST(World, a_join_that_fails_late_can_be_made_good) {
  pgas::config impossible = pgas::config::from_environment();
  impossible.heap = pgas::heap_kind::host;
  // Host memory has no fabric handles. The library detects this only after all other steps.
  impossible.mem_handle = pgas::handle_kind::fabric;
  for (int round = 0; round < 5; ++round)
    EXPECT_EQ(code_of([&] { static_cast<void>(pgas::world::join(impossible)); }), code::handle_exchange);
  pgas::world world = pgas::world::join();
  world.barrier_all();
}

TEST(World, moved_from_is_empty_and_says_so) {
  pgas::world world = pgas::world::join();
  pgas::world owner = std::move(world);
  EXPECT_EQ(code_of([&] { static_cast<void>(world.my_pe()); }), code::not_joined);
  owner.barrier_all();
}

TEST(Heap, memory_is_zeroed_aligned_and_counted) {
  pgas::world world = pgas::world::join();
  const pgas::heap_usage before = world.usage();
  {
    auto zeros = world.allocate<unsigned char>(1'000'003, pgas::initialize::zero);
    std::vector<unsigned char> copy(zeros.size(), 1);
    pgas::get(world, copy.data(), zeros.data(), copy.size(), (world.my_pe() + 1) % world.n_pes());
    EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), 0), 0);
    EXPECT_EQ(world.usage().allocations, before.allocations + 1);
    EXPECT_GE(world.usage().used, before.used + zeros.size());
    for (const std::size_t alignment : {16U, 64U, 4096U, 1U << 21, 1U << 26}) {
      void* p = world.allocate_bytes(100, 1, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
      world.free(p);
    }
    auto large = world.allocate<double>(600);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % 512, 0U);
  }
  EXPECT_EQ(world.usage().used, before.used);
  EXPECT_EQ(world.usage().allocations, before.allocations);
}

TEST(Heap, grows_beyond_the_first_segment_and_peers_see_it) {
  pgas::config small = pgas::config::from_environment();
  small.segment_size = 4 << 20;
  pgas::world world = pgas::world::join(small);
  std::vector<pgas::symmetric<unsigned char>> pieces;
  for (int i = 0; i < 5; ++i) pieces.push_back(world.allocate<unsigned char>((3U << 20) + static_cast<unsigned>(i)));
  const int right = (world.my_pe() + 1) % world.n_pes();
  const int left = (world.my_pe() + world.n_pes() - 1) % world.n_pes();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto sent =
        random_bytes(pieces[i].size(), static_cast<unsigned>(10 * world.my_pe()) + static_cast<unsigned>(i));
    pgas::put(world, pieces[i].data(), sent.data(), sent.size(), right);
  }
  world.barrier_all();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<unsigned char> got(pieces[i].size());
    pgas::get(world, got.data(), pieces[i].data(), got.size(), world.my_pe());
    EXPECT_EQ(got, random_bytes(got.size(), static_cast<unsigned>(10 * left) + static_cast<unsigned>(i)));
  }
  world.barrier_all();
}

TEST(Heap, an_impossible_request_fails_everywhere_and_changes_nothing) {
  pgas::config limited = pgas::config::from_environment();
  limited.heap_limit = 256 << 20;
  pgas::world world = pgas::world::join(limited);
  const pgas::heap_usage before = world.usage();
  for (const std::size_t bytes :
       {std::size_t{1} << 30, std::size_t{1} << 50, std::numeric_limits<std::size_t>::max() - 4096})
    EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(bytes)); }), code::out_of_memory) << bytes;
  EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(std::size_t{1} << 40, std::size_t{1} << 40)); }),
            code::invalid_argument);
  EXPECT_EQ(world.usage().used, before.used);
  EXPECT_EQ(world.usage().mapped, before.mapped);
  auto still_works = world.allocate<int>(1000, pgas::initialize::zero);
  EXPECT_EQ(pgas::g(world, still_works.data() + 999, (world.my_pe() + 1) % world.n_pes()), 0);
  world.barrier_all();
}

TEST(Heap, where_the_device_chooses_addresses_has_its_size_from_the_start) {
  pgas::config fixed = pgas::config::from_environment();
  fixed.mem_handle = pgas::handle_kind::cuda_ipc;
  fixed.heap_limit = 64 << 20;
  pgas::world world = pgas::world::join(fixed);
  EXPECT_EQ(world.usage().mapped, std::size_t{64} << 20);
  EXPECT_EQ(world.layout().stride, std::size_t{96} << 20) << "with that of teams";
  auto cells = world.allocate<int>(1 << 20, pgas::initialize::zero);
  const int right = (world.my_pe() + 1) % world.n_pes();
  pgas::p(world, cells.data() + (1 << 20) - 1, world.my_pe(), right);
  world.barrier_all();
  EXPECT_EQ(pgas::g(world, cells.data() + (1 << 20) - 1, right), world.my_pe());
  std::vector<char> memory(2 << 20);
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::register_symmetric(world, memory.data(), memory.size())); }),
            code::handle_exchange);
  EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(64 << 20)); }), code::out_of_memory);
  world.barrier_all();
}

TEST(Heap, wrong_frees_are_refused) {
  pgas::world world = pgas::world::join();
  auto* p = static_cast<char*>(world.allocate_bytes(1000));
  int local = 0;
  EXPECT_EQ(code_of([&] { world.free(p + 16); }), code::invalid_free);
  EXPECT_EQ(code_of([&] { world.free(&local); }), code::invalid_free);
  world.free(p);
  EXPECT_EQ(code_of([&] { world.free(p); }), code::invalid_free);
  world.free(nullptr);
  EXPECT_EQ(world.allocate_bytes(0), nullptr);
  EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(100, 1, 24)); }), code::invalid_argument);
}

TEST(Heap, freed_memory_is_handed_out_again) {
  pgas::world world = pgas::world::join();
  const std::size_t mapped = [&] {
    auto first = world.allocate<char>(1 << 20);
    return world.usage().mapped;
  }();
  for (int i = 0; i < 200; ++i) auto again = world.allocate<char>(1 << 20);
  EXPECT_EQ(world.usage().mapped, mapped);
}

TEST(Rma, every_pair_of_pes_exchanges_random_data) {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  for (const std::size_t size : {std::size_t{1}, std::size_t{15}, std::size_t{4096}, (std::size_t{1} << 20) + 3}) {
    auto inbox = world.allocate<unsigned char>(size * static_cast<std::size_t>(n));
    const auto sent = random_bytes(size, static_cast<unsigned>(world.my_pe()));
    for (int pe = 0; pe < n; ++pe)
      pgas::put(world, inbox.data() + size * static_cast<std::size_t>(world.my_pe()), sent.data(), size, pe);
    world.barrier_all();
    for (int owner = 0; owner < n; ++owner)
      for (int sender = 0; sender < n; ++sender) {
        std::vector<unsigned char> got(size);
        pgas::get(world, got.data(), inbox.data() + size * static_cast<std::size_t>(sender), size, owner);
        ASSERT_EQ(got, random_bytes(size, static_cast<unsigned>(sender))) << "from " << sender << " at " << owner;
      }
    world.barrier_all();
  }
}

TEST(Rma, kernels_address_a_peer_where_the_host_does) {
  pgas::world world = pgas::world::join();
  auto cell = world.allocate<int>(2);
  const pgas::context ctx = world.context();
  for (int pe = 0; pe < world.n_pes(); ++pe) EXPECT_EQ(world.ptr(cell.data(), pe) != nullptr, world.pe(pe).direct);
  // If a context has a table of routes, the table is in device memory.
  if (ctx.routes_ != nullptr && world.heap() == pgas::heap_kind::cuda) return world.barrier_all();
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    EXPECT_EQ(ctx.ptr(cell.data(), pe), world.ptr(cell.data(), pe));
    EXPECT_EQ(ctx.reaches(pe), world.pe(pe).direct);
    if (!world.pe(pe).direct) continue;
    EXPECT_EQ(ctx.remote(cell.data(), pe), ctx.ptr(cell.data(), pe));
    EXPECT_EQ(ctx.remote(cell.data() + 1, pe) - ctx.remote(cell.data(), pe), 1);
    EXPECT_EQ(ctx.ptr(cell.data(), pe) == cell.data(), pe == world.my_pe());
  }
  int local = 0;
  EXPECT_EQ(ctx.ptr(&local, 0), nullptr);
  EXPECT_EQ(ctx.ptr(cell.data(), world.n_pes()), nullptr);
  EXPECT_EQ(ctx.ptr(cell.data(), -1), nullptr);
  if (world.heap() == pgas::heap_kind::host) {
    const int right = (world.my_pe() + 1) % world.n_pes();
    const int left = (world.my_pe() + world.n_pes() - 1) % world.n_pes();
    if (world.pe(right).direct) *ctx.remote(cell.data(), right) = 7 * world.my_pe();
    world.barrier_all();
    if (world.pe(left).direct) {
      EXPECT_EQ(cell.data()[0], 7 * left);
    }
  }
  world.barrier_all();
}

template <class T>
class Atomics : public testing::Test {};
using amo_types =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, long long, unsigned long, float, double>;
TYPED_TEST_SUITE(Atomics, amo_types);

TYPED_TEST(Atomics, from_all_pes_at_once) {
  using T = TypeParam;
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  auto words = world.allocate<T>(4, pgas::initialize::zero);
  const T large = sizeof(T) == 8 ? static_cast<T>(std::int64_t{1} << 40) : static_cast<T>(1000);
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) pgas::atomic_add(world, words.data(), large, 0);
  world.barrier_all();
  EXPECT_EQ(pgas::atomic_fetch(world, words.data(), 0), static_cast<T>(large * static_cast<T>(rounds * n)));

  pgas::atomic_set(world, words.data() + 1, static_cast<T>(large + 3), world.my_pe());
  EXPECT_EQ(pgas::atomic_swap(world, words.data() + 1, large, world.my_pe()), static_cast<T>(large + 3));
  EXPECT_EQ(pgas::atomic_fetch_add(world, words.data() + 1, T{1}, world.my_pe()), large);
  EXPECT_EQ(pgas::g(world, words.data() + 1, world.my_pe()), static_cast<T>(large + 1));
  if constexpr (pgas::amo_integer<T>) {
    T* w = words.data() + 2;
    const int me = world.my_pe();
    EXPECT_EQ(pgas::atomic_compare_swap(world, w, T{1}, large, me), T{0});
    EXPECT_EQ(pgas::atomic_compare_swap(world, w, T{0}, large, me), T{0});
    EXPECT_EQ(pgas::atomic_fetch_inc(world, w, me), large);
    EXPECT_EQ(pgas::atomic_fetch_or(world, w, T{6}, me), static_cast<T>(large + 1));
    EXPECT_EQ(pgas::atomic_fetch_xor(world, w, static_cast<T>(-1), me), static_cast<T>((large + 1) | 6));
    EXPECT_EQ(pgas::atomic_fetch_and(world, w, T{15}, me), static_cast<T>(~((large + 1) | 6)));
    if constexpr (std::is_signed_v<T>) {
      pgas::atomic_set(world, w, T{-5}, me);
      pgas::atomic_add(world, w, T{-2}, me);
      EXPECT_EQ(pgas::atomic_fetch(world, w, me), T{-7});
    }
  }
  world.barrier_all();
}

TEST(Signals, carry_data_around_a_ring) {
  pgas::world world = pgas::world::join();
  constexpr std::size_t n = 1000;
  auto data = world.allocate<int>(n);
  auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  const int right = (world.my_pe() + 1) % world.n_pes();
  std::vector<int> row(n, world.my_pe() + 1);
  pgas::put_signal(world, data.data(), row.data(), n, signal.data(), 5, pgas::signal_op::add, right);
  EXPECT_EQ(pgas::wait_until(world, signal.data(), pgas::cmp::ge, 5), 5U);
  EXPECT_TRUE(pgas::test(world, signal.data(), pgas::cmp::eq, 5));
  EXPECT_FALSE(pgas::test(world, signal.data(), pgas::cmp::lt, 5));
  pgas::get(world, row.data(), data.data(), n, world.my_pe());
  EXPECT_EQ(row, std::vector<int>(n, (world.my_pe() + world.n_pes() - 1) % world.n_pes() + 1));
  world.barrier_all();
  pgas::signal_set(world, signal.data(), 77, right);
  pgas::wait_until(world, signal.data(), pgas::cmp::eq, 77);
  EXPECT_EQ(pgas::signal_fetch(world, signal.data()), 77U);
  world.barrier_all();
}

TEST(Signals, a_wait_that_nobody_ends_gives_up) {
  pgas::config impatient = pgas::config::from_environment();
  impatient.wait_timeout = std::chrono::milliseconds(200);
  pgas::world world = pgas::world::join(impatient);
  auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, signal.data(), pgas::cmp::ge, 1); }), code::wait_timeout);
  world.barrier_all();
}

TEST(Streams, order_puts_gets_and_barriers) {
  pgas::world world = pgas::world::join();
  constexpr std::size_t n = 100'000;
  auto inbox = world.allocate<int>(n, pgas::initialize::zero);
  pgas::stream on(world);
  const int right = (world.my_pe() + 1) % world.n_pes();
  const int left = (world.my_pe() + world.n_pes() - 1) % world.n_pes();
  for (int round = 1; round <= 3; ++round) {
    const std::vector<int> sent(n, 10 * round + world.my_pe());
    std::vector<int> got(n, -1);
    pgas::put(world, on, inbox.data(), sent.data(), n, right);
    pgas::barrier_all(world, on);
    pgas::get(world, on, got.data(), inbox.data(), n, world.my_pe());
    pgas::barrier_all(world, on);
    on.synchronize();
    ASSERT_EQ(got, std::vector<int>(n, 10 * round + left));
  }
  EXPECT_EQ(code_of([&] { pgas::put(world, on, inbox.data(), inbox.data(), n, world.n_pes()); }),
            code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::put(world, on, inbox.data(), inbox.data(), std::size_t{1} << 40, 0); }),
            code::outside_heap);
  world.barrier_all();
}

TEST(BadInput, is_refused_before_anything_is_done) {
  pgas::world world = pgas::world::join();
  auto cell = world.allocate<std::uint64_t>(4, pgas::initialize::zero);
  std::uint64_t local = 1;
  const int n = world.n_pes();
  for (const int pe : {-1, n, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(code_of([&] { pgas::put(world, cell.data(), &local, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::get(world, &local, cell.data(), 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::p(world, cell.data(), 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { static_cast<void>(pgas::g(world, cell.data(), pe)); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::atomic_add(world, cell.data(), 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::signal_set(world, cell.data(), 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { static_cast<void>(world.pe(pe)); }), code::pe_out_of_range);
  }
  EXPECT_EQ(code_of([&] { pgas::put(world, &local, cell.data(), 1, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::get(world, cell.data(), &local, 1, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::atomic_add(world, &local, 1, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, &local, pgas::cmp::eq, 1); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put<std::uint64_t>(world, nullptr, &local, 1, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put<std::uint64_t>(world, cell.data(), nullptr, 1, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::put(world, cell.data(), &local, std::size_t{1} << 40, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put(world, cell.data(), &local, std::numeric_limits<std::size_t>::max() / 2, 0); }),
            code::invalid_argument);
  auto* odd = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(cell.data()) + 4);
  EXPECT_EQ(code_of([&] { pgas::atomic_add(world, odd, 1, 0); }), code::misaligned);
  pgas::put(world, cell.data(), &local, 0, 0);  // a call with zero elements is not an error
  EXPECT_EQ(pgas::g(world, cell.data(), world.my_pe()), 0U);
  if (world.heap() == pgas::heap_kind::host) {
    EXPECT_EQ(code_of([&] { static_cast<void>(pgas::stream::wrap(world, nullptr)); }), code::invalid_argument);
  }
  world.barrier_all();
}

TEST(BadInput, different_sizes_are_found_with_checks_on) {
  pgas::config checked = pgas::config::from_environment();
  checked.checks = true;
  pgas::world world = pgas::world::join(checked);
  if (world.n_pes() == 1) GTEST_SKIP() << "one PE agrees with itself";
  EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(world.my_pe() == 0 ? 100 : 200)); }),
            code::asymmetric_call);
}

TEST(Failure, an_exception_on_one_pe_ends_the_waits_of_the_others) {
  const auto part = [] {
    pgas::world world = pgas::world::join();
    auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
    if (world.my_pe() == 0) throw std::runtime_error("something of the program's own");
    pgas::wait_until(world, signal.data(), pgas::cmp::ge, 1);
  };
  try {
    part();
    ADD_FAILURE() << "nobody signalled";
  } catch (const pgas::error& thrown) {
    EXPECT_EQ(thrown.code(), code::aborted) << thrown.what();
  } catch (const std::runtime_error&) {
    // the exception of PE 0
  }
}

}  // namespace
