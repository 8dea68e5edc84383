// Rows of atomic operations on 8-byte integers: the latency of one thread, and the rate of all threads.
#include "timed_kernel.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

struct increment {
  PGAS_FN static void once(const context& ctx, const job& j, std::uint32_t) {
    atomic_inc(ctx, j.signals, j.to);
    quiet(ctx, j.to);
  }
};
struct fetch_add {
  PGAS_FN static void once(const context& ctx, const job& j, std::uint32_t) {
    static_cast<void>(atomic_fetch_add(ctx, j.signals, std::uint64_t{1}, j.to));
  }
};
struct compare_swap {
  PGAS_FN static void once(const context& ctx, const job& j, std::uint32_t i) {
    static_cast<void>(atomic_compare_swap(ctx, j.signals, std::uint64_t{i}, std::uint64_t{i} + 1, j.to));
  }
};

/// One thread executes one operation after another. `Update` returns when the operation has taken effect or has
/// returned its result.
template <class Update>
struct latency_of : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() == j.from) time(block, j, [&](std::uint32_t i) { Update::once(ctx, j, i); });
  }
};

/// Each thread updates a separate word.
struct add_rate : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    std::uint64_t* const mine = j.target + this_grid(block).thread_rank();
    time(
        block, j, [&](std::uint32_t) { atomic_add(ctx, mine, std::uint64_t{1}, j.to); },
        [&] { quiet(ctx, block, j.to); });
  }
};

/// Each thread updates a separate word, and waits for each result.
struct fetch_add_rate : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    std::uint64_t* const mine = j.target + this_grid(block).thread_rank();
    time(block, j, [&](std::uint32_t) { static_cast<void>(atomic_fetch_add(ctx, mine, std::uint64_t{1}, j.to)); });
  }
};

/// All threads update one word.
struct contended_rate : any_block {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    if (ctx.my_pe() != j.from) return;
    time(
        block, j, [&](std::uint32_t) { atomic_add(ctx, j.signals, std::uint64_t{1}, j.to); },
        [&] { quiet(ctx, block, j.to); });
  }
};

double threads(const benchmark_world&, const point& at) { return static_cast<double>(at.blocks) * at.threads; }
double once(const benchmark_world&, const point&) { return 1; }

std::uint64_t one_wrong(benchmark_world& s, const point& at, const job& j) {
  return s.world().my_pe() == j.to && s.word(j.signals) != std::uint64_t{j.rounds()} * at.blocks * at.threads ? 1 : 0;
}

std::uint64_t each_wrong(benchmark_world& s, const point& at, const job& j) {
  if (s.world().my_pe() != j.to) return 0;
  return s.differing(j.target, std::size_t{at.blocks} * at.threads, [&](std::size_t i) {
    return ~s.source_word(j.to, i) + j.rounds();
  });  // poison() has stored the complement of the source words; each round adds one
}

}  // namespace

std::vector<row> atomic_rows() {
  const auto latency = [](std::string_view name, std::string_view about, auto run) {
    return row{name, about, figure::latency, shape::group, 0, 0, true, once, run, one_wrong, true};
  };
  const auto rate = [](std::string_view name, std::string_view about, auto run, auto wrong) {
    return row{name, about, figure::rate, shape::grid, 0, 0, true, threads, run, wrong, true};
  };
  return {
      latency("atomic_inc_lat", "atomic_inc and quiet", run_kernel<latency_of<increment>>),
      latency("atomic_fetch_add_lat", "atomic_fetch_add", run_kernel<latency_of<fetch_add>>),
      latency("atomic_cas_lat", "atomic_compare_swap that succeeds", run_kernel<latency_of<compare_swap>>),
      rate("atomic_add_rate", "atomic_add by all threads, each on a word of its own", run_kernel<add_rate>, each_wrong),
      rate("atomic_fetch_add_rate", "the same with atomic_fetch_add", run_kernel<fetch_add_rate>, each_wrong),
      rate("atomic_add_one_word_rate", "atomic_add by all threads on one word", run_kernel<contended_rate>, one_wrong),
  };
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
