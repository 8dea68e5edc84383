// The heat equation of 20_stencil3d without the host: one kernel for all iterations, compared with one launch for each
// iteration and, on GPUs, with a CUDA graph. On small grids launches take most of the time; the program prints the
// saving.
//
// Communication: as in 20_stencil3d, one message for each direction as soon as its points are computed, with a signal
// that counts iterations. In the single kernel, all blocks take work from one list, which has the boundary and the
// interior. Alternatively some blocks compute only the boundary and send it, which is faster if the boundary is as much
// work as the interior (--boundary-blocks). A block adds 1 to a word of its PE when it has computed, and then sends.
// The next iteration begins when all blocks have added 1, because it reads the points of all blocks. Unlike a sync of
// the grid, this method waits for no transfer. No block waits for all other PEs: only a boundary waits, and only for
// its neighbours.
//
// Correctness: the signals give the generation of a halo, and the blocks' word gives the generation of this PE's own
// points. There are two copies of everything (common/halo.hpp). A block reads a message until it has sent the message.
// The block adds its 1 of the next iteration only after sending, and no block overwrites the message before this
// addition. launch() ensures that all blocks are resident: otherwise waiting blocks could prevent the blocks that they
// wait for from starting.
//
// On chip: one kernel again, in which each block keeps a tile of the grid in shared memory, so only the surfaces of
// tiles travel, to other blocks and to other PEs. common/on_chip.hpp describes the communication and the correctness of
// this variant. If the tiles do not fit, the program reports this and skips the variant.
//
// The arguments of a CUDA graph are fixed when the graph is created. The kernels of a graph therefore read the number
// of their iteration from memory, and the last kernel of the graph increments the number.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "common/heat.hpp"
#include "common/on_chip.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::exchange;
using examples::heat_options;
using examples::text_of;

// The first item of a block's list. A block with only one item keeps this item in all iterations.
PGAS_FN examples::item first_of(const exchange<float>& x, int first) {
  return first >= x.n_unpacks && first < x.n_unpacks + x.n_items ? x.items[first - x.n_unpacks] : examples::item{};
}

// Computes the items `first`, `first + stride` and so on of an iteration's list: halos to unpack, then boundary, then
// interior. @param own the result of first_of() @param computed is called when the block has computed its last item,
// before the block sends this item
template <class Points, pgas::block_group Block, class F>
PGAS_FN void compute(const Block& block, const pgas::context& ctx, const exchange<float>& x, float* in, float* out,
                     std::uint64_t step, int first, int stride, int end, const examples::item& own, const F& computed) {
  const int unpacks = x.n_unpacks;
  for (int i = first; i < end; i += stride) {
    const bool last = i + stride >= end;
    if (i < unpacks) {
      examples::unpack(ctx, block, x, in, x.unpacks[i], step);
      if (last) computed();
      continue;
    }
    const examples::item each = first + stride >= end ? own : x.items[i - unpacks];
    if (each.directions != 0) examples::await(ctx, block, x, each, in, step);
    examples::relax<Points>(block, x, each, in, out);
    if (last) computed();
    if (each.directions != 0) examples::send(ctx, block, x, each, out, step + 1);
  }
  if (first >= end) computed();
}

// All iterations from `step` to `end`. Blocks take items of the list in turn; if `boundary` is not 0, the first
// `boundary` blocks take items of the boundary, and the other blocks take items of the interior.
template <class Points>
struct iterate_all {
  static constexpr unsigned max_threads = examples::heat_threads;
  static constexpr unsigned min_blocks = 2;  // blocks on a multiprocessor

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, exchange<float> x, float* even, float* odd, int boundary,
                          pgas::signal_t* arrived, std::uint64_t step, std::uint64_t end) const {
    const int me = static_cast<int>(block.block_rank()), blocks = static_cast<int>(block.num_blocks());
    const int outer = x.n_unpacks + x.n_boundary, items = x.n_unpacks + x.n_items;
    const bool outside = me < boundary;
    const int first = boundary == 0 || outside ? me : outer + me - boundary;
    const int stride = outside ? boundary : blocks - boundary;
    const int last = outside ? outer : items;
    const examples::item own = first_of(x, first);
    // A block arrives when it has computed, and sends while the other blocks arrive.
    const auto arrive = [&] {
      block.sync();
      if (blocks > 1 && block.thread_rank() == 0)
        pgas::put_signal(ctx, arrived, arrived, 0, arrived, 1, pgas::signal_op::add, ctx.my_pe());
    };
    pgas::signal_t all = *arrived;
    pgas::this_grid(block).sync();  // returns when all blocks have read the word
    for (; step < end; ++step) {
      float* const in = step % 2 == 0 ? even : odd;
      float* const out = step % 2 == 0 ? odd : even;
      compute<Points>(block, ctx, x, in, out, step, first, stride, last, own, arrive);
      all += static_cast<std::uint64_t>(blocks);
      if (blocks > 1) pgas::wait_until(ctx, block, arrived, pgas::cmp::ge, all);
    }
  }
};

