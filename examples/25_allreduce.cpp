// All-reduce fused with the next step of a transformer: hidden = the sum of all PEs' parts + residual, rounded to 16
// bits, and normalized = hidden / its root mean square * weight, row by row. One kernel does all of it.
//
// One-shot (small). Every PE sends its part to all others and adds up everything itself. Rows travel in pieces of 16
// bytes through ll_team_channels, in which data carries its flag: a piece is used as soon as it arrives, one latency of
// the link after it was sent, without a signal, a fence or a barrier. No reservation is necessary: a channel has two
// alternating buffers, so a piece overwrites the piece of two rounds before. By then the sender has received the pieces
// of the round in between, and each PE sent its piece of that round after it had read the piece that is overwritten. A
// block counts its rows, which are the rounds of its channels, so no thread needs to read the progress of a channel.
// With the context of a team of one PE the same kernel sends nothing; the time of this run ("alone") is the part
// without messages.
//
// Two-shot (large). A PE owns a slice of the rows. Scatter: each PE puts its parts of the slices into their owners'
// staging memory, followed by a fence and a signal to each owner. The owner waits for all parts, adds them up, and puts
// its rows of `hidden` to all PEs (gather), followed by a fence and a signal to each PE. Each PE waits for all slices
// and normalizes all rows. A block has a part of every slice and separate signals with the number of the call as their
// value: blocks never wait for other blocks of their PE, and there is no barrier. Staging memory can be reused by the
// next call: a PE that scatters again has received the gather of each owner, which the owner sent after reading.
// `hidden` can be reused too: the owner gathers the next call's rows after receiving the scatter of every PE, which
// each PE sent after it had finished.
//
// Both variants add in the same order, so the results are the same bit for bit, on every PE and in every run. The
// numbers of calls are in memory, not in arguments, so a CUDA graph may repeat the kernels.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/allreduce_buffers.hpp"
#include "common/allreduce_reference.hpp"
#include "common/options.hpp"
#include "common/world_tools.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using buffers = examples::allreduce_buffers;
using examples::piece;
using examples::pieces_of_group;
using pgas::signal_t;

constexpr int sets = 3;  // sets of inputs, used alternately, so that old data in a buffer is detected

struct row_range {
  int first, count;
};
// Part `i` of `n` of a range.
PGAS_HD row_range part_of(row_range whole, int i, int n) {
  const int begin = whole.count * i / n;
  return {whole.first + begin, whole.count * (i + 1) / n - begin};
}

template <class T>
struct one_shot {
  static constexpr unsigned max_threads = 512;
  static constexpr unsigned min_blocks = 1;
  using channel = pgas::ll_team_channel<piece, pgas::ll_to::others>;

  // Processes one row at a time. A block takes a row, each warp takes groups of the row, and each lane takes a piece of
  // a group.
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, buffers b) const {
    const pgas::warp warp = pgas::this_warp(block);
    const auto which = static_cast<int>(block.block_rank());
    signal_t& rounds = b.rounds[which];
    std::uint32_t begun = 0, passed = 0;  // rounds before this launch; rounds since the launch, one for each row
    const auto open = [&](int g, int i) {
      pgas::packet_line* const box = b.boxes + static_cast<std::uint32_t>(which * b.groups + g) * b.box_lines;
      return channel(ctx, examples::place_in_group{i}, ctx.team(), box, {begun + passed});
    };
    const bool kept = examples::has_lanes<pgas::warp> && b.groups <= static_cast<int>(warp.meta_group_size());
    for (int row = which; row < b.rows; row += static_cast<int>(block.num_blocks())) {
      piece mine, residual;  // kept in registers if a lane has one piece of a row
      const auto load = [&](int g, int i) {
        mine = b.parts[b.at(row, g, i)];
        residual = b.residual[b.at(row, g, i)];
      };
      examples::each_group(warp, b.groups, [&](int g) {
        examples::each_of_32(warp, [&](int i) {
          load(g, i);
          begun = static_cast<std::uint32_t>(rounds);  // loaded here, so that all loads are in flight together
          channel others = open(g, i);
          pgas::broadcast_to_others(ctx, others, mine);
        });
      });
      ++passed;
      examples::normalize_by_block<T>(block, b.squares_of(block, passed), b.row(row), [&](int g, int i) {
        if (!kept) load(g, i);
        channel others = open(g, i);
        float sums[examples::per_piece<T>] = {};
        pgas::receive_each(ctx, others, mine, [&](int, const piece& part) { examples::add_piece<T>(sums, part); });
        // Blocks of the next launch, even of another PE on this GPU, cannot take the place of this launch's blocks,
        // which have already sent.
        pgas::trigger_next_launch();
        examples::add_piece<T>(sums, residual);
        return b.hidden[b.at(row, g, i)] = examples::rounded_to<T>(sums);
      });
    }
    // all threads have read the word before the last sync
    if (block.thread_rank() == 0 && passed != 0) rounds = begun + passed;
  }
};

