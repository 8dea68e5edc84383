/// @file
/// Folds of teams with members that load and store do not reach. Otherwise as `fold.hpp`: the same shares, the same
/// order of operands, so the same bits.
#pragma once

#include "pgas/detail/ptx_space.hpp"
#include "pgas/device/impl/fold.hpp"
#include "pgas/device/impl/proxied_copy.hpp"

namespace pgas::detail {

/// One thread's share of a job, a few elements at a time: they are fetched from one member after the other, folded, and
/// sent, by whatever route.
template <fold_result Result, class T, class Op>
class routed_fold {
 public:
  PGAS_FN routed_fold(const context& ctx, const team_view& team, const fold_job& job)
      : ctx_(ctx), team_(team), job_(job) {}

  PGAS_FN void run(const Op& op, share me) {
    for (first_ = me.rank * most; first_ < job_.count; first_ += me.size * most) {
      count_ = job_.count - first_ < most ? job_.count - first_ : most;
      fold_members(op);
    }
  }

 private:
  using A = accumulator_of<Op, T>;
  using element = stored_as<T, A>;
  static constexpr std::size_t most = sizeof(T) < own_array_bytes ? own_array_bytes / sizeof(T) : 1;

  PGAS_FN void fold_members(const Op& op) {
    for (std::int32_t member = 0; member < job_.members; ++member) {
      fetch(member);  // before anything is sent there: source and destination may be the same
      if constexpr (Result == fold_result::exclusive) {
        for (std::size_t k = 0; k < count_; ++k)
          sent_[k] = stored<T, A>(member == 0 ? Op::template identity<A>() : sum_[k]);
        send(member);
      }
      for (std::size_t k = 0; k < count_; ++k) {
        const A value = accumulated<T, A>(fetched_[k]);
        sum_[k] = member == 0 ? value : static_cast<A>(op(sum_[k], value));
      }
      if constexpr (Result == fold_result::inclusive) send_sums(member, member + 1);
    }
    if constexpr (Result == fold_result::whole) send_sums(job_.first_target, job_.end_target);
  }

  PGAS_FN void send_sums(std::int32_t first_target, std::int32_t end_target) {
    for (std::size_t k = 0; k < count_; ++k) sent_[k] = stored<T, A>(sum_[k]);
    for (std::int32_t target = first_target; target < end_target; ++target) send(target);
  }

  PGAS_FN void fetch(std::int32_t member) {
    const T* const from = reinterpret_cast<const T*>(job_.src) + first_;
    ctx_.by_world_route(
        from, team_.world_pe(member),
        [&](const T* there) { copy<direction::get>(this_thread{}, reinterpret_cast<T*>(fetched_), there, count_); },
        [&](std::int32_t far) {
          proxied_get(sender_of(ctx_), this_thread{}, far, fetched_, from, count_ * sizeof(T), until::local_done);
        });
  }
  PGAS_FN void send(std::int32_t member) {
    T* const to = reinterpret_cast<T*>(job_.dst) + first_;
    ctx_.by_world_route(
        to, team_.world_pe(member),
        [&](T* there) { copy<direction::put>(this_thread{}, there, reinterpret_cast<const T*>(sent_), count_); },
        [&](std::int32_t far) {
          proxied_put(sender_of(ctx_), this_thread{}, far, to, sent_, count_ * sizeof(T), until::local_done);
        });
  }

  const context& ctx_;
  const team_view& team_;
  const fold_job& job_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  alignas(T) element fetched_[most];
  alignas(T) element sent_[most];
  A sum_[most];
};

template <fold_result Result, class T, class Op>
PGAS_COLD void fold_by_any_route(context ctx, team_view team, Op op, fold_job job, share me) {
  routed_fold<Result, T, Op>(ctx, team, job).run(op, me);
}

/// Where the members' slots lie, if load and store reach all of them and they are evenly spaced.
struct even_slots {
  bool all;
  std::int32_t first;
  std::int32_t stride;
};
[[nodiscard]] PGAS_COLD even_slots slots_of(const routes* table, team_view team) {
  const std::int32_t first = table->slots[team.world_pe(0)];
  if (first == routes::proxied) return {false, 0, 0};
  std::int32_t stride = 0;
  for (std::int32_t i = 1; i < team.n_pes(); ++i) {
    const std::int32_t slots = table->slots[team.world_pe(i)];
    if (slots == routes::proxied) return {false, 0, 0};
    if (i == 1) stride = slots - first;
    if (slots != first + i * stride) return {false, 0, 0};
  }
  return {true, first, stride};
}

/// How the folds of a collective reach the members of a team where there are no proxied PEs at all.
[[nodiscard]] PGAS_FN reach reach_of(const context& ctx, const team_view& team) {
  const std::int32_t start = team.members_ == nullptr ? team.start_ : 0;
  return {team.members_, start - ctx.world_pe_, team.stride_, ctx.log2_stride_};
}

/// One thread's share of a job, which need not say how to reach the members.
template <fold_result Result, class T, class Op>
PGAS_FN void fold_by_route(const context& ctx, const team_view& team, const Op& op, fold_job job, share me) {
  job.to = reach_of(ctx, team);
  if (ctx.routes_ != nullptr) PGAS_UNLIKELY {
    const even_slots slots = slots_of(ctx.routes_, team);
    if (!slots.all) return fold_by_any_route<Result, T>(ctx, team, op, job, me);
    job.to = {nullptr, slots.first, slots.stride, ctx.log2_stride_};
  }
  fold<Result, T>(op, job, me);
}

}  // namespace pgas::detail
