// Rows of round trips between two PEs.
#include "timed_kernel.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {
namespace {

/// Round trips: `j.from` calls `send(group, value, pe)` and waits for the signal. `j.to` waits and then sends.
template <scope By, class Block, class Send>
PGAS_FN void ping_pong(const Block& block, const context& ctx, const job& j, const Send& send) {
  const bool first = ctx.my_pe() == j.from;
  if (!first && ctx.my_pe() != j.to) return;
  const std::int32_t other = first ? j.to : j.from;
  time(block, j, [&](std::uint32_t i) {
    by_group<By>(block, [&](const auto& group) {
      if (first) send(group, i + 1, other);
      wait_until(ctx, group, j.signals, cmp::ge, signal_t{i} + 1);
      if (!first) send(group, i + 1, other);
    });
  });
}

template <scope By>
struct signal_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    ping_pong<By>(block, ctx, j, [&](const auto& group, signal_t value, std::int32_t pe) {
      signal_set(ctx, group, j.signals, value, pe);
    });
  }
};

template <scope By>
struct p_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    ping_pong<By>(block, ctx, j, [&](const auto& group, signal_t value, std::int32_t pe) {
      for (std::size_t i = group.thread_rank(); i < j.count; i += group.size()) p(ctx, j.target + i, j.source[i], pe);
      fence(ctx, group, pe);
      signal_set(ctx, group, j.signals, value, pe);
    });
  }
};

template <scope By>
struct put_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    ping_pong<By>(block, ctx, j, [&](const auto& group, signal_t value, std::int32_t pe) {
      put(ctx, group, j.target, j.source, j.count, pe);
      fence(ctx, group, pe);
      signal_set(ctx, group, j.signals, value, pe);
    });
  }
};

template <scope By>
struct put_signal_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    ping_pong<By>(block, ctx, j, [&](const auto& group, signal_t value, std::int32_t pe) {
      put_signal(ctx, group, j.target, j.source, j.count, j.signals, value, signal_op::set, pe);
    });
  }
};

/// One thread sends data through the block's shared memory.
struct bulk_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    constexpr std::size_t staging = std::size_t{40} << 10;
    bulk_copier by(detail::block_memory<staging>(), staging);
    ping_pong<scope::thread>(block, ctx, j, [&](const this_thread&, signal_t value, std::int32_t pe) {
      put_signal(ctx, by, j.target, j.source, j.count, j.signals, value, signal_op::set, pe);
    });
  }
};

template <scope By>
struct packet_ping_pong : one_group {
  template <block_group Block>
  PGAS_FN void operator()(const Block& block, context ctx, job j) const {
    const bool first = ctx.my_pe() == j.from;
    if (!first && ctx.my_pe() != j.to) return;
    by_group<By>(block, [&](const auto& group) {
      packet_channel channel(ctx, group, j.box, j.box, max_packet_bytes, first ? j.to : j.from);
      time(block, j, [&](std::uint32_t) {
        if (first) send(ctx, group, channel, j.source, j.count);
        receive(ctx, group, channel, j.target, j.count);
        if (!first) send(ctx, group, channel, j.source, j.count);
      });
    });
  }
};

double once(const benchmark_world&, const point&) { return 1; }

std::uint64_t signals_wrong(benchmark_world& s, const point&, const job& j) {
  const int me = s.world().my_pe();
  return (me == j.from || me == j.to) && s.word(j.signals) != j.rounds() ? 1 : 0;
}

std::uint64_t data_wrong(benchmark_world& s, const point&, const job& j) {
  const int me = s.world().my_pe();
  if (me != j.from && me != j.to) return 0;
  const int other = me == j.from ? j.to : j.from;
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(other, i); });
}

std::uint64_t exchange_wrong(benchmark_world& s, const point& at, const job& j) {
  return signals_wrong(s, at, j) + data_wrong(s, at, j);
}

}  // namespace

std::vector<row> ping_pong_rows() {
  constexpr std::size_t most = std::size_t{1} << 20;
  const auto with = [&](std::string_view name, std::string_view about, auto run) {
    return row{name, about, figure::latency, shape::group, 8, most, true, once, run, exchange_wrong};
  };
  return {
      {"signal_pp", "round trip of signal_set and wait", figure::latency, shape::group, 0, 0, true, once,
       run_kernel<signal_ping_pong>, signals_wrong},
      with("p_pp", "round trip of p by all threads of the group, fence, signal_set", run_kernel<p_ping_pong>),
      with("put_pp", "round trip of put, fence, signal_set", run_kernel<put_ping_pong>),
      with("put_signal_pp", "round trip of put_signal", run_kernel<put_signal_ping_pong>),
      {"put_signal_bulk_pp", "round trip of put_signal by a thread with a bulk_copier of 40 KiB", figure::latency,
       shape::group, 8, most, true, once, run_kernel<bulk_ping_pong>, exchange_wrong, true},
      {"packet_pp", "round trip of a message through a packet_channel", figure::latency, shape::group, 8,
       max_packet_bytes, true, once, run_kernel<packet_ping_pong>, data_wrong},
  };
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
