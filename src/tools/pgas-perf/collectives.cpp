// Rows of collectives that a kernel calls one after another.
#include "timed_kernel.hpp"
#include "verify_collective.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

/// All PEs call `synchronize(group)` repeatedly. In each iteration of the warm-up, a PE first writes the number of the
/// iteration to the next PE. If the number from the previous PE has not arrived after the call, the PE counts an error.
/// row::wrong returns the count.
template <scope By, class Block, class Synchronize>
PGAS_FN void time_barrier(const Block& block, const context& ctx, const job& j, const Synchronize& synchronize) {
  const std::int32_t next = ctx.my_pe() + 1 == ctx.n_pes() ? 0 : ctx.my_pe() + 1;
  time(block, j, [&](std::uint32_t i) {
    by_group<By>(block, [&](const auto& group) {
      if (i < j.warmup && group.thread_rank() == 0) {
        p(ctx, j.signals, signal_t{i} + 1, next);
        quiet(ctx);
      }
      synchronize(group);
      if (i < j.warmup && group.thread_rank() == 0 && signal_fetch(ctx, j.signals) <= i) ++j.signals[1];
    });
  });
}

template <scope By>
struct barriers : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    time_barrier<By>(block, ctx, j, [&](const auto& group) { barrier(ctx, group); });
  }
};

template <scope By>
struct syncs : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    time_barrier<By>(block, ctx, j, [&](const auto& group) { sync(ctx, group); });
  }
};

/// All PEs call `Collective::once(ctx, group, job)` repeatedly.
template <class Collective>
struct collective {
  template <scope By>
  struct kernel : one_group {
    template <block_group Block>
    PGAS_FN void operator()(const Block& block, context ctx, job j) const {
      time(block, j,
           [&](std::uint32_t) { by_group<By>(block, [&](const auto& group) { Collective::once(ctx, group, j); }); });
    }
  };
};

struct reduces {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    reduce(ctx, group, ctx.world(), j.target, j.source, j.count, op::sum{});
  }
};
struct reduce_scatters {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    reduce_scatter(ctx, group, ctx.world(), j.target, j.source, j.count / static_cast<std::size_t>(ctx.n_pes()),
                   op::sum{});
  }
};
struct reduces_to_root {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    reduce_to_root(ctx, group, ctx.world(), j.target, j.source, j.count, op::sum{}, j.from);
  }
};
struct inclusive_scans {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    inclusive_scan(ctx, group, ctx.world(), j.target, j.source, j.count, op::sum{});
  }
};
struct exclusive_scans {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    exclusive_scan(ctx, group, ctx.world(), j.target, j.source, j.count, op::sum{});
  }
};
struct broadcasts {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    broadcast(ctx, group, ctx.world(), j.target, j.source, j.count, j.from);
  }
};
struct fcollects {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    fcollect(ctx, group, ctx.world(), j.target, j.source, j.count / static_cast<std::size_t>(ctx.n_pes()));
  }
};
struct collects {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    collect(ctx, group, ctx.world(), j.target, j.source, collected_from(j, ctx.my_pe(), ctx.n_pes()));
  }
};
struct alltoalls_strided {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    const std::size_t each = j.count / 2 / static_cast<std::size_t>(ctx.n_pes());
    alltoalls(ctx, group, ctx.world(), j.target, j.source, 1, 2, each);
  }
};
struct alltoalls_contiguous {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    alltoall(ctx, group, ctx.world(), j.target, j.source, j.count / static_cast<std::size_t>(ctx.n_pes()));
  }
};

double once(const benchmark_world&, const point&) { return 1; }

std::uint64_t early(benchmark_world& s, const point&, const job& j) { return s.word(j.signals + 1); }

}  // namespace

std::vector<row> collective_rows() {
  constexpr std::size_t most = std::size_t{1} << 24;
  const auto barrier_row = [](std::string_view name, std::string_view about, auto run) {
    return row{name, about, figure::latency, shape::group, 0, 0, false, once, run, early};
  };
  const auto data_row = [&](std::string_view name, std::string_view about, auto run, auto wrong, std::size_t least) {
    return row{name, about, figure::latency, shape::group, least, most, false, once, run, wrong};
  };
  return {
      barrier_row("barrier", "barrier of all PEs", run_kernel<barriers>),
      barrier_row("sync", "sync of all PEs", run_kernel<syncs>),
      data_row("reduce", "all-reduce, sum of 64-bit integers", run_kernel<collective<reduces>::kernel>, reduce_wrong,
               8),
      data_row("reduce_scatter", "the same, each PE gets its share", run_kernel<collective<reduce_scatters>::kernel>,
               reduce_scatter_wrong, 64),
      data_row("reduce_to_root", "the same for the first PE of --pair alone",
               run_kernel<collective<reduces_to_root>::kernel>, reduce_to_root_wrong, 8),
      data_row("inclusive_scan", "sums of 64-bit integers of the PEs up to each one",
               run_kernel<collective<inclusive_scans>::kernel>, inclusive_scan_wrong, 8),
      data_row("exclusive_scan", "the same before each one", run_kernel<collective<exclusive_scans>::kernel>,
               exclusive_scan_wrong, 8),
      data_row("broadcast", "from the first PE of --pair", run_kernel<collective<broadcasts>::kernel>, broadcast_wrong,
               8),
      data_row("fcollect", "all-gather", run_kernel<collective<fcollects>::kernel>, fcollect_wrong, 64),
      data_row("collect", "the same of unlike parts", run_kernel<collective<collects>::kernel>, collect_wrong, 64),
      data_row("alltoall", "all-to-all", run_kernel<collective<alltoalls_contiguous>::kernel>, alltoall_wrong, 64),
      data_row("alltoalls", "all-to-all of every other word", run_kernel<collective<alltoalls_strided>::kernel>,
               alltoalls_wrong, 128),
  };
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
