// Mixture of experts: every PE has tokens and some of the experts. A router has chosen `topk` experts for each token.
// Dispatch sends the tokens to the experts' PEs, experts process them, and combine sends their results back and adds
// them up, weighted. The number of rows between two PEs changes in every round; only the senders know the number in
// advance.
//
// Low latency (a few tokens). An expert has a buffer for all tokens of each PE, so a sender needs no reservation. The
// sender puts its rows for an expert and then a signal with the round and the number of rows, which may be 0. The
// expert's PE waits for one signal from each PE and for each of its experts. Each row carries the index of its token
// and choice ("home"). The expert's PE sends the result to the element with this index, and then a signal for each
// expert: a token waits for its own `topk` experts only. There is no barrier: a PE is at most one round ahead of the
// others, because in each round it waits for the counts of all other PEs. Two alternating sets of buffers and signals
// are therefore sufficient: data of round r was read before round r + 2 writes.
//
// Throughput (many tokens). First the PEs exchange the number of rows for each expert. Each PE then knows the positions
// of all rows in buffers without gaps, ordered by expert, PE and token. Then each block puts its rows, and afterwards
// adds one to a signal of each PE. A PE that has seen the additions of all blocks of all PEs has all rows. Combine
// works in the same way. The rows of round r + 1 come after the counts of round r + 1, which a PE sends when it has
// finished round r.
//
// Correctness: a signal follows its rows, and is awaited before the rows are read.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/moe_memory.hpp"
#include "common/options.hpp"
#include "common/world_tools.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::add_up;
using examples::by_warps;
using examples::experts_of;
using examples::home;
using examples::moe_memory;
using examples::pack;
using examples::pe_of;
using examples::piece;
using examples::work;
using pgas::signal_t;

constexpr int sets = examples::moe_sets;
constexpr unsigned block_threads = examples::moe_block_threads;

// Copies `count` rows by the warps of a block; with few rows, several warps share a row. `ends(i)` returns the two
// addresses of row i.
template <class Block, class Ends>
PGAS_FN void send_rows(const Block& block, const pgas::context& ctx, std::size_t count, std::size_t pieces, int pe,
                       const Ends& ends) {
  const std::size_t warps = pgas::this_warp(block).meta_group_size();
  const std::size_t parts = count == 0 || count >= warps ? 1 : warps / count;
  by_warps(block, false, count * parts, [&](const pgas::warp& warp, std::size_t i) {
    const auto row = ends(i / parts);
    const std::size_t from = i % parts * pieces / parts;
    pgas::put(ctx, warp, row.to + from, row.from + from, (i % parts + 1) * pieces / parts - from, pe);
  });
}
struct row_ends {
  piece* to;
  const piece* from;
};

// ---- low latency ----

struct quick_dispatch {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, int set, signal_t round) const {
    const piece* const in = pack(block, m, set);
    const std::size_t pieces = m.shape.token_pieces();
    const auto blocks = static_cast<int>(block.num_blocks());
    const auto me = static_cast<int>(block.block_rank());
    // This block sends rows to every expert e with e % blocks == me. First it finds the rows.
    for (int slot = static_cast<int>(block.thread_rank()); slot < m.slots(); slot += static_cast<int>(block.size())) {
      const int expert = m.choices(set)[slot];
      if (expert % blocks == me) {
        const std::uint32_t i = pgas::atomic_fetch_add(ctx, m.fill + expert, 1U, m.me);
        m.list[static_cast<std::size_t>(expert * m.shape.tokens) + i] = {m.me, slot};
      }
    }
    block.sync();
    for (int expert = me; expert < m.shape.experts; expert += blocks) {
      const int pe = pe_of(expert, m.n_pes, m.shape.experts);
      const int local = expert - experts_of(pe, m.n_pes, m.shape.experts).first;
      const home* const list = m.list + expert * m.shape.tokens;
      const std::uint32_t count = pgas::atomic_fetch(ctx, m.fill + expert, m.me);
      const std::size_t place = m.place(round, local, m.me);
      send_rows(block, ctx, count, pieces, pe, [&](std::size_t i) {
        const auto token = static_cast<std::size_t>(list[i].slot / m.shape.topk);
        return row_ends{m.rows + (place + i) * pieces, in + token * pieces};
      });
      pgas::put_signal(ctx, block, m.homes + place, list, count, m.count(round, local, m.me), round << 32 | count,
                       pgas::signal_op::set, pe);
      // All threads have read the word before put_signal() sends.
      if (block.thread_rank() == 0) pgas::atomic_set(ctx, m.fill + expert, 0U, m.me);
    }
    // Receives rows: each block waits for the rows of some experts from some PEs.
    for (int i = me; i < m.mine.count * m.n_pes; i += blocks)
      pgas::wait_until(ctx, block, m.count(round, i / m.n_pes, i % m.n_pes), pgas::cmp::ge, round << 32);
  }
};

