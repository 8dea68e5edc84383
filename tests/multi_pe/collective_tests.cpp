// Collectives called by the host, with and without a stream, in separate processes. The tests run with any number of
// PEs, on either heap.
#include "collective_tests.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "../code_of.hpp"

namespace {

namespace op = pgas::op;
using pgas::code;
using namespace pgas_test;

TEST(HostCollective, moves) {
  const pgas::team& team = world().team();
  const int n = team.n_pes();
  const int me = team.my_pe();
  const auto size = static_cast<std::size_t>(n);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{5000}}) {
    array<int> src(size * count * 2);
    array<int> dst(size * count * 3);
    const std::vector<int> mine = numbers<int>(me, size * count * 2);
    src.write(mine);
    const auto poison = [&] {
      dst.write(std::vector<int>(size * count * 3, -1));
      pgas::barrier(team);
    };
    both_ways([&](auto&& done, const pgas::stream* on) {
      for (int root = 0; root < n; ++root) {
        poison();
        done([&] {
          on ? pgas::broadcast(team, *on, dst.data(), src.data(), count, root)
             : pgas::broadcast(team, dst.data(), src.data(), count, root);
        });
        EXPECT_EQ(dst.read(count), numbers<int>(root, count));
      }
      poison();
      done([&] {
        on ? pgas::fcollect(team, *on, dst.data(), src.data(), count)
           : pgas::fcollect(team, dst.data(), src.data(), count);
      });
      std::vector<int> expected;
      for (int m = 0; m < n; ++m) {
        const std::vector<int> theirs = numbers<int>(m, count);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      EXPECT_EQ(dst.read(size * count), expected);

      poison();
      const auto some = [&](int m) { return count * static_cast<std::size_t>(m + 1) / size; };
      done([&] {
        on ? pgas::collect(team, *on, dst.data(), src.data(), some(me))
           : pgas::collect(team, dst.data(), src.data(), some(me));
      });
      expected.clear();
      for (int m = 0; m < n; ++m) {
        const std::vector<int> theirs = numbers<int>(m, some(m));
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      EXPECT_EQ(dst.read(expected.size()), expected);

      poison();
      done([&] {
        on ? pgas::alltoall(team, *on, dst.data(), src.data(), count)
           : pgas::alltoall(team, dst.data(), src.data(), count);
      });
      expected.clear();
      for (int m = 0; m < n; ++m) {
        const std::vector<int> theirs = numbers<int>(m, size * count);
        const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(me) * count);
        expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
      }
      EXPECT_EQ(dst.read(size * count), expected);

      poison();
      done([&] {
        on ? pgas::alltoalls(team, *on, dst.data(), src.data(), 3, 2, count)
           : pgas::alltoalls(team, dst.data(), src.data(), 3, 2, count);
      });
      std::vector<int> strided(size * count * 3, -1);
      for (int m = 0; m < n; ++m) {
        const std::vector<int> theirs = numbers<int>(m, size * count * 2);
        for (std::size_t i = 0; i < count; ++i)
          strided[(static_cast<std::size_t>(m) * count + i) * 3] =
              theirs[(static_cast<std::size_t>(me) * count + i) * 2];
      }
      EXPECT_EQ(dst.read(size * count * 3), strided);
    });
    pgas::barrier(team);
  }
}

TEST(HostCollective, a_stream_of_them) {
  const pgas::team& team = world().team();
  const int n = team.n_pes();
  const std::size_t count = 100;
  array<std::uint64_t> value(count);
  array<std::uint64_t> sum(count);
  array<std::uint64_t> all(count * static_cast<std::size_t>(n));
  value.write(std::vector<std::uint64_t>(count, static_cast<std::uint64_t>(team.my_pe()) + 1));
  pgas::stream on(world());
  pgas::barrier(team, on);
  // In each round the sum becomes the next value: first n (n + 1) / 2, then n times the previous value.
  std::uint64_t expected = 0;
  for (int round = 0; round < 100; ++round) {
    pgas::reduce(team, on, sum.data(), value.data(), count, op::sum{});
    pgas::fcollect(team, on, all.data(), sum.data(), count);
    pgas::alltoall(team, on, value.data(), sum.data(), 0);
    pgas::broadcast(team, on, value.data(), sum.data(), count, round % n);
    pgas::sync(team, on);
    expected = round == 0 ? static_cast<std::uint64_t>(n * (n + 1) / 2) : expected * static_cast<std::uint64_t>(n);
  }
  on.synchronize();
  EXPECT_EQ(value.read(count), std::vector<std::uint64_t>(count, expected));
  EXPECT_EQ(all.read(count * static_cast<std::size_t>(n)),
            std::vector<std::uint64_t>(count * static_cast<std::size_t>(n), expected));
  pgas::barrier(team);
}

