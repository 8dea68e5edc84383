// Locks called from the host: one holder at a time, in the order of arrival, and no hang if a holder is gone.
#include <atomic>

#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

using std::chrono::milliseconds;

#if defined(PGAS_TSAN)
constexpr int rounds = 100;
#else
constexpr int rounds = 400;
#endif

/// A plain counter on PE 0 that only the holder of the lock touches.
struct guarded {
  explicit guarded(world& w)
      : lock(w.allocate<lock_t>(4, memory_hint::atomics_remote, initialize::zero)),
        counter(w.allocate<std::int64_t>(1, initialize::zero)) {}
  void add_one(world& w) {
    std::int64_t* const remote = w.ptr(counter.data(), 0);
    const std::int64_t seen = *remote;
    if (seen % 7 == 0) std::this_thread::yield();
    *remote = seen + 1;
  }
  symmetric<lock_t> lock;
  symmetric<std::int64_t> counter;
};

TEST(host_lock, excludes_pes_and_their_threads) {
  expect_no_error(run_worlds(4, [](world& w) {
    guarded shared(w);
    in_threads(2, [&](int thread) {
      for (int i = 0; i < rounds / 4; ++i) {
        if (thread == 1 && i % 3 == 0) {
          while (!test_lock(w, shared.lock.data() + 1)) std::this_thread::yield();
        } else {
          set_lock(w, shared.lock.data() + 1);
        }
        shared.add_one(w);
        clear_lock(w, shared.lock.data() + 1);
      }
    });
    w.barrier_all();
    EXPECT_EQ(g(w, shared.counter.data(), 0), 4 * 2 * (rounds / 4));
    EXPECT_EQ(shared.lock.data()[1], 0u);  // the word is free again on every PE
  }));
}

struct device_holder {
  template <group Block>
  void operator()(const Block& block, const context& ctx, lock_t* lock, std::int64_t* counter, int n) const {
    for (int i = 0; i < n; ++i) {
      set_lock(ctx, block, lock);
      if (block.thread_rank() == 0) ++*counter;
      clear_lock(ctx, block, lock);
    }
  }
};

TEST(host_lock, is_the_same_lock_as_in_kernels) {
  config settings = small_world();
  settings.host_block_threads = 2;
  expect_no_error(run_worlds(
      3,
      [](world& w) {
        guarded shared(w);
        launch(w, {.blocks = 2, .threads = 2}, device_holder{}, w.context(), shared.lock.data(),
               w.ptr(shared.counter.data(), 0), rounds / 8);
        for (int i = 0; i < rounds / 4; ++i) {
          set_lock(w, shared.lock.data());
          shared.add_one(w);
          clear_lock(w, shared.lock.data());
        }
        w.synchronize();
        w.barrier_all();
        EXPECT_EQ(g(w, shared.counter.data(), 0), 3 * (2 * (rounds / 8) + rounds / 4));
      },
      settings));
}

TEST(host_lock, goes_round_in_the_order_of_arrival) {
  // A PE in the queue gets the lock before any PE that arrives later, and before the last holder takes the lock again.
  expect_no_error(run_worlds(4, [](world& w) {
    guarded shared(w);
    symmetric<std::int32_t> turns =
        w.allocate<std::int32_t>(8, initialize::zero);  // on PE 0: the PEs that have held the lock, in order
    lock_t* const lock = shared.lock.data() + 2;
    const int home = detail::device_lock_words(w.context(), lock).home();
    const auto wait_for_last = [&](int pe) {  // waits until `pe` is the last in the queue
      const auto* const tail = reinterpret_cast<const std::uint32_t*>(lock);
      while (atomic_fetch(w, tail, home) != static_cast<std::uint32_t>(pe + 1)) std::this_thread::yield();
    };
    const auto wait_for_predecessor = [&] {
      set_lock(w, lock);
      std::int64_t* const turn = w.ptr(shared.counter.data(), 0);
      *w.ptr(turns.data() + *turn, 0) = w.my_pe();
      ++*turn;
    };
    const int me = w.my_pe();
    if (me == 0) wait_for_predecessor();
    if (me != 0) wait_for_last(me - 1);
    if (me == 0) {
      wait_for_last(3);
      clear_lock(w, lock);
    }
    wait_for_predecessor();
    clear_lock(w, lock);
    w.barrier_all();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(g(w, turns.data() + i, 0), i);
    EXPECT_EQ(g(w, turns.data() + 4, 0), 0);
  }));
}

TEST(host_lock, misuse) {
  expect_no_error(run_worlds(2, [](world& w) {
    guarded shared(w);
    int local = 0;
    auto* const outside = reinterpret_cast<lock_t*>(&local);
    auto* const crooked = reinterpret_cast<lock_t*>(reinterpret_cast<char*>(shared.lock.data()) + 4);
    EXPECT_EQ(code_of([&] { set_lock(w, outside); }), code::outside_heap);
    EXPECT_EQ(code_of([&] { std::ignore = test_lock(w, outside); }), code::outside_heap);
    EXPECT_EQ(code_of([&] { clear_lock(w, nullptr); }), code::outside_heap);
    EXPECT_EQ(code_of([&] { set_lock(w, crooked); }), code::misaligned);
    EXPECT_EQ(code_of([&] { clear_lock(w, shared.lock.data()); }), code::invalid_argument);
    w.barrier_all();
    if (w.my_pe() == 0) {
      EXPECT_TRUE(test_lock(w, shared.lock.data()));
    }
    w.barrier_all();
    if (w.my_pe() == 1) {
      EXPECT_FALSE(test_lock(w, shared.lock.data()));
      EXPECT_EQ(code_of([&] { clear_lock(w, shared.lock.data()); }), code::invalid_argument);
    }
    EXPECT_FALSE(test_lock(w, shared.lock.data()));
    w.barrier_all();
    if (w.my_pe() == 0) clear_lock(w, shared.lock.data());
    w.barrier_all();
  }));
}

TEST(host_lock, a_wait_ends_at_the_deadline) {
  config settings = small_world();
  settings.wait_timeout = milliseconds(300);
  std::atomic<int> late{0};
  std::atomic<int> named{0};
  run_worlds(
      2,
      [&](world& w) {
        guarded shared(w);
        if (w.my_pe() == 0) set_lock(w, shared.lock.data());
        w.barrier_all();
        while (w.my_pe() == 0 && late == 0) std::this_thread::sleep_for(milliseconds(1));
        if (w.my_pe() == 1) {
          try {
            set_lock(w, shared.lock.data());
          } catch (const error& thrown) {
            ++named;
            EXPECT_EQ(thrown.code(), code::wait_timeout) << thrown.what();
            EXPECT_EQ(thrown.pe(), 0);
            EXPECT_NE(std::string(thrown.what()).find("PE 0 is ahead"), std::string::npos) << thrown.what();
          }
          ++late;
          w.abort("the test is over");
        }
      },
      settings);
  EXPECT_EQ(named, 1);
}

TEST(host_lock, an_abort_ends_the_wait) {
  const auto ends = run_worlds(3, [](world& w) {
    guarded shared(w);
    if (w.my_pe() == 0) set_lock(w, shared.lock.data());
    w.barrier_all();
    if (w.my_pe() == 0) {
      std::this_thread::sleep_for(milliseconds(50));
      w.abort("enough");
    }
    set_lock(w, shared.lock.data());
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::aborted) << end->what();
  }
}

}  // namespace
}  // namespace pgas_world_test