struct quick_experts {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, signal_t round) const {
    for (auto i = static_cast<int>(block.block_rank()); i < m.mine.count * m.n_pes;
         i += static_cast<int>(block.num_blocks())) {
      const signal_t seen = pgas::signal_fetch(ctx, block, m.count(round, i / m.n_pes, i % m.n_pes));
      const std::size_t place = m.place(round, i / m.n_pes, i % m.n_pes);
      by_warps(block, false, seen & 0xffffffffU, [&](const pgas::warp& warp, std::size_t row) {
        work(m, warp, place + row, m.mine.first + i / m.n_pes);
      });
    }
  }
};

struct quick_combine {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, int set, signal_t round) const {
    const std::size_t pieces = m.shape.result_pieces();
    for (auto i = static_cast<int>(block.block_rank()); i < m.mine.count * m.n_pes;
         i += static_cast<int>(block.num_blocks())) {
      const int local = i / m.n_pes;
      const int pe = i % m.n_pes;
      const std::size_t count = pgas::signal_fetch(ctx, block, m.count(round, local, pe)) & 0xffffffffU;
      const std::size_t place = m.place(round, local, pe);
      send_rows(block, ctx, count, pieces, pe, [&](std::size_t row) {
        return row_ends{m.answers + static_cast<std::size_t>(m.homes[place + row].slot) * pieces,
                        m.results + (place + row) * pieces};
      });
      pgas::put_signal(ctx, block, m.answers, m.results, 0, m.answered + m.mine.first + local, round,
                       pgas::signal_op::set, pe);
    }
    for (auto token = static_cast<int>(block.block_rank()); token < m.shape.tokens;
         token += static_cast<int>(block.num_blocks())) {
      for (int k = 0; k < m.shape.topk; ++k)
        pgas::wait_until(ctx, block, m.answered + m.choices(set)[token * m.shape.topk + k], pgas::cmp::ge, round);
      add_up(block, m, set, token);
    }
  }
};

// ---- throughput ----

// One block sends all PEs the number of rows for each expert, and computes the positions of all rows.
struct plan {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, int set, signal_t round) const {
    const auto thread = static_cast<int>(block.thread_rank());
    const auto threads = static_cast<int>(block.size());
    for (int slot = thread; slot < m.slots(); slot += threads)
      m.rank[slot] = pgas::atomic_fetch_add(ctx, m.fill + m.choices(set)[slot], 1U, m.me);
    for (int i = 0; i < m.n_pes; ++i)
      pgas::put_signal(ctx, block, m.told_by(round, m.me), m.fill, static_cast<std::size_t>(m.shape.experts),
                       m.has_told + m.me, round, pgas::signal_op::set, (m.me + i) % m.n_pes);
    pgas::wait_until_all(ctx, block, m.has_told, static_cast<std::size_t>(m.n_pes), nullptr, pgas::cmp::ge, round);
    for (int expert = thread; expert < m.shape.experts; expert += threads) {
      const int pe = pe_of(expert, m.n_pes, m.shape.experts);
      std::uint32_t before = 0;
      for (int i = experts_of(pe, m.n_pes, m.shape.experts).first; i < expert; ++i)
        for (int from = 0; from < m.n_pes; ++from) before += m.told_by(round, from)[i];
      std::uint32_t all = before;
      for (int from = 0; from < m.n_pes; ++from) all += m.told_by(round, from)[expert];
      if (pe == m.me) m.base[expert - m.mine.first + 1] = all;
      for (int from = 0; from < m.me; ++from) before += m.told_by(round, from)[expert];
      m.start[expert] = before;
      m.fill[expert] = 0;
    }
  }
};

