/// @file
/// A layer of a mixture of experts in the memory of a PE, and its local work: converting tokens to rows, the experts'
/// work, adding up results. 24_moe.cpp has the communication.
#pragma once

#include <type_traits>

#include "moe_layer.hpp"
#include "pgas/pgas.hpp"

namespace examples {

using pgas::signal_t;

/// The experts of a PE: `count` from `first` on, distributed as evenly as possible.
struct expert_range {
  int first, count;
};
PGAS_HD expert_range experts_of(int pe, int n_pes, int experts) {
  const int share = experts / n_pes;
  const int larger = experts % n_pes;
  return {pe * share + (pe < larger ? pe : larger), share + (pe < larger ? 1 : 0)};
}
PGAS_HD int pe_of(int expert, int n_pes, int experts) {
  const int share = experts / n_pes;
  const int larger = experts % n_pes;
  return expert < larger * (share + 1) ? expert / (share + 1) : larger + (expert - larger * (share + 1)) / share;
}

/// The destination of the result of a row: the PE of its token, and the slot for this token and expert.
struct home {
  std::int32_t pe, slot;
};

/// The layer in memory. All addresses are addresses of this PE's memory.
struct moe_memory {
  moe_shape shape;
  int n_pes, me;
  expert_range mine;
  int most_experts;  // the largest number of experts of a PE

  // Inputs and results, one for each set.
  piece *tokens, *outputs;
  std::int32_t* chosen;
  float* weights;

  piece* packed;        // tokens in the format in which they are sent, if this is not the inputs' format
  std::uint32_t* fill;  // for each expert: number of rows so far
  home* list;           // low latency: the rows for each expert
  // Throughput: the rank of a slot among this PE's rows for the same expert; the index of the first of these rows at
  // the expert's PE; the index of the first row of each expert of this PE.
  std::uint32_t *rank, *start, *base;

  // Written by peers.
  piece* rows;          // rows received for the experts of this PE
  home* homes;          // the homes of the received rows
  signal_t* counts;     // low latency, two sets: round << 32 | rows, for each expert here and each PE
  std::uint32_t* told;  // throughput, two sets: rows of each PE for each expert
  // throughput, from each PE: its round; how often its blocks have sent rows; how often they have sent results
  signal_t *has_told, *landed, *returned;
  piece* answers;      // experts' results, by slots
  signal_t* answered;  // low latency, from each expert: the round

  piece* results;  // results of the experts of this PE, in the order of rows

  PGAS_HD int slots() const { return shape.slots(); }
  PGAS_HD const piece* inputs(int set) const { return tokens + per_set(set) * shape.result_pieces(); }
  PGAS_HD std::size_t per_set(int set) const { return static_cast<std::size_t>(set * shape.tokens); }
  PGAS_HD const std::int32_t* choices(int set) const { return chosen + set * slots(); }
  /// Low latency: the first row of `pe`'s rows for expert `local` of a PE.
  PGAS_HD std::size_t place(signal_t round, int local, int pe) const {
    return ((round % 2 * static_cast<std::size_t>(most_experts) + static_cast<std::size_t>(local)) *
                static_cast<std::size_t>(n_pes) +
            static_cast<std::size_t>(pe)) *
           static_cast<std::size_t>(shape.tokens);
  }
  PGAS_HD signal_t* count(signal_t round, int local, int pe) const {
    return counts + (static_cast<int>(round % 2) * most_experts + local) * n_pes + pe;
  }
  PGAS_HD std::uint32_t* told_by(signal_t round, int pe) const {
    return told + (static_cast<int>(round % 2) * n_pes + pe) * shape.experts;
  }
};

inline constexpr unsigned moe_block_threads = 512;
inline constexpr int moe_sets = 3;  ///< sets of inputs: three, so that old data in the two buffers is detected

/// The memory of a layer from `begin` on. The layout is the same on all PEs. `bytes` receives the size of the memory.
/// Low latency needs memory for all tokens of each PE at each expert. Throughput needs memory for all rows that can
/// arrive at the same time.
inline moe_memory place_layer(const moe_shape& s, int n_pes, int me, bool low_latency, piece* begin,
                              std::size_t& bytes) {
  moe_memory m{};
  m.shape = s;
  m.n_pes = n_pes;
  m.me = me;
  m.mine = experts_of(me, n_pes, s.experts);
  m.most_experts = experts_of(0, n_pes, s.experts).count;
  const auto pes = static_cast<std::size_t>(n_pes);
  const auto tokens = static_cast<std::size_t>(s.tokens);
  const auto slots = static_cast<std::size_t>(s.slots());
  const auto experts = static_cast<std::size_t>(s.experts);
  const auto here = static_cast<std::size_t>(m.most_experts);
  const std::size_t rows =
      low_latency ? 2 * here * pes * tokens : pes * tokens * static_cast<std::size_t>(std::min(s.topk, m.most_experts));
  std::size_t used = 0;
  const auto take = [&](auto*& pointer, std::size_t count) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(reinterpret_cast<std::uintptr_t>(begin) + used);
    used += (count * sizeof *pointer + 127) / 128 * 128;  // separate cache lines
  };
  take(m.tokens, moe_sets * tokens * s.result_pieces());
  take(m.outputs, moe_sets * tokens * s.result_pieces());
  take(m.chosen, moe_sets * slots);
  take(m.weights, moe_sets * slots);
  take(m.packed, s.fp8 ? tokens * s.token_pieces() : 0);
  take(m.fill, experts);
  take(m.list, low_latency ? experts * tokens : 0);
  take(m.rank, slots);
  take(m.start, experts);
  take(m.base, here + 1);
  take(m.rows, rows * s.token_pieces());
  take(m.homes, rows);
  take(m.counts, 2 * here * pes);
  take(m.told, 2 * pes * experts);
  take(m.has_told, pes);
  take(m.landed, pes);
  take(m.returned, pes);
  take(m.answers, slots * s.result_pieces());
  take(m.answered, experts);
  take(m.results, rows * s.result_pieces());
  bytes = used;
  return m;
}

