// Collectives of one team on several streams. The collectives run in the order in which they are enqueued. The tests
// run with any number of PEs, on either heap.
#include <optional>

#include "collective_tests.hpp"

namespace {

namespace op = pgas::op;
using namespace pgas_test;

constexpr std::size_t count = 1024;
constexpr std::size_t rounds = 100;

/// The operands of all members differ in each round, and the sums are known.
class summands {
 public:
  explicit summands(std::uint32_t salt) : salt_(salt), src_(count * rounds), dst_(count * rounds) {
    src_.write(values_of(world().my_pe()));
    dst_.write(std::vector<std::uint32_t>(count * rounds, 0));
  }
  void enqueue(const pgas::team& team, const pgas::stream& on, std::size_t round) {
    pgas::reduce(team, on, dst_.data() + round * count, src_.data() + round * count, count, op::sum{});
  }
  void call(const pgas::team& team, std::size_t round) {
    pgas::reduce(team, dst_.data() + round * count, src_.data() + round * count, count, op::sum{});
  }
  void expect_right(const pgas::team& team) {
    std::vector<std::uint32_t> sum(count * rounds, 0);
    for (int m = 0; m < team.n_pes(); ++m) {
      const std::vector<std::uint32_t> theirs = values_of(team.world_pe(m));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theirs[i];
    }
    EXPECT_EQ(dst_.read(sum.size()), sum);
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> values_of(int pe) const {
    return numbers<std::uint32_t>(pe + static_cast<int>(salt_), count * rounds);
  }
  std::uint32_t salt_;
  array<std::uint32_t> src_;
  array<std::uint32_t> dst_;
};

TEST(StreamOrder, two_streams_of_one_team) {
  const pgas::team& team = world().team();
  pgas::stream item(world());
  pgas::stream other(world());
  summands first(1000);
  summands second(2000);
  pgas::barrier(team);
  for (std::size_t r = 0; r < rounds; ++r) {
    first.enqueue(team, item, r);
    second.enqueue(team, other, r);
  }
  item.synchronize();
  other.synchronize();
  first.expect_right(team);
  second.expect_right(team);
  pgas::barrier(team);
}

TEST(StreamOrder, each_stream_is_destroyed_before_the_next) {
  const pgas::team& team = world().team();
  summands all(3000);
  pgas::barrier(team);
  for (std::size_t r = 0; r < rounds; ++r) {
    const pgas::stream brief(world());
    all.enqueue(team, brief, r);
  }
  all.expect_right(team);
  pgas::barrier(team);
}

TEST(StreamOrder, blocking_calls_beside_a_stream) {
  const pgas::team& team = world().team();
  pgas::stream on(world());
  summands enqueued(4000);
  summands called(5000);
  pgas::barrier(team);
  for (std::size_t r = 0; r < rounds; ++r) {
    enqueued.enqueue(team, on, r);
    called.call(team, r);
  }
  on.synchronize();
  enqueued.expect_right(team);
  called.expect_right(team);
  pgas::barrier(team);
}

TEST(StreamOrder, barriers_and_copies_on_three_streams) {
  const pgas::team& team = world().team();
  const auto n = static_cast<std::size_t>(team.n_pes());
  pgas::stream streams[3] = {pgas::stream(world()), pgas::stream(world()), pgas::stream(world())};
  summands sums(6000);
  array<int> mine(rounds);
  array<int> all(rounds * n);
  mine.write(numbers<int>(team.my_pe(), rounds));
  pgas::barrier(team);
  for (std::size_t r = 0; r < rounds; ++r) {
    sums.enqueue(team, streams[r % 3], r);
    pgas::barrier(team, streams[(r + 1) % 3]);
    pgas::fcollect(team, streams[(r + 2) % 3], all.data() + r * n, mine.data() + r, 1);
    pgas::sync(team, streams[r % 2]);
  }
  for (pgas::stream& each : streams) each.synchronize();
  sums.expect_right(team);
  const std::vector<int> got = all.read(rounds * n);
  for (std::size_t m = 0; m < n; ++m) {
    const std::vector<int> theirs = numbers<int>(static_cast<int>(m), rounds);
    for (std::size_t r = 0; r < rounds; ++r) EXPECT_EQ(got[r * n + m], theirs[r]);
  }
  pgas::barrier(team);
}

TEST(StreamOrder, a_team_that_was_made_and_the_world_beside) {
  const pgas::team& all = world().team();
  pgas::team result = all.split_strided(0, 1, all.n_pes());
  pgas::stream item(world());
  pgas::stream other(world());
  summands first(7000);
  summands second(8000);
  pgas::barrier(all);
  for (std::size_t r = 0; r < rounds; ++r) {
    // On all PEs the two streams use the two teams in the same order.
    first.enqueue(all, r % 2 == 0 ? item : other, r);
    second.enqueue(result, r % 3 == 0 ? item : other, r);
  }
  item.synchronize();
  other.synchronize();
  first.expect_right(all);
  second.expect_right(result);
  pgas::barrier(all);
  result.destroy();
}

}  // namespace
