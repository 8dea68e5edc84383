// The whole grid as a group: barriers, votes, broadcasts, and group operations by all threads of all blocks.
#include "harness.hpp"

namespace pgas_test {
namespace {

/// Grids of several sizes, which use the common state one after another.
std::vector<grid_shape> several_grids() {
  std::vector<grid_shape> shapes = grids();
  shapes.push_back({2, 2});
  shapes.push_back({5, 1});
  return shapes;
}

struct meets {
  sym<std::uint32_t> places;  ///< one element for each thread
  findings found;
  int rounds;
  template <class Block>
  PGAS_FN void operator()(Block block, const context& ctx) const {
    const auto all = this_grid(block);
    const std::uint32_t me = all.thread_rank();
    const std::uint32_t n = all.size();
    found.equal(ctx, 1, global_rank(block), me);
    found.equal(ctx, 2, global_size(block), n);
    std::uint32_t* const place = places.at(ctx);
    for (int i = 0; i < rounds; ++i) {
      place[me] = mix(me, static_cast<std::uint32_t>(i));  // not atomic: sync() orders the accesses
      all.sync();
      const std::uint32_t other = (me + 1 + static_cast<std::uint32_t>(i)) % n;
      found.equal(ctx, 3, mix(other, static_cast<std::uint32_t>(i)), place[other]);
      all.sync();
    }
  }
};

TEST(grid, sync_orders_plain_memory_between_all_threads) {
  for (const grid_shape shape : several_grids()) {
    pe_set pes(2);
    const findings found = make_findings(pes);
    const auto places = pes.allocate<std::uint32_t>(std::size_t{shape.blocks} * shape.threads);
    pes.run(shape, meets{places, found, rounds(1000)});
    pes.run({1, 1}, meets{places, found, 3});
    pes.run(shape, meets{places, found, 5});
    expect_nothing_found(pes, found);
  }
}

struct votes_and_values {
  findings found;
  int rounds;
  template <class Block>
  PGAS_FN void operator()(Block block, const context& ctx) const {
    struct wide {
      std::uint64_t words[8];
    };
    const auto all = this_grid(block);
    for (int i = 0; i < rounds; ++i) {
      const std::uint32_t chosen = mix(static_cast<std::uint32_t>(i)) % all.size();
      found.check(ctx, 1, all.any(all.thread_rank() == chosen));
      found.check(ctx, 2, !all.any(false));
      wide mine{};
      for (std::uint64_t k = 0; k < 8; ++k)
        mine.words[k] = (all.thread_rank() + 1) * 1000 + k + static_cast<std::uint64_t>(i);
      const wide got = all.broadcast(mine);
      for (std::uint64_t k = 0; k < 8; ++k) found.equal(ctx, 3, 1000 + k + static_cast<std::uint64_t>(i), got.words[k]);
      found.equal(ctx, 4, i, all.broadcast(all.thread_rank() == 0 ? i : -1));
    }
  }
};

TEST(grid, votes_and_hands_a_value_to_all) {
  for (const grid_shape shape : several_grids()) {
    pe_set pes(1);
    const findings found = make_findings(pes);
    pes.run(shape, votes_and_values{found, rounds(500)});
    expect_nothing_found(pes, found);
  }
}

/// put, put_signal, waits and barriers by the whole grid, in a ring of PEs.
struct ring {
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<std::uint64_t> signal;
  findings found;
  std::uint32_t n;
  int rounds;
  template <class Block>
  PGAS_FN void operator()(Block block, const context& ctx) const {
    const auto all = this_grid(block);
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    const auto left = static_cast<std::uint32_t>((ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes());
    const auto me = static_cast<std::uint32_t>(ctx.my_pe());
    for (int i = 0; i < rounds; ++i) {
      const auto round = static_cast<std::uint32_t>(i);
      for (std::uint32_t k = all.thread_rank(); k < n; k += all.size()) outbox.at(ctx)[k] = mix(k, me, round);
      all.sync();
      put_signal(ctx, all, inbox.at(ctx), outbox.at(ctx), n, signal.at(ctx), 1, signal_op::add, right);
      wait_until(ctx, all, signal.at(ctx), cmp::ge, round + 1);
      for (std::uint32_t k = all.thread_rank(); k < n; k += all.size())
        found.equal(ctx, 1, mix(k, left, round), inbox.at(ctx)[k]);
      barrier(ctx, all);
      get(ctx, all, outbox.at(ctx), inbox.at(ctx), n, right);
      for (std::uint32_t k = all.thread_rank(); k < n; k += all.size())
        found.equal(ctx, 2, mix(k, me, round), outbox.at(ctx)[k]);
      quiet(ctx, all);
      barrier(ctx, all);
    }
  }
};

TEST(grid, carries_out_group_operations) {
  for (const grid_shape shape : several_grids()) {
    pe_set pes(3);
    const findings found = make_findings(pes);
    constexpr std::uint32_t n = 10'007;
    const auto inbox = pes.allocate<std::uint32_t>(n);
    const auto outbox = pes.allocate<std::uint32_t>(n);
    const auto signal = pes.allocate<std::uint64_t>(1);
    pes.run(shape, ring{inbox, outbox, signal, found, n, rounds(30)});
    expect_nothing_found(pes, found);
  }
}

struct one_stays_away {
  sym<std::uint64_t> never;
  template <class Block>
  PGAS_FN void operator()(Block block, const context& ctx) const {
    if (block.block_rank() == 0) wait_until(ctx, block, never.at(ctx), cmp::eq, 1);
    this_grid(block).sync();
  }
};

TEST(grid, a_meeting_ends_when_a_thread_of_the_pe_has_given_up) {
  pe_set pes(2, {.timeout = std::chrono::milliseconds(300)});
  const auto never = pes.allocate<std::uint64_t>(1);
  const std::vector<bool> gave_up = pes.run_out({3, 2}, one_stays_away{never});
  for (int pe = 0; pe < 2; ++pe) EXPECT_TRUE(gave_up[static_cast<std::size_t>(pe)]) << "PE " << pe;
}

}  // namespace
}  // namespace pgas_test