// One iteration. Its number is `*done + step`, or `step` if `done` is null.
template <class Points>
struct iterate_once {
  static constexpr unsigned max_threads = examples::heat_threads;
  static constexpr unsigned min_blocks = 2;

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, exchange<float> x, float* in, float* out,
                          const std::uint64_t* done, std::uint64_t step) const {
    const auto first = static_cast<int>(block.block_rank());
    compute<Points>(block, ctx, x, in, out, (done == nullptr ? 0 : *done) + step, first,
                    static_cast<int>(block.num_blocks()), x.n_unpacks + x.n_items, first_of(x, first), [] {});
  }
};

// The last kernel of a graph.
struct advance {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* done, std::uint64_t steps) const {
    if (block.thread_rank() == 0) *done += steps;
  }
};

enum way { by_host, by_one_kernel, by_graph, on_chip };
constexpr way all_ways[] = {by_host, by_one_kernel, by_graph, on_chip};
constexpr const char* names_of_ways[] = {"host-driven", "persistent", "graph", "on-chip"};

// Solves the equation on one world. Each variant continues from the end of the previous variant.
template <class Points>
class heat {
 public:
  heat(pgas::world& world, const heat_options& o, int boundary_blocks)
      : world_(world),
        o_(o),
        grids_(world, o, o.pes),
        done_(world.allocate<std::uint64_t>(1, pgas::initialize::zero)),
        arrived_(world.allocate<pgas::signal_t>(1, pgas::initialize::zero)),
        once_(grids_.shape(iterate_once<Points>{}, world.context(), grids_.halo(), grids_.grid(0), grids_.grid(1),
                           static_cast<const std::uint64_t*>(nullptr), step_)),
        all_(grids_.shape(iterate_all<Points>{}, world.context(), grids_.halo(), grids_.grid(0), grids_.grid(1), 1,
                          arrived_.data(), step_, step_)),
        on_chip_(world, o) {
    boundary_ = std::min(boundary_blocks, static_cast<int>(all_.blocks) - 1);
  }