template <class T>
struct two_shot {
  static constexpr unsigned max_threads = 512;
  static constexpr unsigned min_blocks = 2;

  // Sends a signal to each PE after the block's earlier puts. One fence orders the puts to all PEs, so the block waits
  // for the answers of all PEs at the same time.
  template <class Block>
  PGAS_FN static void tell_all(const Block& block, const pgas::context& ctx, signal_t* word, signal_t value) {
    pgas::fence(ctx, block);
    for (auto pe = static_cast<int>(block.thread_rank()); pe < ctx.n_pes(); pe += static_cast<int>(block.size()))
      pgas::signal_set(ctx, word, value, pe);
  }

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, buffers b) const {
    const int me = ctx.my_pe();
    const int n = ctx.n_pes();
    const auto which = static_cast<int>(block.block_rank());
    const pgas::warp warp = pgas::this_warp(block);
    const auto slice_of = [&](int pe) { return part_of({0, b.rows}, pe, n); };
    const auto mine_of = [&](int pe) { return part_of(slice_of(pe), which, static_cast<int>(block.num_blocks())); };
    const auto staged = [&](int from, int owner) {  // the address, at the owner of a slice, of this block's rows from
                                                    // PE `from`
      return b.staging + static_cast<std::size_t>(from) * b.staging_pieces +
             static_cast<std::size_t>(mine_of(owner).first - slice_of(owner).first) * b.row_pieces();
    };
    signal_t* const scattered = b.scattered + which * n;
    signal_t* const gathered = b.gathered + which * n;
    const signal_t call = b.calls[which] + 1;

    for (int hop = 1; hop < n; ++hop) {
      const int pe = (me + hop) % n;
      const row_range rows = mine_of(pe);
      pgas::put_nbi(ctx, block, staged(me, pe), b.parts + b.at(rows.first, 0, 0),
                    static_cast<std::size_t>(rows.count) * b.row_pieces(), pe);
    }
    tell_all(block, ctx, scattered + me, call);
    pgas::wait_until_all(ctx, block, scattered, static_cast<std::size_t>(n), nullptr, pgas::cmp::ge, call);

    const row_range own = mine_of(me);
    for (int item = static_cast<int>(warp.meta_group_rank()); item < own.count * b.groups;
         item += static_cast<int>(warp.meta_group_size()))
      examples::each_of_32(warp, [&](int i) {
        const std::size_t at = b.at(own.first + item / b.groups, item % b.groups, i);
        const std::size_t in_slice = at - b.at(own.first, 0, 0);
        const piece residual = b.residual[at];
        float sums[examples::per_piece<T>] = {};
        for (int pe = 0; pe < n; pe += at_once) {
          piece parts[at_once] = {};  // loaded together
          for (int k = 0; k < at_once; ++k)
            if (pe + k < n) parts[k] = pe + k == me ? b.parts[at] : staged(pe + k, me)[in_slice];
          for (int k = 0; k < at_once; ++k)
            if (pe + k < n) examples::add_piece<T>(sums, parts[k]);
        }
        examples::add_piece<T>(sums, residual);
        b.hidden[at] = examples::rounded_to<T>(sums);
      });
    for (int hop = 1; hop < n; ++hop) {
      piece* const rows = b.hidden + b.at(own.first, 0, 0);
      pgas::put_nbi(ctx, block, rows, rows, static_cast<std::size_t>(own.count) * b.row_pieces(), (me + hop) % n);
    }
    tell_all(block, ctx, gathered + me, call);
    pgas::wait_until_all(ctx, block, gathered, static_cast<std::size_t>(n), nullptr, pgas::cmp::ge, call);

    std::uint32_t turn = 0;
    for (int pe = 0; pe < n; ++pe) {
      const row_range rows = mine_of(pe);
      for (int row = rows.first; row < rows.first + rows.count; ++row)
        examples::normalize_by_block<T>(block, b.squares_of(block, turn++), b.row(row),
                                        [&](int g, int i) { return b.hidden[b.at(row, g, i)]; });
    }
    if (block.thread_rank() == 0) b.calls[which] = call;  // all threads have read the word before the waits
  }

  static constexpr int at_once = 4;
};

