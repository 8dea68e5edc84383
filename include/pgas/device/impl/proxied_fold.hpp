/// @file
/// Folds of teams with members that load and store do not reach: what is far is fetched in large pieces into a unit of
/// this PE's workspace, as many operands at a time as there is room for, the next ones while the last ones are folded.
///
/// Operands of reductions are associated by domain: those of a domain from its first member to its last, then the
/// domains in the order of their first members. So what members of a domain have folded themselves, and a proxy has
/// carried once, gives the same bits (`domain_exchange.hpp`).
#pragma once

#include "pgas/device/impl/domain_barrier.hpp"
#include "pgas/device/impl/fold.hpp"
#include "pgas/device/impl/proxied_copy.hpp"

namespace pgas::detail {

/// What stands for the operands of an element: every member's source, or what the domains have made of those of their
/// members.
enum class operands : std::int32_t { members, domains };

/// Which elements of a whole a job is about: what domains have made of it, their members hold in shares.
struct held_part {
  std::size_t count;   ///< of the whole
  std::size_t before;  ///< elements of it before the job's
};

/// What a fold by proxy takes: in memory, as there would be no registers for it.
struct routed_job {
  context ctx;
  team_view team;
  fold_job job;
  held_part held;
  operands of;
  operation what;
};

/// settle_together() out of line: there are many folds.
template <PGAS_IS(group) G>
PGAS_COLD void settle_fold(sender from, G g, operation what) {
  settle_together(from, g, what, -1);
}

/// It by all threads of a group. Its parts are out of line, so that it stays in memory.
template <fold_result Result, class T, class Op, class G>
class routed_fold {
 public:
  PGAS_FN routed_fold(const domain_channel& of, const G& g, const routed_job& call)
      : of_(of),
        g_(g),
        ctx_(call.ctx),
        team_(call.team),
        job_(call.job),
        held_(call.held),
        by_domain_(whole() && call.of == operands::domains),
        what_(call.what) {
    const std::int32_t far = n_operands();
    most_far_ = far < most_buffers ? far : most_buffers;
    const auto buffers = static_cast<std::size_t>(2 * most_far_ + n_results());
    constexpr std::size_t room = workspace_view::unit_bytes - (3 * most_buffers + 2) * line;
    length_ = room / (buffers * sizeof(T) + 2 * sizeof(A));
    stretch_ = (length_ * sizeof(T) + line - 1) / line * line;
  }

  PGAS_FN void run(const Op& op) {
    if (job_.count == 0) return;
    take_workspace();
    turn now{};  // of no operands
    turn next = turn_at(0, 0);
    for (std::int32_t half = 0;; half ^= 1) {
      settle_fold(of_.from(), g_, what_);  // what was asked for has come, and what was sent is out
      if (now.count + next.count == 0) break;
      issue(next, half);
      PGAS_ROLLED
      for (std::int32_t q = now.begin, far = 0; q < now.end; ++q) {
        const bool near = ctx_.near(world_pe(q, now.first));
        fold_operand(op, now, q, near ? nullptr : buffer(half ^ 1, far), near ? nullptr : result(far));
        if (!near) ++far;
      }
      g_.sync();
      if constexpr (whole()) {
        if (now.count != 0 && now.end == n_operands()) send_wholes(now);
      } else {
        send_scans(now);
      }
      now = next;
      next = behind(now);
    }
    if (g_.thread_rank() == 0) give_unit(of_.from(), of_.words()->told);
  }

 private:
  using A = accumulator_of<Op, T>;
  using element = stored_as<T, A>;
  static constexpr std::size_t line = alignof(A) < 128 ? 128 : alignof(A);
  static constexpr std::int32_t most_buffers = 8;
  static_assert(sizeof(T) <= 4096, "elements of reductions have at most 4096 bytes");

  /// Some operands, most_far_ far ones at most, of some elements.
  struct turn {
    std::size_t first;
    std::size_t count;
    std::int32_t begin;
    std::int32_t end;
  };

