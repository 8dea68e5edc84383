// The heat equation on a 3-D grid, with 7 or 27 points, divided among PEs in all three dimensions.
//
// Communication: a PE computes its boundary first. Points that a neighbour needs are sent as soon as they are computed,
// part by part or in one message (--faces). A message is a face or, with 27 points, also an edge or a corner. Each
// message contains all fields, and has one signal. The interior is computed during the transfer. The host enqueues only
// kernels, and no barrier. There is one kernel for each iteration or, on large grids, one kernel for the boundary and
// one kernel for the interior; the interior's kernel calls no function that sends or waits, so all its registers are
// available for computing (--kernels).
//
// Correctness: each iteration reads one of two grids and writes the other. A signal word for each direction counts the
// neighbour's iterations. A boundary point is computed when the signals of its directions show that the adjacent halo
// belongs to this iteration. A neighbour stores to that halo again two iterations later. Before that, the neighbour has
// received this PE's next message, which was sent after the halo had been read. (common/halo.hpp has the code and the
// detailed argument.)
//
// Faces across y and x are strided in memory. There are four ways to send these faces (--faces):
//   pack      the kernel that computes a face copies it into contiguous memory and puts it; the receiver unpacks it
//   iput      a put with strides, directly from the face, as soon as the face is computed
//   remote    the threads of the kernel that computes a face store its points to the neighbour's halo (ctx.remote())
//   packets   these threads store words of a point and its generation; the generation is the signal, so no fence is
//             needed, but twice the bytes are sent
//
// With two kernels, the boundary's kernel begins when the previous interior is complete, and allows the next interior
// to begin immediately: both kernels of an iteration read the same grid, and write different points of the other grid.
// The interior's last block ends after the boundary's kernel, so a wait for the interior is a wait for both kernels.
// The boundary's kernel waits for data that neighbours sent before they computed their previous interior, so the data
// has already arrived.
//
// Every point is computed by the same expression for any division, so the result equals the serial result bit for bit.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "common/heat.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::heat_options;
using examples::text_of;
using examples::triple;

// One iteration: from generation `step` of the grid to generation `step` + 1.
template <class Points>
struct iterate {
  static constexpr unsigned max_threads = examples::heat_threads;
  static constexpr unsigned min_blocks = 2;  // blocks on a multiprocessor
  bool overlapped = false;                   // whether the interior's kernel runs at the same time

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, examples::exchange<float> x, float* in, float* out,
                          std::uint64_t step) const {
    if (overlapped) pgas::trigger_next_launch();
    // Blocks take items of the list in turn: first halos to unpack, then the boundary, then the interior.
    const int unpacks = x.n_unpacks;
    for (int i = static_cast<int>(block.block_rank()); i < unpacks + x.n_items;
         i += static_cast<int>(block.num_blocks())) {
      if (i < unpacks) {
        examples::unpack(ctx, block, x, in, x.unpacks[i], step);
        continue;
      }
      const examples::item each = x.items[i - unpacks];
      if (each.directions != 0) examples::await(ctx, block, x, each, in, step);
      examples::relax<Points>(block, x, each, in, out);
      if (each.directions != 0) examples::send(ctx, block, x, each, out, step + 1);
      block.sync();  // keeps warps that read neighbouring rows together, so that they hit the cache
    }
  }
};

// The interior of an iteration for one field, 128 x 8 x 4 points per block. This kernel does not communicate.
// @param inner the whole interior @param nx, ny blocks along x and y @param overlaps whether the boundary's kernel runs
// at the same time
template <class Points>
struct iterate_interior {
  static constexpr unsigned max_threads = examples::heat_threads;
  static constexpr unsigned min_blocks = 3;
  static constexpr int width = 128, rows = 8, layers = 4;

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, examples::box inner, int nx, int ny, examples::strides by, const float* in,
                          float* out, bool overlaps) const {
    const int i = static_cast<int>(block.block_rank()), thread = static_cast<int>(block.thread_rank());
    const int z = i / nx / ny * layers + inner.lo[2];
    const auto compute = [&](int part) {  // four points in a row, and the same points in the next layers
      const int x = i % nx * width + part % 32 * 4 + 1, y = i / nx % ny * rows + part / 32 + inner.lo[1];
      if (y >= inner.hi[1]) return;
      if constexpr (Points::in_fours)
        if (x >= inner.lo[0] && x + 4 <= inner.hi[0] && z + layers <= inner.hi[2])
          return examples::relax_fours<layers>(in + by.index(x, y, z), out + by.index(x, y, z), by.pitch, by.plane);
      for (int k = z; k < z + layers && k < inner.hi[2]; ++k)
        for (int j = x; j < x + 4; ++j)
          if (j >= inner.lo[0] && j < inner.hi[0])
            out[by.index(j, y, k)] = Points::at(in + by.index(j, y, k), by.pitch, by.plane);
    };
#if defined(__CUDACC__)
    compute(thread);
#else  // a block has fewer threads on the CPU
    for (int part = thread; part < width / 4 * rows; part += static_cast<int>(block.size())) compute(part);
#endif
    if (overlaps && block.block_rank() == block.num_blocks() - 1) pgas::await_earlier_launches();
  }
};

