// Collectives with LL packets: any kinds and sizes one after another with any groups, epochs that wrap around, and the
// record if a member is missing.
#include "teams.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

PGAS_HD constexpr std::uint32_t word_of(std::int32_t member, std::uint32_t round, std::uint32_t i) {
  return mix(static_cast<std::uint32_t>(member), round, i);
}

/// Each round is a different collective with a different size. In a round, the PEs have different groups. There is no
/// other synchronization. Each PE writes its source and reads its destination by plain accesses. No other PE accesses
/// this memory.
struct packet_rounds {
  static constexpr std::uint32_t most = 4200;  // the number of words of a source; a collective with packets cannot
                                               // carry this number of words

  test_team team;
  sym<std::uint32_t> src;
  sym<std::uint32_t> dst;
  findings found;
  std::uint32_t n_rounds;
  bool of_host;  ///< uses the channel of collectives that the host enqueues

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    team_view t = team.view(ctx);
    if (of_host) t.channel_ = t.n_channels();
    if (block.block_rank() != 0 || t.my_pe() < 0) return;
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      const auto who = static_cast<scope>((round + static_cast<std::uint32_t>(t.my_pe())) % 3);
      const std::uint32_t kind = mix(round, 1) % 6;
      const std::uint32_t n = mix(round, 2) % (1u << mix(round, 3) % 13);  // in words; sometimes zero
      with_scope(who, block, [&](const auto& g) { one_round(ctx, g, t, round, kind, n); });
    }
  }

  template <class G>
  PGAS_FN void one_round(const context& ctx, const G& g, const team_view& t, std::uint32_t round, std::uint32_t kind,
                         std::uint32_t n) const {
    const auto members = static_cast<std::uint32_t>(t.n_pes());
    const std::int32_t me = t.my_pe();
    const std::uint32_t shift = round % 3;
    const std::uint32_t given = kind == 2 ? members * n : n;
    const std::uint32_t got = kind == 1 || kind == 2 ? members * n : n;
    // If the collective stores to other PEs without packets, a barrier before the collective shows that all PEs have
    // finished the previous round.
    const bool stores_there = n * 4 > 2048 || ctx.routes_ != nullptr;
    if (kind >= 1 && kind <= 3 && stores_there) barrier(ctx, g, t);
    std::uint32_t* const from = src.at(ctx) + shift;
    std::uint32_t* const to = kind == 0 && round % 4 == 0 ? from : dst.at(ctx) + shift;
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    for (std::uint32_t i = rank; i < given; i += size) from[i] = word_of(me, round, i);
    g.sync();
    const auto root = static_cast<std::int32_t>(round % members);
    switch (kind) {
      case 0: reduce(ctx, g, t, to, from, n, op::sum{}); break;
      case 1: fcollect(ctx, g, t, to, from, n); break;
      case 2: alltoall(ctx, g, t, to, from, n); break;
      case 3: broadcast(ctx, g, t, to, from, n, root); break;
      case 4: sync(ctx, g, t); return;
      default: inclusive_scan(ctx, g, t, to, from, n, op::sum{}); break;
    }
    for (std::uint32_t i = rank; i < got; i += size) {
      const auto block = static_cast<std::int32_t>(n == 0 ? 0 : i / n);
      std::uint32_t expected = 0;
      switch (kind) {
        case 0: expected = sum(t.n_pes(), round, i); break;
        case 1: expected = word_of(block, round, i % n); break;
        case 2: expected = word_of(block, round, static_cast<std::uint32_t>(me) * n + i % n); break;
        case 3: expected = word_of(root, round, i); break;
        default: expected = sum(me + 1, round, i); break;
      }
      found.equal(ctx, round, expected, to[i]);
    }
  }

  PGAS_FN static std::uint32_t sum(std::int32_t members, std::uint32_t round, std::uint32_t i) {
    std::uint32_t all = 0;
    for (std::int32_t m = 0; m < members; ++m) all += word_of(m, round, i);
    return all;
  }
};

/// @param first the number of exchanges that the team seems to have made
void run_rounds(const team_shape& shape, grid_shape grid, std::uint32_t first, int n_rounds, bool of_host,
                bool checks = false) {
  pe_set pes(shape.n_pes, {.checks = checks});
  const auto n = static_cast<std::int32_t>(shape.members.size());
  const test_team team = make_team(pes, shape.members, shape.as_list);
  const sym<std::uint32_t> count{team.state + detail::team_state_layout::packets(n, test_team::channels, of_host)};
  for (int pe = 0; pe < pes.n_pes(); ++pe) pes.write(pe, count, &first, 1);
  const std::size_t words = packet_rounds::most * shape.members.size();
  const packet_rounds body{team,
                           pes.allocate<std::uint32_t>(words),
                           pes.allocate<std::uint32_t>(words),
                           make_findings(pes),
                           static_cast<std::uint32_t>(n_rounds),
                           of_host};
  pes.run(grid, body);
  expect_nothing_found(pes, body.found);
}

