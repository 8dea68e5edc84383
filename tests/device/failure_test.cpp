// How operations fail. The abort word and the deadline end every kind of wait, checks detect wrong arguments, and the
// record describes the failure. A thread whose wait fails ends alone, or with its group. The GPU stays usable.
#include <limits>

#include "harness.hpp"
#include "try_barrier.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;
using detail::failure;
using detail::operation;
using std::chrono::milliseconds;

constexpr milliseconds soon{200};

/// The record of PE `pe`. The test fails if the record is not complete.
detail::failure_record record_of(pe_set& pes, int pe) {
  const detail::failure_record& r = pes.control(pe).record;
  EXPECT_EQ(__atomic_load_n(&r.complete, __ATOMIC_ACQUIRE), 1u) << "PE " << pe << " left no record";
  return r;
}

/// One thread of PE 0 waits for a word that is never written. All other threads return.
struct lonely_wait {
  sym<std::int32_t> words;
  int way;  // 0: wait_until, 1: all, 2: any, 3: some

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.block_rank() + 1 != block.num_blocks() || block.thread_rank() + 1 != block.size())
      return;
    std::size_t indices[4];
    std::int32_t* const w = words.at(ctx);
    if (way == 0) wait_until(ctx, w + 2, cmp::le, -5);
    if (way == 1) wait_until_all(ctx, w, 4, nullptr, cmp::ge, 7);
    if (way == 2) static_cast<void>(wait_until_any(ctx, w + 2, 2, nullptr, cmp::gt, 7));
    if (way == 3) static_cast<void>(wait_until_some(ctx, w + 2, 2, indices, nullptr, cmp::eq, -1));
  }
};

/// The words are 7, 7, 3, 7. In each form of wait, lonely_wait finds word 2 missing first.
sym<std::int32_t> waited_words(pe_set& pes) {
  const auto words = pes.allocate<std::int32_t>(4);
  const std::int32_t values[4] = {7, 7, 3, 7};
  pes.write(0, words, values, 4);
  return words;
}

void wait_ends(int way, bool by_abort) {
  pe_set pes(2, {.timeout = by_abort ? milliseconds(60'000) : soon});
  const auto words = waited_words(pes);
  const auto gave_up = pes.run_out({2, 2}, lonely_wait{words, way}, [&] {
    if (!by_abort) return;
    std::this_thread::sleep_for(soon);
    pes.abort(1 + 1);
  });
  EXPECT_TRUE(gave_up[0]);
  const detail::failure_record r = record_of(pes, 0);
  EXPECT_EQ(r.why, by_abort ? failure::aborted : failure::timed_out);
  EXPECT_EQ(r.what, operation::wait);
  EXPECT_EQ(r.pe, -1);
  EXPECT_EQ(r.heap_offset, words.offset + 8);
  EXPECT_EQ(r.bytes, 4u);
  EXPECT_EQ(r.seen, 3u);
  constexpr std::int64_t expected[] = {-5, 7, 7, -1};
  constexpr cmp compared[] = {cmp::le, cmp::ge, cmp::gt, cmp::eq};
  EXPECT_EQ(static_cast<std::int64_t>(r.expected), expected[way]);
  EXPECT_EQ(r.compare, static_cast<std::int32_t>(compared[way]));
  EXPECT_EQ(r.block, 1u);
  EXPECT_EQ(r.thread, 1u);
}

TEST(failure, abort_ends_a_wait) { wait_ends(0, true); }
TEST(failure, abort_ends_a_wait_for_any) { wait_ends(2, true); }
TEST(failure, deadline_ends_a_wait) { wait_ends(0, false); }
TEST(failure, deadline_ends_a_wait_for_all) { wait_ends(1, false); }
TEST(failure, deadline_ends_a_wait_for_any) { wait_ends(2, false); }
TEST(failure, deadline_ends_a_wait_for_some) { wait_ends(3, false); }

/// The last PE does not call the operation.
struct missing_pe {
  bool order;
  scope by;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == ctx.n_pes() - 1) return;
    with_scope(by, block, [&](const auto& group) {
      if (order) {
        barrier(ctx, group);
      } else {
        sync(ctx, group);
      }
    });
  }
};

void barrier_ends(bool order, scope by) {
  pe_set pes(3, {.timeout = soon});
  const auto gave_up = pes.run_out({1, 4}, missing_pe{order, by});
  EXPECT_TRUE(gave_up[0] && gave_up[1]);
  for (int pe = 0; pe < 2; ++pe) {
    const detail::failure_record r = record_of(pes, pe);
    EXPECT_EQ(r.what, order ? operation::barrier : operation::sync);
    EXPECT_TRUE(r.why == failure::timed_out || r.why == failure::aborted);
    EXPECT_EQ(r.pe, 2);
    EXPECT_EQ(r.heap_offset, detail::internal_area::world_state + detail::team_state_layout::arrived(2));
    EXPECT_EQ(r.expected, 1u);
    EXPECT_EQ(r.seen, 0u);
  }
}

TEST(failure, barrier_names_the_missing_pe) { barrier_ends(true, scope::block); }
TEST(failure, sync_of_one_thread_names_the_missing_pe) { barrier_ends(false, scope::thread); }

/// The barrier that returns a result.
struct polite_barrier {
  sym<std::uint32_t> answers;  // how many results were false, and how many were true

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == ctx.n_pes() - 1) return;
    const bool all_came = try_barrier<detail::arrival::release>(ctx, block, ctx.world());
    atomic_inc(ctx, answers.at(ctx) + (all_came ? 1 : 0), ctx.my_pe());
  }
};

