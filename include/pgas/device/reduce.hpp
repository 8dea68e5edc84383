/// @file
/// Reductions of the members' elements. `reduce_op.hpp` has the operations; programs may define their own function
/// objects. `impl/reduce/all_reduce_algorithm.hpp` has the table of algorithms, and `scan.hpp` has the scans. The
/// following holds in addition to the rules of `collective.hpp`.
///
/// *Memory* `src` and `dst` are symmetric. Other threads may write `src` before the call if the program orders these
/// writes before the group's call. `dst` is not written before all members have made the call. `src` and `dst` may be
/// the same; otherwise they must not overlap.
///
/// *Units* elements have at most 4096 bytes.
///
/// *Order* elements are combined one after another, from the first member to the last. On a team that spans domains, a
/// reduction of any count has two steps. The first step combines the elements within each domain, in the order of the
/// members. The second step combines the results of the domains, in the order of the domains' first members. The result
/// does not depend on the member that computes it, on groups, addresses or timing. The result has the same bits on all
/// members, and in every run with the same team and the same domains. 16-bit floats are combined as floats and rounded
/// once. With several domains, 16-bit floats are rounded once for each domain and once at the end.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/reduce/all_reduce_algorithm.hpp"
#include "pgas/device/impl/sync/collective_argument_check.hpp"

namespace pgas {
namespace detail {

/// The argument checks of a reduction of `src_count` elements to `dst_count` elements.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void check_reduce(const context& ctx, const G& g, const team_view& team, const Op& op, collective_call call,
                          const T* dst, std::uint64_t dst_count, const T* src, std::uint64_t src_count) {
  check_member(ctx.copy_, team, call.what);
  check_root(ctx.copy_, team, call.what, call.root);
  check_buffer(ctx, call.what, dst, dst_count);
  check_buffer(ctx, call.what, src, src_count);
  call.variant |= op_id(op);
  call.element_bytes = sizeof(T);
  call.src = src;
  check_collective(ctx.copy_, g, team, call);
}

/// Distinguishes the variants of an operation when calls are compared.
inline constexpr std::uint32_t rooted_variant = 0x100;

}  // namespace detail

/// @brief Combines every member's `count` elements, with the result on every member (all-reduce).
template <class T, PGAS_IS(reduce_op<T>) Op, PGAS_IS(group) G>
PGAS_FN void reduce(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count,
                    Op op) {
  constexpr auto what = detail::operation::reduce;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_reduce<T>(ctx, g, team, op, {what, 0, 0, count, 1, 1, 0, dst}, dst, count, src, count);
  detail::all_reduce(ctx, g, team, dst, src, count, op);
}

/// @brief Like reduce(), called by one thread of each member.
template <class T, PGAS_IS(reduce_op<T>) Op>
PGAS_FN void reduce(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count, Op op) {
  reduce(ctx, this_thread{}, team, dst, src, count, op);
}

/// @brief Combines every member's `count` elements, with the result on member `root` only.
///
/// *Memory* `dst` is the same variable on all members, but only the root's `dst` is written.
template <class T, PGAS_IS(reduce_op<T>) Op, PGAS_IS(group) G>
PGAS_FN void reduce_to_root(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::size_t count, Op op, std::int32_t root) {
  constexpr auto what = detail::operation::reduce;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_reduce<T>(ctx, g, team, op, {what, detail::rooted_variant, 0, count, 1, 1, root, dst}, dst, count,
                            src, count);
  detail::twoshot_reduce<detail::reduce_result::whole>(ctx, g, team, dst, src, count, op, root, root + 1, what);
}

/// @brief Like reduce_to_root(), called by one thread of each member.
template <class T, PGAS_IS(reduce_op<T>) Op>
PGAS_FN void reduce_to_root(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count, Op op,
                            std::int32_t root) {
  reduce_to_root(ctx, this_thread{}, team, dst, src, count, op, root);
}

/// @brief Combines every member's n_pes() * count elements; member k receives block k of the result.
///
/// *Units* `count` is the number of elements that each member receives.
/// *Memory* `dst` has room for `count` elements, and only this PE writes `dst`. In place: `dst == src + my_pe() *
/// count`.
template <class T, PGAS_IS(reduce_op<T>) Op, PGAS_IS(group) G>
PGAS_FN void reduce_scatter(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::size_t count, Op op) {
  detail::traced_operation traced(ctx, g, detail::operation::reduce_scatter);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_reduce<T>(ctx, g, team, op, {detail::operation::reduce_scatter, 0, 0, count}, dst, count, src,
                            detail::times(count, static_cast<std::uint64_t>(team.n_pes())));
  detail::twoshot_reduce_scatter(ctx, g, team, dst, src, count, op);
}

/// @brief Like reduce_scatter(), called by one thread of each member.
template <class T, PGAS_IS(reduce_op<T>) Op>
PGAS_FN void reduce_scatter(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count, Op op) {
  reduce_scatter(ctx, this_thread{}, team, dst, src, count, op);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
