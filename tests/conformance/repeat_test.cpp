// Collectives one after another and side by side. Several blocks make hundreds of calls with only the synchronization
// that the contract requires. Each block uses a separate channel, and the teams of the blocks overlap. Barriers in two
// halves are tested too.
#include <array>

#include "teams.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

constexpr std::int32_t max_teams = 3;

/// The value of a member in a round.
PGAS_HD constexpr std::uint32_t word_of(std::int32_t member, std::uint32_t round, std::uint32_t i) {
  return mix(static_cast<std::uint32_t>(member), round, i);
}

/// Each block works with one team on one channel: block b with team b modulo the number of teams. Every round writes
/// its sources by plain stores directly after the last call has returned, and reads results by plain loads.
struct repeat_body {
  test_team teams[max_teams];
  std::uint32_t n_teams;
  std::uint32_t count;
  sym<std::uint32_t> memory;  // the sources and destinations of each block
  std::uint64_t per_block;    // in words
  findings found;
  std::uint32_t n_rounds;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const auto b = static_cast<std::uint32_t>(block.block_rank());
    const team_view t = teams[b % n_teams].view(ctx).channel(static_cast<std::int32_t>(b / n_teams));
    if (t.my_pe() < 0) return;
    const auto n = static_cast<std::uint32_t>(t.n_pes());
    const std::int32_t me = t.my_pe();
    const std::size_t area = std::size_t{n} * count;
    std::uint32_t* const src = memory.at(ctx) + b * per_block;
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      for (std::uint32_t i = rank; i < area; i += size) src[i] = word_of(me, round, i);
      block.sync();
      // As soon as another member calls the collective, it puts into this memory. At this time, this member can still
      // be reading the data of the previous round. There are therefore two areas.
      std::uint32_t* const put = src + area * (1 + round % 2);
      std::uint32_t* const reduced = src + area * 3;
      switch (round % 5) {
        case 0:
          reduce(ctx, block, t, reduced, src, count, op::sum{});
          for (std::uint32_t i = rank; i < count; i += size) found.equal(ctx, round, sum(n, round, i), reduced[i]);
          break;
        case 1:
          alltoall(ctx, block, t, put, src, count);
          for (std::uint32_t i = rank; i < area; i += size) {
            const std::uint32_t remote = static_cast<std::uint32_t>(me) * count + i % count;
            found.equal(ctx, round, word_of(static_cast<std::int32_t>(i / count), round, remote), put[i]);
          }
          break;
        case 2:
          inclusive_scan(ctx, block, t, reduced, src, count, op::sum{});
          for (std::uint32_t i = rank; i < count; i += size)
            found.equal(ctx, round, sum(static_cast<std::uint32_t>(me) + 1, round, i), reduced[i]);
          break;
        case 3:
          fcollect(ctx, block, t, put, src, count);
          for (std::uint32_t i = rank; i < area; i += size)
            found.equal(ctx, round, word_of(static_cast<std::int32_t>(i / count), round, i % count), put[i]);
          break;
        default:
          reduce_scatter(ctx, block, t, reduced, src, count, op::sum{});
          for (std::uint32_t i = rank; i < count; i += size)
            found.equal(ctx, round, sum(n, round, static_cast<std::uint32_t>(me) * count + i), reduced[i]);
      }
      block.sync();
    }
  }

  PGAS_FN static std::uint32_t sum(std::uint32_t members, std::uint32_t round, std::uint32_t i) {
    std::uint32_t all = 0;
    for (std::uint32_t m = 0; m < members; ++m) all += word_of(static_cast<std::int32_t>(m), round, i);
    return all;
  }
};

void repeat(int n_pes, const std::vector<std::vector<std::int32_t>>& teams, grid_shape grid, std::uint32_t count,
            int n_rounds, bool checks = false) {
  pe_set pes(n_pes, {.checks = checks});
  repeat_body body{};
  for (const auto& members : teams) body.teams[body.n_teams++] = make_team(pes, members);
  body.count = count;
  body.per_block = std::uint64_t{4} * static_cast<std::uint64_t>(n_pes) * count;
  body.memory = pes.allocate<std::uint32_t>(body.per_block * grid.blocks);
  body.found = make_findings(pes);
  body.n_rounds = static_cast<std::uint32_t>(n_rounds);
  pes.run(grid, body);
  expect_nothing_found(pes, body.found);
}

