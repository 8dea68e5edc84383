// Rows in which a PE's kernel moves data into or out of another PE's memory: bandwidth, latency, message rate.
#include <algorithm>

#include "timed_kernel.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

/// Part `which` of a range of `all` words that is divided into `index` equal parts. The part is [begin, begin + count).
/// Parts are whole cache lines if the range is large enough.
struct part {
  std::size_t begin;
  std::size_t count;

  PGAS_FN part(std::size_t all, std::size_t which, std::size_t index) {
    std::size_t each = (all + index - 1) / index;
    if (each > 2) each = (each + 15) / 16 * 16;
    begin = which * each < all ? which * each : all;
    count = all - begin < each ? all - begin : each;
  }
};

/// Each group calls `move(group, target, source, count)` for its part repeatedly. A quiet ends the last iteration.
template <scope By, class Block, class Move>
PGAS_FN void move_parts(const Block& block, const context& ctx, const job& j, const Move& move) {
  if (ctx.my_pe() != j.from) return;
  const auto once = [&](std::uint32_t) {
    by_groups<By>(block, [&](const auto& group, std::size_t which, std::size_t index) {
      const part mine(j.count, which, index);
      move(group, j.target + mine.begin, j.source + mine.begin, mine.count);
    });
    this_grid(block).sync();
  };
  time(block, j, once, [&] { quiet(ctx, block, j.to); });
}

template <scope By>
struct put_bandwidth : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    move_parts<By>(block, ctx, j,
                   [&](const auto& group, std::uint64_t* target, const std::uint64_t* source, std::size_t count) {
                     put_nbi(ctx, group, target, source, count, j.to);
                   });
  }
};

template <scope By>
struct get_bandwidth : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    move_parts<By>(block, ctx, j,
                   [&](const auto& group, std::uint64_t* target, const std::uint64_t* source, std::size_t count) {
                     get_nbi(ctx, group, target, source, count, j.to);
                   });
  }
};

/// The number of words that each PE puts to every other PE when all PEs put to all PEs. If the number is large enough,
/// it is rounded to whole cache lines.
PGAS_HD std::size_t words_to_each(const job& j, std::int32_t n_pes) {
  const std::size_t each = j.count / static_cast<std::size_t>(n_pes);
  return each > 16 ? each / 16 * 16 : each;
}

/// All PEs put to all other PEs at the same time. A single PE puts to itself. Groups begin with different targets, so
/// that the PEs do not all begin with the same target.
template <scope By>
struct put_to_all : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    const std::int32_t me = ctx.my_pe();
    const std::int32_t n_pes = ctx.n_pes();
    const std::size_t each = words_to_each(j, n_pes);
    const auto once = [&](std::uint32_t) {
      by_groups<By>(block, [&](const auto& group, std::size_t which, std::size_t index) {
        const part mine(each, which, index);
        const auto first = static_cast<std::int32_t>(which % static_cast<std::size_t>(n_pes));
        for (std::int32_t step = 0; step < n_pes; ++step) {
          const std::int32_t distance = (first + step) % n_pes;
          if (distance == 0 && n_pes > 1) continue;
          const std::int32_t pe = (me + distance) % n_pes;
          put_nbi(ctx, group, j.target + each * static_cast<std::size_t>(me) + mine.begin,
                  j.source + each * static_cast<std::size_t>(pe) + mine.begin, mine.count, pe);
        }
      });
      this_grid(block).sync();
    };
    time(block, j, once, [&] { quiet(ctx, block); });
  }
};

/// Each thread moves one word at a time. Neighbouring threads move neighbouring words.
struct p_bandwidth : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    const grid all = this_grid(block);
    const auto once = [&](std::uint32_t) {
      for (std::size_t i = all.thread_rank(); i < j.count; i += all.size()) p(ctx, j.target + i, j.source[i], j.to);
      all.sync();
    };
    time(block, j, once, [&] { quiet(ctx, block, j.to); });
  }
};

struct g_bandwidth : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    const grid all = this_grid(block);
    time(block, j, [&](std::uint32_t) {
      for (std::size_t i = all.thread_rank(); i < j.count; i += all.size()) j.target[i] = g(ctx, j.source + i, j.to);
      all.sync();
    });
  }
};

/// Each group sends its messages without pauses to consecutive slots of the target, with one quiet at the end.
template <scope By>
struct put_rate : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    by_groups<By>(block, [&](const auto& group, std::size_t which, std::size_t index) {
      const std::size_t slots = buffer_words / j.count;
      const std::size_t step = index % slots;
      std::size_t slot = which % slots;
      const auto once = [&](std::uint32_t) {
        put_nbi(ctx, group, j.target + slot * j.count, j.source + slot * j.count, j.count, j.to);
        slot += step;
        if (slot >= slots) slot -= slots;
      };
      time(block, j, once, [&] { quiet(ctx, group, j.to); });
    });
  }
};