TEST(failure, bool_barrier_returns_false_on_every_thread) {
  for (const grid_shape& shape : grids()) {
    if (shape.blocks != 1) continue;
    for (const bool by_abort : {false, true}) {
      pe_set pes(3, {.timeout = by_abort ? milliseconds(60'000) : soon});
      const auto answers = pes.allocate<std::uint32_t>(2);
      static_cast<void>(pes.run_out(shape, polite_barrier{answers}, [&] {
        if (!by_abort) return;
        std::this_thread::sleep_for(soon);  // after this time both PEs have arrived
        pes.abort(detail::abort_no_pe);
      }));
      for (int pe = 0; pe < 2; ++pe) {
        std::uint32_t seen[2];
        pes.read(pe, answers, seen, 2);
        EXPECT_EQ(seen[0], shape.threads);
        EXPECT_EQ(seen[1], 0u);
        const detail::failure_record r = record_of(pes, pe);
        // If the waits of two PEs time out, the PE that times out first can end the wait of the second PE.
        EXPECT_TRUE(r.why == failure::aborted || (!by_abort && r.why == failure::timed_out));
        EXPECT_EQ(r.pe, 2);
      }
    }
  }
}

/// A wait that is satisfied in time is not affected by a deadline, nor by an abort at the same time.
struct satisfied_wait {
  sym<std::uint64_t> word;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) == 0 && ctx.my_pe() == 0) {
      const std::uint64_t start = detail::clock_ns();
      // long enough that the waits of the other threads have made their first checks
      while (detail::clock_ns() - start < 100'000'000) detail::yield_waiting();
      for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) signal_set(ctx, word.at(ctx), 1, pe);
    }
    wait_until(ctx, word.at(ctx), cmp::eq, 1);
  }
};

