// The heat equation on a 3-D grid, by 7 or 27 points, divided among PEs in all three dimensions.
//
// What is sent when: a PE computes its boundary first. As soon as the points that one neighbour needs are computed,
// they leave in one message with one signal: a face, with 27 points also an edge or a corner; all fields together. The
// interior is computed during the transfer. The host only enqueues one kernel for each iteration, and no barrier.
//
// Why nothing is lost: each iteration reads one of two grids and writes the other one. A signal word for each direction
// counts the neighbour's iterations. A boundary point is computed when the signals of its directions say that the halo
// beside it is that of this iteration. A neighbour stores into that halo again two iterations later; before, it has
// received this PE's next message, which left after that halo had been read. (common/halo.hpp has the code and the
// argument in detail.)
//
// Faces across y and x lie in memory with strides. Three ways to send them (--faces):
//   pack    copied into one piece by the kernel that computes them, put in one piece, unpacked there
//   iput    put with strides from where they are, when they are computed
//   remote  stored right into the neighbour's halo by the threads of the kernel that computes them (ctx.remote())
//
// Every point is computed by the same expression whatever the division, so the result equals the serial one bit for
// bit.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/decomposition.hpp"
#include "common/halo.hpp"
#include "common/options.hpp"
#include "common/stencil.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::decomposition;
using examples::text_of;
using examples::triple;

struct options {
  triple size{64, 64, 64};
  triple pes{};
  int points = 0;  // of the stencil: place in {7, 27}
  int boundary = 0;
  int iterations = 100;
  int fields = 1;
  int blocks = 0;
  examples::faces faces = examples::faces::remote;
  bool csv = false;

  [[nodiscard]] bool corners() const { return points == 1; }
  [[nodiscard]] bool periodic() const { return boundary == 1; }
};

// One iteration: from generation `step` of the grid to the next one.
template <class Points>
struct iterate {
  static constexpr unsigned max_threads = 256;
  static constexpr unsigned min_blocks = 4;  // on a multiprocessor

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, examples::exchange x, float* in, float* out,
                          std::uint64_t step) const {
    // Blocks take turns at the list: first halos to unpack, then the boundary, then the interior.
    const int unpacks = x.n_unpacks();
    for (int i = static_cast<int>(block.block_rank()); i < unpacks + x.n_items;
         i += static_cast<int>(block.num_blocks())) {
      if (i < unpacks) {
        examples::unpack(ctx, block, x, in, i, step);
        continue;
      }
      const examples::item each = x.items[i - unpacks];
      examples::await(ctx, block, x, each, step);
      for (int f = 0; f < x.fields; ++f)
        examples::relax<Points>(block, each.at, in + f * x.field_points, out + f * x.field_points, x.pitch, x.plane);
      examples::send(ctx, block, x, each, out, step + 1);
    }
  }
};

// The equation on one world.
template <class Points>
class heat {
 public:
  heat(pgas::world& world, const options& o, const triple& pes)
      : world_(world),
        o_(o),
        on_host_(world.heap() == pgas::heap_kind::host),
        mine_(examples::divide(o.size, pes, o.periodic(), o.corners(), world.my_pe())),
        // A GPU's block has little time, a CPU's one thread takes a plane as it comes.
        halo_(world, mine_, o.fields, o.faces, on_host_ ? mine_.most : triple{128, 32, 32},
              on_host_ ? mine_.most : triple{64, 8, 16}),
        grids_{world.allocate<float>(mine_.grid_points * static_cast<std::size_t>(o.fields)),
               world.allocate<float>(mine_.grid_points * static_cast<std::size_t>(o.fields))} {
    for (int f = 0; f < o.fields; ++f) {
      const std::vector<float> start = examples::initial_grid(mine_, f);
      for (auto& grid : grids_)  // a fixed halo belongs to both
        pgas::put(world_, grid.data() + static_cast<std::size_t>(f) * mine_.grid_points, start.data(), start.size(),
                  world_.my_pe());
    }
    shape_ = {.blocks = 1, .threads = iterate<Points>::max_threads};
    if (!on_host_)
      shape_.blocks = pgas::max_resident_blocks(world_, shape_.threads, 0, iterate<Points>{}, world_.context(),
                                                halo_.view(), grid(0), grid(1), std::uint64_t{0});
    if (o.blocks > 0) shape_.blocks = static_cast<unsigned>(o.blocks);
  }

