/// @file
/// Broadcast and vote in a thread block cluster, through its blocks' shared memory. The group is a
/// cooperative_groups::cluster_group, recognised by its members, so that its header is not needed here.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

template <class G>
using cluster_members = std::void_t<decltype(some<G>().map_shared_rank(static_cast<std::uint32_t*>(nullptr), 0)),
                                    decltype(some<G>().num_blocks())>;
/// Groups that reach the shared memory of several blocks.
template <class G>
inline constexpr bool clustered = valid<cluster_members, G>;

#if defined(__CUDACC__)

/// The value of the thread with rank 0, which is in block 0, on all threads. Also a sync().
template <class G, class T>
[[nodiscard]] PGAS_FN T cluster_broadcast(const G& g, T value) {
  __shared__ T room;
  if (g.thread_rank() == 0) room = value;
  g.sync();
  const T all = *g.map_shared_rank(&room, 0);
  g.sync();  // block 0 stays, and writes no more, until all have read
  return all;
}

/// Whether `yes` holds on any thread, on all threads. Also a sync().
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