// The number of blocks that compute the boundary concurrently with the interior. With this number, these blocks take
// half as long as the interior, according to times on an H100. Most of the time these blocks wait for memory and
// fences, and they occupy places that blocks of the interior could use.
[[nodiscard]] unsigned blocks_beside(double boundary_points, double interior_points) {
  return static_cast<unsigned>(8192 * boundary_points / interior_points) + 1;
}

// Enqueues an iteration as two kernels: the boundary, with all blocks resident, and concurrently the interior.
template <class Points>
void launch_two(pgas::world& world, const pgas::launch_config& shape, examples::heat_grids& grids, std::uint64_t step) {
  using inside = iterate_interior<Points>;
  examples::exchange<float> outer = grids.halo();
  outer.n_items = outer.n_boundary;
  const examples::decomposition& mine = grids.mine();
  const examples::box inner = examples::interior_of(mine);
  const auto all_points = static_cast<double>(mine.n[0]) * mine.n[1] * mine.n[2];
  const auto points = static_cast<double>(examples::volume(inner));
  pgas::launch_config few = shape;
  few.blocks = std::min(shape.blocks, static_cast<unsigned>(outer.n_unpacks + outer.n_items));
  if (points > 0) few.blocks = std::min(few.blocks, blocks_beside(all_points - points, points));
  few.urgent = true;  // neighbours wait for this kernel, and the interior can fill the GPU
  float *const in = grids.grid(step), *const out = grids.grid(step + 1);
  if (few.blocks > 0) pgas::launch(world, few, iterate<Points>{true}, world.context(), outer, in, out, step);

  if (points == 0) return;
  const int nx = (inner.hi[0] - 1 + inside::width - 1) / inside::width;  // starts at x = 1, where rows are aligned
  const int ny = (inner.hi[1] - inner.lo[1] + inside::rows - 1) / inside::rows;
  const int nz = (inner.hi[2] - inner.lo[2] + inside::layers - 1) / inside::layers;
  pgas::launch_config all{
      .blocks = static_cast<unsigned>(nx * ny * nz), .threads = examples::heat_threads, .resident = false};
  for (std::int64_t f = 0; f < outer.fields; ++f) {
    all.overlaps = f == 0 && few.blocks > 0;
    pgas::launch(world, all, inside{}, inner, nx, ny, examples::strides{outer.pitch, outer.plane},
                 static_cast<const float*>(in + f * outer.field_points), out + f * outer.field_points, all.overlaps);
  }
}

enum class kernels { automatic, single, split };

