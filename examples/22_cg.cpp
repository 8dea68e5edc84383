// Conjugate gradients for the 3-D Poisson problem, divided among PEs in all three dimensions, in device code.
//
// Communication in an iteration of the standard method:
// * the new search direction's boundary is sent to each neighbour with one signal as soon as it is computed. The
//   interior of the direction and of A times the direction is computed during the transfer; the boundary of A times the
//   direction waits for the signals.
// * two sums over all points. For each sum, one block of each PE calls an all-reduce (pgas::reduce), while the other
//   blocks wait. The pipelined method has one reduction of two sums, at the same time as a product: a PE puts its part
//   to all PEs with a signal, then computes A times a vector, and then waits for the parts of the other PEs.
//
// Correctness: the direction alternates between two arrays, and its halos are safe as described in common/halo.hpp. A
// PE puts part k into buffer k % 2 of the other PEs, where its part k - 2 was. This is safe, because a PE puts part k
// only after the parts k - 1 of all PEs have arrived, and each PE puts part k - 1 only after reading all parts k - 2.
// All other arrays are private to this PE, and its blocks sync between writing and reading.
//
// There are two variants: one kernel for all iterations, or five kernels for each iteration, launched by the host,
// which reads the residual after each iteration. Sums are computed in a fixed order - threads, blocks, PEs - so
// residuals have the same bits on all PEs, in every run, and with both variants.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/cg_problem.hpp"
#include "common/cg_steps.hpp"
#include "common/options.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::cg_problem;
using examples::descend;
using examples::for_items;
using examples::item;
using examples::leave_part;
using examples::multiply_both;
using examples::record;
using examples::sums;
using examples::text_of;
using examples::triple;

constexpr unsigned threads = 256;

// Returns the sum of the parts of all blocks of all PEs. *Callers* one block.
template <pgas::block_group Block>
PGAS_FN double reduce_parts(const pgas::context& ctx, const Block& block, const cg_problem& v, int blocks) {
  examples::add_parts(block, v.room, blocks, v.total);
  pgas::reduce(ctx, block, ctx.world(), &v.total[1].a, &v.total[0].a, 1, pgas::op::sum{});
  return v.total[1].a;
}

// Returns to each thread the sum of `mine` over all threads of all PEs.
template <pgas::block_group Block>
PGAS_FN double total(const pgas::context& ctx, const Block& block, const pgas::grid& all, const cg_problem& v,
                     double mine) {
  leave_part(block, v.room, {mine, 0});
  all.sync();
  double sum = 0;
  if (block.block_rank() == 0) sum = reduce_parts(ctx, block, v, static_cast<int>(block.num_blocks()));
  return all.broadcast(sum);
}

// ---- the steps of an iteration that communicate, by all blocks; common/cg_problem.hpp has the other steps ----

// Computes the direction of generation g, which is `from` + `beta` * (the direction of generation g - 1), and sends its
// boundary.
template <pgas::block_group Block>
PGAS_FN void combine(const pgas::context& ctx, const Block& block, const cg_problem& v, const double* from, double beta,
                     std::uint64_t g) {
  for_items(block, v, 0, v.x.n_items, [&](const item& each) {
    examples::combine(block, v.at, each.at, from, beta, v.dir(g - 1), v.dir(g));
    if (each.directions != 0) examples::send(ctx, block, v.x, each, v.dir(g), g);
  });
}

// q = A times the direction. Returns the thread's part of the product of q and the direction. The interior comes first,
// because halos are in flight.
template <pgas::block_group Block>
PGAS_FN double multiply(const pgas::context& ctx, const Block& block, const cg_problem& v, std::uint64_t g) {
  double sum = 0;
  const auto element = [&](const item& each) {
    if (each.directions != 0) examples::await(ctx, block, v.x, each, v.dir(g), g);
    sum += examples::multiply(block, v.at, each.at, v.dir(g), v.q);
  };
  for_items(block, v, v.x.n_boundary, v.x.n_items, element);
  for (int i = static_cast<int>(block.block_rank()); i < v.x.n_unpacks; i += static_cast<int>(block.num_blocks()))
    examples::unpack(ctx, block, v.x, v.dir(g), v.x.unpacks[i], g);
  for_items(block, v, 0, v.x.n_boundary, element);
  return sum;
}

// ---- one kernel for all iterations; g is the direction's generation at the end of the previous run ----