// Calls 200 barriers on each of two streams. The barriers use words of the stream. Data that was put before a barrier
// is visible after the barrier. At the end, signals go to one neighbour without a barrier.
TEST(HostCollective, barriers_by_words) {
  const pgas::team& team = world().team();
  const int n = team.n_pes();
  const int me = team.my_pe();
  const int right = (me + 1) % n;
  const int left = (me + n - 1) % n;
  const auto size = static_cast<std::size_t>(n);
  constexpr std::size_t channels = 2;
  constexpr std::size_t rounds = 200;
  array<pgas::signal_t> words(channels * size);
  array<int> number(channels);
  array<int> seen(channels * rounds);
  array<int> source(rounds);
  std::vector<int> counting(rounds);
  std::iota(counting.begin(), counting.end(), 1);
  words.write(std::vector<pgas::signal_t>(channels * size, 0));
  source.write(counting);
  pgas::barrier(team);
  std::vector<pgas::stream> on;
  for (std::size_t c = 0; c < channels; ++c) on.emplace_back(world());
  for (std::size_t i = 0; i < rounds; ++i) {
    // On odd PEs the streams call the barriers in another order, because the two streams are independent.
    for (std::size_t k = 0; k < channels; ++k) {
      const std::size_t c = me % 2 == 0 ? k : channels - 1 - k;
      pgas::signal_t* const own = words.data() + c * size;
      pgas::put(world(), on[c], number.data() + c, source.data() + i, 1, right);
      pgas::barrier(team, on[c], own);
      pgas::put(world(), on[c], seen.data() + c * rounds + i, number.data() + c, 1, me);
      if (i % 2 == 0) {
        pgas::barrier(team, on[c], own, std::chrono::seconds(60));
        continue;
      }
      pgas::signal_add(world(), on[c], own + me, 1, team.world_pe(left));
      pgas::signal_take(team, on[c], own, right);
    }
  }
  for (pgas::stream& each : on) each.synchronize();
  for (std::size_t c = 0; c < channels; ++c) {
    const std::vector<int> all = seen.read(channels * rounds);
    EXPECT_EQ(std::vector<int>(all.begin() + static_cast<std::ptrdiff_t>(c * rounds),
                               all.begin() + static_cast<std::ptrdiff_t>((c + 1) * rounds)),
              counting);
  }
  pgas::barrier(team);
  EXPECT_EQ(words.read(channels * size), std::vector<pgas::signal_t>(channels * size, 0));
  pgas::barrier(team);
}

TEST(HostCollective, in_place) {
  const pgas::team& team = world().team();
  const std::size_t count = 1000;
  const auto n = static_cast<std::size_t>(team.n_pes());
  const auto me = static_cast<std::size_t>(team.my_pe());
  array<int> both(n * count);
  both.write(std::vector<int>(n * count, 1));
  pgas::barrier(team);
  pgas::reduce(team, both.data(), both.data(), count, op::sum{});
  pgas::inclusive_scan(team, both.data(), both.data(), count, op::max{});
  pgas::reduce_scatter(team, both.data() + me * count, both.data(), count, op::bit_or{});
  pgas::fcollect(team, both.data(), both.data() + me * count, count);
  std::vector<int> expected(n * count, 1);
  std::fill_n(expected.begin(), count, static_cast<int>(n));
  EXPECT_EQ(both.read(n * count), expected);
  pgas::broadcast(team, both.data(), both.data(), count, 0);
  pgas::barrier(team);
}