  // Seconds for all iterations.
  double run(bool report) {
    world_.synchronize();
    world_.barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    auto said = begin;
    for (int i = 0; i < o_.iterations; ++i) {
      pgas::launch(world_, shape_, iterate<Points>{}, world_.context(), halo_.view(), grid(i), grid(i + 1),
                   static_cast<std::uint64_t>(i));
      if (i % 64 != 63) continue;
      world_.synchronize();  // now and then, so that the queue stays short and progress is progress
      if (report && std::chrono::steady_clock::now() - said > std::chrono::seconds(2)) {
        said = std::chrono::steady_clock::now();
        std::printf("  iteration %d of %d\n", i + 1, o_.iterations);
        std::fflush(stdout);
      }
    }
    world_.synchronize();
    world_.barrier_all();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // One field of PE `pe` after the last iteration, as it lies there.
  std::vector<float> grid_of(int pe, int field) {
    std::vector<float> grid(mine_.grid_points);
    pgas::get(world_, grid.data(), grids_[o_.iterations % 2].data() + static_cast<std::size_t>(field) * grid.size(),
              grid.size(), pe);
    return grid;
  }
  [[nodiscard]] decomposition part_of(int pe) const {
    return examples::divide(o_.size, mine_.pes, o_.periodic(), o_.corners(), pe);
  }

  [[nodiscard]] const decomposition& mine() const { return mine_; }

 private:
  float* grid(int generation) { return grids_[generation % 2].data() + decomposition::lead; }

  pgas::world& world_;
  options o_;
  bool on_host_;
  decomposition mine_;
  examples::halo halo_;
  pgas::symmetric<float> grids_[2];
  pgas::launch_config shape_;
};

const char* const names_of_faces[] = {"pack", "iput", "remote"};

template <class Points>
int solve(pgas::world& world, const options& o, const triple& pes) {
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  const double points = static_cast<double>(o.size[0]) * o.size[1] * o.size[2] * o.fields;
  const bool plain = points * o.iterations <= (o.corners() ? 2e8 : 1e9);  // one CPU thread can be the reference
  heat<Points> together(world, o, pes);
  if (speaks && !o.csv) {
    std::printf("3-D heat equation, %d points, %s, %s floats, %d field%s, %d iterations\n", o.corners() ? 27 : 7,
                o.periodic() ? "periodic" : "fixed boundary", text_of(o.size).c_str(), o.fields,
                o.fields == 1 ? "" : "s", o.iterations);
    std::printf("%d PEs as %s, at most %s points each; faces: %s\n", n, text_of(pes).c_str(),
                text_of(together.mine().most).c_str(), names_of_faces[static_cast<int>(o.faces)]);
    if (world.pe(0).takes_turns)
      std::printf("PEs that share a GPU take turns on it, as MPS does not run: this is no measure of speed\n");
    std::fflush(stdout);
  }
  const double seconds = together.run(speaks && !o.csv);

  long long different = 0;
  if (speaks) {
    // The same on PE 0 alone, in a second world of one.
    pgas::config settings = world.settings();
    settings.heap = world.heap();
    pgas::bootstrap_options no_launcher;
    no_launcher.method = "singleton";
    pgas::world alone = pgas::world::join(pgas::make_bootstrap(no_launcher).exchange, settings);
    heat<Points> single(alone, o, {1, 1, 1});
    const double single_seconds = single.run(false);
    for (int f = 0; f < o.fields; ++f) {
      const std::vector<float> expected = plain ? examples::serial<Points>(o.size, o.periodic(), f, o.iterations)
                                                : examples::points_of(single.mine(), single.grid_of(0, f));
      for (int pe = 0; pe < n; ++pe)
        different += examples::count_different(together.part_of(pe), together.grid_of(pe, f), expected);
    }
    const double each = seconds / o.iterations, single_each = single_seconds / o.iterations;
    const double bytes = points * 2 * sizeof(float);  // each point is read once and written once
    if (o.csv) {
      std::printf(
          "nx,ny,nz,points,periodic,fields,iterations,pes,px,py,pz,faces,us_per_iteration,GB_per_s,"
          "single_us_per_iteration,speedup,different\n");
      std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%.2f,%.2f,%.2f,%.3f,%lld\n", o.size[0], o.size[1], o.size[2],
                  o.corners() ? 27 : 7, o.periodic() ? 1 : 0, o.fields, o.iterations, n, pes[0], pes[1], pes[2],
                  names_of_faces[static_cast<int>(o.faces)], each * 1e6, bytes / each / 1e9, single_each * 1e6,
                  single_each / each, different);
    } else {
      std::printf("%d PEs: %.1f us per iteration, %.2f GB/s of grid read and written\n", n, each * 1e6,
                  bytes / each / 1e9);
      std::printf("1 PE:  %.1f us per iteration, so %d PEs are %.2f times as fast\n", single_each * 1e6, n,
                  single_each / each);
      const char* const with = plain ? "serial" : "single-PE";
      if (different == 0)
        std::printf("check: all %.0f points equal the %s result bit for bit\n", points, with);
      else
        std::printf("check: %lld POINTS DIFFER from the %s result\n", different, with);
    }
  }
  world.barrier_all();
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  options o;
  examples::command_line line("20_stencil3d", "The heat equation on a 3-D grid, divided among PEs in 3 dimensions.",
                              "pgasrun -n 4 20_stencil3d --size 128,128,64 --points 27 --faces pack");
  line.add("--size", "X,Y,Z", o.size, 1, "points of the grid");
  line.add("--pes", "X,Y,Z", o.pes, 1, "PEs on each axis; without it as makes the faces smallest");
  line.add("--points", o.points, {"7", "27"}, "of the stencil");
  line.add("--boundary", o.boundary, {"fixed", "periodic"}, "what lies beyond the grid");
  line.add("--faces", o.faces, {"pack", "iput", "remote"}, "how faces are sent");
  line.add("--fields", "N", o.fields, 1, "grids, sent together");
  line.add("--iterations", "N", o.iterations, 1, "steps in time");
  line.add("--blocks", "N", o.blocks, 0, "of the kernel; 0: all that a GPU holds, one of a CPU");
  line.add("--csv", o.csv, "prints two lines of comma-separated values");

  pgas::world world = pgas::world::join();
  const bool speaks = world.my_pe() == 0;
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  const bool given = o.pes != triple{};
  const triple pes = given ? o.pes : examples::smallest_surface(o.size, world.n_pes(), o.periodic());
  if (const std::string why = examples::impossible(o.size, pes, world.n_pes()); !why.empty())
    return line.refuse(why, speaks);
  return o.corners() ? solve<examples::points_27>(world, o, pes) : solve<examples::points_7>(world, o, pes);
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