  // Runs `iterations` further iterations. Returns the seconds.
  double run(way by) {
    const auto steps = static_cast<std::uint64_t>(o_.iterations);
    world_.barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    if (by == on_chip) {
      on_chip_.run(steps);
    } else if (by == by_one_kernel) {
      pgas::launch(world_, all_, iterate_all<Points>{}, world_.context(), grids_.halo(), grids_.grid(0), grids_.grid(1),
                   boundary_, arrived_.data(), step_, step_ + steps);
    } else if (by == by_host) {
      for (std::uint64_t i = 0; i < steps; ++i) {
        launch_once(nullptr, step_ + i, step_ + i);
        if (i % 64 == 63) world_.synchronize();  // limits the length of the queue
      }
    } else {
      replay(steps);
    }
    world_.synchronize();
    world_.barrier_all();
    if (by != on_chip) step_ += steps;  // the variant on chip has separate grids
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  [[nodiscard]] bool can(way by) const {
    if (by == on_chip) return on_chip_.why_not().empty();
#if defined(__CUDACC__)
    return by != by_graph || o_.iterations % 2 == 0;
#else
    return by != by_graph;
#endif
  }
  [[nodiscard]] std::uint64_t steps() const { return step_; }
  [[nodiscard]] unsigned blocks() const { return all_.blocks; }
  [[nodiscard]] int boundary_blocks() const { return boundary_; }
  [[nodiscard]] examples::heat_grids& grids() { return grids_; }
  [[nodiscard]] examples::grid_on_chip<Points>& tiles() { return on_chip_; }

 private:
  void launch_once(const std::uint64_t* done, std::uint64_t step, std::uint64_t generation) {
    pgas::launch(world_, once_, iterate_once<Points>{}, world_.context(), grids_.halo(), grids_.grid(generation),
                 grids_.grid(generation + 1), done, step);
  }

#if defined(__CUDACC__)
  static void expect(cudaError_t result) {
    if (result != cudaSuccess) throw pgas::error(pgas::code::launch_failed, cudaGetErrorString(result));
  }

  // Replays a graph, which is created once. The graph has the largest even number of iterations, up to 32, that divides
  // the total number of iterations.
  void replay(std::uint64_t steps) {
    auto* const stream = static_cast<cudaStream_t>(world_.stream().native());
    std::uint64_t length = 32;
    while (steps % length != 0) length -= 2;
    pgas::put(world_, done_.data(), &step_, 1, world_.my_pe());
    if (graph_ == nullptr) {
      cudaGraph_t recorded = nullptr;
      expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (std::uint64_t i = 0; i < length; ++i) launch_once(done_.data(), i, step_ + i);
      pgas::launch(world_, {}, advance{}, done_.data(), length);
      expect(cudaStreamEndCapture(stream, &recorded));
      expect(cudaGraphInstantiate(&graph_, recorded, 0));
      expect(cudaGraphDestroy(recorded));
    }
    for (std::uint64_t i = 0; i < steps; i += length) expect(cudaGraphLaunch(graph_, stream));
  }

 public:
  ~heat() {
    if (graph_ != nullptr) static_cast<void>(cudaGraphExecDestroy(graph_));
  }
  heat(const heat&) = delete;
  heat& operator=(const heat&) = delete;

 private:
  cudaGraphExec_t graph_ = nullptr;
#else
  void replay(std::uint64_t) {}
#endif

  pgas::world& world_;
  heat_options o_;
  examples::heat_grids grids_;
  pgas::symmetric<std::uint64_t> done_;
  pgas::symmetric<pgas::signal_t> arrived_;
  std::uint64_t step_ = 0;
  pgas::launch_config once_, all_;
  examples::grid_on_chip<Points> on_chip_;
  int boundary_ = 0;
};

template <class Points>
int solve(pgas::world& world, const heat_options& o, int rounds, int boundary_blocks) {
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  heat<Points> together(world, o, boundary_blocks);
  if (speaks && !o.csv) {
    std::printf("3-D heat equation, %d points, %s floats, %d PEs as %s, faces: %s, %d rounds of %d iterations\n",
                o.corners() ? 27 : 7, text_of(o.size).c_str(), n, text_of(o.pes).c_str(), o.faces_name(), rounds,
                o.iterations);
    if (together.blocks() > 1)
      std::printf("persistent: %u blocks, %d of them for the boundary alone\n", together.blocks(),
                  together.boundary_blocks());
    if (together.can(on_chip))
      std::printf("on-chip: %d tiles of at most %s\n", together.tiles().n_tiles(),
                  text_of(together.tiles().tile()).c_str());
    else
      std::printf("on-chip: not possible, %s\n", together.tiles().why_not().c_str());
    std::fflush(stdout);
  }
  // The variants alternate, so other load on the machine affects all of them. The result is the minimum of all rounds.
  double least[] = {1e9, 1e9, 1e9, 1e9};
  for (int round = 0; round < rounds; ++round)
    for (const way by : all_ways) {
      if (!together.can(by)) continue;
      const double each = together.run(by) / o.iterations;
      least[by] = std::min(least[by], each);
      if (speaks && !o.csv)
        std::printf("  round %d, %-11s %10.2f us per iteration\n", round + 1, names_of_ways[by], each * 1e6);
      std::fflush(stdout);
    }

  long long different = 0;
  const bool plain = o.serial_is_quick(static_cast<double>(together.steps()));
  if (speaks) {
    for (int f = 0; f < o.fields && plain; ++f) {
      const auto count = [&](examples::heat_grids& grids, std::uint64_t steps) {
        different +=
            grids.count_different(f, steps, examples::serial<Points>(o.size, o.periodic(), f, static_cast<int>(steps)));
      };
      count(together.grids(), together.steps());
      if (together.can(on_chip)) count(together.tiles().grids(), together.tiles().steps());
    }
    if (o.csv) std::printf("nx,ny,nz,points,pes,faces,iterations,way,us_per_iteration,different\n");
    for (const way by : all_ways) {
      if (!together.can(by)) continue;
      if (o.csv)
        std::printf("%d,%d,%d,%d,%d,%s,%d,%s,%.2f,%lld\n", o.size[0], o.size[1], o.size[2], o.corners() ? 27 : 7, n,
                    o.faces_name(), o.iterations, names_of_ways[by], least[by] * 1e6, different);
      else if (by != by_host)
        std::printf("%s: %.2f us per iteration, saves %.2f us of host-driven %.2f: %.2f times as fast\n",
                    names_of_ways[by], least[by] * 1e6, (least[by_host] - least[by]) * 1e6, least[by_host] * 1e6,
                    least[by_host] / least[by]);
    }
    if (!o.csv && different > 0)
      std::printf("check: %lld POINTS DIFFER from the serial result\n", different);
    else if (!o.csv)
      std::printf(plain ? "check: all %.0f points equal the serial result bit for bit, after all rounds\n"
                        : "check: none, %.0f points are too many for the serial program\n",
                  o.all_points());
  }
  world.barrier_all();
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  heat_options o;
  o.size = {32, 32, 32};
  o.iterations = 500;
  int rounds = 3, boundary_blocks = 0;
  examples::command_line line("21_persistent",
                              "20_stencil3d by one kernel for all iterations, beside launches of the host.",
                              "pgasrun -n 2 21_persistent --size 64 --iterations 1000");
  o.add_to(line);
  line.add("--rounds", "N", rounds, 1, "of this number of iterations, for each way");
  line.add("--boundary-blocks", "N", boundary_blocks, 0, "of the persistent kernel that compute nothing else; 0: none");
  pgas::world world = pgas::world::join();
  const bool speaks = world.my_pe() == 0;
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  if (const std::string why = o.choose_pes(world.n_pes()); !why.empty()) return line.refuse(why, speaks);
  return o.corners() ? solve<examples::points_27>(world, o, rounds, boundary_blocks)
                     : solve<examples::points_7>(world, o, rounds, boundary_blocks);
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