TEST(HostCollective, the_parts_of_the_world) {
  const pgas::team& world_team = world().team();
  const pgas::team parts = world_team.split(world_team.my_pe() % 2, -world_team.my_pe());
  array<int> value(1);
  array<int> result(1);
  array<int> told(1);  // a member can put here while another member still reads `result`, so `result` is not used here
  value.write({world_team.my_pe()});
  for (int round = 0; round < 20; ++round) {
    pgas::reduce(parts, result.data(), value.data(), 1, op::max{});
    EXPECT_EQ(result.read(1)[0], parts.world_pe(0));  // the members are in descending order
    pgas::broadcast(parts, told.data(), value.data(), 1, parts.n_pes() - 1);
    EXPECT_EQ(told.read(1)[0], parts.world_pe(parts.n_pes() - 1));
    pgas::sync(parts);
  }
  pgas::barrier(world_team);
}

TEST(HostCollective, bad_arguments) {
  const pgas::team& team = world().team();
  const int n = team.n_pes();
  array<int> memory(static_cast<std::size_t>(4 * n));
  int* const good = memory.data();
  int* const other = good + 2 * n;
  int outside = 0;
  const pgas::team nobody;
  const std::size_t huge = ~std::size_t{0} / 2;
  const auto sum = op::sum{};
  EXPECT_EQ(code_of([&] { pgas::barrier(nobody); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::sync(nobody); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::reduce(nobody, good, good, 1, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::broadcast(team, good, other, 1, -1); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::broadcast(team, good, other, 1, n); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::reduce_to_root(team, good, other, 1, sum, n); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::fcollect(team, good, other, huge); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, good, other, huge, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, good, other, std::size_t{1} << 50, sum); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, &outside, good, 1, sum); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, good, &outside, 1, sum); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, static_cast<int*>(nullptr), good, 1, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, good, static_cast<int*>(nullptr), 1, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, good + 1, good, 2, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::alltoall(team, good, good, 1); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::alltoalls(team, good, other, 0, 1, 1); }), code::invalid_argument);
  pgas::world elsewhere = pgas::world::join();
  const pgas::stream foreign(elsewhere);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, foreign, good, other, 1, sum); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::barrier(team, foreign); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::alltoalls(team, good, other, 1, -1, 1); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::alltoalls(team, good, other, std::ptrdiff_t{1} << 62, 1, 4); }),
            code::invalid_argument);
  auto* const crooked = reinterpret_cast<int*>(reinterpret_cast<std::byte*>(good) + 1);
  EXPECT_EQ(code_of([&] { pgas::reduce(team, crooked, other, 1, sum); }), code::misaligned);
  pgas::stream moved(world());
  const pgas::stream on(std::move(moved));
  EXPECT_EQ(code_of([&] { pgas::barrier(team, moved); }), code::invalid_argument);  // NOLINT: uses a moved stream
  std::vector<pgas::signal_t> outside_words(static_cast<std::size_t>(n));
  array<pgas::signal_t> words(static_cast<std::size_t>(n));
  EXPECT_EQ(code_of([&] { pgas::barrier(team, on, outside_words.data()); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::barrier(team, on, nullptr); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::barrier(team, on, words.data(), std::chrono::milliseconds(-1)); }),
            code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::signal_take(team, on, words.data(), n); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::signal_take(team, on, words.data(), -1); }), code::pe_out_of_range);
  pgas::reduce(team, good, static_cast<int*>(nullptr), 0, sum);  // no elements, but all members must call
  pgas::barrier(team);
}

// This test is the last one, because it ends the world.
TEST(HostCollectiveEnd, different_calls_are_reported) {
  pgas::config settings = pgas::config::from_environment();
  settings.checks = true;
  pgas::world checked = pgas::world::join(settings);
  auto memory = checked.allocate<int>(16);
  if (checked.n_pes() > 1) {
    const std::size_t count = checked.my_pe() == 1 ? 3 : 2;
    const code seen =
        code_of([&] { pgas::reduce(checked.team(), memory.data(), memory.data() + 8, count, op::sum{}); });
    EXPECT_TRUE(seen == code::asymmetric_call || seen == code::aborted || seen == code::peer_lost)
        << static_cast<int>(seen);
    if (checked.my_pe() == 1) {
      EXPECT_EQ(seen, code::asymmetric_call);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  pgas::world joined = pgas::world::join();
  shared_world = &joined;
  return RUN_ALL_TESTS();
}
