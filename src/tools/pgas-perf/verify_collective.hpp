/// @file
/// Checks job::target after a collective that kernels or the host have called. Rows of collectives use these checks as
/// row::wrong. The size of such a row is the size of a whole vector. The vector is the operand of a reduction or a
/// broadcast, or the result of an fcollect. In an alltoall, the vector is all data of a PE, including the part that the
/// PE keeps.
#pragma once

#include "benchmark_world.hpp"

namespace pgas::perf {

/// The number of words of one PE's part.
[[nodiscard]] inline std::size_t share(const benchmark_world& s, const job& j) {
  return j.count / static_cast<std::size_t>(s.world().n_pes());
}

/// The number of words that PE `pe` of `n` contributes to a collect: alternately a quarter less and a quarter more than
/// the average.
[[nodiscard]] PGAS_HD std::size_t collected_from(const job& j, int pe, int n) {
  const std::size_t each = j.count / static_cast<std::size_t>(n);
  if (n % 2 != 0 && pe == n - 1) return each;
  return pe % 2 == 0 ? each - each / 4 : each + each / 4;
}

[[nodiscard]] std::uint64_t reduce_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t reduce_scatter_wrong(benchmark_world& s, const point& at, const job& j);
/// The check at PE job::from.
[[nodiscard]] std::uint64_t reduce_to_root_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t inclusive_scan_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t exclusive_scan_wrong(benchmark_world& s, const point& at, const job& j);
/// The check of a broadcast from PE job::from.
[[nodiscard]] std::uint64_t broadcast_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t fcollect_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t collect_wrong(benchmark_world& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t alltoall_wrong(benchmark_world& s, const point& at, const job& j);
/// Checks an alltoall of every second word of the source. The words are packed in the target.
[[nodiscard]] std::uint64_t alltoalls_wrong(benchmark_world& s, const point& at, const job& j);

}  // namespace pgas::perf
