// A stencil in which PEs exchange border rows at every step. This row is an application, while the other rows are
// single operations.
#include "timed_kernel.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

/// The value of a cell, modulo 2^64. The five-point Laplacian of the values is 8 everywhere, and adding 8 to a value
/// gives the value at the next time. So the value of every cell is known at any time, and a cell that was computed from
/// old values of its neighbours stays wrong.
[[nodiscard]] PGAS_HD std::uint64_t cell(std::uint64_t row, std::uint64_t column, std::uint64_t time) {
  return row * row + 3 * column * column + 8 * time;
}

/// A PE's part of the cells, in two grids used alternately. Rows 1 to `rows` belong to the PE. Row 0 and row `rows` + 1
/// are halos for rows of the neighbouring PEs, or the border of the domain.
struct slab {
  std::size_t columns = 1;
  std::size_t rows;

  /// A slab of `words` words with about as many columns as rows.
  PGAS_HD explicit slab(std::size_t words) {
    while ((columns + 1) * (columns + 1) <= words / 2) ++columns;
    rows = words / 2 / columns - 2;
  }
  [[nodiscard]] PGAS_HD std::size_t grid_words() const { return (rows + 2) * columns; }
};

/// One step of a block: computes rows of the next grid.
template <class Block>
struct stencil_step {
  const Block& block;
  const slab& size;
  std::uint64_t* from;
  std::uint64_t* to;
  std::uint64_t top;   ///< the index of this PE's row 0 in the whole domain
  std::uint64_t time;  ///< the time of the computed cells

  PGAS_FN void border(std::size_t row) const {
    for (std::size_t c = block.thread_rank(); c < size.columns; c += block.size())
      to[row * size.columns + c] = cell(top + row, c, time);
  }
  PGAS_FN void inner(std::size_t row) const {
    for (std::size_t c = block.thread_rank(); c < size.columns; c += block.size()) {
      const std::size_t at = row * size.columns + c;
      to[at] = c == 0 || c + 1 == size.columns
                   ? cell(top + row, c, time)
                   : from[at - size.columns] + from[at + size.columns] + from[at - 1] + from[at + 1] - 3 * from[at];
    }
  }
};

/// All steps of a block, which computes some rows of its PE. A block with a border row computes and sends that row
/// first.
template <scope By>
struct stencil : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    const slab size(j.count);
    const std::uint64_t top = static_cast<std::uint64_t>(ctx.my_pe()) * size.rows;
    const std::size_t begin = 1 + size.rows * block.block_rank() / block.num_blocks();
    const std::size_t end = 1 + size.rows * (block.block_rank() + 1) / block.num_blocks();
    const bool first = begin == 1 && begin < end;
    const bool last = end == size.rows + 1 && begin < end;
    const grid all = this_grid(block);
    time(block, j, [&](std::uint32_t i) {
      const stencil_step<Block> step{block,
                                     size,
                                     j.target + i % 2 * size.grid_words(),
                                     j.target + (i + 1) % 2 * size.grid_words(),
                                     top,
                                     std::uint64_t{i} + 1};
      if (i == 0) {
        for (std::size_t at = all.thread_rank(); at < size.grid_words(); at += all.size())
          step.from[at] = cell(top + at / size.columns, at % size.columns, 0);
        all.sync();
      }
      if (first) exchange(ctx, j, step, 1, 0, -1);
      if (last) exchange(ctx, j, step, size.rows, size.rows + 1, 1);
      for (std::size_t row = begin + (first ? 1 : 0); row + (last ? 1 : 0) < end; ++row) step.inner(row);
      all.sync();
    });
  }

 private:
  /// Computes row `row` and sends it to the opposite halo of the PE at `distance`. Without such a PE, computes the
  /// border of the domain in this PE's own halo instead.
  template <class Block>
  PGAS_FN static void exchange(const context& ctx, const job& j, const stencil_step<Block>& step, std::size_t row,
                               std::size_t halo, std::int32_t distance) {
    const std::int32_t other = ctx.my_pe() + distance;
    const bool has_other = other >= 0 && other < ctx.n_pes();
    signal_t* const from_above = j.signals;
    signal_t* const from_below = j.signals + 1;
    if (has_other) wait_until(ctx, step.block, distance < 0 ? from_above : from_below, cmp::ge, step.time - 1);
    step.inner(row);
    if (!has_other) return step.border(halo);
    step.block.sync();
    by_groups<By>(step.block, [&](const auto& group, std::uint32_t which, std::uint32_t index) {
      // the first group of each block copies the row
      if (which != step.block.block_rank() * (index / step.block.num_blocks())) return;
      const std::size_t offset = distance < 0 ? step.size.rows + 1 : 0;
      put_signal(ctx, group, step.to + offset * step.size.columns, step.to + row * step.size.columns, step.size.columns,
                 distance < 0 ? from_below : from_above, signal_t{step.time}, signal_op::set, other);
    });
  }
};

double once(const benchmark_world&, const point&) { return 1; }

std::uint64_t cells_wrong(benchmark_world& s, const point&, const job& j) {
  const slab size(j.count);
  const std::uint64_t top = static_cast<std::uint64_t>(s.world().my_pe()) * size.rows;
  return s.differing(j.target + j.rounds() % 2 * size.grid_words() + size.columns, size.rows * size.columns,
                     [&](std::size_t i) { return cell(top + 1 + i / size.columns, i % size.columns, j.rounds()); });
}

}  // namespace

std::vector<row> halo_rows() {
  constexpr std::size_t least = 4096;  // enough for 14 rows, so that the first row is not the last
  return {{"halo", "a step of a five-point stencil, border rows by put_signal; the size is that of a PE's two grids",
           figure::latency, shape::grid, least, no_limit, false, once, run_kernel<stencil>, cells_wrong}};
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
