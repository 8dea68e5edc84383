// Many threads of several PEs, in one world and in two worlds at the same time, as thread_level::multiple allows. PEs
// are also threads, so that the thread sanitizer sees all accesses.
#include <atomic>
#include <numeric>

#include "unit/worlds.hpp"

namespace pgas_world_test {
namespace {

#if defined(PGAS_TSAN)
constexpr int rounds = 160;
#else
constexpr int rounds = 800;
#endif
constexpr int threads = 3;

static_assert(world::thread_level() == thread_level::multiple);

/// The data that the threads of all PEs of one world share.
struct shared_words {
  explicit shared_words(world& w)
      : sums(w.allocate<std::uint64_t>(4, memory_hint::atomics_remote, initialize::zero)),
        floats(w.allocate<double>(1, memory_hint::atomics_remote, initialize::zero)),
        signals(w.allocate<signal_t>(threads, memory_hint::signal_remote, initialize::zero)),
        own(w.allocate<int>(static_cast<std::size_t>(threads) * 64, initialize::zero)) {}
  symmetric<std::uint64_t> sums;
  symmetric<double> floats;
  symmetric<signal_t> signals;
  symmetric<int> own;  ///< 64 words for each thread, written by the thread of the same number on the previous PE
};

struct add_kernel {
  template <group Block>
  void operator()(const Block&, const context& ctx, std::uint64_t* sum, int pe) const {
    atomic_add(ctx, sum, 1, pe);
  }
};

/// One thread's work on one world: every kind of operation.
void work(world& w, shared_words& words, int thread) {
  const int next = (w.my_pe() + 1) % w.n_pes();
  const int before = (w.my_pe() + w.n_pes() - 1) % w.n_pes();
  int* const mine = words.own.data() + thread * 64;
  signal_t* const signal = words.signals.data() + thread;
  stream own_stream(w);
  for (int i = 1; i <= rounds; ++i) {
    std::vector<int> out(32), in(32);
    std::iota(out.begin(), out.end(), i * 1000 + w.my_pe());
    put_signal(w, mine, out.data(), 32, signal, 1, signal_op::add, next);
    wait_until(w, signal, cmp::ge, static_cast<signal_t>(i));
    get(w, in.data(), mine, 32, w.my_pe());
    for (int k = 0; k < 32; ++k) ASSERT_EQ(in[static_cast<std::size_t>(k)], i * 1000 + before + k);
    atomic_add(w, words.sums.data(), 1, next);
    atomic_inc(w, words.sums.data() + 1, 0);
    atomic_add(w, words.floats.data(), 0.5, 0);
    p(w, mine + 40, i, next);
    static_cast<void>(g(w, mine + 41, next));
    if (i % 8 == 0)
      launch(w, {.on = i % 16 == 0 ? &own_stream : nullptr}, add_kernel{}, w.context(), words.sums.data() + 2, next);
    if (i % 8 == 4) {
      put(w, own_stream, mine + 48, mine + 40, 1, next);
      own_stream.synchronize();
    }
    static_cast<void>(w.usage());
    static_cast<void>(w.layout());
    w.check();
    atomic_set(w, mine + 60, i, before);  // the value was read, so the next round may begin
    wait_until(w, mine + 60, cmp::ge, i);
  }
  w.synchronize();
}

/// Called after all threads of all PEs are done.
void check_sums(world& w, const shared_words& words) {
  w.barrier_all();
  const auto all = static_cast<std::uint64_t>(threads) * rounds;
  EXPECT_EQ(g(w, words.sums.data(), w.my_pe()), all);
  EXPECT_EQ(g(w, words.sums.data() + 1, 0), all * static_cast<std::uint64_t>(w.n_pes()));
  EXPECT_EQ(g(w, words.sums.data() + 2, w.my_pe()), static_cast<std::uint64_t>(threads) * (rounds / 8));
  EXPECT_EQ(g(w, words.floats.data(), 0), 0.5 * static_cast<double>(all) * w.n_pes());
  w.barrier_all();
}

TEST(threads, share_one_world) {
  expect_no_error(run_worlds(3, [](world& w) {
    shared_words words(w);
    in_threads(threads, [&](int thread) { work(w, words, thread); });
    check_sums(w, words);
  }));
}

TEST(threads, share_two_worlds) {
  auto second = make_thread_bootstraps(2, std::chrono::seconds(30));
  expect_no_error(run_worlds(2, [&](world& item) {
    // The second world has the PEs in reverse order, so that a PE has different numbers in the two worlds.
    world two = world::join(std::move(second[static_cast<std::size_t>(1 - item.my_pe())]), small_world());
    shared_words words_one(item);
    shared_words words_two(two);
    in_threads(2 * threads, [&](int thread) {
      if (thread < threads)
        work(item, words_one, thread);
      else
        work(two, words_two, thread - threads);
    });
    check_sums(item, words_one);
    check_sums(two, words_two);
  }));
}

TEST(threads, operate_while_another_allocates) {
  expect_no_error(run_worlds(2, [](world& w) {
    shared_words words(w);
    in_threads(threads + 1, [&](int thread) {
      if (thread < threads) return work(w, words, thread);
      void* block = nullptr;
      for (std::size_t i = 1; i <= 18; ++i) {  // collective calls by one thread of each PE, during which the heap grows
        block = w.reallocate_bytes(block, i << 20);
        w.free(w.allocate_bytes(1000 * i));
        w.barrier_all();
      }
      w.free(block);
    });
    check_sums(w, words);
  }));
}

TEST(threads, hear_of_an_abort_wherever_they_are) {
  const auto ends = run_worlds(2, [](world& w) {
    symmetric<signal_t> signal = w.allocate<signal_t>(1, initialize::zero);
    symmetric<lock_t> lock = w.allocate<lock_t>(1, initialize::zero);
    w.barrier_all();
    std::atomic<int> ended{0};
    const auto ends_aborted = [&](const auto& call) {
      const auto why = code_of(call);
      EXPECT_EQ(why, code::aborted);
      ++ended;
    };
    in_threads(4, [&](int thread) {
      if (thread == 0) return ends_aborted([&] { wait_until(w, signal.data(), cmp::ne, 0); });
      if (thread == 1) {
        return ends_aborted([&] {
          for (;;) w.barrier_all();
        });
      }
      if (thread == 2)
        return ends_aborted([&] {
          for (;;) atomic_add(w, signal.data(), 0, 1 - w.my_pe());
        });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (w.my_pe() == 0) w.abort("enough");
      ends_aborted([&] {
        for (;;) w.check();
      });
    });
    EXPECT_EQ(ended, 4);
    w.check();
  });
  for (const auto& end : ends) EXPECT_TRUE(end && end->code() == code::aborted);
}

}  // namespace
}  // namespace pgas_world_test
