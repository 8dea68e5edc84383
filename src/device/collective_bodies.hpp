/// @file
/// Requests for collectives carried out by the device operations. Both backends use it: one calls, one launches.
#pragma once

#include "pgas/device/collective.hpp"
#include "pgas/device/impl/collective_request.hpp"

namespace pgas::detail {

/// Whatever moves data or only meets, byte by byte: the copies find out what the addresses allow.
template <group G>
PGAS_FN void move_as_asked(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  auto* const dst = static_cast<std::byte*>(r.dst);
  const auto* const src = static_cast<const std::byte*>(r.src);
  const std::size_t bytes = r.count * r.element_bytes;
  switch (r.what) {
    case collective_kind::barrier: return barrier(ctx, g, team);
    case collective_kind::sync: return sync(ctx, g, team);
    case collective_kind::broadcast: return broadcast(ctx, g, team, dst, src, bytes, r.root);
    case collective_kind::fcollect: return fcollect(ctx, g, team, dst, src, bytes);
    case collective_kind::collect: return collect(ctx, g, team, dst, src, bytes);
    case collective_kind::alltoall: return alltoall(ctx, g, team, dst, src, bytes);
    default: break;
  }
  if (ctx.checks()) [[unlikely]]
    check_same_call(ctx, g, team,
                    {operation::alltoalls, 0, r.element_bytes, r.count, r.dst_stride, r.src_stride, 0, dst});
  const auto element = static_cast<std::ptrdiff_t>(r.element_bytes);
  const std::ptrdiff_t dst_step = r.dst_stride * element;
  const std::ptrdiff_t src_step = r.src_stride * element;
  const auto count = static_cast<std::ptrdiff_t>(r.count);
  const std::size_t unit =
      unit_of_all(reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | r.element_bytes);
  const share mine{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
  for_each_block(
      ctx, g, team, dst, src, count * dst_step, count * src_step,
      [&](std::byte* to, const std::byte* from, std::int32_t world_pe) {
        ctx.by_world_route(
            to, world_pe,
            [&](std::byte* there) {
              copy_blocks<direction::put>(unit, {there, dst_step}, {from, src_step}, r.element_bytes, r.count, mine);
            },
            [&](std::int32_t far) {
              proxied_strided<direction::put>(sender_of(ctx), g, far, to, from,
                                              spread{r.element_bytes, r.count, src_step, dst_step}, until::handed_over);
            });
      });
  step_or_end(ctx, g, team, operation::alltoalls);
}

/// Whatever folds elements of type T by Op.
template <class Op, class T, group G>
PGAS_FN void fold_as_asked(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  auto* const dst = static_cast<T*>(r.dst);
  const auto* const src = static_cast<const T*>(r.src);
  switch (r.what) {
    case collective_kind::reduce: return reduce(ctx, g, team, dst, src, r.count, Op{});
    case collective_kind::reduce_to_root: return reduce_to_root(ctx, g, team, dst, src, r.count, Op{}, r.root);
    case collective_kind::reduce_scatter: return reduce_scatter(ctx, g, team, dst, src, r.count, Op{});
    case collective_kind::inclusive_scan: return inclusive_scan(ctx, g, team, dst, src, r.count, Op{});
    default: return exclusive_scan(ctx, g, team, dst, src, r.count, Op{});
  }
}

/// Whether a request moves data instead of folding it.
[[nodiscard]] constexpr bool moves(const collective_request& r) { return r.what < collective_kind::reduce; }

/// The type that `number` stands for, as a value's type.
template <class T>
struct type_is {
  using type = T;
};

/// Calls f(type_is<T>{}) for every type that Op takes, until it returns true; whether one did.
template <class Op, class F>
bool any_type(F&& f) {
  const auto try_all = [&]<class... T>(type_is<T>...) { return (f(type_is<T>{}) || ...); };
  if constexpr (std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>) {
    return try_all(type_is<std::uint8_t>{}, type_is<std::uint16_t>{}, type_is<std::uint32_t>{},
                   type_is<std::uint64_t>{}, type_is<half>{}, type_is<bfloat16>{}, type_is<float>{}, type_is<double>{},
                   type_is<two_reals<float>>{}, type_is<two_reals<double>>{});
  } else if constexpr (std::is_same_v<Op, op::min> || std::is_same_v<Op, op::max>) {
    return try_all(type_is<std::uint8_t>{}, type_is<std::uint16_t>{}, type_is<std::uint32_t>{},
                   type_is<std::uint64_t>{}, type_is<std::int8_t>{}, type_is<std::int16_t>{}, type_is<std::int32_t>{},
                   type_is<std::int64_t>{}, type_is<half>{}, type_is<bfloat16>{}, type_is<float>{}, type_is<double>{});
  } else if constexpr (std::is_same_v<Op, op::maxloc> || std::is_same_v<Op, op::minloc>) {
    return try_all(type_is<indexed<std::int32_t, std::int32_t>>{}, type_is<indexed<std::int64_t, std::int64_t>>{},
                   type_is<indexed<float, std::int32_t>>{}, type_is<indexed<double, std::int64_t>>{});
  } else {
    return try_all(type_is<std::uint8_t>{}, type_is<std::uint16_t>{}, type_is<std::uint32_t>{},
                   type_is<std::uint64_t>{});
  }
}

/// What a type of any_type() is called in a request.
template <class Op, class T>
[[nodiscard]] constexpr number_type asked_as() {
  if constexpr (is_two_reals<T>::value) {
    return sizeof(T) == 8 ? number_type::complex_f32 : number_type::complex_f64;
  } else {
    return number_of<Op, T>();
  }
}

/// Calls f(Op{}) for the operation of a request. False if there is no such operation.
template <class F>
bool with_operation(reduction which, F&& f) {
  switch (which) {
    case reduction::sum: return f(op::sum{});
    case reduction::prod: return f(op::prod{});
    case reduction::min: return f(op::min{});
    case reduction::max: return f(op::max{});
    case reduction::bit_and: return f(op::bit_and{});
    case reduction::bit_or: return f(op::bit_or{});
    case reduction::bit_xor: return f(op::bit_xor{});
    case reduction::maxloc: return f(op::maxloc{});
    case reduction::minloc: return f(op::minloc{});
    case reduction::none: break;
  }
  return false;
}

}  // namespace pgas::detail
