/// @file
/// Sums over all points in a fixed order that does not depend on timing: first of a thread's points, then of a block's
/// threads, then of a PE's blocks. The results therefore have the same bits in every run with the same grid of blocks.
#pragma once

#include "pgas/device.hpp"

namespace examples {

/// Two sums that are reduced together.
struct sums {
  double a, b;
};

/// Memory of this PE for partial sums.
struct sum_room {
  sums* threads;  ///< a partial sum for each thread of the grid
  sums* blocks;   ///< one for each block
};

/// The block's sum, on its first thread.
template <pgas::block_group Block>
[[nodiscard]] PGAS_FN sums sum_of_block(const Block& block, const sum_room& room, sums mine) {
  constexpr unsigned lanes = 16;
  const unsigned size = block.size(), rank = block.thread_rank();
  if (size == 1) return mine;
  sums* const threads = room.threads + static_cast<std::size_t>(block.block_rank()) * size;
  threads[rank] = mine;
  block.sync();
  if (rank < lanes) {  // each element is read only by its own lane
    for (unsigned i = rank + lanes; i < size; i += lanes) mine = {mine.a + threads[i].a, mine.b + threads[i].b};
    threads[rank] = mine;
  }
  block.sync();
  for (unsigned i = 1; rank == 0 && i < lanes && i < size; ++i) mine = {mine.a + threads[i].a, mine.b + threads[i].b};
  block.sync();  // all threads have read the memory before it is reused
  return mine;
}

/// Stores the block's sum for add_parts(). *Callers* all blocks; then the grid syncs, or the kernel ends.
template <pgas::block_group Block>
PGAS_FN void leave_part(const Block& block, const sum_room& room, sums mine) {
  const sums all = sum_of_block(block, room, mine);
  if (block.thread_rank() == 0) room.blocks[block.block_rank()] = all;
}

/// Adds the sums of `blocks` blocks; on return all threads of the block see *total. *Callers* one block.
template <pgas::block_group Block>
PGAS_FN void add_parts(const Block& block, const sum_room& room, int blocks, sums* total) {
  sums mine{0, 0};
  for (int i = static_cast<int>(block.thread_rank()); i < blocks; i += static_cast<int>(block.size()))
    mine = {mine.a + room.blocks[i].a, mine.b + room.blocks[i].b};
  mine = sum_of_block(block, room, mine);
  if (block.thread_rank() == 0) *total = mine;
  block.sync();
}

}  // namespace examples