struct options {
  int hidden = 4096, from = 8, to = 8192, factor = 4, format = 2, calls = 30, blocks = 0, limit = 0;
  bool csv = false;
};

struct figures {
  double one_us, two_us, graph_us, alone_us, library_us;
  long long wrong;
};

// The memory for all sizes of one format.
template <class T>
class layer {
 public:
  layer(pgas::world& world, const options& o) : world_(world), self_(world.team().split(world.my_pe(), 0)), o_(o) {
    const auto n = static_cast<std::size_t>(world.n_pes());
    b_.groups = o.hidden / examples::per_piece<T> / pieces_of_group;
    const auto most_rows = static_cast<std::size_t>(std::max(1, o.to * 512 / o.hidden));
    pieces_ = most_rows * b_.row_pieces();
    one_threads_ = std::min(one_shot<T>::max_threads, static_cast<unsigned>(b_.groups * pieces_of_group));
    const bool on_host = world.heap() == pgas::heap_kind::host;
    shared_ = on_host ? 0 : b_.squares_bytes();
    blocks_ = static_cast<unsigned>(o.blocks);
    if (blocks_ == 0 && on_host) blocks_ = 1;
    if (blocks_ == 0)
      blocks_ =
          std::min({pgas::max_resident_blocks(world, one_threads_, shared_, one_shot<T>{}, world.context(), b_),
                    pgas::max_resident_blocks(world, two_threads, shared_, two_shot<T>{}, world.context(), b_), 256U});
    blocks_ = examples::least(world, blocks_);

    const auto zero = pgas::initialize::zero;
    const auto take = [&](std::size_t pieces) {
      memory_.push_back(world.allocate<piece>(pieces, zero));
      return memory_.back().data();
    };
    parts_ = take(sets * pieces_);
    residual_ = take(sets * pieces_);
    sum_ = take(pieces_);
    b_.hidden = take(pieces_);
    b_.normalized = take(pieces_);
    piece* const weights = take(b_.row_pieces());
    b_.weights = weights;
    b_.staging_pieces = (most_rows / n + 1) * b_.row_pieces();
    b_.staging = take(n * b_.staging_pieces);
    b_.box_lines = static_cast<std::uint32_t>(pgas::ll_lines<piece>(pieces_of_group, n));
    boxes_ = world.allocate<pgas::packet_line>(blocks_ * static_cast<std::size_t>(b_.groups) * b_.box_lines, zero);
    b_.boxes = boxes_.data();
    if (on_host) squares_ = world.allocate<std::byte>(blocks_ * b_.squares_bytes());
    b_.squares = squares_.data();
    signals_ = world.allocate<signal_t>(blocks_ * (2 * n + 2), zero);
    b_.scattered = signals_.data();
    b_.gathered = b_.scattered + blocks_ * n;
    b_.calls = b_.gathered + blocks_ * n;
    b_.rounds = b_.calls + blocks_;

    const auto make = [&](piece* to, std::size_t pieces, int set, int pe) {
      pgas::launch(world, {.blocks = blocks_, .threads = 256}, examples::make_inputs<T>{}, to, pieces, set, pe);
    };
    for (int set = 0; set < sets; ++set) {
      make(parts_ + static_cast<std::size_t>(set) * pieces_, pieces_, set, world.my_pe());
      make(residual_ + static_cast<std::size_t>(set) * pieces_, pieces_, set, examples::residual_part);
    }
    make(weights, b_.row_pieces(), 0, examples::weight_part);
    world.synchronize();
    world.barrier_all();
  }

