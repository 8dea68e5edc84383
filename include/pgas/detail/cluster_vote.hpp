/// @file
/// Broadcast and vote in a thread block cluster, through the shared memory of its blocks. The group is a
/// cooperative_groups::cluster_group, recognized by its members, so this header does not include the header of that
/// class.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

template <class G>
using cluster_members = std::void_t<decltype(some<G>().map_shared_rank(static_cast<std::uint32_t*>(nullptr), 0)),
                                    decltype(some<G>().num_blocks())>;
/// Whether G is a group that can access the shared memory of several blocks.
template <class G>
inline constexpr bool clustered = valid<cluster_members, G>;

#if defined(__CUDACC__)

/// Returns, on all threads, the value of the thread with rank 0, which is in block 0. The call is also a sync().
template <class G, class T>
[[nodiscard]] PGAS_FN T cluster_broadcast(const G& g, T value) {
  __shared__ T room;
  if (g.thread_rank() == 0) room = value;
  g.sync();
  const T all = *g.map_shared_rank(&room, 0);
  g.sync();  // until all threads have read the value, block 0 stays resident and keeps the value
  return all;
}

/// Votes: true on all threads if `yes` is true on any thread. The call is also a sync().
template <class G>
[[nodiscard]] PGAS_FN bool cluster_any(const G& g, bool yes) {
  __shared__ std::uint32_t room;
  const int here = __syncthreads_or(yes ? 1 : 0);
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) room = here != 0 ? 1 : 0;
  g.sync();
  std::uint32_t all = 0;
  const auto blocks = static_cast<int>(g.num_blocks());
  for (int i = 0; i < blocks; ++i) all |= *g.map_shared_rank(&room, i);
  g.sync();
  return all != 0;
}

#endif

}  // namespace pgas::detail
