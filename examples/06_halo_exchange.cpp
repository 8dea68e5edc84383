// Halo exchange: 2-D Jacobi relaxation on a grid of floats, split by rows among the PEs.
//
// In each iteration a PE computes its first and last row, puts them with a signal into the halo rows of its neighbours,
// and computes the rows in between during the transfer. Only the next iteration's boundary rows wait for the signals,
// and the host only enqueues kernels. There are two grids: each iteration reads one and writes the other. A PE
// overwrites a neighbour's halo row two iterations later. By then the neighbour has read the row: the neighbour sends
// its next row after reading, and the next row has arrived.
//
// Every point is computed by the same expression for any number of PEs, so the result equals the serial result bit for
// bit. Only the residual depends on the number of PEs, because its terms are added in a different order. The relative
// difference is at most 1e-12 here.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

struct options {
  int nx = 2048;    // columns
  int ny = 2048;    // rows
  int niter = 200;  // the number of iterations
  int nccheck = 0;  // iterations between residual checks; 0: no checks
  bool csv = false;
};

// A PE's part of the grid: `rows` rows from row `first` on. In the PE's memory, these are rows 1 to `rows`, between two
// halo rows.
struct slab {
  int first;
  int rows;
};

PGAS_HD slab slab_of(int pe, int n_pes, int ny) {
  const int inner = ny - 2;  // the outermost rows are fixed
  const int share = inner / n_pes;
  const int larger = inner % n_pes;
  return {1 + pe * share + (pe < larger ? pe : larger), share + (pe < larger ? 1 : 0)};
}

// The fixed left and right edges. The expression has products only, so all compilers round it in the same way.
PGAS_HD float edge(int row, int ny) {
  const float x = static_cast<float>(row) / static_cast<float>(ny - 1);
  return 4.0F * x * (1.0F - x);
}

constexpr int strip_width = 2048;  // columns of a boundary row that one block computes and sends
constexpr int tile_width = 256;    // columns of the interior that one block computes at a time
constexpr int tile_height = 8;     // rows of the interior that one block computes at a time

PGAS_HD int strips_of(int nx) { return (nx - 1 + strip_width - 1) / strip_width; }

// Computes `Rows` points of a column from `at` on. All loads come before the first store, so that many loads are in
// flight.
template <std::size_t Rows>
PGAS_FN void relax_column(const float* __restrict__ at, float* __restrict__ to, std::size_t pitch) {
  float left[Rows], right[Rows], middle[Rows + 2];
  for (std::size_t i = 0; i < Rows + 2; ++i) middle[i] = *(at - pitch + i * pitch);
  for (std::size_t i = 0; i < Rows; ++i) {
    left[i] = *(at + i * pitch - 1);
    right[i] = *(at + i * pitch + 1);
  }
  for (std::size_t i = 0; i < Rows; ++i) to[i * pitch] = 0.25F * (((left[i] + right[i]) + middle[i]) + middle[i + 2]);
}

// out = average of the four neighbours in `in`, for rows [r0, r1) and those columns of [c0, c1) that are not edges.
// `c0` is a multiple of a cache line, so that a warp's accesses start at cache lines.
template <pgas::group Block>
PGAS_FN void relax(const Block& block, const float* in, float* out, int nx, int r0, int r1, int c0, int c1) {
  const auto pitch = static_cast<std::size_t>(nx);
  const int step = static_cast<int>(block.size());
  const int last = c1 < nx - 1 ? c1 : nx - 1;
  int first = c0 + static_cast<int>(block.thread_rank());
  if (first == 0) first = step;  // column 0 is an edge
  int r = r0;
  // A GPU hides the latency of its memory by many rows at the same time; a CPU thread is faster with one row after
  // another.
  for (; step >= 32 && r + tile_height <= r1; r += tile_height)
    for (int c = first; c < last; c += step) {
      const std::size_t i = static_cast<std::size_t>(r) * pitch + static_cast<std::size_t>(c);
      relax_column<tile_height>(in + i, out + i, pitch);
    }
  for (; r < r1; ++r)
    for (int c = first; c < last; c += step) {
      const std::size_t i = static_cast<std::size_t>(r) * pitch + static_cast<std::size_t>(c);
      relax_column<1>(in + i, out + i, pitch);
    }
}