  [[nodiscard]] PGAS_FN static constexpr bool whole() { return Result == fold_result::whole; }
  [[nodiscard]] PGAS_FN std::int32_t n_operands() const { return by_domain_ ? of_.plan.domains() : job_.members; }
  [[nodiscard]] PGAS_FN std::int32_t n_results() const { return whole() ? 1 : most_far_; }
  /// Where operand `q` of the element `first` lies: scans go through the members as they are, others by domain.
  [[nodiscard]] PGAS_FN std::int32_t world_pe(std::int32_t q, std::size_t first) const {
    if (by_domain_) return of_.plan.world_pe(q, holder(q, first));
    return whole() ? of_.plan.world_pe(0, q) : team_.world_pe(q);
  }
  /// Behind the operands of the domain that `q` is of.
  [[nodiscard]] PGAS_FN std::int32_t domain_end(std::int32_t q) const {
    if (by_domain_) return q + 1;
    std::int32_t d = 0;
    while (of_.plan.begin(d + 1) <= q) ++d;
    return of_.plan.begin(d + 1);
  }
  /// Which member of domain `d` has what the domain has made of the element `first`, and up to which element.
  [[nodiscard]] PGAS_FN std::int32_t holder(std::int32_t d, std::size_t first) const {
    return share_holder(whole_src(), held_.count, of_.plan.count(d), held_.before + first);
  }
  [[nodiscard]] PGAS_FN std::size_t held_until(std::int32_t d, std::size_t first) const {
    return share_start(whole_src(), held_.count, of_.plan.count(d), holder(d, first) + 1) - held_.before;
  }
  [[nodiscard]] PGAS_FN const T* whole_src() const { return reinterpret_cast<const T*>(job_.src) - held_.before; }

  [[nodiscard]] PGAS_FN std::byte* part(std::int32_t i) const { return unit_ + static_cast<std::size_t>(i) * stretch_; }
  [[nodiscard]] PGAS_FN element* buffer(std::int32_t half, std::int32_t far) const {
    return reinterpret_cast<element*>(part(half * most_far_ + far));
  }
  [[nodiscard]] PGAS_FN element* result(std::int32_t i) const {
    return reinterpret_cast<element*>(part(2 * most_far_ + i));
  }
  [[nodiscard]] PGAS_FN A* sums() const { return reinterpret_cast<A*>(part(2 * most_far_ + n_results())); }

  /// By one thread for all: the word in the channel's state tells the others.
  PGAS_COLD void take_workspace() {
    g_.sync();
    bool lost = false;
    if (g_.thread_rank() == 0) {
      const unit_place mine = take_unit(of_.from(), {what_, ctx_.world_pe_, 0});
      lost = mine.at == nullptr;
      of_.words()->told = mine.number;
    }
    go_on_together(g_, lost);
    const workspace_view& space = of_.table->workspace;
    const std::uint64_t units = std::uint64_t{1} << space.log2_units;
    unit_ = space.units + (of_.words()->told & (units - 1)) * workspace_view::unit_bytes;
  }

  /// The turn from operand `begin` of the elements from `first` on; of none behind the last ones.
  [[nodiscard]] PGAS_COLD turn turn_at(std::size_t first, std::int32_t begin) const {
    turn made{first, job_.count - first < length_ ? job_.count - first : length_, begin, begin};
    if (made.count == 0) return made;
    if (by_domain_) {
      for (std::int32_t d = 0; d < of_.plan.domains(); ++d) {
        if (held_until(d, first) - first < made.count) made.count = held_until(d, first) - first;
      }
    }
    for (std::int32_t far = 0; made.end < n_operands(); ++made.end) {
      if (!ctx_.near(world_pe(made.end, first)) && ++far > most_far_) break;
    }
    return made;
  }
  [[nodiscard]] PGAS_FN turn behind(const turn& now) const {
    const bool ends = now.end == n_operands();
    return now.count == 0 ? now : turn_at(now.first + (ends ? now.count : 0), ends ? 0 : now.end);
  }

  /// Asks for what is far.
  PGAS_COLD void issue(const turn& next, std::int32_t half) const {
    if (next.count == 0 || g_.thread_rank() != 0) return;
    const std::byte* const from = source() + next.first * sizeof(T);
    for (std::int32_t q = next.begin, far = 0; q < next.end; ++q) {
      const std::int32_t pe = world_pe(q, next.first);
      if (ctx_.near(pe)) continue;
      if (!hand_over_copy(of_.from(), {what_, pe, of_.from().offset(from)}, command_kind::get, buffer(half, far++),
                          {next.count * sizeof(T), 1, 0, 0}, until::handed_over))
        end_thread();
    }
  }
  [[nodiscard]] PGAS_FN const std::byte* source() const { return by_domain_ ? job_.dst : job_.src; }

