/// @file
/// Broadcast and vote among the threads of a group, used by every operation that may wait. Calls with a kind of group
/// that this header does not list do not compile.
#pragma once

#include "pgas/detail/cluster_vote.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

template <class G>
using voting_members = std::void_t<decltype(some<G>().broadcast(0u)), decltype(some<G>().any(true))>;
/// Whether a group can vote. The groups that can vote are pgas::block (on the GPU and on the CPU) and pgas::grid.
template <class G>
inline constexpr bool has_vote = valid<voting_members, G>;

template <class G>
using shuffling_members = std::void_t<decltype(some<G>().shfl(0u, 0)), decltype(some<G>().any(1))>;
/// Warps, cooperative_groups tiles of up to 32 lanes and coalesced groups.
template <class G>
inline constexpr bool shuffling = valid<shuffling_members, G>;

template <class G>
using thread_block_members = std::void_t<decltype(some<G>().thread_index()), decltype(some<G>().group_index())>;
/// Whether G is cooperative_groups::thread_block, which has the same threads as pgas::block. The type is recognized by
/// members that no other group has.
template <class G>
inline constexpr bool cg_thread_block = valid<thread_block_members, G>;

/// The type `block`, instantiated only where a template needs it.
template <class>
struct block_type {
  using type = block;
};

/// Returns the value of the thread with rank 0 on all threads, or ends all threads if that thread has ended. The call
/// is also a sync().
/// *Callers* all threads of the group. *Memory* T is trivially copyable, a multiple of 4 bytes, at most 64.
template <PGAS_IS(group) G, class T>
[[nodiscard]] PGAS_FN T broadcast(const G& g, T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0 && sizeof(T) <= 64);
  if constexpr (single<G>) {
    return value;
  } else if constexpr (has_vote<G>) {
    return g.broadcast(value);
  } else if constexpr (cg_thread_block<G>) {
    return block_type<G>::type::broadcast(value);
  } else if constexpr (clustered<G>) {
    return cluster_broadcast(g, value);
  } else {
    static_assert(shuffling<G>,
                  "this group can't hand a value to all of its threads: use a thread, a warp, a tile, a block, a "
                  "cluster or pgas::grid");
    struct words {
      std::uint32_t w[sizeof(T) / 4];
    };
    g.sync();
    if (!g.any(g.thread_rank() == 0 ? 1 : 0)) PGAS_UNLIKELY
      end_thread();
    words mine = bits_as<words>(value);
    for (std::uint32_t& w : mine.w) w = g.shfl(w, 0);
    return bits_as<T>(mine);
  }
}

/// Votes: true on all threads of the group if `yes` is true on any thread. The call is also a sync().
/// *Callers* all threads of the group.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool any(const G& g, bool yes) {
  if constexpr (single<G>) {
    return yes;
  } else if constexpr (has_vote<G>) {
    return g.any(yes);
  } else if constexpr (cg_thread_block<G>) {
    return block_type<G>::type::any(yes);
  } else if constexpr (clustered<G>) {
    return cluster_any(g, yes);
  } else {
    static_assert(shuffling<G>,
                  "this group can't vote, so the others would stay in its sync() for ever where one thread's wait is "
                  "lost: use a thread, a warp, a tile, a block, a cluster or, for a whole grid, pgas::grid");
    g.sync();
    return g.any(yes ? 1 : 0) != 0;
  }
}

/// Whether any() and broadcast() of this header also order memory for groups of type G.
template <class G>
inline constexpr bool vote_orders_memory = has_vote<G> || cg_thread_block<G> || clustered<G>;

/// Ends all threads of the group if `lost` is true on any thread. The call is also a sync().
/// *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_FN void exit_if_any(const G& g, bool lost) {
  if (any(g, lost)) PGAS_UNLIKELY
    end_thread();
  if constexpr (!vote_orders_memory<G>) g.sync();  // votes of warps and tiles do not order memory
}

/// Ends all threads of the group unless `well` is true on the first thread, which has performed an operation for all
/// threads. Also ends all threads if the first thread has already ended. The call is also a sync(). *Callers* all
/// threads of the group; all threads except the first pass false.
template <PGAS_IS(group) G>
PGAS_FN void exit_unless_leader(const G& g, bool well) {
  if (!any(g, well)) PGAS_UNLIKELY
    end_thread();
  if constexpr (!vote_orders_memory<G>) g.sync();
}

}  // namespace pgas::detail