TEST(packet, any_kind_and_size_by_any_group) {
  for (const team_shape& shape : {team_shape{"2", 2, {0, 1}}, team_shape{"3 of 4", 4, {2, 3, 0}},
                                  team_shape{"4 of 5", 5, {4, 1, 0, 2}}, team_shape{"7", 7, {0, 1, 2, 3, 4, 5, 6}}}) {
    for (const grid_shape& grid : blocks()) run_rounds(shape, grid, 0, rounds(2'000), shape.n_pes == 4);
  }
}

TEST(packet, with_checks) { run_rounds({"3", 3, {0, 1, 2}}, blocks().back(), 0, rounds(500), false, true); }

TEST(packet, numbers_start_again) {
  for (const grid_shape& grid : blocks()) {
    for (const std::uint32_t before : {2u, 3u, 5u, 20u}) {
      for (const bool of_host : {false, true})
        run_rounds({"3", 3, {0, 1, 2}}, grid, 0u - before, no_more_than_asked(100), of_host);
    }
  }
}

/// PE 0 writes pairs of words that belong together, and PE 1 reads them at the same time.
struct pairs_in_flight {
  static constexpr std::uint32_t most = 64;  // neighbouring words, so that whole lines are written at a time

  sym<detail::vec16> pairs;
  findings found;
  std::uint32_t n_writes;

  PGAS_FN static detail::vec16 written(std::uint32_t k) { return {{k, mix(k, 1), k, mix(k, 2)}}; }

  /// Whether both halves are the last value that was written.
  PGAS_FN bool look(const context& ctx, const detail::vec16* at) const {
    const detail::vec16 seen = detail::load_relaxed(at);
    if (seen.w[0] != 0) found.equal(ctx, 1, mix(seen.w[0], 1), seen.w[1]);
    if (seen.w[2] != 0) found.equal(ctx, 2, mix(seen.w[2], 2), seen.w[3]);
    return seen.w[0] == n_writes && seen.w[2] == n_writes;
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    detail::vec16* const at = pairs.at(ctx);
    const std::uint32_t rank = global_rank(block);
    const std::uint32_t size = global_size(block);
    for (std::uint32_t k = 1; ctx.my_pe() == 0 && k <= n_writes; ++k) {
      for (std::uint32_t i = rank; i < most; i += size) detail::store_relaxed(ctx.remote(at + i, 1), written(k));
    }
    for (bool all = ctx.my_pe() == 0; !all;) {
      all = true;
      for (std::uint32_t i = rank; i < most; i += size) all = look(ctx, at + i) && all;
    }
  }
};

TEST(packet, halves_do_not_tear) {
  pe_set pes(2, {.domain = 2});
  const pairs_in_flight body{pes.allocate<detail::vec16>(pairs_in_flight::most), make_findings(pes),
                             static_cast<std::uint32_t>(rounds(5'000'000))};
  pes.run({1, blocks()[1].threads}, body);
  expect_nothing_found(pes, body.found);
}

enum class packet_kind { reduce, fcollect, broadcast };

/// The last PE does not call the collective.
struct missing_member {
  sym<std::uint32_t> memory;
  packet_kind kind;
  scope who;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0 || ctx.my_pe() + 1 == ctx.n_pes()) return;
    std::uint32_t* const dst = memory.at(ctx);
    with_scope(who, block, [&](const auto& g) {
      switch (kind) {
        case packet_kind::reduce: return reduce(ctx, g, ctx.world(), dst, dst + 100, 10, op::sum{});
        case packet_kind::fcollect: return fcollect(ctx, g, ctx.world(), dst, dst + 100, 10);
        default: return broadcast(ctx, g, ctx.world(), dst, dst + 100, 10, 0);
      }
    });
  }
};

TEST(packet, a_missing_pe_is_named) {
  for (const scope who : all_scopes) {
    for (const packet_kind kind : {packet_kind::reduce, packet_kind::fcollect, packet_kind::broadcast}) {
      pe_set pes(3, {.timeout = std::chrono::milliseconds(200)});
      pes.run_out(blocks().back(), missing_member{pes.allocate<std::uint32_t>(200), kind, who});
      int told = 0;  // the first PE whose wait fails ends the waits of the others
      for (int pe = 0; pe < 2; ++pe) {
        const detail::failure_record& r = pes.control(pe).record;
        if (r.complete == 0) continue;
        ++told;
        EXPECT_TRUE(r.why == detail::failure::timed_out || r.why == detail::failure::aborted);
        EXPECT_EQ(r.pe, 2) << "kind " << static_cast<int>(kind) << ", PE " << pe;
      }
      EXPECT_GE(told, 1);
    }
  }
}

}  // namespace