// One iteration of one PE. `arrived[0]` counts strips of the row from the PE above, `arrived[1]` strips from the PE
// below.
struct iterate {
  static constexpr unsigned max_threads = tile_width;
  // Blocks on a multiprocessor. With 5 blocks, enough loads are in flight, and no register is spilled.
  static constexpr unsigned min_blocks = 5;

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const float* in, float* out, int nx, int ny,
                          std::uint64_t* arrived, int iteration) const {
    const int rows = slab_of(ctx.my_pe(), ctx.n_pes(), ny).rows;
    const int strips = strips_of(nx);
    const int boundary_items = rows > 1 ? 2 * strips : strips;
    const int tiles_across = (nx - 1 + tile_width - 1) / tile_width;
    const int inner_rows = rows > 2 ? rows - 2 : 0;
    const int tiles = tiles_across * ((inner_rows + tile_height - 1) / tile_height);

    for (int item = static_cast<int>(block.block_rank()); item < boundary_items + tiles;
         item += static_cast<int>(block.num_blocks())) {
      if (item < boundary_items) {
        boundary(block, ctx, in, out, nx, ny, rows, item < strips ? 1 : rows, item % strips, arrived, iteration);
      } else {
        const int tile = item - boundary_items;
        const int r0 = 2 + tile / tiles_across * tile_height;
        const int c0 = tile % tiles_across * tile_width;
        relax(block, in, out, nx, r0, r0 + tile_height < rows ? r0 + tile_height : rows, c0, c0 + tile_width);
      }
    }
  }

 private:
  template <pgas::group Block>
  PGAS_FN static void boundary(const Block& block, const pgas::context& ctx, const float* in, float* out, int nx,
                               int ny, int rows, int row, int strip, std::uint64_t* arrived, int iteration) {
    const bool up = row == 1 && ctx.my_pe() > 0;
    const bool down = row == rows && ctx.my_pe() < ctx.n_pes() - 1;
    const auto due = static_cast<std::uint64_t>(iteration) * static_cast<std::uint64_t>(strips_of(nx));
    if (up) pgas::wait_until(ctx, block, arrived, pgas::cmp::ge, due);
    if (down) pgas::wait_until(ctx, block, arrived + 1, pgas::cmp::ge, due);

    const int c0 = strip * strip_width;
    const int c1 = c0 + strip_width < nx - 1 ? c0 + strip_width : nx - 1;
    relax(block, in, out, nx, row, row + 1, c0, c1);
    block.sync();

    const float* computed = out + static_cast<std::size_t>(row) * static_cast<std::size_t>(nx) + c0;
    const auto count = static_cast<std::size_t>(c1 - c0);
    if (up) {
      const int halo = slab_of(ctx.my_pe() - 1, ctx.n_pes(), ny).rows + 1;
      pgas::put_signal(ctx, block, out + static_cast<std::size_t>(halo) * static_cast<std::size_t>(nx) + c0, computed,
                       count, arrived + 1, 1, pgas::signal_op::add, ctx.my_pe() - 1);
    }
    if (down)
      pgas::put_signal(ctx, block, out + c0, computed, count, arrived, 1, pgas::signal_op::add, ctx.my_pe() + 1);
  }
};

// Adds the sum of the squared changes of this PE's rows to *sum.
struct residual {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const float* before, const float* after, int nx, int rows,
                          double* sum) const {
    double mine = 0;
    for (int r = 1 + static_cast<int>(block.block_rank()); r <= rows; r += static_cast<int>(block.num_blocks()))
      for (int c = 1 + static_cast<int>(block.thread_rank()); c < nx - 1; c += static_cast<int>(block.size())) {
        const auto i = static_cast<std::size_t>(r) * static_cast<std::size_t>(nx) + static_cast<std::size_t>(c);
        const double change = static_cast<double>(after[i]) - static_cast<double>(before[i]);
        mine += change * change;
      }
    pgas::atomic_add(ctx, sum, mine, ctx.my_pe());
  }
};

// Sets the fixed values at both ends of every row, halo rows included.
struct set_edges {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, float* grid, int first, int rows, int nx, int ny) const {
    for (int r = static_cast<int>(block.thread_rank()); r < rows + 2; r += static_cast<int>(block.size())) {
      float* row = grid + static_cast<std::size_t>(r) * static_cast<std::size_t>(nx);
      row[0] = row[nx - 1] = edge(first + r - 1, ny);
    }
  }
};