// Each warp of all blocks puts its own rows. @param sent the number of sends by the blocks of each PE so far, including
// this call
struct dispatch {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, int set, signal_t sent) const {
    const piece* const in = pack(block, m, set);
    const std::size_t pieces = m.shape.token_pieces();
    by_warps(block, true, static_cast<std::size_t>(m.slots()), [&](const pgas::warp& warp, std::size_t slot) {
      const int expert = m.choices(set)[slot];
      const std::size_t row = m.start[expert] + m.rank[slot];
      const int pe = pe_of(expert, m.n_pes, m.shape.experts);
      const std::size_t token = slot / static_cast<std::size_t>(m.shape.topk);
      pgas::put(ctx, warp, m.rows + row * pieces, in + token * pieces, pieces, pe);
      if (warp.thread_rank() == 0) pgas::p(ctx, m.homes + row, {m.me, static_cast<std::int32_t>(slot)}, pe);
    });
    all_blocks_sent(block, ctx, m, m.landed, sent);
  }

  // Tells all PEs that this block's rows have been sent, and waits until all blocks of all PEs have sent their rows.
  template <class Block>
  PGAS_FN static void all_blocks_sent(const Block& block, const pgas::context& ctx, const moe_memory& m, signal_t* from,
                                      signal_t sent) {
    pgas::fence(ctx, block);
    for (auto pe = static_cast<int>(block.thread_rank()); pe < m.n_pes; pe += static_cast<int>(block.size()))
      pgas::signal_add(ctx, from + m.me, 1, pe);
    pgas::wait_until_all(ctx, block, from, static_cast<std::size_t>(m.n_pes), nullptr, pgas::cmp::ge, sent);
  }
};

struct combine {
  static constexpr unsigned max_threads = block_threads;
  static constexpr unsigned min_blocks = 2;
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, moe_memory m, int set, signal_t sent) const {
    const std::size_t pieces = m.shape.result_pieces();
    by_warps(block, true, m.base[m.mine.count], [&](const pgas::warp& warp, std::size_t row) {
      const home to = m.homes[row];
      pgas::put(ctx, warp, m.answers + static_cast<std::size_t>(to.slot) * pieces, m.results + row * pieces, pieces,
                to.pe);
    });
    dispatch::all_blocks_sent(block, ctx, m, m.returned, sent);
    for (auto token = static_cast<int>(block.block_rank()); token < m.shape.tokens;
         token += static_cast<int>(block.num_blocks()))
      add_up(block, m, set, token);
  }
};

struct options {
  examples::moe_shape shape{7168, 256, 8, 0, false};
  int variant = 2, format = 2, rounds = 30, blocks = 0;
  bool csv = false;
};

// The number of tokens: the largest power of two, up to a limit, with which the layer takes at most a quarter of this
// PE's part of the memory.
int tokens_for(pgas::world& world, examples::moe_shape s, bool low_latency) {
  s.tokens = world.heap() == pgas::heap_kind::host ? 64 : low_latency ? 128 : 4096;
  while (s.tokens > 1 && examples::layer_bytes(s, world.n_pes(), low_latency) > examples::memory_of_pe(world) / 4)
    s.tokens /= 2;
  return static_cast<int>(examples::least(world, static_cast<unsigned>(s.tokens)));
}

struct figures {
  int tokens;
  unsigned blocks;
  double dispatch_us, combine_us, whole_us;
  long long wrong;
};

