// Rows of collectives, one after another in a kernel.
#include "collective_data.hpp"
#include "kernel_rows.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

/// `meet(ctx, group)` between all PEs. In the warm-up each PE leaves the number of the meeting with the next one
/// before, and counts what it finds of the one before it after: that is what the data check looks at.
template <scope By, class Block, class Meet>
PGAS_FN void meeting(const Block& block, const context& ctx, const job& j, const Meet& meet) {
  const std::int32_t next = ctx.my_pe() + 1 == ctx.n_pes() ? 0 : ctx.my_pe() + 1;
  time(block, j, [&](std::uint32_t i) {
    by_group<By>(block, [&](const auto& group) {
      if (i < j.warmup && group.thread_rank() == 0) {
        p(ctx, j.signals, signal_t{i} + 1, next);
        quiet(ctx);
      }
      meet(group);
      if (i < j.warmup && group.thread_rank() == 0 && signal_fetch(ctx, j.signals) <= i) ++j.signals[1];
    });
  });
}

template <scope By>
struct barriers : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    meeting<By>(block, ctx, j, [&](const auto& group) { barrier(ctx, group); });
  }
};

template <scope By>
struct syncs : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    meeting<By>(block, ctx, j, [&](const auto& group) { sync(ctx, group); });
  }
};

/// `Collective::once(ctx, group, job, elements)` of all PEs, again and again.
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
struct strided_exchanges {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    const std::size_t each = j.count / 2 / static_cast<std::size_t>(ctx.n_pes());
    alltoalls(ctx, group, ctx.world(), j.target, j.source, 1, 2, each);
  }
};
struct exchanges {
  template <class Group>
  PGAS_FN static void once(const context& ctx, const Group& group, const job& j) {
    alltoall(ctx, group, ctx.world(), j.target, j.source, j.count / static_cast<std::size_t>(ctx.n_pes()));
  }
};

double once(const session&, const point&) { return 1; }

std::uint64_t early(session& s, const point&, const job& j) { return s.word(j.signals + 1); }

}  // namespace

std::vector<row> collective_rows() {
  constexpr std::size_t most = std::size_t{1} << 24;
  const auto meets = [](std::string_view name, std::string_view about, auto run) {
    return row{name, about, figure::latency, shape::group, 0, 0, false, once, run, early};
  };
  const auto moves = [&](std::string_view name, std::string_view about, auto run, auto wrong, std::size_t least) {
    return row{name, about, figure::latency, shape::group, least, most, false, once, run, wrong};
  };
  return {
      meets("barrier", "barrier of all PEs", run_kernel<barriers>),
      meets("sync", "sync of all PEs", run_kernel<syncs>),
      moves("reduce", "all-reduce, sum of 64-bit integers", run_kernel<collective<reduces>::kernel>, reduce_wrong, 8),
      moves("reduce_scatter", "the same, each PE gets its share", run_kernel<collective<reduce_scatters>::kernel>,
            reduce_scatter_wrong, 64),
      moves("reduce_to_root", "the same for the first PE of --pair alone",
            run_kernel<collective<reduces_to_root>::kernel>, reduce_to_root_wrong, 8),
      moves("inclusive_scan", "sums of 64-bit integers of the PEs up to each one",
            run_kernel<collective<inclusive_scans>::kernel>, inclusive_scan_wrong, 8),
      moves("exclusive_scan", "the same before each one", run_kernel<collective<exclusive_scans>::kernel>,
            exclusive_scan_wrong, 8),
      moves("broadcast", "from the first PE of --pair", run_kernel<collective<broadcasts>::kernel>, broadcast_wrong, 8),
      moves("fcollect", "all-gather", run_kernel<collective<fcollects>::kernel>, fcollect_wrong, 64),
      moves("collect", "the same of unlike parts", run_kernel<collective<collects>::kernel>, collect_wrong, 64),
      moves("alltoall", "all-to-all", run_kernel<collective<exchanges>::kernel>, alltoall_wrong, 64),
      moves("alltoalls", "all-to-all of every other word", run_kernel<collective<strided_exchanges>::kernel>,
            alltoalls_wrong, 128),
  };
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