struct solve_standard {
  static constexpr unsigned max_threads = threads;
  static constexpr unsigned min_blocks = 2;

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, cg_problem v, std::uint64_t g, double tolerance,
                          int most) const {
    const pgas::grid all = pgas::this_grid(block);
    double rr = total(ctx, block, all, v, multiply_both(block, v, v.r).a), beta = 0;
    const double goal = tolerance * tolerance * rr;
    record(block, v, 0, rr);
    for (int k = 0; k < most && rr > goal; ++k) {
      ++g;
      combine(ctx, block, v, v.r, beta, g);
      all.sync();
      const double alpha = rr / total(ctx, block, all, v, multiply(ctx, block, v, g));
      const double next = total(ctx, block, all, v, descend(block, v, alpha, g));
      beta = next / rr;
      rr = next;
      record(block, v, k + 1, rr);
    }
  }
};

struct solve_pipelined {
  static constexpr unsigned max_threads = threads;
  static constexpr unsigned min_blocks = 2;

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, cg_problem v, std::uint64_t g, std::uint64_t earlier,
                          double tolerance, int most) const {
    const pgas::grid all = pgas::this_grid(block);
    combine(ctx, block, v, v.r, 0, ++g);
    all.sync();
    static_cast<void>(multiply(ctx, block, v, g));
    all.sync();
    combine(ctx, block, v, v.q, 0, ++g);  // w = A r
    sums mine = multiply_both(block, v, v.dir(g));
    double goal = 0, alpha = 0, rr = 0;
    for (int k = 0;; ++k, ++g) {
      const std::uint64_t round = earlier + static_cast<std::uint64_t>(k);
      leave_part(block, v.room, mine);
      all.sync();
      if (block.block_rank() == 0) put_parts(ctx, block, v, round);
      static_cast<void>(multiply(ctx, block, v, g));  // q = A w, while the parts are in flight
      sums sum{0, 0};
      if (block.block_rank() == 0) sum = await_parts(ctx, block, v, round);
      sum = all.broadcast(sum);
      const double beta = k == 0 ? 0 : sum.a / rr;
      rr = sum.a;
      if (k == 0) goal = tolerance * tolerance * rr;
      record(block, v, k, rr);
      if (k == most || rr <= goal) return;
      alpha = rr / (k == 0 ? sum.b : sum.b - beta * rr / alpha);
      mine = {0, 0};
      for_items(block, v, 0, v.x.n_items, [&](const item& each) {
        const sums more =
            examples::descend_pipelined(block, v.at, each.at, alpha, beta, v.pipelined, v.q, v.dir(g), v.dir(g + 1));
        mine = {mine.a + more.a, mine.b + more.b};
        if (each.directions != 0) examples::send(ctx, block, v.x, each, v.dir(g + 1), g + 1);
      });
    }
  }

 private:
  template <pgas::block_group Block>
  PGAS_FN static void put_parts(const pgas::context& ctx, const Block& block, const cg_problem& v,
                                std::uint64_t round) {
    examples::add_parts(block, v.room, static_cast<int>(block.num_blocks()), v.total);
    for (int pe = static_cast<int>(block.thread_rank()); pe < ctx.n_pes(); pe += static_cast<int>(block.size()))
      pgas::put_signal(ctx, v.put_parts + (round % 2) * static_cast<std::uint64_t>(ctx.n_pes()) + ctx.my_pe(), v.total,
                       1, v.put_counts + ctx.my_pe(), round + 1, pgas::signal_op::set, pe);
  }
  template <pgas::block_group Block>
  PGAS_FN static sums await_parts(const pgas::context& ctx, const Block& block, const cg_problem& v,
                                  std::uint64_t round) {
    pgas::wait_until_all(ctx, block, v.put_counts, static_cast<std::size_t>(ctx.n_pes()), nullptr, pgas::cmp::ge,
                         round + 1);
    const sums* const parts = v.put_parts + (round % 2) * static_cast<std::uint64_t>(ctx.n_pes());
    sums sum{0, 0};
    for (int pe = 0; pe < ctx.n_pes(); ++pe) sum = {sum.a + parts[pe].a, sum.b + parts[pe].b};
    return sum;
  }
};

// ---- the steps of an iteration as separate kernels, which the host launches ----

enum class step { norm, combine, multiply, alpha, descend, beta };

struct host_step {
  static constexpr unsigned max_threads = threads;
  static constexpr unsigned min_blocks = 2;

  // @param blocks the number of blocks that have stored parts. For alpha and beta, one block adds these parts.
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, cg_problem v, step what, std::uint64_t g, int k,
                          int blocks) const {
    if (what == step::norm) leave_part(block, v.room, {multiply_both(block, v, v.r).a, 0});
    if (what == step::combine) combine(ctx, block, v, v.r, k == 0 ? 0 : v.state->beta, g);
    if (what == step::multiply) leave_part(block, v.room, {multiply(ctx, block, v, g), 0});
    if (what == step::descend) leave_part(block, v.room, {descend(block, v, v.state->alpha, g), 0});
    if (what != step::alpha && what != step::beta) return;
    const double sum = reduce_parts(ctx, block, v, blocks);
    if (block.thread_rank() != 0) return;
    if (what == step::alpha)
      v.state->alpha = v.state->rr / sum;
    else if (k >= 0)
      v.state->beta = sum / v.state->rr;
    if (what == step::beta) record(block, v, k + 1, sum);
  }
};

