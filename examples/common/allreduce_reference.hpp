/// @file
/// Reproducible numbers for 25_allreduce, and the expected result of an all-reduce with residual and normalization,
/// computed by one process.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "pgas/pgas.hpp"
#include "rms_norm.hpp"

namespace examples {

inline constexpr int residual_part = -1;  ///< a number in place of a PE: the residual, the same on all PEs
inline constexpr int weight_part = -2;    ///< the weights of the columns; the set is always 0

/// Piece `i` of input set `set`. The piece belongs to the part of PE `pe`; if `pe` is residual_part, it belongs to the
/// residual; if `pe` is weight_part, it belongs to the weights.
template <class T>
PGAS_HD piece input_piece(int set, int pe, std::size_t i) {
  float values[per_piece<T>];
  for (int j = 0; j < per_piece<T>; ++j) {
    auto dice = static_cast<std::uint32_t>(i * 8) + static_cast<std::uint32_t>(j);
    dice = (dice + static_cast<std::uint32_t>((set * 512 + pe + 2) * 40503)) * 0x9e3779b9U;
    dice = (dice ^ dice >> 15) * 0x85ebca6bU;
    values[j] = (static_cast<float>(dice >> 20) - 2047.5F) / (dice & 1 ? 512 : 4096);
  }
  return rounded_to<T>(values);
}

template <class T>
struct make_inputs {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, piece* to, std::size_t pieces, int set, int pe) const {
    const std::size_t all = block.size() * block.num_blocks();
    for (std::size_t i = block.block_rank() * block.size() + block.thread_rank(); i < pieces; i += all)
      to[i] = input_piece<T>(set, pe, i);
  }
};

/// The expected result of `rows` rows of `row_pieces` pieces on `n_pes` PEs.
template <class T>
struct expected_rows {
  std::vector<piece> hidden, normalized;

  expected_rows(int set, int n_pes, std::size_t rows, std::size_t row_pieces)
      : hidden(rows * row_pieces), normalized(rows * row_pieces) {
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      float sums[per_piece<T>] = {};
      for (int pe = 0; pe < n_pes; ++pe) add_piece<T>(sums, input_piece<T>(set, pe, i));
      add_piece<T>(sums, input_piece<T>(set, residual_part, i));
      hidden[i] = rounded_to<T>(sums);
    }
    for (std::size_t row = 0; row < hidden.size(); row += row_pieces) {
      float groups[pieces_of_group] = {};
      for (std::size_t first = row; first < row + row_pieces; first += pieces_of_group) {
        float values[pieces_of_group];
        for (std::size_t i = 0; i < pieces_of_group; ++i) values[i] = squares<T>(hidden[first + i]);
        groups[(first - row) / pieces_of_group % pieces_of_group] += tree_sum(values);
      }
      const float scale = inverse_rms(tree_sum(groups), static_cast<int>(row_pieces) * per_piece<T>);
      for (std::size_t i = 0; i < row_pieces; ++i)
        normalized[row + i] = normalized_piece<T>(hidden[row + i], scale, input_piece<T>(0, weight_part, i));
    }
  }
};

/// The number of pieces in a PE's `found` that differ from the expected pieces. If `tolerance` is 0, a piece differs if
/// any bit differs. Otherwise a piece differs if a number differs by more than `tolerance` * (1 + |expected number|).
template <class T>
[[nodiscard]] long long differing(pgas::world& world, const piece* found, const std::vector<piece>& expected,
                                  float tolerance) {
  std::vector<piece> seen(expected.size());
  pgas::get(world, seen.data(), found, seen.size(), world.my_pe());
  long long different = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (std::memcmp(&seen[i], &expected[i], sizeof(piece)) == 0) continue;
    bool close = tolerance != 0;
    for (int j = 0; j < per_piece<T>; ++j) {
      const float should = expected[i].get<T>(j);
      close = close && std::abs(seen[i].get<T>(j) - should) <= tolerance * (1 + std::abs(should));
    }
    different += close ? 0 : 1;
  }
  return different;
}

}  // namespace examples