// Measures one variant and format in three ways: dispatch alone; dispatch and combine; dispatch, the experts' work and
// combine. Checks the results.
class layer {
 public:
  layer(pgas::world& world, const options& o, const examples::moe_shape& shape, bool low_latency)
      : world_(world), low_latency_(low_latency) {
    const std::size_t bytes = examples::layer_bytes(shape, world.n_pes(), low_latency);
    memory_ = world.allocate<piece>(bytes / sizeof(piece), pgas::initialize::zero);
    std::size_t used = 0;
    m_ = examples::place_layer(shape, world.n_pes(), world.my_pe(), low_latency, memory_.data(), used);
    for (int set = 0; set < sets; ++set) {
      routes_.emplace_back(shape, set, world.my_pe());
      const auto slots = static_cast<std::size_t>(m_.slots());
      const std::size_t first = static_cast<std::size_t>(set) * slots;
      pgas::put(world, m_.chosen + first, routes_.back().expert.data(), slots, world.my_pe());
      pgas::put(world, m_.weights + first, routes_.back().weight.data(), slots, world.my_pe());
    }
    blocks_ = static_cast<unsigned>(o.blocks);
    if (blocks_ == 0) blocks_ = world.heap() == pgas::heap_kind::host ? 1 : examples::least(world, most_blocks());
    pgas::launch(world, {.blocks = blocks_, .threads = block_threads}, examples::make_tokens{}, m_);
    world.synchronize();
    world.barrier_all();
  }

  figures run(int rounds) {
    const double dispatched = seconds(rounds, false, false);
    const double both = seconds(rounds, false, true);
    const double whole = seconds(rounds, true, true);
    long long wrong = 0;
    for (int set = 0; set < sets; ++set) {
      std::vector<piece> found(static_cast<std::size_t>(m_.shape.tokens) * m_.shape.result_pieces());
      pgas::get(world_, found.data(), m_.outputs + static_cast<std::size_t>(set) * found.size(), found.size(), m_.me);
      wrong += examples::wrong_pieces(m_.shape, set, m_.me, routes_[static_cast<std::size_t>(set)], found);
    }
    const double us = 1e6 / rounds;
    return {m_.shape.tokens, blocks_,
            dispatched * us, std::max(both - dispatched, 1e-9) * us,
            whole * us,      examples::sum(world_, wrong)};
  }

 private:
  unsigned most_blocks() {
    const auto context = world_.context();
    const auto fits = [&](auto kernel, auto... more) {
      return pgas::max_resident_blocks(world_, block_threads, 0, kernel, context, m_, more...);
    };
    const signal_t round = 0;
    return low_latency_ ? std::min({fits(quick_dispatch{}, 0, round), fits(quick_experts{}, round),
                                    fits(quick_combine{}, 0, round), static_cast<unsigned>(m_.shape.experts)})
                        : std::min(fits(dispatch{}, 0, round), fits(combine{}, 0, round));
  }

  // The best of three runs, because the time of combine is a difference of two times.
  double seconds(int rounds, bool experts, bool back) {
    const auto run = [&] {
      return examples::seconds_of(world_, sets, rounds, [&](int i) { round(i % sets, experts, back); });
    };
    return std::min({run(), run(), run()});
  }

  void round(int set, bool experts, bool back) {
    const pgas::launch_config grid{.blocks = blocks_, .threads = block_threads};
    const auto context = world_.context();
    ++round_;
    combined_ += back ? blocks_ : 0;
    if (low_latency_) {
      pgas::launch(world_, grid, quick_dispatch{}, context, m_, set, round_);
      if (experts) pgas::launch(world_, grid, quick_experts{}, context, m_, round_);
      if (back) pgas::launch(world_, grid, quick_combine{}, context, m_, set, round_);
    } else {
      pgas::launch(world_, {.blocks = 1, .threads = block_threads}, plan{}, context, m_, set, round_);
      pgas::launch(world_, grid, dispatch{}, context, m_, set, round_ * blocks_);
      if (experts) pgas::launch(world_, grid, examples::experts_at_work{}, m_);
      if (back) pgas::launch(world_, grid, combine{}, context, m_, set, combined_);
    }
  }