// The relaxation on one world.
class jacobi {
 public:
  jacobi(pgas::world& world, const options& o)
      : world_(world),
        o_(o),
        mine_(slab_of(world.my_pe(), world.n_pes(), o.ny)),
        pitch_(static_cast<std::size_t>(o.nx)),
        grids_{world.allocate<float>((static_cast<std::size_t>(slab_of(0, world.n_pes(), o.ny).rows) + 2) * pitch_,
                                     pgas::initialize::zero),
               world.allocate<float>((static_cast<std::size_t>(slab_of(0, world.n_pes(), o.ny).rows) + 2) * pitch_,
                                     pgas::initialize::zero)},
        arrived_(world.allocate<std::uint64_t>(2, pgas::initialize::zero)),
        sum_(world.allocate<double>(1, pgas::initialize::zero)) {
    for (auto& grid : grids_)
      pgas::launch(world_, {.blocks = 1, .threads = tile_width}, set_edges{}, grid.data(), mine_.first, mine_.rows,
                   o.nx, o.ny);
    world_.synchronize();
  }

  // Runs all iterations. Returns the seconds.
  double run(bool report) {
    world_.barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < o_.niter; ++i) {
      const float* in = grids_[i % 2].data();
      float* out = grids_[(i + 1) % 2].data();
      pgas::launch(world_, shape(), iterate{}, world_.context(), in, out, o_.nx, o_.ny, arrived_.data(), i);
      if (o_.nccheck > 0 && (i + 1) % o_.nccheck == 0) check(i + 1, in, out, report);
    }
    world_.synchronize();
    world_.barrier_all();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // The rows of PE `pe` after the last iteration.
  std::vector<float> rows_of(int pe) {
    const slab part = slab_of(pe, world_.n_pes(), o_.ny);
    std::vector<float> rows(static_cast<std::size_t>(part.rows) * pitch_);
    pgas::get(world_, rows.data(), grids_[o_.niter % 2].data() + pitch_, rows.size(), pe);
    return rows;
  }

 private:
  pgas::launch_config shape() const {
    if (world_.heap() == pgas::heap_kind::host) return {.blocks = 1, .threads = tile_width};
    const int tiles = (o_.nx / tile_width + 1) * (mine_.rows / tile_height + 1);
    // Blocks wait only for data of the neighbours' previous launch, so not all blocks need to be resident at the same
    // time.
    return {.blocks = static_cast<unsigned>(2 * strips_of(o_.nx) + tiles), .threads = tile_width, .resident = false};
  }

  void check(int iteration, const float* before, const float* after, bool report) {
    pgas::p(world_, sum_.data(), 0.0, world_.my_pe());
    const unsigned blocks =
        world_.heap() == pgas::heap_kind::host ? 1 : 512;  // no block waits, so not all blocks need to be resident
    pgas::launch(world_, {.blocks = blocks, .threads = 256, .resident = false}, residual{}, world_.context(), before,
                 after, o_.nx, mine_.rows, sum_.data());
    world_.synchronize();
    world_.barrier_all();
    double total = 0;
    for (int pe = 0; pe < world_.n_pes(); ++pe) total += pgas::g(world_, sum_.data(), pe);
    world_.barrier_all();
    if (report && world_.my_pe() == 0)
      std::printf("  iteration %6d   residual %.6e\n", iteration, __builtin_sqrt(total));
  }

  pgas::world& world_;
  options o_;
  slab mine_;
  std::size_t pitch_;
  pgas::symmetric<float> grids_[2];
  pgas::symmetric<std::uint64_t> arrived_;
  pgas::symmetric<double> sum_;
};

// The reference, computed by one thread: all rows except the fixed first and last row.
std::vector<float> serial(const options& o) {
  const auto pitch = static_cast<std::size_t>(o.nx);
  std::vector<float> in(static_cast<std::size_t>(o.ny) * pitch);
  for (int r = 0; r < o.ny; ++r)
    in[static_cast<std::size_t>(r) * pitch] = in[static_cast<std::size_t>(r + 1) * pitch - 1] = edge(r, o.ny);
  std::vector<float> out = in;
  for (int i = 0; i < o.niter; ++i, std::swap(in, out))
    for (std::size_t r = 1; r + 1 < static_cast<std::size_t>(o.ny); ++r)
      for (std::size_t c = r * pitch + 1; c + 1 < (r + 1) * pitch; ++c)
        out[c] = 0.25F * (((in[c - 1] + in[c + 1]) + in[c - pitch]) + in[c + pitch]);
  return {in.begin() + o.nx, in.end() - o.nx};
}

