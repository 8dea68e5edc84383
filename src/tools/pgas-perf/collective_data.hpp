/// @file
/// What collectives should have left in job::target, whoever called them: row::wrong of their rows. The size of such a
/// row is that of the whole vector: what a reduction or a broadcast has, what an fcollect gathers, what an alltoall
/// sends from each PE, its own part included.
#pragma once

#include "session.hpp"

namespace pgas::perf {

/// Words of one PE's part.
[[nodiscard]] inline std::size_t share(const session& s, const job& j) {
  return j.count / static_cast<std::size_t>(s.of().n_pes());
}

/// Words that PE `pe` of `n` has for a collect: a quarter less or more than others, in turn.
[[nodiscard]] PGAS_HD std::size_t collected_from(const job& j, int pe, int n) {
  const std::size_t each = j.count / static_cast<std::size_t>(n);
  if (n % 2 != 0 && pe == n - 1) return each;
  return pe % 2 == 0 ? each - each / 4 : each + each / 4;
}

[[nodiscard]] std::uint64_t reduce_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t reduce_scatter_wrong(session& s, const point& at, const job& j);
/// At PE job::from.
[[nodiscard]] std::uint64_t reduce_to_root_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t inclusive_scan_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t exclusive_scan_wrong(session& s, const point& at, const job& j);
/// From PE job::from.
[[nodiscard]] std::uint64_t broadcast_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t fcollect_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t collect_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t alltoall_wrong(session& s, const point& at, const job& j);
/// Of every other word of the source, one beside the other.
[[nodiscard]] std::uint64_t alltoalls_wrong(session& s, const point& at, const job& j);

}  // namespace pgas::perf
