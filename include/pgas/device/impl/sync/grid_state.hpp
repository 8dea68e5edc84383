/// @file
/// The shared state of a launch's blocks, found at run time for launches in graphs. Used by `grid_barrier.hpp` and the
/// kernels of launch(). Open addressing (linear probing) in a table of 128 states.
#pragma once

#include "pgas/detail/isa/ptx_gpu_scope.hpp"
#include "pgas/device/impl/sync/wait.hpp"

namespace pgas::detail {

/// The shared state of a launch's blocks, in memory of their GPU. Kernels of one stream follow one another, so each
/// stream has one. Made by the host: zeros, and the world's context.
struct alignas(128) grid_state {
  static constexpr std::size_t room_bytes = 64;
  std::uint64_t word;                         ///< see grid_word
  std::uint64_t owner;                        ///< in a table: the launch that has taken it, 0 if none has
  alignas(16) std::byte room[2][room_bytes];  ///< of broadcasts, in even and odd barriers
  context here;                               ///< for giving up: a barrier is a wait like every other
  std::uint64_t left;                         ///< in a table: blocks of the owner that need it no more
};
static_assert(sizeof(context) <= 128 && sizeof(grid_state) <= 384);

/// The states of launches in CUDA graphs: a graph may be instantiated several times, and all instances may run at once.
/// As many as grids can run on a GPU at once (CUDA Programming Guide, 128 since 7.0), so one is always free.
inline constexpr std::uint32_t grid_table_size = 128;

/// The state of the launch, in a table. Its first block takes one, so that all find the same; the others search from
/// the same start, each time further. Null if it gave up; the record is written. *Callers* one thread of each block.
/// @param launch not 0; concurrent launches have different ones @param size a power of two
[[nodiscard]] PGAS_OUTLINE grid_state* find_state(grid_state* table, std::uint64_t launch, bool first,
                                                  std::uint32_t size = grid_table_size) {
  const auto begin = static_cast<std::uint32_t>(launch * 0x9e3779b97f4a7c15u >> 32);
  grid_state* found = nullptr;
  std::uint32_t searched = 0;
  const failure why = poll_until(table->here.control_, [&] {
    if (searched < size) ++searched;
    for (std::uint32_t i = 0; i < searched && found == nullptr; ++i) {
      grid_state* const state = table + ((begin + i) & (size - 1));
      const std::uint64_t owner = load_gpu(&state->owner);
      const bool mine = first ? owner == 0 && compare_exchange(&state->owner, std::uint64_t{0}, launch) == 0  //
                              : owner == launch;
      if (mine) found = state;
    }
    return found != nullptr;
  });
  fence_gpu();
  if (why != failure::none) PGAS_UNLIKELY {
    report(table->here,
           lost_wait(why, operation::grid_sync, -1, std::uint64_t{0}, cmp::ge, std::uint64_t{1}, std::uint64_t{0}));
    return nullptr;
  }
  return found;
}

/// A block needs the state of its launch no more. The last one frees it. *Callers* one thread of each block.
PGAS_OUTLINE void leave_state(grid_state& state, std::uint64_t blocks) {
  fence_gpu();
  if (fetch_add_gpu(&state.left, 1) + 1 != blocks) return;
  store_gpu(&state.left, 0);
  fence_gpu();
  store_gpu(&state.owner, 0);
}

/// What a block of a launch with a table knows. Each thread has one; that of the first thread is used.
struct grid_visit {
  grid_state* table;
  std::uint64_t launch;
  grid_state* state;  ///< null before the first barrier
};

/// The state of the visitor's launch; null if it had to be given up. *Callers* the block's first thread.
[[nodiscard]] PGAS_FN grid_state* state_of(grid_visit& visit, bool first_block) {
  if (visit.state == nullptr) visit.state = find_state(visit.table, visit.launch, first_block);
  return visit.state;
}

}  // namespace pgas::detail