TEST(repeat, back_to_back) {
  for (const grid_shape& shape : blocks()) {
    for (const std::uint32_t count : {1u, 33u, 1000u}) repeat(3, {{0, 1, 2}}, shape, count, rounds(4'000));
  }
}

TEST(repeat, with_checks) { repeat(3, {{2, 0, 1}}, blocks().back(), 10, rounds(2'000), true); }

TEST(repeat, blocks_on_channels) {
  repeat(3, {{0, 1, 2}}, {test_team::channels, blocks()[1].threads}, 40, rounds(2'000));
}

TEST(repeat, teams_that_overlap) {
  repeat(4, {{0, 1, 2, 3}, {3, 1}, {2, 3, 0}}, {6, blocks()[1].threads}, 40, rounds(2'000));
}

/// In each round every PE writes to the right, arrives, works, waits, and checks the data from the left.
struct halves_body {
  sym<std::uint32_t> cells;
  findings found;
  std::uint32_t n_rounds;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const team_view team = ctx.world();
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const std::int32_t n = ctx.n_pes();
    const std::int32_t me = ctx.my_pe();
    std::uint32_t* const mine = cells.at(ctx);
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      // There are two sets of cells, because a neighbour can be one round ahead.
      std::uint32_t* const set = mine + std::size_t{round % 2} * 1024;
      store_plainly(ctx, set + rank, word_of(me, round, rank), (me + 1) % n);
      barrier_arrive(ctx, block, team);
      std::uint32_t work = rank;
      for (int i = 0; i < 10; ++i) work = mix(work);
      found.check(ctx, 1, work != 0x12345678u);
      if (round % 3 == 0) {  // another group than the group that arrived
        block.sync();
        if (rank == 0) barrier_wait(ctx, team);
        block.sync();
      } else {
        barrier_wait(ctx, block, team);
      }
      found.equal(ctx, round, word_of((me + n - 1) % n, round, rank), set[rank]);
    }
  }
};

TEST(repeat, barriers_in_two_halves) {
  for (const grid_shape& shape : blocks()) {
    pe_set pes(3);
    const halves_body body{pes.allocate<std::uint32_t>(2048), make_findings(pes),
                           static_cast<std::uint32_t>(rounds(10'000))};
    pes.run(shape, body);
    expect_nothing_found(pes, body.found);
  }
}

/// Arriving does not wait: PE 0 arrives before it tells PE 1 to arrive.
struct arrive_first_body {
  sym<std::uint64_t> go;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    if (ctx.my_pe() == 0) {
      barrier_arrive(ctx, block, ctx.world());
      if (block.thread_rank() == 0) signal_set(ctx, go.at(ctx), 1, 1);
    } else {
      wait_until(ctx, block, go.at(ctx), cmp::eq, 1);
      barrier_arrive(ctx, block, ctx.world());
    }
    barrier_wait(ctx, block, ctx.world());
  }
};

TEST(repeat, arriving_does_not_wait) {
  for (const grid_shape& shape : blocks()) {
    pe_set pes(2, {.timeout = std::chrono::seconds(5)});
    pes.run(shape, arrive_first_body{pes.allocate<std::uint64_t>(1)});
  }
}

// ---- errors that checks detect

enum class mistake {
  none,
  another_count,
  another_root,
  another_operation,
  another_reduction,
  another_type,
  another_place,
  root_out_of_range,
  outside_heap,
  misaligned,
  bad_stride,
  no_channel,
  no_member
};

/// PE 1 makes the error, or with `everyone` all PEs make it.
struct mistaken_body {
  test_team team;
  sym<std::uint32_t> dst;
  sym<std::uint32_t> src;
  mistake what;
  bool everyone;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    team_view t = team.view(ctx);
    const bool wrong = everyone || t.my_pe() == 1;
    const auto is = [&](mistake which) { return wrong && what == which; };
    std::uint32_t* to = dst.at(ctx);
    const std::uint32_t* const from = src.at(ctx);
    std::size_t count = is(mistake::another_count) ? 5 : 4;
    if (is(mistake::outside_heap)) count = std::size_t{1} << 40;
    if (is(mistake::another_place)) to += 1;
    if (is(mistake::misaligned)) to = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(to) + 1);
    if (is(mistake::no_channel)) t = t.channel(test_team::channels + 1);
    if (what == mistake::another_root || what == mistake::root_out_of_range) {
      const std::int32_t root = wrong ? (what == mistake::another_root ? 1 : 3) : 0;
      broadcast(ctx, block, t, to, from, count, root);
    } else if (what == mistake::bad_stride) {
      alltoalls(ctx, block, t, to, from, 0, 1, count);
    } else if (is(mistake::another_operation)) {
      alltoall(ctx, block, t, to, from, count);
    } else if (is(mistake::another_reduction)) {
      reduce(ctx, block, t, to, from, count, op::max{});
    } else if (is(mistake::another_type)) {
      reduce(ctx, block, t, reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from), count,
             op::sum{});
    } else {
      reduce(ctx, block, t, to, from, count, op::sum{});
    }
  }
};

/// The records of the 3 PEs. PE 1 makes the error, and all PEs end.
std::array<detail::failure_record, 3> make_mistake(grid_shape shape, mistake what, bool everyone) {
  // Some tools do not let the test query a stream while the stream works. With such a tool, the other PEs might
  // detect the error only at their deadline.
  pe_set pes(3, {.checks = true, .timeout = std::chrono::seconds(what == mistake::none ? 60 : 5)});
  const std::vector<std::int32_t> members =
      what == mistake::no_member ? std::vector<std::int32_t>{0, 2} : std::vector<std::int32_t>{0, 1, 2};
  const mistaken_body body{make_team(pes, members), pes.allocate<std::uint32_t>(64), pes.allocate<std::uint32_t>(64),
                           what, everyone};
  const std::vector<bool> gave_up = pes.run_out(shape, body);
  for (int pe = 0; pe < 3; ++pe)
    EXPECT_EQ(gave_up[static_cast<std::size_t>(pe)], what != mistake::none)
        << "PE " << pe << ", mistake " << static_cast<int>(what);
  return {pes.control(0).record, pes.control(1).record, pes.control(2).record};
}

TEST(collective_checks, equal_calls_pass) {
  for (const grid_shape& shape : blocks()) make_mistake(shape, mistake::none, false);
}

TEST(collective_checks, calls_that_differ) {
  for (const grid_shape& shape : blocks()) {
    for (const mistake what : {mistake::another_count, mistake::another_root, mistake::another_operation,
                               mistake::another_reduction, mistake::another_type, mistake::another_place}) {
      const auto records = make_mistake(shape, what, false);
      int told = 0;  // the first PE that detects the error ends the other PEs, some of which have not compared their
                     // calls yet
      for (int pe = 0; pe < 3; ++pe) {
        const detail::failure_record& r = records[static_cast<std::size_t>(pe)];
        if (r.why == detail::failure::aborted) continue;
        ++told;
        EXPECT_EQ(r.why, detail::failure::asymmetric) << "mistake " << static_cast<int>(what) << ", PE " << pe;
        EXPECT_EQ(r.pe == 1, pe != 1) << "PE " << pe << " names " << r.pe;
        const auto all = what == mistake::another_root ? detail::operation::broadcast : detail::operation::reduce;
        EXPECT_EQ(r.what, pe == 1 && what == mistake::another_operation ? detail::operation::alltoall : all);
      }
      EXPECT_GE(told, 1) << "mistake " << static_cast<int>(what);
    }
  }
}

TEST(collective_checks, arguments) {
  const struct {
    mistake what;
    detail::failure why;
  } cases[] = {{mistake::root_out_of_range, detail::failure::pe_out_of_range},
               {mistake::outside_heap, detail::failure::outside_heap},
               {mistake::misaligned, detail::failure::misaligned},
               {mistake::bad_stride, detail::failure::outside_heap},
               {mistake::no_channel, detail::failure::bad_channel}};
  for (const auto& c : cases) {
    for (const bool everyone : {false, true}) {
      if (c.what == mistake::bad_stride && !everyone) continue;
      EXPECT_EQ(make_mistake(blocks().back(), c.what, everyone)[1].why, c.why)
          << "mistake " << static_cast<int>(c.what);
    }
  }
}

TEST(collective_checks, not_a_member) {
  for (const grid_shape& shape : blocks()) {
    pe_set pes(3, {.checks = true, .timeout = std::chrono::seconds(5)});
    const mistaken_body body{make_team(pes, {0, 2}), pes.allocate<std::uint32_t>(64), pes.allocate<std::uint32_t>(64),
                             mistake::none, false};
    pes.run_out(shape, body);
    EXPECT_EQ(pes.control(1).record.why, detail::failure::not_a_member);
  }
}

}  // namespace
