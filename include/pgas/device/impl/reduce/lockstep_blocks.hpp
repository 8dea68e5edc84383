/// @file
/// All-reduces by lockstep blocks. The host enqueues a kernel with the same number of blocks on every member. Each
/// block works independently, on its own elements, with the same block of the other members. This header computes each
/// block's staging addresses and the elements that the block owns. Used by `ll/ll_reduce.hpp` and `oneshot_reduce.hpp`.
#pragma once

#include "pgas/device/impl/reduce/reduce_loop.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// Whether a team has staging memory, in the host's view of the team.
[[nodiscard]] PGAS_HD constexpr bool has_oneshot_staging(const team_view& team) {
  return team.staging_offset_ != 0 && team.n_pes() > 1 && team.n_pes() <= oneshot_staging::most_members;
}

/// log2 of the number of bytes that one member stores to another for one block. The number is a power of two, so the
/// distance between the members' parts is constant, like the distance between slots.
[[nodiscard]] PGAS_HD constexpr std::uint32_t log2_oneshot_bytes(std::int32_t members) {
  std::uint32_t log2 = oneshot_staging::log2_block_bytes;
  while (static_cast<std::uint64_t>(members) << log2 > oneshot_staging::block_bytes) --log2;
  return log2;
}

/// The elements of each block, equal on all members.
template <class T>
[[nodiscard]] PGAS_FN partition block_partition(const T* src, std::size_t count, std::uint32_t blocks) {
  return partition_of(reinterpret_cast<std::uintptr_t>(src), sizeof(T), count, static_cast<std::int32_t>(blocks));
}

}  // namespace pgas::detail
