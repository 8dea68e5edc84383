// A call by a group orders earlier accesses of all threads of the group, without a sync by the program. The call also
// sends the values that threads with high ranks store late. The call does not overwrite memory before late threads have
// loaded it.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Used by the two bodies: messages of one member, and a thread that is late.
struct late_body {
  static constexpr std::uint32_t most = 3000;

  test_team team;
  sym<std::uint32_t> inbox;  // room for a message of each member
  sym<std::uint32_t> outbox;
  sym<signal_t> ready;
  sym<signal_t> read;
  sym<packet_line> boxes;
  findings found;
  scope by;
  std::uint32_t n;

  PGAS_FN static std::uint32_t value(std::int32_t from, std::uint32_t i, std::uint32_t round) {
    return mix(i, round, static_cast<std::uint32_t>(from));
  }

  /// Calls f(i) for each element that the thread handles. Threads with high ranks are late. In the tested call, another
  /// thread copies the element.
  template <class Group, class F>
  PGAS_FN void for_own_late(const Group& g, std::uint32_t count, const F& f) const {
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    constexpr std::uint64_t delay_ns = 50'000;
    if (rank > (size - 1) / 2) {
      const std::uint64_t begin = detail::clock_ns();
      while (detail::clock_ns() - begin < delay_ns) detail::yield_waiting();
    }
    for (std::uint32_t i = size - 1 - rank; i < count; i += size) f(i);
  }
  template <class Group>
  PGAS_FN void store_late(const context& ctx, const Group& g, std::uint32_t count, std::uint32_t round) const {
    volatile std::uint32_t* const out = outbox.at(ctx);
    for_own_late(g, count, [&](std::uint32_t i) { out[i] = value(ctx.my_pe(), i, round); });
  }

  /// Checks elements that PE `from` has sent. The first received element is element `first` of that PE.
  template <class Group>
  PGAS_FN void expect(const context& ctx, const Group& g, const std::uint32_t* at, std::int32_t from,
                      std::uint32_t round, std::uint32_t first = 0) const {
    for (auto i = static_cast<std::uint32_t>(g.thread_rank()); i < n; i += static_cast<std::uint32_t>(g.size()))
      found.equal(ctx, std::uint64_t{round} << 32 | i, value(from, first + i, round), at[i]);
  }

  PGAS_FN packet_line* box(const context& ctx, std::size_t k) const {
    return boxes.at(ctx) + k * packet_lines(most * sizeof(std::uint32_t));
  }
  /// This side of the channel with the next member, and of the channel with the previous member.
  template <class Group>
  PGAS_FN packet_channel to_next(const context& ctx, const Group& g) const {
    return packet_channel(ctx, g, box(ctx, 0), box(ctx, 1), most * sizeof(std::uint32_t), next_member(ctx));
  }
  template <class Group>
  PGAS_FN packet_channel to_last(const context& ctx, const Group& g) const {
    return packet_channel(ctx, g, box(ctx, 1), box(ctx, 0), most * sizeof(std::uint32_t), last_member(ctx));
  }
};

/// Puts of all kinds to the next member. The data is stored late.
struct late_puts : late_body {
  static constexpr std::uint32_t kinds = 8;

  template <class Group>
  PGAS_FN void put_as(std::uint32_t kind, const context& ctx, const Group& g) const {
    std::uint32_t* const in = inbox.at(ctx);
    const std::uint32_t* const out = outbox.at(ctx);
    signal_t* const sig = ready.at(ctx);
    const std::int32_t pe = next_member(ctx);
    switch (kind) {
      case 0: return put_signal(ctx, g, in, out, n, sig, 1, signal_op::add, pe);
      case 1: return put_signal_nbi(ctx, g, in, out, n, sig, 1, signal_op::add, pe);
      case 2: put(ctx, g, in, out, n, pe); break;
      case 3: put_nbi(ctx, g, in, out, n, pe); break;
      case 4: iput(ctx, g, in, out, 1, 1, n, pe); break;
      case 5: iput_nbi(ctx, g, in, out, 1, 1, n, pe); break;
      case 6: ibput(ctx, g, in, out, 300, 300, n % 300 == 0 ? 300 : n, (n + 299) / 300, pe); break;
      case 7: ibput_nbi(ctx, g, in, out, 2, 2, n % 2 == 0 ? 2 : n, (n + 1) / 2, pe); break;
      default: break;
    }
    fence(ctx, g);
    signal_add(ctx, g, sig, 1, pe);
  }

