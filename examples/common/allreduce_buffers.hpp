/// @file
/// The memory of the kernels of 25_allreduce, and the kernel that follows the library's reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block_memory.hpp"
#include "pgas/device.hpp"
#include "rms_norm.hpp"

namespace examples {

/// The memory of a call. All addresses are addresses of this PE's memory.
struct allreduce_buffers {
  int rows, groups;       ///< the number of rows; the number of groups of 32 pieces in a row
  const piece* parts;     ///< one row after another
  const piece* residual;  ///< equal on all PEs
  const piece* weights;   ///< the weights of a row
  piece *hidden, *normalized;

  std::byte* squares;        ///< on a CPU, for each block: two arrays with a float for each group of a row
  pgas::packet_line* boxes;  ///< one-shot: a box for each block and each group of the block's row
  std::uint32_t box_lines;
  pgas::signal_t* rounds;                ///< one-shot: the number of rows of each block so far
  piece* staging;                        ///< two-shot: the part of this PE's slice from each PE
  std::size_t staging_pieces;            ///< the number of pieces from one PE
  pgas::signal_t *scattered, *gathered;  ///< two-shot: a signal for each block and each PE that sends
  pgas::signal_t* calls;                 ///< two-shot: the number of calls of each block so far

  PGAS_HD std::size_t row_pieces() const { return static_cast<std::size_t>(groups * pieces_of_group); }
  PGAS_HD std::size_t at(int row, int group, int i) const {
    return static_cast<std::size_t>((row * groups + group) * pieces_of_group + i);
  }
  [[nodiscard]] PGAS_HD row_to_normalize row(int i) const {
    return {weights, hidden + at(i, 0, 0), normalized + at(i, 0, 0), groups};
  }
  /// Memory of the calling thread's block for normalize_by_block(): two arrays, used alternately. On a GPU they are in
  /// the launch's shared memory.
  [[nodiscard]] PGAS_FN float* squares_of(const auto& block, std::uint32_t turn) const {
    return reinterpret_cast<float*>(memory_of(block, squares, squares_bytes())) + (turn % 2 != 0 ? groups : 0);
  }
  PGAS_HD std::size_t squares_bytes() const { return 2 * static_cast<std::size_t>(groups) * sizeof(float); }
};

/// The rest of the work when `sum` is already the rounded sum of all parts. A block takes one row at a time.
template <class T>
struct add_and_normalize {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, piece* sum, allreduce_buffers b) const {
    std::uint32_t turn = 0;
    for (auto row = static_cast<int>(block.block_rank()); row < b.rows; row += static_cast<int>(block.num_blocks()))
      normalize_by_block<T>(block, b.squares_of(block, turn++), b.row(row), [&](int g, int i) {
        float sums[per_piece<T>] = {};
        add_piece<T>(sums, sum[b.at(row, g, i)]);
        add_piece<T>(sums, b.residual[b.at(row, g, i)]);
        return b.hidden[b.at(row, g, i)] = rounded_to<T>(sums);
      });
  }
};

}  // namespace examples
