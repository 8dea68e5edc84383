/// @file
/// The memory of conjugate gradients on one PE, for kernels and for the host that allocates it.
#pragma once

#include <cstdint>
#include <vector>

#include "cg_steps.hpp"
#include "halo.hpp"
#include "ordered_sums.hpp"
#include "pgas/pgas.hpp"

namespace examples {

/// Values that kernels leave for one another and for the host.
struct cg_state {
  double rr, alpha, beta;
  std::uint64_t iterations;
};

/// One PE's problem as its kernels see it.
struct cg_problem {
  exchange<double> x;
  strides at;
  double* direction[2];  ///< two arrays with halos, used alternately; in the pipelined method they contain w
  double *u, *r, *q;
  pipelined_vectors pipelined;
  sum_room room;
  sums* total;                 ///< the sums of this PE, then of all PEs
  sums* put_parts;             ///< pipelined method: the parts from each PE, for even and odd rounds
  pgas::signal_t* put_counts;  ///< number of rounds received from each PE
  double* history;             ///< (r, r) after each iteration
  cg_state* state;

  /// The direction of a generation.
  [[nodiscard]] PGAS_HD double* dir(std::uint64_t generation) const { return direction[generation % 2]; }
};

/// Calls f for this block's items. *Callers* all blocks.
template <pgas::block_group Block, class F>
PGAS_FN void for_items(const Block& block, const cg_problem& v, int first, int end, const F& f) {
  for (int i = first + static_cast<int>(block.block_rank()); i < end; i += static_cast<int>(block.num_blocks()))
    f(v.x.items[i]);
}

/// u += alpha times the direction, r -= alpha q. Returns the thread's part of (r, r).
template <pgas::block_group Block>
PGAS_FN double descend(const Block& block, const cg_problem& v, double alpha, std::uint64_t g) {
  double sum = 0;
  for_items(block, v, 0, v.x.n_items,
            [&](const item& each) { sum += descend(block, v.at, each.at, alpha, v.dir(g), v.q, v.u, v.r); });
  return sum;
}

/// Returns the thread's part of (r, r) and of (r, w).
template <pgas::block_group Block>
PGAS_FN sums multiply_both(const Block& block, const cg_problem& v, const double* w) {
  sums sum{0, 0};
  for_items(block, v, 0, v.x.n_items, [&](const item& each) {
    const sums more = multiply_both(block, v.at, each.at, v.r, w);
    sum = {sum.a + more.a, sum.b + more.b};
  });
  return sum;
}

/// Stores (r, r) after an iteration, so that the host can read it. *Callers* all blocks.
template <pgas::block_group Block>
PGAS_FN void record(const Block& block, const cg_problem& v, int iteration, double rr) {
  if (block.block_rank() != 0 || block.thread_rank() != 0) return;
  v.history[iteration] = rr;
  v.state->rr = rr;
  v.state->iterations = static_cast<std::uint64_t>(iteration);
}

/// *Callers* construction and destruction are collective.
class cg_memory {
 public:
  cg_memory(pgas::world& world, const triple& size, const triple& pes, faces how, unsigned blocks, unsigned threads,
            int most_iterations)
      : world_(world),
        mine_(divide(size, pes, false, false, world.my_pe())),
        halo_(world, mine_, 1, how),
        right_hand_side_(right_hand_side(mine_)),
        vectors_(world.allocate<double>(8 * mine_.grid_points, pgas::initialize::zero)),
        sums_(world.allocate<sums>(std::size_t{blocks} * (threads + 1) + 2 +
                                   2 * static_cast<std::size_t>(world.n_pes()))),
        counts_(world.allocate<pgas::signal_t>(static_cast<std::size_t>(world.n_pes()),
                                               pgas::memory_hint::signal_remote, pgas::initialize::zero)),
        history_(world.allocate<double>(static_cast<std::size_t>(most_iterations) + 1)),
        state_(world.allocate<cg_state>(1, pgas::initialize::zero)) {
    view_.x = halo_.view();
    view_.at = {mine_.pitch, mine_.plane};
    view_.direction[0] = vector(0);
    view_.direction[1] = vector(1);
    view_.u = vector(2);
    view_.r = vector(3);
    view_.q = vector(4);
    view_.pipelined = {vector(2), vector(3), vector(5), vector(6), vector(7)};
    view_.room = {sums_.data(), sums_.data() + std::size_t{blocks} * threads};
    view_.total = view_.room.blocks + blocks;
    view_.put_parts = view_.total + 2;
    view_.put_counts = counts_.data();
    view_.history = history_.data();
    view_.state = state_.data();
    world_.barrier_all();
  }

  /// Sets u to 0, and r to the right-hand side.
  void reset() {
    const std::vector<double> zeros(mine_.grid_points);
    pgas::put(world_, view_.u - decomposition::lead, zeros.data(), zeros.size(), world_.my_pe());
    pgas::put(world_, view_.r - decomposition::lead, right_hand_side_.data(), right_hand_side_.size(), world_.my_pe());
  }

  [[nodiscard]] const cg_problem& view() const { return view_; }
  [[nodiscard]] const decomposition& mine() const { return mine_; }
  [[nodiscard]] cg_state state() {
    cg_state now{};
    pgas::get(world_, &now, state_.data(), 1, world_.my_pe());
    return now;
  }
  /// The values of (r, r) after iterations 0, 1 and so on, as PE `pe` has stored them.
  [[nodiscard]] std::vector<double> history(int pe) {
    std::vector<double> all(static_cast<std::size_t>(state().iterations) + 1);
    pgas::get(world_, all.data(), history_.data(), all.size(), pe);
    return all;
  }
  /// The sum of squares of the difference between u and the known solution, over all PEs.
  [[nodiscard]] double squared_error() {
    double sum = 0;
    std::vector<double> u(mine_.grid_points);
    for (int pe = 0; pe < world_.n_pes(); ++pe) {
      pgas::get(world_, u.data(), view_.u - decomposition::lead, u.size(), pe);
      sum += examples::squared_error(divide(mine_.size, mine_.pes, false, false, pe), u);
    }
    return sum;
  }

 private:
  double* vector(std::size_t which) { return vectors_.data() + which * mine_.grid_points + decomposition::lead; }

  pgas::world& world_;
  decomposition mine_;
  halo<double> halo_;
  std::vector<double> right_hand_side_;
  pgas::symmetric<double> vectors_;
  pgas::symmetric<sums> sums_;
  pgas::symmetric<pgas::signal_t> counts_;
  pgas::symmetric<double> history_;
  pgas::symmetric<cg_state> state_;
  cg_problem view_{};
};

}  // namespace examples
