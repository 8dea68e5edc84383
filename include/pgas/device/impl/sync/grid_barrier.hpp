/// @file
/// The barrier and vote of a grid's blocks on a GPU, used by `device/grid.hpp`. The barrier has a central counter: one
/// word counts arrivals, votes and barriers. A block arrives and votes by one addition. The result of the addition
/// tells a block whether it is the last block to arrive, and tells the last block the outcome of the vote. The last
/// block publishes the outcome with the next barrier number. A vote therefore costs no more than a barrier, and the
/// word is ready for the next grid of any size. Launches in CUDA graphs find their state at run time, in a hash table
/// of 128 states with linear probing.
#pragma once

#include "pgas/detail/isa/ptx_gpu_scope.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/sync/wait.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The shared state of a launch's blocks, in memory of the blocks' GPU. Kernels of a stream run one after another, so
/// each stream has one state. The host creates the state: all words are zero, except the world's context.
struct alignas(128) grid_state {
  static constexpr std::size_t room_bytes = 64;
  std::uint64_t word;                         ///< a grid_word
  std::uint64_t owner;                        ///< in a table: the launch that owns the state; 0: the state is free
  alignas(16) std::byte room[2][room_bytes];  ///< memory of broadcasts, for even and for odd barriers
  context here;                               ///< for failure records
  std::uint64_t left;                         ///< in a table: number of blocks that no longer need the state
};
static_assert(sizeof(context) <= 128 && sizeof(grid_state) <= 384);

/// The states of launches in CUDA graphs: a graph may be instantiated several times, and all instances may run at the
/// same time. The number of states is the number of grids that can run on a GPU at the same time (CUDA Programming
/// Guide: 128 since compute capability 7.0), so a state is always free.
inline constexpr std::uint32_t grid_table_size = 128;

/// The state of the launch, in a table. The first block of the launch claims an entry. The other blocks search from the
/// same entry and find the claimed entry. If the search failed, the result is null and the failure record has been
/// written.
/// *Callers* one thread of each block.
/// @param launch not 0; concurrent launches have different numbers @param size a power of two
[[nodiscard]] PGAS_OUTLINE grid_state* find_state(grid_state* table, std::uint64_t launch, bool first,
                                                  std::uint32_t size = grid_table_size) {
  const auto begin = static_cast<std::uint32_t>(launch * 0x9e3779b97f4a7c15u >> 32);
  grid_state* found = nullptr;
  std::uint32_t searched = 0;
  const failure why = poll_until(
      table->here.control_,
      [&] {
        if (searched < size) ++searched;
        for (std::uint32_t i = 0; i < searched && found == nullptr; ++i) {
          grid_state* const state = table + ((begin + i) & (size - 1));
          const std::uint64_t owner = load_gpu(&state->owner);
          const bool mine = first ? owner == 0 && compare_exchange(&state->owner, std::uint64_t{0}, launch) == 0  //
                                  : owner == launch;
          if (mine) found = state;
        }
        return found != nullptr;
      },
      [&](wait_state now) {
        report(table->here, wait_record(now, operation::grid_sync, -1, std::uint64_t{0}, cmp::ge, std::uint64_t{1},
                                        std::uint64_t{0}));
      });
  fence_gpu();
  if (why != failure::none) PGAS_UNLIKELY
    return nullptr;
  return found;
}

/// Counts a block that has finished with the state of its launch. The last block frees the state. *Callers* one thread
/// of each block.
PGAS_OUTLINE void leave_state(grid_state& state, std::uint64_t blocks) {
  fence_gpu();
  if (fetch_add_gpu(&state.left, 1) + 1 != blocks) return;
  store_gpu(&state.left, 0);
  fence_gpu();
  store_gpu(&state.owner, 0);
}

/// The state lookup of a block, for a launch with a table. Each thread has a grid_visit; only the first thread's
/// grid_visit is used.
struct grid_visit {
  grid_state* table;
  std::uint64_t launch;
  grid_state* state;  ///< null before the first barrier
};

/// Returns the state of the launch, or null if the search failed. The first call for a `visit` searches for the state.
/// *Callers* the block's first thread.
[[nodiscard]] PGAS_FN grid_state* state_of(grid_visit& visit, bool first_block) {
  if (visit.state == nullptr) visit.state = find_state(visit.table, visit.launch, first_block);
  return visit.state;
}

