// Locks: mutual exclusion, progress, the order of the queue, visibility to the next holder, and the records of endless
// waits and of invalid clears.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

constexpr std::size_t n_locks = 5;  // the homes of the locks are on different PEs

/// Each block takes each lock and changes the data that the lock guards. The data is two words on one member, and an
/// array on another member. The words are read and written in separate plain accesses. An unfinished put must not be
/// visible in the array.
struct guarded_words {
  test_team team;
  sym<lock_t> locks;
  sym<std::uint64_t> pairs;
  sym<std::uint32_t> rows;
  findings found;
  scope by;
  std::uint32_t n_rounds;

  static constexpr std::uint32_t row = 40;

  template <class Group>
  PGAS_FN void change(const context& ctx, const Group& g, std::size_t which) const {
    const auto pe = static_cast<std::int32_t>((which + 1) % static_cast<std::size_t>(ctx.n_pes()));
    std::uint64_t* const pair = pairs.at(ctx) + 2 * which;
    std::uint32_t mine[row];
    if (g.thread_rank() == 0) {
      const std::uint64_t a = pgas::g(ctx, pair, pe);
      const std::uint64_t b = pgas::g(ctx, pair + 1, pe);
      found.equal(ctx, which, a, b);
      p(ctx, pair, a + 1, pe);
      p(ctx, pair + 1, b + 1, pe);
      get(ctx, mine, rows.at(ctx) + which * row, row, pe);
      for (std::uint32_t i = 0; i < row; ++i) {
        found.equal(ctx, 100 + i, static_cast<std::uint32_t>(a), mine[i]);
        mine[i] = static_cast<std::uint32_t>(a + 1);
      }
      put(ctx, rows.at(ctx) + which * row, mine, row, pe);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    with_scope(by, block, [&](const auto& g) {
      PGAS_ROLLED
      for (std::uint32_t i = 0; i < n_rounds; ++i) {
        const std::size_t which = (i + static_cast<std::size_t>(ctx.my_pe())) % n_locks;
        lock_t* const lock = locks.at(ctx) + which;
        if (mix(i, static_cast<std::uint32_t>(ctx.my_pe())) % 4 != 0) {
          set_lock(ctx, g, lock);
        } else {
          while (!test_lock(ctx, g, lock)) detail::yield_waiting();
        }
        change(ctx, g, which);
        clear_lock(ctx, g, lock);
      }
    });
  }
};

TEST(lock, one_at_a_time) {
  for (const team_shape& shape : team_shapes()) {
    for (const unsigned block_count : {1u, 3u}) {  // blocks of one PE also exclude one another
      pe_set pes(shape.n_pes);
      guarded_words body{make_team(pes, shape.members, shape.as_list),
                         pes.allocate<lock_t>(n_locks),
                         pes.allocate<std::uint64_t>(2 * n_locks),
                         pes.allocate<std::uint32_t>(guarded_words::row * n_locks),
                         make_findings(pes),
                         scope::thread,
                         static_cast<std::uint32_t>(n_locks) * static_cast<std::uint32_t>(rounds(100) / 4 + 1)};
      for (const scope by : all_scopes) {
        body.by = by;
        pes.run({block_count, 2}, body);
      }
      expect_nothing_found(pes, body.found);
      const std::size_t n = shape.members.size();
      for (std::size_t which = 0; which < n_locks; ++which) {
        std::uint64_t pair[2];
        pes.read(shape.members[(which + 1) % n], body.pairs + 2 * which, pair, 2);
        EXPECT_EQ(pair[0], 3 * block_count * n * body.n_rounds / n_locks);
        EXPECT_EQ(pair[1], pair[0]);
      }
      for (int pe = 0; pe < shape.n_pes; ++pe) {
        lock_t after[n_locks];
        pes.read(pe, body.locks, after, n_locks);
        for (const lock_t word : after) EXPECT_EQ(word, 0u);  // all copies of each lock are free
      }
    }
  }
}

/// Member 0 holds the lock until all other members are in the queue. The members enter the queue one after another, the
/// last member first.
struct queue_body {
  test_team team;
  sym<lock_t> lock;
  sym<std::uint32_t> order;  // on member 0: a counter, then the order in which the members got the lock

  PGAS_FN std::uint32_t tail(const context& ctx) const {
    const auto home = static_cast<std::int32_t>(lock.offset / 8 % static_cast<std::uint32_t>(ctx.n_pes()));
    auto* const word = reinterpret_cast<std::uint32_t*>(lock.at(ctx));  // the first half of the lock's word
    return g(ctx, word, home);
  }
  PGAS_FN void wait_for_tail(const context& ctx, std::int32_t member) const {
    while (tail(ctx) != static_cast<std::uint32_t>(member + 1)) detail::yield_waiting();
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.thread_rank() != 0) return;
    if (ctx.my_pe() == 0) {
      set_lock(ctx, lock.at(ctx));
      signal_t* const all_may_come = reinterpret_cast<signal_t*>(order.at(ctx) + 16);
      for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) signal_set(ctx, all_may_come, 1, pe);
      wait_for_tail(ctx, ctx.n_pes() > 1 ? 1 : 0);
    } else {
      wait_until(ctx, reinterpret_cast<const signal_t*>(order.at(ctx) + 16), cmp::eq, 1);
      wait_for_tail(ctx, (ctx.my_pe() + 1) % ctx.n_pes());
      set_lock(ctx, lock.at(ctx));
    }
    const std::uint32_t place = g(ctx, order.at(ctx), 0);
    p(ctx, order.at(ctx) + 1 + place, static_cast<std::uint32_t>(ctx.my_pe()), 0);
    p(ctx, order.at(ctx), place + 1, 0);
    clear_lock(ctx, lock.at(ctx));
  }
};

