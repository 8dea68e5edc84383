// Collectives called by the host, with and without a stream, on real processes: run with any number of PEs, on either
// heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <thread>

#include "../code_of.hpp"
#include "pgas/pgas.hpp"

namespace {

namespace op = pgas::op;
using pgas::code;
using pgas_test::code_of;

/// One world for all tests of this process: joining costs more than the tests.
pgas::world* shared_world = nullptr;
pgas::world& world() { return *shared_world; }

std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t x = a * 0x9e3779b1u + b * 0x85ebca77u + 0x27d4eb2fu;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  return x ^ x >> 12;
}

/// Symmetric memory as this PE's host sees it.
template <class T>
class array {
 public:
  explicit array(std::size_t count) : memory_(world().allocate<T>(count)) {}
  [[nodiscard]] T* data() { return memory_.data(); }
  void write(const std::vector<T>& values) {
    pgas::put(world(), data(), values.data(), values.size(), world().my_pe());
  }
  [[nodiscard]] std::vector<T> read(std::size_t count) {
    std::vector<T> values(count);
    pgas::get(world(), values.data(), data(), count, world().my_pe());
    return values;
  }

 private:
  pgas::symmetric<T> memory_;
};

template <class T>
std::vector<T> numbers(int member, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i)));
  return values;
}

/// The ways to call: nullptr for the blocking form, or a stream.
template <class Call>
void both_ways(Call&& call) {
  call([](auto&& run) { run(); }, static_cast<const pgas::stream*>(nullptr));
  pgas::stream on(world());
  call(
      [&](auto&& run) {
        run();
        on.synchronize();
      },
      &on);
}

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

/// A small number: exact in every type, products of a few of them too.
template <class T>
T element(int member, std::size_t i) {
  const auto small = static_cast<int>(mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i)) % 3) + 1;
  if constexpr (pgas::detail::is_indexed<T>::value) {
    return {static_cast<decltype(T::value)>(small),
            static_cast<decltype(T::index)>((i + static_cast<std::size_t>(member) * 7) % 5)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(small);
  } else if constexpr (pgas::complex_type<T>) {
    return T(static_cast<typename T::value_type>(small));
  } else {
    return T(static_cast<float>(small));
  }
}
template <class T>
bool equal(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// All kinds of fold of one operation on one type, against the operation itself applied here, element by element. The
/// elements are such that no rounding takes place.
template <class Op, class T>
void try_pair(int& pairs) {
  const pgas::team& team = world().team();
  const int n = team.n_pes();
  const int me = team.my_pe();
  const std::size_t count = 37;
  const auto size = static_cast<std::size_t>(n);
  array<T> src(size * count);
  array<T> dst(count);
  std::vector<T> mine;
  for (std::size_t i = 0; i < size * count; ++i) mine.push_back(element<T>(me, i));
  src.write(mine);
  using A = pgas::detail::accumulator_of<Op, T>;
  const auto folded = [&](int members, std::size_t i) {
    A all = Op::template identity<A>();
    for (int m = 0; m < members; ++m) {
      const T e = element<T>(m, i);
      pgas::detail::stored_as<T, A> stored;
      std::memcpy(static_cast<void*>(&stored), &e, sizeof e);
      all = Op{}(all, pgas::detail::accumulated<T, A>(stored));
    }
    const pgas::detail::stored_as<T, A> out = pgas::detail::stored<T, A>(all);
    T result;
    std::memcpy(static_cast<void*>(&result), &out, sizeof result);
    return result;
  };
  const auto expect = [&](int members, std::size_t skip, const char* what) {
    const std::vector<T> got = dst.read(count);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += equal(got[i], folded(members, skip + i)) ? 0u : 1u;
    EXPECT_EQ(wrong, 0u) << what << " of operation " << Op::id << " on type "
                         << static_cast<int>(pgas::detail::number_of<Op, T>());
  };
  pgas::reduce(team, dst.data(), src.data(), count, Op{});
  expect(n, 0, "reduce");
  pgas::reduce_scatter(team, dst.data(), src.data(), count, Op{});
  expect(n, static_cast<std::size_t>(me) * count, "reduce_scatter");
  pgas::inclusive_scan(team, dst.data(), src.data(), count, Op{});
  expect(me + 1, 0, "inclusive_scan");
  pgas::exclusive_scan(team, dst.data(), src.data(), count, Op{});
  expect(me, 0, "exclusive_scan");
  pgas::reduce_to_root(team, dst.data(), src.data(), count, Op{}, n - 1);
  expect(me == n - 1 ? n : me, 0, "reduce_to_root");  // the others keep what they had
  ++pairs;
}

template <class Op, class... T>
void try_types(int& pairs) {
  (try_pair<Op, T>(pairs), ...);
}

TEST(HostCollective, every_operation_on_every_type) {
  using std::complex;
  int pairs = 0;
  const auto arithmetic = [&]<class Op>(Op) {
    try_types<Op, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, std::uint8_t, std::int64_t, std::size_t,
              std::ptrdiff_t, char, long, long long, pgas::half, pgas::bfloat16, float, double, complex<float>,
              complex<double>>(pairs);
  };
  arithmetic(op::sum{});
  arithmetic(op::prod{});
  const auto order = [&]<class Op>(Op) {
    try_types<Op, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
              std::uint64_t, pgas::half, pgas::bfloat16, float, double>(pairs);
  };
  order(op::min{});
  order(op::max{});
  const auto bits = [&]<class Op>(Op) {
    try_types<Op, std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>(pairs);
  };
  bits(op::bit_and{});
  bits(op::bit_or{});
  bits(op::bit_xor{});
  const auto location = [&]<class Op>(Op) {
    try_types<Op, pgas::indexed<std::int32_t, std::int32_t>, pgas::indexed<std::int64_t>,
              pgas::indexed<float, std::int32_t>, pgas::indexed<double>>(pairs);
  };
  location(op::maxloc{});
  location(op::minloc{});
  EXPECT_EQ(pairs, 2 * 17 + 2 * 12 + 3 * 4 + 2 * 4);
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
  // Each round makes the sum the next value: n (n + 1) / 2, then times n.
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
  array<int> told(1);  // not `result`: a member may put here while another still reads that
  value.write({world_team.my_pe()});
  for (int round = 0; round < 20; ++round) {
    pgas::reduce(parts, result.data(), value.data(), 1, op::max{});
    EXPECT_EQ(result.read(1)[0], parts.world_pe(0));  // in descending order
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
  EXPECT_EQ(code_of([&] { pgas::barrier(team, moved); }), code::invalid_argument);  // NOLINT: that is what is tried
  pgas::reduce(team, good, static_cast<int*>(nullptr), 0, sum);                     // nothing to do, but all meet
  pgas::barrier(team);
}

// The last test: it ends the world.
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