  template <class Group>
  PGAS_FN void exercise(const context& ctx, const Group& g) const {
    for (std::uint32_t round = 0; round < kinds; ++round) {
      store_late(ctx, g, n, round);
      put_as(round, ctx, g);
      wait_until(ctx, g, ready.at(ctx), cmp::ge, round + 1);
      expect(ctx, g, inbox.at(ctx), last_member(ctx), round);
      fence(ctx, g);  // the data must be read before the sender writes again
      signal_add(ctx, g, read.at(ctx), 1, last_member(ctx));
      signal_take(ctx, g, read.at(ctx), 1);
    }
    packet_channel next = to_next(ctx, g);
    packet_channel last = to_last(ctx, g);
    store_late(ctx, g, n, kinds);
    send(ctx, g, next, outbox.at(ctx), n);
    send(ctx, g, last, outbox.at(ctx), 0);
    receive(ctx, g, last, inbox.at(ctx), n);
    receive(ctx, g, next, inbox.at(ctx), 0);
    expect(ctx, g, inbox.at(ctx), last_member(ctx), kinds);
    barrier(ctx, g, ctx.team());
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    with_scope(by, block, [&](const auto& g) { exercise(ctx, g); });
  }
};

/// Gets of all kinds into memory that is loaded late.
struct late_gets : late_body {
  static constexpr std::uint32_t kinds = 7;
  static constexpr std::uint32_t of_outbox = 77;  // the elements of the outbox are made with this number in place of
                                                  // the number of a round

  template <class Group>
  PGAS_FN void get_as(std::uint32_t kind, const context& ctx, const Group& g, packet_channel& last) const {
    std::uint32_t* const in = inbox.at(ctx);
    const std::uint32_t* const out = outbox.at(ctx);
    const std::int32_t pe = last_member(ctx);
    switch (kind) {
      case 0: return get(ctx, g, in, out, n, pe);
      case 1: return get_nbi(ctx, g, in, out, n, pe);
      case 2: return iget(ctx, g, in, out, 1, 1, n, pe);
      case 3: return iget_nbi(ctx, g, in, out, 1, 1, n, pe);
      case 4: return ibget(ctx, g, in, out, 300, 300, n % 300 == 0 ? 300 : n, (n + 299) / 300, pe);
      case 5: return ibget_nbi(ctx, g, in, out, 2, 2, n % 2 == 0 ? 2 : n, (n + 1) / 2, pe);
      default: return receive(ctx, g, last, in, n);
    }
  }

  template <class Group>
  PGAS_FN void exercise(const context& ctx, const Group& g) const {
    store_late(ctx, g, most, of_outbox);
    packet_channel next = to_next(ctx, g);
    packet_channel last = to_last(ctx, g);
    barrier(ctx, g, ctx.team());
    send(ctx, g, next, outbox.at(ctx), n);
    send(ctx, g, last, outbox.at(ctx), 0);
    volatile std::uint32_t* const in = inbox.at(ctx);
    for (std::uint32_t kind = 0; kind < kinds; ++kind) {
      const auto rank = static_cast<std::uint32_t>(g.thread_rank());
      for (std::uint32_t i = rank; i < n; i += static_cast<std::uint32_t>(g.size())) in[i] = value(-1, i, kind);
      g.sync();
      for_own_late(g, n, [&](std::uint32_t i) { found.equal(ctx, 100 + kind, value(-1, i, kind), +in[i]); });
      get_as(kind, ctx, g, last);
      quiet(ctx, g);
      expect(ctx, g, inbox.at(ctx), last_member(ctx), of_outbox);
      g.sync();
    }
    receive(ctx, g, next, inbox.at(ctx), 0);
    barrier(ctx, g, ctx.team());
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    with_scope(by, block, [&](const auto& g) { exercise(ctx, g); });
  }
};