  // Times and checks calls with this number of rows: each variant, and the library's reduce followed by a kernel.
  figures run(int rows, bool single, bool time_one) {
    b_.rows = rows;
    const examples::expected_rows<T> expected(sets - 1, world_.n_pes(), static_cast<std::size_t>(rows),
                                              b_.row_pieces());
    long long wrong = 0;
    const auto check = [&](float tolerance) {
      wrong += examples::differing<T>(world_, b_.hidden, expected.hidden, tolerance) +
               examples::differing<T>(world_, b_.normalized, expected.normalized, tolerance);
      world_.barrier_all();
    };
    const auto timed = [&](const auto& call, float tolerance) {
      const double seconds = examples::seconds_of(world_, sets, o_.calls, [&](int i) { call(i % sets); });
      check(tolerance);
      return seconds / o_.calls * 1e6;
    };
    const auto in_graph = [&](const auto& call) {
      return 1e6 * examples::seconds_in_graph(world_, o_.calls, 8 * sets, [&](int i) { call(i % sets); });
    };
    figures f{};
    if (time_one) f.one_us = timed([&](int set) { start_one(set, world_.team()); }, 0);
    f.two_us = timed([&](int set) { start_two(set); }, 0);
    if (single) f.alone_us = in_graph([&](int set) { start_one(set, self_); });
    f.graph_us = in_graph([&](int set) { single ? start_one(set, world_.team()) : start_two(set); });
    check(0);
    f.library_us = timed([&](int set) { start_library(set); }, 1.0F / 8);
    f.wrong = examples::sum(world_, wrong);
    return f;
  }

  unsigned blocks() const { return blocks_; }

 private:
  static constexpr unsigned two_threads = two_shot<T>::max_threads;

  const buffers& take_set(int set) {
    b_.parts = parts_ + static_cast<std::size_t>(set) * pieces_;
    b_.residual = residual_ + static_cast<std::size_t>(set) * pieces_;
    return b_;
  }
  pgas::launch_config shape(int blocks, unsigned threads) const {
    return {.blocks = std::min(blocks_, static_cast<unsigned>(blocks)), .threads = threads, .shared_bytes = shared_};
  }
  void start_one(int set, const pgas::team& members) {
    pgas::launch(world_, shape(b_.rows, one_threads_), one_shot<T>{}, members.context(), take_set(set));
  }
  void start_two(int set) {
    const int slice = (b_.rows + world_.n_pes() - 1) / world_.n_pes();
    pgas::launch(world_, shape(slice, two_threads), two_shot<T>{}, world_.context(), take_set(set));
  }
  void start_library(int set) {
    const std::size_t numbers = static_cast<std::size_t>(b_.rows) * static_cast<std::size_t>(o_.hidden);
    pgas::reduce(world_.team(), world_.stream(), reinterpret_cast<T*>(sum_),
                 reinterpret_cast<const T*>(take_set(set).parts), numbers, pgas::op::sum{});
    pgas::launch(world_, shape(b_.rows, two_threads), examples::add_and_normalize<T>{}, sum_, b_);
  }

  pgas::world& world_;
  pgas::team self_;  // a team of this PE only
  options o_;
  buffers b_{};
  unsigned blocks_ = 0;
  unsigned one_threads_ = 0;
  std::size_t shared_ = 0;  // the bytes of shared memory of a block
  std::size_t pieces_ = 0;  // the number of pieces of a set
  piece *parts_ = nullptr, *residual_ = nullptr, *sum_ = nullptr;
  std::vector<pgas::symmetric<piece>> memory_;
  pgas::symmetric<pgas::packet_line> boxes_;
  pgas::symmetric<std::byte> squares_;
  pgas::symmetric<signal_t> signals_;
};