TEST(failure, late_is_not_too_late) {
  pe_set pes(3, {.timeout = milliseconds(20'000)});
  pes.run({2, 2}, satisfied_wait{pes.allocate<std::uint64_t>(1)});
  for (int pe = 0; pe < 3; ++pe) EXPECT_EQ(pes.control(pe).record.complete, 0u);
}

// ---- checks

enum class fault { none, negative_pe, large_pe, before_heap, across_end, huge_count, misaligned };

/// One thread of PE 0 calls one operation with one error.
struct bad_call {
  std::uint64_t good;  // the offset of a valid word
  std::uint64_t end;   // the end of the heap
  operation what;
  fault wrong;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    std::int32_t pe = 1;
    std::uint64_t offset = good;
    std::size_t count = 4;
    if (wrong == fault::negative_pe) pe = -1;
    if (wrong == fault::large_pe) pe = ctx.n_pes();
    if (wrong == fault::before_heap) offset = ~std::uint64_t{0} - 63;
    if (wrong == fault::across_end) offset = end - 4;
    if (wrong == fault::huge_count) count = ~std::size_t{0} / 4;
    if (wrong == fault::misaligned) offset = good + 4;
    auto* const w = reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + offset);
    auto* const fine = reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + good);
    std::uint64_t local[4] = {1, 2, 3, 4};
    switch (what) {
      case operation::put: put(ctx, w, local, count, pe); break;
      case operation::get: get(ctx, local, w, count, pe); break;
      case operation::p: p(ctx, w, 1, pe); break;
      case operation::g: local[0] = g(ctx, w, pe); break;
      case operation::put_signal:
        if (wrong == fault::misaligned) {
          put_signal(ctx, fine, local, 4, w, 1, signal_op::add, pe);
        } else {
          put_signal(ctx, w, local, count, fine, 1, signal_op::set, pe);
        }
        break;
      case operation::signal: signal_add(ctx, w, 1, pe); break;
      case operation::atomic_add: atomic_inc(ctx, w, pe); break;
      case operation::atomic_compare_swap: local[0] = atomic_compare_swap(ctx, w, 1, 2, pe); break;
      case operation::atomic_fetch_max: local[0] = atomic_fetch_max(ctx, w, 1, pe); break;
      case operation::wait: static_cast<void>(test(ctx, w, cmp::eq, 0)); break;
      default: break;
    }
  }
};

void check_catches(operation what, fault wrong) {
  pe_options options{.checks = true};
  pe_set pes(2, options);
  const auto good = pes.allocate<std::uint64_t>(8);
  const auto gave_up = pes.run_out({1, 2}, bad_call{good.offset, options.heap_bytes, what, wrong});
  EXPECT_TRUE(gave_up[0]);
  const detail::failure_record r = record_of(pes, 0);
  EXPECT_EQ(r.what, what);
  switch (wrong) {
    case fault::negative_pe:
    case fault::large_pe:
      EXPECT_EQ(r.why, failure::pe_out_of_range);
      EXPECT_EQ(r.pe, wrong == fault::large_pe ? 2 : -1);
      break;
    case fault::misaligned:
      EXPECT_EQ(r.why, failure::misaligned);
      EXPECT_EQ(r.heap_offset, good.offset + 4);
      break;
    default: EXPECT_EQ(r.why, failure::outside_heap); break;
  }
}

/// The errors that are possible with an operation.
std::vector<fault> faults_of(operation what) {
  const bool sized = what == operation::put || what == operation::get || what == operation::put_signal;
  std::vector<fault> all{fault::before_heap, fault::across_end, fault::misaligned};
  // waits have no PE argument
  if (what != operation::wait) all.insert(all.end(), {fault::negative_pe, fault::large_pe});
  if (sized) all.push_back(fault::huge_count);
  return all;
}

/// A call of PE 0 with valid addresses.
struct unsound_call {
  std::uint64_t word;
  int which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    auto* const w = reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + word);
    constexpr auto no_cmp = static_cast<cmp>(99);
    std::uint64_t local = 1;
    switch (which) {
      case 0: static_cast<void>(test(ctx, w, no_cmp, 0)); break;
      case 1: wait_until(ctx, w, static_cast<cmp>(-1), 0); break;
      case 2: signal_wait_until(ctx, w, no_cmp, 0); break;
      case 3: wait_until_all(ctx, w, 1, nullptr, no_cmp, 0); break;
      case 4: wait_until_all(ctx, w, 1, nullptr, cmp::eq, static_cast<const std::uint64_t*>(nullptr)); break;
      default: put_signal(ctx, w, &local, 1, w + 1, 1, static_cast<signal_op>(77), 1); break;
    }
  }
};

