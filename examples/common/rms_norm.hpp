/// @file
/// The step of a transformer after an all-reduce: the sum of all PEs' parts and the residual is rounded ("hidden"), and
/// each row of this sum is divided by its root mean square and multiplied by a weight for each column. The code is for
/// GPUs and CPUs.
///
/// Every sum has a fixed order that does not depend on blocks or threads: parts are added in the order of the PEs, the
/// residual last. Squares are added first within a piece of 8 numbers, next within a group of 32 pieces as a tree. Then
/// 32 sums are formed, each of every 32nd group, and the 32 sums are added as a tree. Squares of 16-bit numbers are
/// exact in a float, so contraction of a product and a sum by a compiler makes no difference. All PEs, and a single
/// process that computes the same, therefore get the same bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "number_formats.hpp"
#include "pgas/device/group.hpp"

namespace examples {

inline constexpr int pieces_of_group = 32;  ///< the pieces of a group, whose squares a warp adds up as a tree

/// Adds the numbers of a piece.
template <class T>
PGAS_HD void add_piece(float (&sums)[per_piece<T>], const piece& part) {
  for (int j = 0; j < per_piece<T>; ++j) sums[j] += part.get<T>(j);
}

/// The sum of a piece's squares.
template <class T>
[[nodiscard]] PGAS_HD float squares(const piece& part) {
  float sum = 0;
  for (int j = 0; j < per_piece<T>; ++j) sum += part.get<T>(j) * part.get<T>(j);
  return sum;
}

/// 1 / root mean square of a row of `count` numbers.
[[nodiscard]] PGAS_HD float inverse_rms(float sum_of_squares, int count) {
  return 1.0F / sqrtf(sum_of_squares / static_cast<float>(count) + 1e-6F);
}

template <class T>
[[nodiscard]] PGAS_HD piece normalized_piece(const piece& part, float scale, const piece& weight) {
  float values[per_piece<T>];
  for (int j = 0; j < per_piece<T>; ++j) values[j] = part.get<T>(j) * scale * weight.get<T>(j);
  return rounded_to<T>(values);
}

/// The sum of 32 values as a tree, in place.
[[nodiscard]] PGAS_HD float tree_sum(float (&values)[pieces_of_group]) {
  for (int half = pieces_of_group / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) values[i] += values[i + half];
  return values[0];
}

/// Whether lanes are threads. On a GPU they are, because the warps of these examples are whole. On the CPU a warp is
/// one thread.
template <class Warp>
inline constexpr bool has_lanes = requires(const Warp& warp) {
  warp.shfl(0U, 0);
};

/// tree_sum() of value(0) to value(31), by a warp: on a GPU each lane has one value, on the CPU a warp is one thread
/// with all values. Returns the sum on all lanes.
template <class Warp, class F>
[[nodiscard]] PGAS_FN float tree_sum(const Warp& warp, const F& value) {
  if constexpr (has_lanes<Warp>) {
    const auto lane = static_cast<int>(warp.thread_rank());
    float sum = value(lane);
    for (int half = pieces_of_group / 2; half > 0; half /= 2)
      sum += __builtin_bit_cast(float, warp.shfl(__builtin_bit_cast(std::uint32_t, sum), lane ^ half));
    return sum;
  } else {
    float values[pieces_of_group];
    for (int i = 0; i < pieces_of_group; ++i) values[i] = value(i);
    return tree_sum(values);
  }
}

/// Calls f(i) for each piece i that the calling lane has in a group of 32 pieces: one piece on a GPU, all on the CPU.
template <class Warp, class F>
PGAS_FN void each_of_32(const Warp& warp, const F& f) {
  if constexpr (has_lanes<Warp>)
    f(static_cast<int>(warp.thread_rank()));
  else
    for (int i = 0; i < pieces_of_group; ++i) f(i);
}

/// A group of 32 threads in which the calling thread has rank i. Groups open channels, and on a CPU one thread opens
/// the channels for all pieces i.
struct place_in_group {
  int i;
  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return static_cast<std::uint32_t>(i); }
  [[nodiscard]] PGAS_FN static std::uint32_t size() { return pieces_of_group; }
  PGAS_FN static void sync() {}
};

/// Calls f(g) for the groups of a row that this warp processes, when the warps of a block share the row.
template <class Warp, class F>
PGAS_FN void each_group(const Warp& warp, int groups, const F& f) {
  for (auto g = static_cast<int>(warp.meta_group_rank()); g < groups; g += static_cast<int>(warp.meta_group_size()))
    f(g);
}

struct row_to_normalize {
  const piece* weights;
  const piece* hidden;
  piece* normalized;
  int groups;
};

/// Normalizes a row by all warps of a block, after piece_of(g, i) has computed or loaded all pieces and their squares
/// are in memory. A lane's last piece stays in its registers; a row with one group per warp has no other pieces.
/// @param squares memory for a float for each group. Must differ from the memory of the previous call, because a call
/// has only one sync, and until this sync, threads can still read the values of the previous call
template <class T, class Block, class F>
PGAS_FN void normalize_by_block(const Block& block, float* squares, const row_to_normalize& row, const F& piece_of) {
  const auto warp = pgas::this_warp(block);
  piece last, weight;
  each_group(warp, row.groups, [&](int g) {
    const float sum = tree_sum(warp, [&](int i) {
      weight = row.weights[g * pieces_of_group + i];
      return examples::squares<T>(last = piece_of(g, i));
    });
    if (warp.thread_rank() == 0) squares[g] = sum;
  });
  block.sync();  // all groups' squares are complete
  const float sum = tree_sum(warp, [&](int i) {
    float every_32nd = 0;
    PGAS_ROLLED
    for (int g = i; g < row.groups; g += pieces_of_group) every_32nd += squares[g];
    return every_32nd;
  });
  const float scale = inverse_rms(sum, row.groups * pieces_of_group * per_piece<T>);
  each_group(warp, row.groups, [&](int g) {
    const bool kept = has_lanes<decltype(warp)> && g + static_cast<int>(warp.meta_group_size()) >= row.groups;
    each_of_32(warp, [&](int i) {
      const int at = g * pieces_of_group + i;
      if (!kept) {
        last = row.hidden[at];
        weight = row.weights[at];
      }
      row.normalized[at] = normalized_piece<T>(last, scale, weight);
    });
  });
}

}  // namespace examples