/// Collectives whose data is stored late.
struct late_collectives : late_body {
  template <class Group>
  PGAS_FN void exercise(const context& ctx, const Group& g) const {
    const team_view& all = ctx.team();
    std::uint32_t* const in = inbox.at(ctx);
    const std::uint32_t* const out = outbox.at(ctx);
    const auto members = static_cast<std::uint32_t>(all.n_pes());
    const auto me = static_cast<std::uint32_t>(ctx.my_pe());
    for (std::uint32_t round = 0; round < 7; ++round) {
      const std::int32_t root = all.n_pes() - 1;
      const bool to_each = round == 3 || round == 4;  // the data has a block for each member
      store_late(ctx, g, to_each ? n * members : n, round);
      switch (round) {
        case 0: broadcast(ctx, g, all, in, out, n, root); break;
        case 1: fcollect(ctx, g, all, in, out, n); break;
        case 2: collect(ctx, g, all, in, out, n); break;
        case 3: alltoall(ctx, g, all, in, out, n); break;
        case 4: alltoalls(ctx, g, all, in, out, 1, 1, n); break;
        case 5: reduce(ctx, g, all, in, out, n, op::sum{}); break;
        default: inclusive_scan(ctx, g, all, in, out, n, op::sum{}); break;
      }
      if (round == 0) expect(ctx, g, in, root, round);
      for (std::uint32_t pe = 0; pe < members && round >= 1 && round <= 4; ++pe)
        expect(ctx, g, in + pe * n, static_cast<std::int32_t>(pe), round, to_each ? me * n : 0);
      if (round >= 5) expect_sums(ctx, g, round == 5 ? all.n_pes() : ctx.my_pe() + 1, round);
      barrier(ctx, g, all);
    }
  }

  template <class Group>
  PGAS_FN void expect_sums(const context& ctx, const Group& g, std::int32_t members, std::uint32_t round) const {
    for (auto i = static_cast<std::uint32_t>(g.thread_rank()); i < n; i += static_cast<std::uint32_t>(g.size())) {
      std::uint32_t sum = 0;
      for (std::int32_t pe = 0; pe < members; ++pe) sum += value(pe, i, round);
      found.equal(ctx, std::uint64_t{round} << 32 | i, sum, inbox.at(ctx)[i]);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    with_scope(by, block, [&](const auto& g) { exercise(ctx, g); });
  }
};

template <class Body>
void run_late() {
  for (const team_shape& shape : few_team_shapes()) {
    for (const grid_shape& grid : blocks()) {
      for (const scope by : all_scopes) {
        for (const std::uint32_t n : {1u, 30u, late_body::most}) {
          pe_set pes(shape.n_pes);
          const test_team team = make_team(pes, shape.members, shape.as_list);
          const std::size_t words = late_body::most * shape.members.size();
          const Body body{{team, pes.allocate<std::uint32_t>(words), pes.allocate<std::uint32_t>(words),
                           pes.allocate<signal_t>(1), pes.allocate<signal_t>(1),
                           pes.allocate<packet_line>(2 * packet_lines(late_body::most * sizeof(std::uint32_t))),
                           make_findings(pes), by, n}};
          pes.run(grid, body);
          SCOPED_TRACE(shape.name + ", " + std::to_string(grid.threads) + " threads, scope " +
                       std::to_string(static_cast<int>(by)) + ", " + std::to_string(n) + " elements");
          expect_nothing_found(pes, body.found);
        }
      }
    }
  }
}

TEST(implicit_sync, a_put_sends_what_threads_stored_late) { run_late<late_puts>(); }
TEST(implicit_sync, a_get_leaves_alone_what_threads_load_late) { run_late<late_gets>(); }
TEST(implicit_sync, a_collective_takes_what_threads_stored_late) { run_late<late_collectives>(); }

}  // namespace