/// The word of a grid_state: bits 0..23 blocks that have arrived, 24..47 votes for yes, 48..62 the barrier number, 63
/// the result of the last vote.
struct grid_word {
  static constexpr std::uint64_t arrival = 1;
  static constexpr std::uint64_t vote = std::uint64_t{1} << 24;
  static constexpr std::uint64_t field = vote - 1;
  static constexpr std::uint64_t yes = std::uint64_t{1} << 63;

  [[nodiscard]] PGAS_HD static constexpr std::uint64_t number(std::uint64_t word) { return word >> 48 & 0x7fff; }
  /// The word that is published by the block that arrives last.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t after(std::uint64_t word, bool ended_yes) {
    return ((number(word) + 1) & 0x7fff) << 48 | (ended_yes ? yes : 0);
  }
};

/// The result of a barrier for one block.
struct grid_vote {
  std::uint32_t yes;   ///< whether a block voted yes
  std::uint32_t odd;   ///< index of the barrier's `room`
  std::uint32_t lost;  ///< whether the barrier failed and a failure record exists
};

/// Arrives for one block and waits for the other blocks. *Callers* one thread of each of `blocks` blocks. *Order*
/// earlier accesses of all blocks are visible to all blocks afterwards.
[[nodiscard]] PGAS_OUTLINE grid_vote vote_blocks(grid_state& state, std::uint64_t blocks, bool yes) {
  fence_gpu();
  const std::uint64_t seen = fetch_add_gpu(&state.word, grid_word::arrival + (yes ? grid_word::vote : 0));
  const auto odd = static_cast<std::uint32_t>(grid_word::number(seen) & 1);
  if ((seen & grid_word::field) + 1 == blocks) {
    const bool vote = yes || (seen / grid_word::vote & grid_word::field) != 0;
    fence_gpu();
    store_gpu(&state.word, grid_word::after(seen, vote));
    return {vote ? 1u : 0u, odd, 0};
  }
  std::uint64_t now = 0;
  const failure why = poll_until(
      state.here.control_,
      [&] {
        now = load_gpu(&state.word);
        return grid_word::number(now) != grid_word::number(seen);
      },
      [&](wait_state wait) {
        report(state.here,
               wait_record(wait, operation::grid_sync, -1, std::uint64_t{0}, cmp::ge, blocks, now & grid_word::field));
      });
  fence_gpu();
  return {(now & grid_word::yes) != 0 ? 1u : 0u, odd, why != failure::none ? 1u : 0u};
}

/// Like vote_blocks(), for all threads of a block. @return The result, on all threads. Ends all threads if the barrier
/// failed.
template <class Block>
[[nodiscard]] PGAS_FN grid_vote vote_by_block(const Block& block, bool yes) {
  grid_vote result{0, 0, 1};
  const bool vote = block.any(yes);
  if (block.thread_rank() == 0) {
    grid_state* const state =
        block.visit() != nullptr ? state_of(*block.visit(), block.block_rank() == 0) : block.grid_state();
    if (state != nullptr) result = vote_blocks(*state, block.num_blocks(), vote);
  }
  result = block.broadcast(result);
  if (result.lost != 0) PGAS_UNLIKELY
    end_thread();
  return result;
}

/// Votes: true on all threads of the grid if `yes` is true on any thread.
template <class Block>
[[nodiscard]] PGAS_FN bool grid_any(const Block& block, bool yes) {
  if (block.num_blocks() == 1) return block.any(yes);
  return vote_by_block(block, yes).yes != 0;
}

/// Returns the value of the first thread of the first block on all threads, or ends all threads if that thread has
/// ended. The values are stored in two buffers alternately, so a buffer is overwritten only after one more barrier of
/// the grid. Each block reads the value before it arrives at that barrier.
template <class Block, class T>
[[nodiscard]] PGAS_FN T grid_broadcast(const Block& block, T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= grid_state::room_bytes);
  if (block.num_blocks() == 1) return block.broadcast(value);
  const bool leads = block.block_rank() == 0 && block.thread_rank() == 0;
  grid_state* state = block.grid_state();
  if (leads && block.visit() != nullptr) state = state_of(*block.visit(), true);
  const bool first = leads && state != nullptr;
  if (first) __builtin_memcpy(state->room[grid_word::number(load_gpu(&state->word)) & 1], &value, sizeof value);
  const grid_vote result = vote_by_block(block, first);
  if (result.yes == 0) PGAS_UNLIKELY
    end_thread();
  if (block.visit() != nullptr) state = block.broadcast(block.visit()->state);
  __builtin_memcpy(&value, state->room[result.odd], sizeof value);
  if (block.visit() != nullptr) block.sync();  // after this sync, the first thread may release the state
  return value;
}

}  // namespace pgas::detail