TEST(failure, checks_catch_what_is_no_enumerator_and_no_values) {
  for (int which = 0; which < 6; ++which) {
    pe_options options{.checks = true};
    pe_set pes(2, options);
    const auto words = pes.allocate<std::uint64_t>(8);
    const auto gave_up = pes.run_out({1, 1}, unsound_call{words.offset, which});
    EXPECT_TRUE(gave_up[0]) << which;
    const detail::failure_record r = record_of(pes, 0);
    EXPECT_EQ(r.why, failure::no_such_value) << which;
    EXPECT_EQ(r.what, which < 5 ? operation::wait : operation::put_signal) << which;
  }
}

constexpr operation checked[] = {operation::put,
                                 operation::get,
                                 operation::p,
                                 operation::g,
                                 operation::put_signal,
                                 operation::signal,
                                 operation::wait,
                                 operation::atomic_add,
                                 operation::atomic_compare_swap,
                                 operation::atomic_fetch_max};

TEST(failure, checks_catch_bad_arguments) {
  for (const operation what : checked) {
    const std::vector<fault> faults = faults_of(what);
    for (const fault wrong : faults) {
      SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(what) << ", fault "
                                      << static_cast<int>(wrong));
      check_catches(what, wrong);
    }
  }
}

TEST(failure, checks_let_good_arguments_pass) {
  pe_options options{.checks = true};
  pe_set pes(2, options);
  const auto good = pes.allocate<std::uint64_t>(8);
  for (const operation what : checked) pes.run({1, 2}, bad_call{good.offset, options.heap_bytes, what, fault::none});
  // at the end of the heap
  pes.run({1, 2}, bad_call{options.heap_bytes - 32, options.heap_bytes, operation::put, fault::none});
  for (int pe = 0; pe < 2; ++pe) EXPECT_EQ(pes.control(pe).record.complete, 0u);
}

/// One thread of PE 0 calls one operation. PE 0 is the only member of a team with a large stride between PE numbers.
/// The PE number that the thread passes makes the team's arithmetic overflow.
struct far_call {
  sym<std::uint64_t> words;
  operation what;
  std::int32_t number;
  bool looked_up;  ///< whether the PE was looked up before the call

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    if (world.my_pe() != 0 || block.thread_rank() != 0) return;
    team_view far = world.team();
    far.start_ = 0;
    far.stride_ = 2;
    far.n_pes_ = 1;
    context ctx = world;
    detail::set_team(ctx, far);
    ctx.copy_ = &ctx;
    const pe_or_peer pe = looked_up ? pe_or_peer(ctx.peer(number)) : pe_or_peer(number);
    std::uint64_t* const w = words.at(ctx);
    std::uint64_t local[2] = {1, 2};
    switch (what) {
      case operation::put: put(ctx, w, local, 2, pe); break;
      case operation::get: get(ctx, local, w, 2, pe); break;
      case operation::p: p(ctx, w, 1, pe); break;
      case operation::put_signal: put_signal(ctx, w, local, 1, w + 1, 1, signal_op::set, pe); break;
      default: atomic_inc(ctx, w, pe); break;
    }
  }
};

TEST(failure, checks_catch_a_pe_of_any_number) {
  for (const std::int32_t number : {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()})
    for (const bool looked_up : {false, true})
      for (const operation what :
           {operation::put, operation::get, operation::p, operation::put_signal, operation::atomic_add}) {
        pe_set pes(2, {.checks = true});
        const auto gave_up = pes.run_out({1, 1}, far_call{pes.allocate<std::uint64_t>(8), what, number, looked_up});
        EXPECT_TRUE(gave_up[0]);
        const detail::failure_record r = record_of(pes, 0);
        EXPECT_EQ(r.why, failure::pe_out_of_range);
        EXPECT_EQ(r.pe, number);
      }
}