// ---- the host ----

struct options {
  triple size{48, 48, 48};
  triple pes{};
  int method = 0, most = 1000, rounds = 2, blocks = 0;
  double tolerance = 1e-8;
  examples::faces how = examples::faces::remote;
  std::string history;
  bool csv = false;
};

enum way { persistent, host_driven, pipelined };
constexpr const char* names_of_ways[] = {"persistent", "host-driven", "pipelined"};

class cg {
 public:
  cg(pgas::world& world, const options& o, unsigned blocks)
      : world_(world), o_(o), blocks_(blocks), memory_(world, o.size, o.pes, o.how, blocks, threads, o.most) {}

  // Solves the problem again from the start. Returns the seconds.
  double run(way by) {
    memory_.reset();
    world_.barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    const pgas::launch_config all{.blocks = blocks_, .threads = threads};
    if (by == persistent)
      pgas::launch(world_, all, solve_standard{}, world_.context(), memory_.view(), generation_, o_.tolerance, o_.most);
    else if (by == pipelined)
      pgas::launch(world_, all, solve_pipelined{}, world_.context(), memory_.view(), generation_, rounds_, o_.tolerance,
                   o_.most);
    else
      drive();
    world_.synchronize();
    world_.barrier_all();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::uint64_t iterations = memory_.state().iterations;
    generation_ += iterations + (by == pipelined ? 2 : 0);
    rounds_ += by == pipelined ? iterations + 1 : 0;
    return seconds;
  }

  [[nodiscard]] examples::cg_memory& memory() { return memory_; }

 private:
  void drive() {
    const auto launch = [this](step what, std::uint64_t g, int k) {
      const bool alone = what == step::alpha || what == step::beta;
      pgas::launch(world_, {.blocks = alone ? 1 : blocks_, .threads = threads}, host_step{}, world_.context(),
                   memory_.view(), what, g, k, static_cast<int>(blocks_));
    };
    launch(step::norm, 0, 0);
    launch(step::beta, 0, -1);
    world_.synchronize();
    double rr = memory_.state().rr;
    const double goal = o_.tolerance * o_.tolerance * rr;
    for (int k = 0; k < o_.most && rr > goal; ++k) {
      const std::uint64_t g = generation_ + static_cast<std::uint64_t>(k) + 1;
      launch(step::combine, g, k);
      launch(step::multiply, g, k);
      launch(step::alpha, g, k);
      launch(step::descend, g, k);
      launch(step::beta, g, k);
      world_.synchronize();
      rr = memory_.state().rr;
    }
  }

  pgas::world& world_;
  options o_;
  unsigned blocks_;
  std::uint64_t generation_ = 0, rounds_ = 0;  // the counts at the end of the last run
  examples::cg_memory memory_;
};

// The time and the residuals of a variant.
struct outcome {
  way by;
  double least = 0, error = 0, bound = 0;
  std::vector<double> rr = {};
};

// Prints the table and writes the history of residuals. Returns whether the file could be written.
bool report(const options& o, int n, const std::vector<outcome>& ways, bool repeatable) {
  const double scale = std::sqrt(static_cast<double>(o.size[0]) * o.size[1] * o.size[2]);
  if (o.csv) std::printf("nx,ny,nz,pes,px,py,pz,way,iterations,us_per_iteration,rms_error,allowed,repeatable\n");
  for (const outcome& item : ways) {
    if (o.csv)
      std::printf("%d,%d,%d,%d,%d,%d,%d,%s,%zu,%.2f,%.3e,%.3e,%d\n", o.size[0], o.size[1], o.size[2], n, o.pes[0],
                  o.pes[1], o.pes[2], names_of_ways[item.by], item.rr.size() - 1, item.least * 1e6, item.error / scale,
                  item.bound / scale, repeatable ? 1 : 0);
    else
      std::printf("%s: %.2f us per iteration, root mean square error %.2e of at most %.2e\n", names_of_ways[item.by],
                  item.least * 1e6, item.error / scale, item.bound / scale);
  }
  if (o.history.empty()) return true;
  std::ofstream file(o.history);
  file << "way,iteration,residual\n";
  for (const outcome& item : ways)
    for (std::size_t i = 0; i < item.rr.size(); ++i)
      file << names_of_ways[item.by] << ',' << i << ',' << std::sqrt(item.rr[i] / item.rr.front()) << '\n';
  if (file.flush()) return true;
  std::fprintf(stderr, "%s can't be written: check that its folder exists\n", o.history.c_str());
  return false;
}