  /// This thread's share of one operand. @param fetched what is far @param out where results for there go
  PGAS_COLD void fold_operand(const Op& op, const turn& now, std::int32_t q, const element* fetched,
                              [[maybe_unused]] element* out) const {
    const std::int32_t pe = world_pe(q, now.first);
    const std::size_t at = now.first * sizeof(T);
    const element* in = fetched;
    if (fetched == nullptr) {
      in = reinterpret_cast<const element*>(ctx_.world_remote(source() + at, pe));
      if constexpr (!whole()) out = reinterpret_cast<element*>(ctx_.world_remote(job_.dst + at, pe));
    }
    const bool starts = q == 0 || (whole() && domain_end(q - 1) == q);
    const bool ends = whole() && domain_end(q) == q + 1;
    const bool first_domain = q < domain_end(0);
    const bool last = q + 1 == n_operands();
    A* const inner = sums();
    A* const outer = inner + length_;
    for (std::size_t k = g_.thread_rank(); k < now.count; k += g_.size()) {
      const A value = accumulated<T, A>(in[k]);
      if constexpr (Result == fold_result::exclusive) {
        out[k] = stored<T, A>(q == 0 ? Op::template identity<A>() : inner[k]);
      }
      A sum = starts ? value : static_cast<A>(op(inner[k], value));
      inner[k] = sum;
      if constexpr (Result == fold_result::inclusive) out[k] = stored<T, A>(sum);
      if constexpr (whole()) {
        if (!ends) continue;
        sum = accumulated<T, A>(stored<T, A>(sum));
        if (!first_domain) sum = static_cast<A>(op(outer[k], sum));
        outer[k] = sum;
        if (last) result(0)[k] = stored<T, A>(sum);
      }
    }
  }

  PGAS_COLD void send(const turn& now, const element* from, std::int32_t pe) const {
    std::byte* const to = job_.dst + now.first * sizeof(T);
    if (ctx_.near(pe)) {
      copy<direction::put>(g_, reinterpret_cast<T*>(ctx_.world_remote(to, pe)), reinterpret_cast<const T*>(from),
                           now.count);
    } else if (g_.thread_rank() == 0) {
      if (!hand_over_copy(of_.from(), {what_, pe, of_.from().offset(to)}, command_kind::put, from,
                          {now.count * sizeof(T), 1, 0, 0}, until::handed_over))
        end_thread();
    }
  }
  PGAS_COLD void send_wholes(const turn& now) const {
    const std::int32_t targets = by_domain_ ? of_.plan.domains() : job_.end_target - job_.first_target;
    for (std::int32_t i = 0; i < targets; ++i)
      send(now, result(0), by_domain_ ? world_pe(i, now.first) : team_.world_pe(job_.first_target + i));
  }
  /// What is near has been stored already.
  PGAS_COLD void send_scans(const turn& now) const {
    for (std::int32_t q = now.begin, far = 0; q < now.end; ++q) {
      const std::int32_t pe = world_pe(q, now.first);
      if (!ctx_.near(pe)) send(now, result(far++), pe);
    }
  }

  const domain_channel& of_;
  const G& g_;
  const context& ctx_;
  const team_view& team_;
  const fold_job& job_;
  const held_part& held_;
  const bool by_domain_;  ///< operands are what the domains have made
  const operation what_;
  std::byte* unit_ = nullptr;
  std::int32_t most_far_;  ///< of a turn
  std::size_t length_;     ///< elements of a turn
  std::size_t stretch_;    ///< bytes from one buffer to the next
};

template <fold_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_COLD void fold_by_any_route(const routed_job* call, G g, Op op) {
  const domain_channel of = domain_channel_of(call->ctx, call->team);
  routed_fold<Result, T, Op, G>(of, g, *call).run(op);
}

/// How the folds of a collective reach the members of a team where there are no proxied PEs at all.
[[nodiscard]] PGAS_FN reach reach_of(const context& ctx, const team_view& team) {
  const std::int32_t start = team.members_ == nullptr ? team.start_ : 0;
  return {team.members_, start - ctx.world_pe_, team.stride_, ctx.log2_stride_};
}
/// The same for the members of a team in this PE's domain.
[[nodiscard]] PGAS_FN reach near_reach(const domain_channel& of) { return {of.plan.slots(), 0, 0, of.log2_stride}; }

/// A job by all threads of a group, which need not say how to reach the members.
template <fold_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_FN void fold_by_route(const context& ctx, const G& g, const team_view& team, const Op& op, fold_job job,
                           operation what) {
  job.to = reach_of(ctx, team);
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const domain_channel of = domain_channel_of(ctx, team);
    if (of.spans_domains()) {
      const routed_job call{ctx, team, job, {job.count, 0}, operands::members, what};
      return fold_by_any_route<Result, T>(&call, g, op);
    }
    if (of.plan.domains() == 1) job.to = near_reach(of);
  }
  fold<Result, T>(op, job, share_of(g));
}

}  // namespace pgas::detail
