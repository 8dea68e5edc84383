// Reductions and scans called by the host: every operation on every type, and large reductions.
#include <complex>
#include <cstring>

#include "collective_tests.hpp"

namespace {

namespace op = pgas::op;
using namespace pgas_test;

/// A small number, sometimes negative in signed types. Sums and products of a few such numbers are exact in every type.
template <class T>
T element(int member, std::size_t i) {
  const auto small = static_cast<int>(mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i)) % 3) + 1;
  if constexpr (pgas::detail::is_indexed<T>::value) {
    return {static_cast<decltype(T::value)>(small),
            static_cast<decltype(T::index)>((i + static_cast<std::size_t>(member) * 7) % 5)};
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(small);
  } else if constexpr (pgas::complex_type<T>) {
    return T(static_cast<typename T::value_type>(small));
  } else {
    const int either = small == 3 ? -1 : small;
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(either);
    else
      return T(static_cast<float>(either));
  }
}
template <class T>
bool equal(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// All kinds of reductions with one operation on one type. The test applies the operation element by element and
/// compares the results. The elements are chosen so that no result is rounded.
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
  expect(me == n - 1 ? n : me, 0, "reduce_to_root");  // the destinations of the other members do not change
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
              std::ptrdiff_t, char, long, long long, pgas::float16, pgas::bfloat16, float, double, complex<float>,
              complex<double>>(pairs);
  };
  arithmetic(op::sum{});
  arithmetic(op::prod{});
  const auto order = [&]<class Op>(Op) {
    try_types<Op, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
              std::uint64_t, pgas::float16, pgas::bfloat16, float, double>(pairs);
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

TEST(HostCollective, large_sums) {
  const pgas::team& team = world().team();
  const auto n = static_cast<std::uint64_t>(team.n_pes());
  // On GPUs, every warp of every block has several tiles, and the number of members does not divide the number of
  // elements.
  const bool on_gpu = world().heap() == pgas::heap_kind::cuda;
  const std::size_t count = (on_gpu ? std::size_t{16} << 20 : std::size_t{1} << 18) / sizeof(std::uint64_t) + 1021;
  array<std::uint64_t> src(count);
  array<std::uint64_t> dst(count);
  const auto number = [](std::uint64_t factor, std::size_t i) { return factor * (2 * i + 1); };
  const auto result = [&](std::uint64_t factor) {
    std::vector<std::uint64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = number(factor, i);
    return values;
  };
  const std::uint64_t sum_of_pes = n * (n + 1) / 2;
  src.write(result(static_cast<std::uint64_t>(team.my_pe()) + 1));
  both_ways([&](auto&& done, const pgas::stream* on) {
    const auto reduce = [&](std::uint64_t* to, const std::uint64_t* from) {
      on ? pgas::reduce(team, *on, to, from, count, op::sum{}) : pgas::reduce(team, to, from, count, op::sum{});
    };
    dst.write(std::vector<std::uint64_t>(count, 0));
    pgas::barrier(team);
    done([&] {
      reduce(dst.data(), src.data());
      reduce(dst.data(), dst.data());  // in place, with the result of the previous call
      reduce(dst.data(), dst.data());
    });
    EXPECT_TRUE(dst.read(count) == result(sum_of_pes * n * n));
    EXPECT_TRUE(src.read(count) == result(static_cast<std::uint64_t>(team.my_pe()) + 1));
  });
  pgas::barrier(team);
}

TEST(HostCollective, sums_of_all_sizes_by_teams_with_and_without_staging) {
  const int n = world().team().n_pes();
  std::vector<int> backwards;
  for (int pe = n - 1; pe >= 0; --pe) backwards.push_back(pe);
  constexpr std::size_t most = 300'000;
  array<std::uint32_t> src(most);
  array<std::uint32_t> dst(most);
  const auto number = [](int member, std::size_t i) {
    return mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i));
  };
  for (const bool staged : {false, true}) {
    pgas::team team = world().team().split_list(backwards, {.staged = staged});
    EXPECT_EQ(team.config().staged, staged);
    std::vector<std::uint32_t> mine(most);
    for (std::size_t i = 0; i < most; ++i) mine[i] = number(team.my_pe(), i);
    src.write(mine);
    std::vector<std::uint32_t> sums(most);
    for (int member = 0; member < n; ++member)
      for (std::size_t i = 0; i < most; ++i) sums[i] += number(member, i);
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{37}, std::size_t{600}, std::size_t{1024}, std::size_t{1100}, std::size_t{5000},
          std::size_t{16'000}, std::size_t{32'768}, std::size_t{60'001}, most}) {
      dst.write(std::vector<std::uint32_t>(count, 0));
      for (int again = 0; again < 3; ++again)
        pgas::reduce(team, world().stream(), dst.data(), src.data(), count, op::sum{});
      world().synchronize();
      EXPECT_TRUE(dst.read(count) == std::vector<std::uint32_t>(sums.begin(), sums.begin() + static_cast<long>(count)))
          << count << " elements, staged " << staged;
    }
    team.destroy();
  }
}

}  // namespace
