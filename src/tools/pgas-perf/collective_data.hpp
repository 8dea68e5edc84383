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

[[nodiscard]] std::uint64_t reduce_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t reduce_scatter_wrong(session& s, const point& at, const job& j);
/// From PE job::from.
[[nodiscard]] std::uint64_t broadcast_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t fcollect_wrong(session& s, const point& at, const job& j);
[[nodiscard]] std::uint64_t alltoall_wrong(session& s, const point& at, const job& j);

}  // namespace pgas::perf