// Runs all sizes of a format. Returns the number of wrong pieces.
template <class T>
long long run_format(pgas::world& world, const options& o, const char* format) {
  layer<T> all(world, o);
  long long wrong = 0;
  for (long long kib = o.from; kib <= o.to; kib *= o.factor) {
    const int rows = std::max(1, static_cast<int>(kib * 512 / o.hidden));
    const bool single = kib <= o.limit;
    const figures f = all.run(rows, single, kib <= 8LL * o.limit);  // larger sizes take too long
    wrong += f.wrong;
    const int bytes = rows * o.hidden * 2;
    const auto [way, us] = single ? std::pair("one-shot", f.one_us) : std::pair("two-shot", f.two_us);
    if (world.my_pe() == 0 && o.csv)
      std::printf("%s,%d,%d,%d,%u,%s,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%lld\n", format, world.n_pes(), o.hidden, bytes,
                  all.blocks(), way, us, f.one_us, f.two_us, f.graph_us, f.alone_us, f.library_us, f.wrong);
    if (world.my_pe() == 0 && !o.csv)
      std::printf("%-6s %8d %6d %-8s %9.1f %11.1f %11.1f %9.1f %8.1f %9.1f %8.2f\n", format, bytes, rows, way, us,
                  f.one_us, f.two_us, f.graph_us, f.alone_us, f.library_us, bytes / us / 1e3);
    std::fflush(stdout);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) try {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  options o;
  examples::command_line line("25_allreduce", "All-reduce with residual and RMS normalization, beside the library's.",
                              "pgasrun -n 4 25_allreduce --from 8 --to 512 --format bf16");
  line.add("--hidden", "NUMBERS", o.hidden, 256, "numbers of a row, a multiple of 256");
  line.add("--from", "KIB", o.from, 1, "the smallest size; rows are whole, one at least");
  line.add("--to", "KIB", o.to, 1, "the largest size");
  line.add("--factor", "FACTOR", o.factor, 2, "from one size to the next");
  line.add("--format", o.format, {"bf16", "fp16", "both"}, "of the numbers; sums are made in fp32");
  line.add("--limit", "KIB", o.limit, 0, "the largest size for which one-shot is chosen, 0: by the number of PEs");
  line.add("--calls", "COUNT", o.calls, 3, "calls that are timed, made a multiple of 3");
  line.add("--blocks", "COUNT", o.blocks, 0, "blocks of a launch, 0: 1 on the host heap, all that fit on a GPU");
  line.add("--csv", o.csv, "prints comma-separated values");
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  if (o.hidden % 256 != 0)
    return line.refuse("a row of " + std::to_string(o.hidden) + " numbers has no whole groups of 256", speaks);
  if (o.to < o.from || o.to > (1 << 20))
    return line.refuse("there are no sizes from " + std::to_string(o.from) + " to " + std::to_string(o.to), speaks);
  o.calls = (o.calls + sets - 1) / sets * sets;
  // One-shot sends twice the bytes of the data to n - 1 PEs, because packets carry flags. Two-shot sends an n-th of the
  // data twice. A block of two-shot sends to one PE after another, so it waits for 2 n answers of the link. On 2 and on
  // 4 H100, one-shot was faster up to this size, the largest size that was tested.
  if (o.limit == 0) o.limit = world.heap() == pgas::heap_kind::host ? 8 : std::max(8, 8192 / (n * n));

  if (speaks && o.csv)
    std::puts(
        "format,pes,hidden,bytes,blocks,chosen,chosen_us,one_shot_us,two_shot_us,graph_us,alone_us,library_us,wrong");
  else if (speaks)
    std::printf(
        "rows of %d numbers, %d PEs, microseconds of a call, 0: not run; alone: one-shot in a graph, nothing to send\n"
        "format    bytes   rows chosen      chosen    one-shot    two-shot  in graph    alone   library     GB/s\n",
        o.hidden, n);
  long long wrong = 0;
  if (o.format != 1) wrong += run_format<pgas::bfloat16>(world, o, "bf16");
  if (o.format != 0) wrong += run_format<pgas::float16>(world, o, "fp16");
  if (speaks && !o.csv && wrong == 0)
    std::printf("check: all results equal those of one process bit for bit, the library's but for their rounding\n");
  if (speaks && !o.csv && wrong != 0) std::printf("check: %lld PIECES OF RESULTS ARE WRONG\n", wrong);
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
