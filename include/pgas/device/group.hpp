/// @file
/// Groups: the threads that make a call together. The requirements are a subset of cooperative groups, so that
/// `cooperative_groups::thread_block`, tiles and coalesced groups satisfy them unchanged.
#pragma once

#include "pgas/types.hpp"

namespace pgas {

/// Threads that call an operation together: all of them, with the same arguments, converged.
template <class G>
concept group = requires(const G& g) {
  { g.thread_rank() } -> std::convertible_to<std::uint64_t>;
  { g.size() } -> std::convertible_to<std::uint64_t>;
  g.sync();
};

/// A group that is one block of a grid. Names as in cooperative_groups::grid_group.
template <class G>
concept block_group = group<G> && requires(const G& g) {
  { g.block_rank() } -> std::convertible_to<std::uint64_t>;
  { g.num_blocks() } -> std::convertible_to<std::uint64_t>;
};

}  // namespace pgas