  pgas::world& world_;
  bool low_latency_;
  pgas::symmetric<piece> memory_;
  moe_memory m_{};
  std::vector<examples::routing> routes_;
  unsigned blocks_ = 0;
  signal_t round_ = 0;
  signal_t combined_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  options o;
  examples::command_line line("24_moe", "Mixture of experts: dispatch, experts, combine. Times are of a whole round.",
                              "pgasrun -n 4 24_moe --tokens 16 --variant low-latency --format fp8");
  line.add("--hidden", "NUMBERS", o.shape.hidden, 8, "numbers of a token, a multiple of 8, of 128 for fp8");
  line.add("--experts", "COUNT", o.shape.experts, 1, "experts of all PEs");
  line.add("--topk", "COUNT", o.shape.topk, 1, "experts of a token");
  line.add("--tokens", "COUNT", o.shape.tokens, 0, "tokens of each PE, 0: as many as the memory has room for");
  line.add("--variant", o.variant, {"low-latency", "throughput", "both"}, "how tokens are sent");
  line.add("--format", o.format, {"bf16", "fp8", "both"}, "how tokens travel; results travel as bf16");
  line.add("--rounds", "COUNT", o.rounds, 3, "rounds of a run, 3 at least");
  line.add("--blocks", "COUNT", o.blocks, 0, "blocks of a launch, 0: 1 on the host heap, all that fit on a GPU");
  line.add("--csv", o.csv, "prints comma-separated values");
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  const auto text = [](int number) { return std::to_string(number); };
  if (o.shape.experts < n)
    return line.refuse(text(o.shape.experts) + " experts are too few for " + text(n) + " PEs", speaks);
  if (o.shape.topk > o.shape.experts)
    return line.refuse("a token can't go to " + text(o.shape.topk) + " of " + text(o.shape.experts) + " experts",
                       speaks);
  if (const int piece = o.format == 0 ? 8 : 128; o.shape.hidden % piece != 0)
    return line.refuse("a token of " + text(o.shape.hidden) + " numbers has no whole pieces of " + text(piece), speaks);

  if (speaks && o.csv)
    std::printf(
        "variant,format,pes,hidden,experts,topk,tokens,blocks,dispatch_us,combine_us,whole_us,dispatch_GB_per_s,"
        "combine_GB_per_s,wrong\n");
  else if (speaks)
    std::printf(
        "%d numbers a token, %d experts on %d PEs, %d of them for each token, %d rounds\n"
        "variant     format tokens blocks dispatch us  combine us    whole us  dispatch  combine GB/s\n",
        o.shape.hidden, o.shape.experts, n, o.shape.topk, o.rounds);
  long long wrong = 0;
  for (int i = 0; i < 4; ++i) {
    const bool low_latency = i < 2;
    examples::moe_shape shape = o.shape;
    shape.fp8 = i % 2 == 1;
    if (o.variant == (low_latency ? 1 : 0) || o.format == (shape.fp8 ? 0 : 1)) continue;
    if (shape.tokens == 0) shape.tokens = tokens_for(world, shape, low_latency);
    const figures f = layer(world, o, shape, low_latency).run(o.rounds);
    wrong += f.wrong;
    const double rows = static_cast<double>(f.tokens) * shape.topk * sizeof(piece) / 1e3;
    const double remote = rows * static_cast<double>(shape.token_pieces()) / f.dispatch_us;
    const double back = rows * static_cast<double>(shape.result_pieces()) / f.combine_us;
    const char* const variant = low_latency ? "low-latency" : "throughput";
    const char* const format = shape.fp8 ? "fp8" : "bf16";
    if (speaks && o.csv)
      std::printf("%s,%s,%d,%d,%d,%d,%d,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%lld\n", variant, format, n, shape.hidden,
                  shape.experts, shape.topk, f.tokens, f.blocks, f.dispatch_us, f.combine_us, f.whole_us, remote, back,
                  f.wrong);
    else if (speaks)
      std::printf("%-11s %-6s %6d %6u %11.1f %11.1f %11.1f %9.2f %9.2f\n", variant, format, f.tokens, f.blocks,
                  f.dispatch_us, f.combine_us, f.whole_us, remote, back);
    std::fflush(stdout);
  }
  if (speaks && !o.csv && wrong == 0) std::printf("check: all results equal those of one process bit for bit\n");
  if (speaks && !o.csv && wrong != 0) std::printf("check: %lld PIECES OF RESULTS DIFFER from one process\n", wrong);
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
