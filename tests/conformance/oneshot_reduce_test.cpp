// One-shot reductions, as in kernels that the host enqueues. Grids of lockstep blocks execute the reductions one after
// another, and between other collectives. The grids have different numbers of blocks, and the data has sizes around the
// size of the staging.
#include "teams.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Executes a collective as kernels of host calls do, on the CPU and on GPUs.
template <class Block>
class stepping : public grid {
 public:
  PGAS_FN explicit stepping(const Block& part) : grid(part), part_(part) {}
  [[nodiscard]] PGAS_FN const Block& part() const { return part_; }

 private:
  Block part_;
};

PGAS_HD constexpr std::uint32_t word_of(std::int32_t member, std::uint32_t round, std::size_t i) {
  return mix(static_cast<std::uint32_t>(member), round, static_cast<std::uint32_t>(i));
}

struct oneshot_rounds {
  static constexpr std::size_t most = 36'000;  // the largest count in words; the staging of a block holds slightly less

  test_team team;
  sym<std::byte> room;
  sym<std::uint32_t> src;
  sym<std::uint32_t> dst;
  findings found;
  std::uint32_t first;
  std::uint32_t rounds;

  PGAS_FN static std::size_t count_of(std::uint32_t round) {
    const std::uint32_t r = mix(round, 7);
    return r % 8 == 0 ? most - r / 8 % 3000 : r % 8 < 4 ? r / 8 % 300 : r / 8 % 9000;
  }
  PGAS_FN static std::uint32_t sum(std::int32_t members, std::uint32_t round, std::size_t i) {
    std::uint32_t all = 0;
    for (std::int32_t m = 0; m < members; ++m) all += word_of(m, round, i);
    return all;
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    team_view t = team.view(ctx).channel(test_team::channels);  // the channel of the host
    if (t.my_pe() < 0) return;
    if (detail::all_direct(ctx, t)) t.staging_offset_ = room.offset;  // as in the library's teams
    const stepping<Block> g(block);
    const std::uint32_t rank = g.thread_rank();
    const std::uint32_t size = g.size();
    for (std::uint32_t round = first; round < first + rounds; ++round) {
      const std::uint32_t r = mix(round);
      const std::size_t n = count_of(round);
      std::uint32_t* const to = dst.at(ctx) + r / 8 % 5;
      const bool in_place = r % 8 == 1;
      std::uint32_t* const from = in_place ? to : src.at(ctx) + r / 64 % 5;
      g.sync();  // has the effect of the boundary between two kernels
      for (std::size_t i = rank; i < n; i += size) from[i] = word_of(t.my_pe(), round, i);
      g.sync();
      reduce(ctx, g, t, to, from, n, op::sum{});
      g.sync();
      for (std::size_t i = rank; i < n; i += size) found.equal(ctx, round, sum(t.n_pes(), round, i), to[i]);
      if (r / 512 % 4 == 0) barrier(ctx, block, t.of_block(block.block_rank()));
    }
    g.sync();
  }
};

void run_rounds(const team_shape& shape) {
  pe_set pes(shape.n_pes, {.heap_bytes = std::size_t{16} << 20});
  oneshot_rounds body{make_team(pes, shape.members, shape.as_list),
                      pes.allocate<std::byte>(detail::oneshot_staging::bytes()),
                      pes.allocate<std::uint32_t>(oneshot_rounds::most + 8),
                      pes.allocate<std::uint32_t>(oneshot_rounds::most + 8),
                      make_findings(pes),
                      0,
                      static_cast<std::uint32_t>(no_more_than_asked(60))};
  for (const unsigned blocks : {1u, 3u, 2u, 3u, 1u}) {
    grid_shape grid = grids().back();
    grid.blocks = blocks;
    pes.run(grid, body);
    body.first += body.rounds;
  }
  expect_nothing_found(pes, body.found);
}

TEST(oneshot_reduce, teams_of_2) { run_rounds({"2", 2, {0, 1}}); }
TEST(oneshot_reduce, teams_of_3_in_any_order) { run_rounds({"3 of 4", 4, {2, 3, 0}}); }
TEST(oneshot_reduce, teams_of_8) { run_rounds({"8", 8, {0, 1, 2, 3, 4, 5, 6, 7}}); }

}  // namespace