// The error in the command line for this number of PEs; empty if the command line is valid.
std::string parse(int argc, char** argv, int n_pes, options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "-csv") {
      o.csv = true;
      continue;
    }
    int* const value = name == "-nx"        ? &o.nx
                       : name == "-ny"      ? &o.ny
                       : name == "-niter"   ? &o.niter
                       : name == "-nccheck" ? &o.nccheck
                                            : nullptr;
    char* end = nullptr;
    if (value != nullptr && i + 1 < argc) *value = static_cast<int>(std::strtol(argv[++i], &end, 10));
    if (end == nullptr || end == argv[i] || *end != '\0')
      return "'" + name +
             "' is not understood: 06_halo_exchange [-nx columns] [-ny rows] [-niter iterations] [-nccheck iterations "
             "between residual checks] [-csv]";
  }
  if (o.nx < 3 || o.ny - 2 < n_pes || o.niter < 1 || o.nccheck < 0)
    return "a grid of " + std::to_string(o.nx) + " x " + std::to_string(o.ny) + " is too small for " +
           std::to_string(n_pes) +
           " PEs: it needs 3 columns, 2 fixed rows and one row per PE at least, and one iteration";
  return {};
}

}  // namespace

int main(int argc, char** argv) try {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  options o;
  if (const std::string problem = parse(argc, argv, n, o); !problem.empty()) {
    if (speaks) std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  const double points = static_cast<double>(o.nx - 2) * (o.ny - 2);
  const bool plain = points * o.niter <= 1e9;  // one CPU thread can compute the reference

  if (speaks && !o.csv) {
    std::printf("2-D Jacobi, %d x %d floats, %d iterations, %d PEs\n", o.nx, o.ny, o.niter, n);
    for (int pe = 0; pe < n; ++pe) {
      const slab part = slab_of(pe, n, o.ny);
      std::printf("  PE %d on %s: rows %5d to %5d, %s %s\n", pe, world.pe(pe).host.c_str(), part.first,
                  part.first + part.rows - 1, world.pe(pe).device.c_str(), world.pe(pe).device_uuid.c_str());
    }
    if (world.pe(0).time_sliced)  // GPUs are assigned round-robin, so if PEs share any GPU, PEs share the GPU of PE 0
      std::printf(
          "  MPS does not run, so PEs that share a GPU run one after another, milliseconds each: this does not measure "
          " "
          "speed\n");
    std::fflush(stdout);
  }

  jacobi together(world, o);
  const double seconds = together.run(!o.csv);

  long long different = 0;
  if (speaks) {
    // The same computation on PE 0 alone, in a second world of one PE.
    pgas::config settings = world.settings();
    settings.heap = world.heap();
    pgas::bootstrap_options no_launcher;
    no_launcher.method = "singleton";
    pgas::world alone = pgas::world::join(pgas::make_bootstrap(no_launcher).exchange, settings);
    jacobi single(alone, o);
    const double single_seconds = single.run(false);
    const std::vector<float> expected = plain ? serial(o) : single.rows_of(0);
    for (int pe = 0; pe < n; ++pe) {
      const std::vector<float> rows = together.rows_of(pe);
      const float* should =
          expected.data() + static_cast<std::size_t>(slab_of(pe, n, o.ny).first - 1) * static_cast<std::size_t>(o.nx);
      for (std::size_t i = 0; i < rows.size(); ++i) different += std::memcmp(&rows[i], should + i, sizeof(float)) != 0;
    }
    const double per_iteration = seconds / o.niter;
    const double single_iteration = single_seconds / o.niter;
    const double bytes = points * 2 * sizeof(float);  // each point is read once and written once
    if (o.csv) {
      std::printf("nx,ny,niter,nccheck,pes,us_per_iteration,GB_per_s,single_us_per_iteration,speedup,different\n");
      std::printf("%d,%d,%d,%d,%d,%.2f,%.1f,%.2f,%.3f,%lld\n", o.nx, o.ny, o.niter, o.nccheck, n, per_iteration * 1e6,
                  bytes / per_iteration / 1e9, single_iteration * 1e6, single_iteration / per_iteration, different);
    } else {
      std::printf("%d PEs: %.1f us per iteration, %.1f GB/s of grid read and written, %.1f GB/s per PE\n", n,
                  per_iteration * 1e6, bytes / per_iteration / 1e9, bytes / per_iteration / 1e9 / n);
      std::printf("1 PE:  %.1f us per iteration, so %d PEs are %.2f times as fast\n", single_iteration * 1e6, n,
                  single_iteration / per_iteration);
      if (different == 0)
        std::printf("check: all %.0f points equal the %s result bit for bit\n", points, plain ? "serial" : "single-PE");
      else
        std::printf("check: %lld POINTS DIFFER from the %s result\n", different, plain ? "serial" : "single-PE");
    }
  }
  world.barrier_all();
  return different == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