/// Bytes of a layer.
inline std::size_t layer_bytes(const moe_shape& s, int n_pes, bool low_latency) {
  std::size_t bytes = 0;
  static_cast<void>(place_layer(s, n_pes, 0, low_latency, nullptr, bytes));
  return bytes;
}

/// Calls f(warp, i) for i from 0 to count - 1. Each call is on one warp of the block, or of the grid if `whole_grid` is
/// true.
template <class Block, class F>
PGAS_FN void by_warps(const Block& block, bool whole_grid, std::size_t count, const F& f) {
  const pgas::warp warp = pgas::this_warp(block);
  const std::size_t parts = whole_grid ? block.num_blocks() : 1;
  const std::size_t first = (whole_grid ? block.block_rank() : 0) + warp.meta_group_rank() * parts;
  for (std::size_t i = first; i < count; i += warp.meta_group_size() * parts) f(warp, i);
}

/// Converts tokens to rows of e4m3, on all blocks. Does nothing if tokens travel unchanged.
template <class Block>
PGAS_FN const piece* pack(const Block& block, const moe_memory& m, int set) {
  const piece* const in = m.inputs(set);
  if (!m.shape.fp8) return in;
  const int groups = m.shape.hidden / scaled_row::together;
  const auto all = static_cast<int>(block.num_blocks() * block.size());
  for (int i = static_cast<int>(block.block_rank() * block.size() + block.thread_rank()); i < m.shape.tokens * groups;
       i += all) {
    const auto token = static_cast<std::size_t>(i / groups);
    scaled_row::write(m.packed + token * m.shape.token_pieces(), m.shape.hidden, i % groups,
                      in + token * m.shape.result_pieces());
  }
  pgas::this_grid(block).sync();
  return m.packed;
}

/// The result of expert `expert` for row `row`, by one warp.
PGAS_FN void work(const moe_memory& m, const pgas::warp& warp, std::size_t row, int expert) {
  const int pieces = static_cast<int>(m.shape.result_pieces());
  for (int i = static_cast<int>(warp.thread_rank()); i < pieces; i += static_cast<int>(warp.size()))
    m.results[row * m.shape.result_pieces() + static_cast<std::size_t>(i)] =
        expert_piece(m.shape, m.rows + row * m.shape.token_pieces(), i, expert);
}

/// Computes the result of token `token` from the answers of its experts, by a block.
template <class Block>
PGAS_FN void add_up(const Block& block, const moe_memory& m, int set, int token) {
  const std::size_t pieces = m.shape.result_pieces();
  const std::size_t first = static_cast<std::size_t>(token) * static_cast<std::size_t>(m.shape.topk);
  const float* const weights = m.weights + static_cast<std::size_t>(set * m.slots()) + first;
  piece* const out = m.outputs + (m.per_set(set) + static_cast<std::size_t>(token)) * pieces;
  for (std::size_t i = block.thread_rank(); i < pieces; i += block.size()) {
    float sums[per_piece<bfloat16>] = {};
    for (std::size_t k = 0; k < static_cast<std::size_t>(m.shape.topk); ++k)
      add_weighted(sums, weights[k], m.answers[(first + k) * pieces + i]);
    out[i] = rounded_to<bfloat16>(sums);
  }
}

/// Executes the experts' work on contiguous rows, on all blocks.
struct experts_at_work {
  static constexpr unsigned max_threads = moe_block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, moe_memory m) const {
    by_warps(block, true, m.base[m.mine.count], [&](const pgas::warp& warp, std::size_t row) {
      int low = 0;  // the last expert whose first row is at or before this row
      for (int high = m.mine.count; high - low > 1;) {
        const int middle = (low + high) / 2;
        (m.base[middle] <= row ? low : high) = middle;
      }
      work(m, warp, row, m.mine.first + low);
    });
  }
};

/// Makes the tokens of all sets.
struct make_tokens {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, moe_memory m) const {
    const auto pieces = static_cast<int>(m.shape.result_pieces());
    for (auto row = static_cast<int>(block.block_rank()); row < moe_sets * m.shape.tokens;
         row += static_cast<int>(block.num_blocks()))
      for (auto i = static_cast<int>(block.thread_rank()); i < pieces; i += static_cast<int>(block.size()))
        m.tokens[static_cast<std::size_t>(row) * m.shape.result_pieces() + static_cast<std::size_t>(i)] =
            token_piece(row / m.shape.tokens, m.me, row % m.shape.tokens, i);
  }
};

}  // namespace examples
