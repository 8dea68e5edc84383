/// @file
/// Scans, or prefix reductions: each member receives the combination of the elements of the members before it and, in
/// an inclusive scan, of its own elements. Memory, units and order are as in `reduce.hpp`.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/reduce.hpp"

namespace pgas {
namespace detail {

/// Distinguishes an exclusive scan from an inclusive scan when PGAS_CHECKS compares the calls of the members.
inline constexpr std::uint32_t exclusive_variant = 0x200;

}  // namespace detail

/// @brief Combines the `count` elements of members 0 to k; member k receives the result.
template <class T, PGAS_IS(reduce_op<T>) Op, PGAS_IS(group) G>
PGAS_FN void inclusive_scan(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::size_t count, Op op) {
  constexpr auto what = detail::operation::scan;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_reduce<T>(ctx, g, team, op, {what, 0, 0, count, 1, 1, 0, dst}, dst, count, src, count);
  detail::twoshot_reduce<detail::reduce_result::inclusive>(ctx, g, team, dst, src, count, op, 0, 0, what);
}

/// @brief Like inclusive_scan(), called by one thread of each member.
template <class T, PGAS_IS(reduce_op<T>) Op>
PGAS_FN void inclusive_scan(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count, Op op) {
  inclusive_scan(ctx, this_thread{}, team, dst, src, count, op);
}

/// @brief Combines the `count` elements of members 0 to k - 1; member k receives the result.
///
/// Member 0 receives the operation's neutral element.
template <class T, PGAS_IS(scan_op<T>) Op, PGAS_IS(group) G>
PGAS_FN void exclusive_scan(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::size_t count, Op op) {
  constexpr auto what = detail::operation::scan;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_reduce<T>(ctx, g, team, op, {what, detail::exclusive_variant, 0, count, 1, 1, 0, dst}, dst, count,
                            src, count);
  detail::twoshot_reduce<detail::reduce_result::exclusive>(ctx, g, team, dst, src, count, op, 0, 0, what);
}

/// @brief Like exclusive_scan(), called by one thread of each member.
template <class T, PGAS_IS(scan_op<T>) Op>
PGAS_FN void exclusive_scan(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count, Op op) {
  exclusive_scan(ctx, this_thread{}, team, dst, src, count, op);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