/// A wait of one thread of a block fails while the other threads of the block wait for this thread.
struct half_a_block {
  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0) return;
    if (block.thread_rank() + 1 == block.size()) p(ctx, reinterpret_cast<int*>(ctx.my_slot_), 1, 99);
    block.sync();
    static_cast<void>(detail::broadcast(block, 1));
  }
};

TEST(failure, a_block_ends_with_its_thread) {
  pe_set pes(2, {.checks = true});
  const auto gave_up = pes.run_out({1, 4}, half_a_block{});
  EXPECT_TRUE(gave_up[0]);
  const detail::failure_record r = record_of(pes, 0);
  EXPECT_EQ(r.why, failure::pe_out_of_range);
  EXPECT_EQ(r.thread, 3u);
}

/// The first thread of a block has ended after a failed wait, before the other threads need it as leader.
struct headless_block {
  sym<std::uint64_t> words;
  sym<lock_t> lock;
  sym<std::uint32_t> passed;
  int what;
  static constexpr int kinds = 6;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0) return;
    if (block.thread_rank() == 0) p(ctx, reinterpret_cast<int*>(ctx.my_slot_), 1, 99);
    std::uint64_t* const w = words.at(ctx);
    switch (what) {
      case 0: wait_until(ctx, block, w, cmp::eq, 1); break;
      case 1: static_cast<void>(signal_wait_until(ctx, block, w, cmp::eq, 1)); break;
      case 2: static_cast<void>(wait_until_any(ctx, block, w, 100, nullptr, cmp::eq, 1)); break;
      case 3: static_cast<void>(wait_until_any(ctx, block, w, 2, nullptr, cmp::eq, 1)); break;
      case 4: set_lock(ctx, block, lock.at(ctx)); break;
      default: static_cast<void>(detail::broadcast(block, 1)); break;
    }
    atomic_inc(ctx, passed.at(ctx), 0);
  }
};

TEST(failure, a_block_ends_with_its_first_thread) {
  for (int what = 0; what < headless_block::kinds; ++what) {
    SCOPED_TRACE(what);
    pe_set pes(2, {.checks = true});
    const headless_block body{pes.allocate<std::uint64_t>(100), pes.allocate<lock_t>(1), pes.allocate<std::uint32_t>(1),
                              what};
    EXPECT_TRUE(pes.run_out({1, 4}, body)[0]);
    std::uint32_t passed = 1;
    pes.read(0, body.passed, &passed, 1);
    EXPECT_EQ(passed, 0u);
    EXPECT_EQ(record_of(pes, 0).thread, 0u);
  }
}

/// Does nothing. PEs that take no part in a test run this function.
struct nothing {
  sym<std::uint64_t> signal;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    std::uint64_t* const none = nullptr;
    put(ctx, block, none, none, 0, 1);
    get(ctx, block, none, none, 0, 1);
    iput(ctx, block, none, none, 2, 2, 0, 1);
    if (ctx.my_pe() == 0) put_signal(ctx, block, none, none, 0, signal.at(ctx), 1, signal_op::add, 1);
    wait_until_all(ctx, block, none, 0, nullptr, cmp::eq, 1);
    if (ctx.my_pe() == 1) wait_until(ctx, block, signal.at(ctx), cmp::eq, 1);
  }
};

TEST(failure, checks_let_nothing_pass) {
  pe_set pes(2, {.checks = true});
  pes.run({1, 4}, nothing{pes.allocate<std::uint64_t>(1)});
  for (int pe = 0; pe < 2; ++pe) EXPECT_EQ(pes.control(pe).record.complete, 0u);
}

}  // namespace