// Runs all iterations. Returns the seconds.
template <class Points>
double run(pgas::world& world, examples::heat_grids& grids, int iterations, kernels how, bool report) {
  const pgas::launch_config shape =
      grids.shape(iterate<Points>{}, world.context(), grids.halo(), grids.grid(0), grids.grid(1), std::uint64_t{0});
  const bool long_interior = !grids.on_host() && examples::has_long_interior(grids.mine());
  const bool two = how == kernels::split || (how == kernels::automatic && long_interior);
  world.barrier_all();
  const auto begin = std::chrono::steady_clock::now();
  auto said = begin;
  for (int i = 0; i < iterations; ++i) {
    const auto step = static_cast<std::uint64_t>(i);
    if (two)
      launch_two<Points>(world, shape, grids, step);
    else
      pgas::launch(world, shape, iterate<Points>{}, world.context(), grids.halo(), grids.grid(step),
                   grids.grid(step + 1), step);
    if (i % 64 != 63) continue;
    world.synchronize();  // limits the length of the queue, so that progress is visible
    if (report && std::chrono::steady_clock::now() - said > std::chrono::seconds(2)) {
      said = std::chrono::steady_clock::now();
      std::printf("  iteration %d of %d\n", i + 1, iterations);
      std::fflush(stdout);
    }
  }
  world.synchronize();
  world.barrier_all();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Points>
int solve(pgas::world& world, const heat_options& o, kernels how) {
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  const auto end = static_cast<std::uint64_t>(o.iterations);
  examples::heat_grids together(world, o, o.pes);
  if (speaks && !o.csv) {
    std::printf("3-D heat equation, %d points, %s, %s floats, %d field%s, %d iterations\n", o.corners() ? 27 : 7,
                o.periodic() ? "periodic" : "fixed boundary", text_of(o.size).c_str(), o.fields,
                o.fields == 1 ? "" : "s", o.iterations);
    std::printf("%d PEs as %s, at most %s points each; faces: %s\n", n, text_of(o.pes).c_str(),
                text_of(together.mine().most).c_str(), o.faces_name());
    if (world.pe(0).time_sliced)
      std::printf("MPS does not run, so PEs that share a GPU run one after another: this does not measure speed\n");
    std::fflush(stdout);
  }
  const double each = run<Points>(world, together, o.iterations, how, speaks && !o.csv) / o.iterations;

  long long different = 0;
  if (speaks) {  // the same computation on PE 0 alone, in a second world of one PE
    pgas::world alone = examples::join_alone(world);
    examples::heat_grids single(alone, o, {1, 1, 1});
    const double single_each = run<Points>(alone, single, o.iterations, how, false) / o.iterations;
    const bool plain = o.serial_is_quick(o.iterations);
    for (int f = 0; f < o.fields; ++f)
      different += together.count_different(f, end,
                                            plain ? examples::serial<Points>(o.size, o.periodic(), f, o.iterations)
                                                  : examples::points_of(single.mine(), single.grid_of(0, f, end)));
    const double bytes = o.all_points() * 2 * sizeof(float);  // each point is read once and written once
    if (o.csv) {
      std::printf(
          "nx,ny,nz,points,periodic,fields,iterations,pes,px,py,pz,faces,us_per_iteration,GB_per_s,"
          "single_us_per_iteration,speedup,different\n");
      std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%.2f,%.2f,%.2f,%.3f,%lld\n", o.size[0], o.size[1], o.size[2],
                  o.corners() ? 27 : 7, o.periodic() ? 1 : 0, o.fields, o.iterations, n, o.pes[0], o.pes[1], o.pes[2],
                  o.faces_name(), each * 1e6, bytes / each / 1e9, single_each * 1e6, single_each / each, different);
    } else {
      std::printf("%d PEs: %.1f us per iteration, %.2f GB/s of grid read and written\n", n, each * 1e6,
                  bytes / each / 1e9);
      std::printf("1 PE:  %.1f us per iteration, so %d PEs are %.2f times as fast\n", single_each * 1e6, n,
                  single_each / each);
      const char* const with = plain ? "serial" : "single-PE";
      if (different == 0)
        std::printf("check: all %.0f points equal the %s result bit for bit\n", o.all_points(), with);
      else
        std::printf("check: %lld POINTS DIFFER from the %s result\n", different, with);
    }
  }
  world.barrier_all();
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  heat_options o;
  kernels how = kernels::automatic;
  examples::command_line line("20_stencil3d", "The heat equation on a 3-D grid, divided among PEs in 3 dimensions.",
                              "pgasrun -n 4 20_stencil3d --size 128,128,64 --points 27 --faces pack");
  o.add_to(line);
  line.add("--kernels", how, {"auto", "one", "two"}, "for an iteration; auto: two on a GPU where the grid is large");
  pgas::world world = pgas::world::join();
  const bool speaks = world.my_pe() == 0;
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  if (const std::string why = o.choose_pes(world.n_pes()); !why.empty()) return line.refuse(why, speaks);
  return o.corners() ? solve<examples::points_27>(world, o, how) : solve<examples::points_7>(world, o, how);
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