template <scope By>
struct put_latency : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    time(block, j, [&](std::uint32_t) {
      by_group<By>(block, [&](const auto& group) {
        put(ctx, group, j.target, j.source, j.count, j.to);
        quiet(ctx, group, j.to);
      });
    });
  }
};

template <scope By>
struct get_latency : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    time(block, j, [&](std::uint32_t) {
      by_group<By>(block, [&](const auto& group) { get(ctx, group, j.target, j.source, j.count, j.to); });
    });
  }
};

struct p_latency : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    time(block, j, [&](std::uint32_t) {
      p(ctx, j.target, *j.source, j.to);
      quiet(ctx, j.to);
    });
  }
};

struct g_latency : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    time(block, j, [&](std::uint32_t) { *j.target = g(ctx, j.source, j.to); });
  }
};

double bytes(const benchmark_world&, const point& at) { return static_cast<double>(at.bytes); }

double bytes_to_all(const benchmark_world& s, const point& at) {
  job j;
  j.count = at.bytes / 8;
  return 8.0 * static_cast<double>(words_to_each(j, s.world().n_pes())) * std::max(1, s.world().n_pes() - 1);
}

std::uint64_t put_to_all_wrong(benchmark_world& s, const point&, const job& j) {
  const std::size_t each = words_to_each(j, s.world().n_pes());
  const std::size_t mine = each * static_cast<std::size_t>(s.world().my_pe());
  std::uint64_t wrong = 0;
  for (int pe = 0; pe < s.world().n_pes(); ++pe)
    if (pe != s.world().my_pe())
      wrong += s.differing(j.target + each * static_cast<std::size_t>(pe), each,
                           [&](std::size_t i) { return s.source_word(pe, mine + i); });
  return wrong;
}

double messages(const benchmark_world& s, const point& at) {
  const unsigned warp_size = s.world().heap() == heap_kind::cuda ? detail::warp_size : 1;
  const unsigned in_block = at.by == scope::block  ? 1
                            : at.by == scope::warp ? (at.threads + warp_size - 1) / warp_size
                                                   : at.threads;
  return static_cast<double>(at.blocks) * in_block;
}

/// Returns the number of wrong words among the words that `j.from` has put to `j.to`.
std::uint64_t put_wrong(benchmark_world& s, const job& j, std::size_t words) {
  if (s.world().my_pe() != j.to) return 0;
  return s.differing(j.target, words, [&](std::size_t i) { return s.source_word(j.from, i); });
}

std::uint64_t all_put_wrong(benchmark_world& s, const point&, const job& j) { return put_wrong(s, j, j.count); }

std::uint64_t all_got_wrong(benchmark_world& s, const point&, const job& j) {
  if (s.world().my_pe() != j.from) return 0;
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(j.to, i); });
}

std::uint64_t messages_wrong(benchmark_world& s, const point& at, const job& j) {
  const std::size_t sent = static_cast<std::size_t>(messages(s, at)) * j.rounds();
  return put_wrong(s, j, std::min(sent, buffer_words / j.count) * j.count);
}

}  // namespace

std::vector<row> copy_rows() {
  using f = figure;
  using sh = shape;
  return {
      {"put_bw", "puts of all blocks together, each its part; an iteration ends with a barrier of the grid",
       f::bandwidth, sh::grid, 8, no_limit, true, bytes, run_kernel<put_bandwidth>, all_put_wrong},
      {"get_bw", "the same with gets", f::bandwidth, sh::grid, 8, no_limit, true, bytes, run_kernel<get_bandwidth>,
       all_got_wrong},
      {"put_to_all_bw",
       "puts of every PE to all others together, of a part of the size to each; what the first PE of --pair puts",
       f::bandwidth, sh::grid, 64, no_limit, false, bytes_to_all, run_kernel<put_to_all>, put_to_all_wrong},
      {"p_bw", "p of 8 bytes by all threads", f::bandwidth, sh::grid, 8, no_limit, true, bytes, run_kernel<p_bandwidth>,
       all_put_wrong, true},
      {"g_bw", "g of 8 bytes by all threads", f::bandwidth, sh::grid, 8, std::size_t{1} << 24, true, bytes,
       run_kernel<g_bandwidth>, all_got_wrong, true},
      {"put_rate", "put_nbi after put_nbi by each thread or group, quiet at the end", f::rate, sh::grid, 8, 1024, true,
       messages, run_kernel<put_rate>, messages_wrong},
      {"put_lat", "put and quiet: the data and its acknowledgement", f::latency, sh::group, 8, std::size_t{1} << 20,
       true, bytes, run_kernel<put_latency>, all_put_wrong},
      {"get_lat", "get", f::latency, sh::group, 8, std::size_t{1} << 20, true, bytes, run_kernel<get_latency>,
       all_got_wrong},
      {"p_lat", "p and quiet", f::latency, sh::group, 8, 8, true, bytes, run_kernel<p_latency>, all_put_wrong, true},
      {"g_lat", "g", f::latency, sh::group, 8, 8, true, bytes, run_kernel<g_latency>, all_got_wrong, true},
  };
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