int solve(pgas::world& world, const options& o) {
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  unsigned blocks = static_cast<unsigned>(o.blocks);
  if (blocks == 0 && world.heap() == pgas::heap_kind::host) blocks = 1;
  if (blocks == 0) {  // the largest number of blocks that can be resident with every kernel
    const auto fits = [&world](const auto& kernel, const auto&... more) {
      return pgas::max_resident_blocks(world, threads, 0, kernel, world.context(), cg_problem{}, more...);
    };
    blocks =
        std::min({fits(solve_standard{}, std::uint64_t{}, 0.0, 0), fits(host_step{}, step::norm, std::uint64_t{}, 0, 0),
                  fits(solve_pipelined{}, std::uint64_t{}, std::uint64_t{}, 0.0, 0)});
  }
  cg together(world, o, blocks);
  if (speaks && !o.csv) {
    std::printf("3-D Poisson problem, %s points, tolerance %g, %d PEs as %s\n", text_of(o.size).c_str(), o.tolerance, n,
                text_of(o.pes).c_str());
    std::fflush(stdout);
  }
  std::vector<outcome> ways;
  if (o.method != 1) ways = {{host_driven}, {persistent}};
  if (o.method != 0) ways.push_back({pipelined});
  bool good = true, converged = true, repeatable = true;
  // The variants alternate, so other load on the machine affects all of them.
  for (int round = 0; round < o.rounds; ++round)
    for (outcome& item : ways) {
      const double seconds = together.run(item.by);
      if (speaks) {
        const std::vector<double> rr = together.memory().history(0);
        const double each = seconds / static_cast<double>(std::max<std::size_t>(rr.size() - 1, 1));
        if (!o.csv)
          std::printf("  round %d, %-11s %4zu iterations, %9.2f us each\n", round + 1, names_of_ways[item.by],
                      rr.size() - 1, each * 1e6);
        std::fflush(stdout);
        item.least = round == 0 ? each : std::min(item.least, each);
        item.error = std::sqrt(together.memory().squared_error());
        item.bound = examples::error_bound(o.size, std::sqrt(rr.back()), std::sqrt(rr.front()));
        good = good && item.error <= item.bound;
        converged = converged && rr.back() <= o.tolerance * o.tolerance * rr.front();
        // The bits of the residuals must be equal on all PEs, in every run, and with both variants.
        if (item.rr.empty()) item.rr = rr;
        repeatable = repeatable && rr == (item.by == pipelined ? item : ways.front()).rr;
        for (int pe = 1; pe < n; ++pe) repeatable = repeatable && together.memory().history(pe) == rr;
      }
      world.barrier_all();
    }
  bool written = true;
  if (speaks) written = report(o, n, ways, repeatable);
  if (speaks && !o.csv)
    std::printf("check: %s, residuals %s\n",
                !good        ? "THE SOLUTION IS WRONG"
                : !converged ? "NOT CONVERGED, --most is too small"
                             : "the known solution is found",
                repeatable ? "equal bit for bit on all PEs and in all runs" : "DIFFER BETWEEN PES OR RUNS");
  world.barrier_all();
  return good && converged && repeatable && written ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  options o;
  examples::command_line line("22_cg", "Conjugate gradients for the 3-D Poisson problem, in device code.",
                              "pgasrun -n 4 22_cg --size 64 --method both --history residuals.csv");
  line.add("--size", "X,Y,Z", o.size, 1, "points of the grid");
  line.add("--pes", "X,Y,Z", o.pes, 1, "PEs on each axis; without it as makes the faces smallest");
  line.add("--method", o.method, {"standard", "pipelined", "both"},
           "standard runs in one kernel and driven by the host");
  line.add("--tolerance", "T", o.tolerance, "of the residual, relative to the right-hand side");
  line.add("--most", "N", o.most, 1, "iterations");
  line.add("--rounds", "N", o.rounds, 1, "each way in turn");
  line.add("--faces", o.how, {"pack", "iput", "remote"}, "how faces are sent");
  line.add("--blocks", "N", o.blocks, 0, "of the kernels; 0: all that a GPU holds, one of a CPU");
  line.add("--history", "FILE", o.history, "writes the residual after each iteration, as comma-separated values");
  line.add("--csv", o.csv, "prints lines of comma-separated values");
  pgas::world world = pgas::world::join();
  const bool speaks = world.my_pe() == 0;
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  if (o.pes == triple{}) o.pes = examples::smallest_surface(o.size, world.n_pes(), false);
  if (const std::string why = examples::impossible(o.size, o.pes, world.n_pes()); !why.empty())
    return line.refuse(why, speaks);
  return solve(world, o);
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