TEST(lock, the_queue_keeps_its_order) {
  for (const team_shape& shape : team_shapes()) {
    pe_set pes(shape.n_pes);
    const queue_body body{make_team(pes, shape.members, shape.as_list), pes.allocate<lock_t>(3) + 2,
                          pes.allocate<std::uint32_t>(18)};
    pes.run({1, 1}, body);
    const auto n = static_cast<std::uint32_t>(shape.members.size());
    std::uint32_t order[9];
    pes.read(shape.members[0], body.order, order, 9);
    EXPECT_EQ(order[0], n);
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(order[1 + i], i == 0 ? 0 : n - i) << shape.name;
  }
}

/// Checks test_lock() for a free lock and for a held lock. PE numbers are numbers in the world.
struct trying_body {
  sym<lock_t> lock;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    with_scope(scope::block, block, [&](const auto& g) {
      if (ctx.my_pe() == 0) found.check(ctx, 1, test_lock(ctx, g, lock.at(ctx)));
      barrier(ctx, g);
      found.check(ctx, 2, !test_lock(ctx, g, lock.at(ctx)));  // also on the PE that holds the lock
      barrier(ctx, g);
      if (ctx.my_pe() == 0) clear_lock(ctx, g, lock.at(ctx));
      barrier(ctx, g);
      if (ctx.my_pe() == ctx.n_pes() - 1) {
        found.check(ctx, 3, test_lock(ctx, g, lock.at(ctx)));
        clear_lock(ctx, g, lock.at(ctx));
      }
    });
  }
};

TEST(lock, test_lock_takes_what_is_free) {
  for (const int n : {1, 3}) {
    pe_set pes(n);
    const trying_body body{pes.allocate<lock_t>(1), make_findings(pes)};
    pes.run({1, 2}, body);
    expect_nothing_found(pes, body.found);
  }
}

/// PE `holder` never clears the lock, and PE 0 waits for the lock.
struct selfish_body {
  sym<lock_t> lock;
  sym<std::uint32_t> survivors;
  std::int32_t holder;
  scope by;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == holder && global_rank(block) == 0) set_lock(ctx, lock.at(ctx));
    barrier(ctx, block);
    if (ctx.my_pe() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      set_lock(ctx, g, lock.at(ctx));
      atomic_inc(ctx, survivors.at(ctx), 0);
    });
  }
};

TEST(lock, a_wait_that_times_out_names_the_preceding_pe) {
  for (const bool by_abort : {false, true}) {
    for (const std::int32_t holder : {0, 2}) {
      for (const scope by : all_scopes) {
        pe_set pes(3, {.timeout = std::chrono::milliseconds(by_abort ? 60'000 : 100)});
        const selfish_body body{pes.allocate<lock_t>(1), pes.allocate<std::uint32_t>(1), holder, by};
        const std::vector<bool> gave_up = pes.run_out({1, 2}, body, [&] {
          if (!by_abort) return;
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          pes.abort(detail::abort_no_pe);
        });
        ASSERT_TRUE(gave_up[0]);
        const detail::failure_record& r = pes.control(0).record;
        EXPECT_EQ(r.why, by_abort ? detail::failure::aborted : detail::failure::timed_out);
        EXPECT_EQ(r.what, detail::operation::lock);
        EXPECT_EQ(r.pe, holder);
        EXPECT_EQ(r.heap_offset, body.lock.offset);
        std::uint32_t survivors = 99;
        pes.read(0, body.survivors, &survivors, 1);
        EXPECT_EQ(survivors, 0u);
      }
    }
  }
}

/// One call of PE 0 with one error.
struct bad_lock {
  sym<lock_t> good;
  std::uint64_t end;
  int fault;
  int which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == 1 && block.thread_rank() == 0 && fault == 1) set_lock(ctx, good.at(ctx));
    barrier(ctx, block);
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    auto at = reinterpret_cast<std::uintptr_t>(good.at(ctx));
    if (fault == 2) at = ctx.my_slot_ + end;
    if (fault == 3) at += 4;
    auto* const lock = reinterpret_cast<lock_t*>(at);
    if (which == 0) clear_lock(ctx, lock);
    if (which == 1) set_lock(ctx, lock);
    if (which == 2) static_cast<void>(test_lock(ctx, lock));
  }
};

TEST(lock, misuse_is_reported) {
  using detail::failure;
  for (const bool checks : {false, true}) {
    for (int fault = 0; fault <= 3; ++fault) {
      for (int which = 0; which < 3; ++which) {
        if (fault < 2 ? which != 0 : !checks) continue;  // wrong clears are detected even without checks
        SCOPED_TRACE(testing::Message() << "operation " << which << ", fault " << fault);
        pe_options options{.checks = checks};
        pe_set pes(2, options);
        const bad_lock body{pes.allocate<lock_t>(2), options.heap_bytes, fault, which};
        expect_caught(pes, body, detail::operation::lock,
                      fault < 2    ? failure::not_held
                      : fault == 2 ? failure::outside_heap
                                   : failure::misaligned);
      }
    }
  }
}

}  // namespace
