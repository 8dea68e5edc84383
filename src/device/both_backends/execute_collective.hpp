/// @file
/// Functions that execute a collective_request with device operations. The CPU backend calls these functions on its
/// threads, and the CUDA backend calls them in kernels.
#pragma once

#include "device/both_backends/signal_barrier.hpp"
#include "pgas/device/collective.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/device/impl/reduce/reduce_loop.hpp"

namespace pgas::detail {

/// Applies Op to the bits of unsigned integers as if the integers were signed.
template <class Op>
struct signed_compare {
  template <class A>
  [[nodiscard]] PGAS_FN A operator()(A a, A b) const {
    using with_sign = std::make_signed_t<A>;
    return static_cast<A>(Op{}(static_cast<with_sign>(a), static_cast<with_sign>(b)));
  }
  template <class A>
  [[nodiscard]] PGAS_FN static A identity() {
    return static_cast<A>(Op::template identity<std::make_signed_t<A>>());
  }
};

/// A reduction operation of the library that is chosen at run time. Has results only for the types that the operation
/// supports.
struct runtime_reduce_op {
  reduction which;
  bool with_sign;  ///< whether integers are compared as signed integers

  explicit PGAS_FN runtime_reduce_op(const collective_request& request)
      : which(request.op), with_sign(request.type >= number_type::i8 && request.type <= number_type::i64) {}

  template <class A>
  [[nodiscard]] PGAS_FN A operator()(const A& a, const A& b) const {
    A result{};
    choose<A>([&](auto chosen) { result = static_cast<A>(chosen(a, b)); });
    return result;
  }
  template <class A>
  [[nodiscard]] PGAS_FN A identity() const {
    A result{};
    choose<A>([&](auto chosen) { result = chosen.template identity<A>(); });
    return result;
  }
  /// Calls f with an object whose type is the chosen operation.
  template <class A, class F>
  PGAS_FN void choose(const F& f) const {
    switch (which) {
      case reduction::sum: return offer<A, op::sum>(f);
      case reduction::prod: return offer<A, op::prod>(f);
      case reduction::min: return offer_ordered<A, op::min>(f);
      case reduction::max: return offer_ordered<A, op::max>(f);
      case reduction::bit_and: return offer<A, op::bit_and>(f);
      case reduction::bit_or: return offer<A, op::bit_or>(f);
      case reduction::bit_xor: return offer<A, op::bit_xor>(f);
      case reduction::maxloc: return offer<A, op::maxloc>(f);
      case reduction::minloc: return offer<A, op::minloc>(f);
      case reduction::none: return;
    }
  }

 private:
  template <class A, class Op, class F>
  PGAS_FN static void offer(const F& f) {
    if constexpr (reduces<Op, A>) f(Op{});
  }
  template <class A, class Op, class F>
  PGAS_FN void offer_ordered(const F& f) const {
    if constexpr (is_reduce_integer<A>) {
      if (with_sign) return f(signed_compare<Op>{});
    }
    offer<A, Op>(f);
  }
};

/// Combines each lane of `sum` with the same lane of `next`. The operation is chosen once, and not for each lane.
template <class A, std::uint32_t N>
PGAS_FN void combine(const runtime_reduce_op& op, lanes<A, N>& sum, const lanes<A, N>& next) {
  op.choose<A>([&](auto chosen) {
    PGAS_UNROLL
    for (std::uint32_t k = 0; k < N; ++k) sum.at[k] = static_cast<A>(chosen(sum.at[k], next.at[k]));
  });
}

/// The id of the chosen operation. The library checks that all members have passed the same id.
[[nodiscard]] PGAS_FN std::uint32_t op_id(const runtime_reduce_op& op) { return static_cast<std::uint32_t>(op.which); }

/// The element type of a type_is.
template <class T>
struct type_is {
  using type = T;
};

/// Whether elements of the number_type `number` are reduced as type T. It does not matter whether an integer type is
/// signed.
template <class T>
[[nodiscard]] PGAS_FN bool reduces_as(number_type number) {
  if constexpr (std::is_integral_v<T>) {
    constexpr number_type without_sign = integer_type<T>(false);
    constexpr number_type with_sign = integer_type<T>(true);
    return number == without_sign || number == with_sign;
  } else if constexpr (is_two_reals<T>::value) {
    return number == (sizeof(T) == 8 ? number_type::complex_f32 : number_type::complex_f64);
  } else {
    constexpr number_type mine = number_of<op::sum, T>();
    return number == mine;
  }
}

/// Types that share one kernel, so that the code around the operation exists once.
template <class... T>
struct type_group {
  /// Calls f(type_is<...>) with the type of the number_type `number`. Returns whether the group contains that type.
  template <class F>
  PGAS_FN static bool choose(number_type number, const F& f) {
    return ((reduces_as<T>(number) && (f(type_is<T>{}), true)) || ...);
  }
};
using untyped = type_group<>;  ///< the group of requests that move data without reducing it
using integers = type_group<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using reals = type_group<float16, bfloat16, float, double>;
using pairs =
    type_group<two_reals<float>, two_reals<double>, indexed<std::int32_t, std::int32_t>,
               indexed<std::int64_t, std::int64_t>, indexed<float, std::int32_t>, indexed<double, std::int64_t>>;

/// Whether a request moves data without reducing it.
[[nodiscard]] constexpr bool moves(const collective_request& r) { return r.what < collective_kind::reduce; }

/// If the operation supports the type of the request's elements, calls f with the group that contains this type.
/// Returns false otherwise.
template <class F>
bool dispatch_type_group(const collective_request& request, const F& f) {
  const auto between = [](auto value, auto first, auto last) { return value >= first && value <= last; };
  const number_type type = request.type;
  const bool ordered = between(request.op, reduction::sum, reduction::max);
  const bool compares = between(request.op, reduction::min, reduction::max);
  if (between(type, number_type::u8, number_type::u64) &&
      (ordered || between(request.op, reduction::bit_and, reduction::bit_xor)))
    return f(integers{});
  if (between(type, number_type::i8, number_type::i64) && compares) return f(integers{});
  if (between(type, number_type::f16, number_type::f64) && ordered) return f(reals{});
  if (between(type, number_type::complex_f32, number_type::complex_f64) && ordered && !compares) return f(pairs{});
  if (between(type, number_type::indexed_i32, number_type::indexed_f64) &&
      between(request.op, reduction::maxloc, reduction::minloc))
    return f(pairs{});
  return false;
}

/// Executes a collective that moves data or only synchronises. The data is copied as bytes. Each copy derives the size
/// of its accesses from the addresses.
template <group G>
PGAS_FN void execute_move(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  auto* const dst = static_cast<std::byte*>(r.dst);
  const auto* const src = static_cast<const std::byte*>(r.src);
  const std::size_t bytes = r.count * r.element_bytes;
  switch (r.what) {
    case collective_kind::barrier: return barrier(ctx, g, team);
    case collective_kind::sync: return sync(ctx, g, team);
    case collective_kind::word_barrier:
      return word_barrier(ctx, g, team, static_cast<signal_t*>(r.dst), r.root, r.limit_ms);
    case collective_kind::broadcast: return broadcast(ctx, g, team, dst, src, bytes, r.root);
    case collective_kind::fcollect: return fcollect(ctx, g, team, dst, src, bytes);
    case collective_kind::collect: return collect(ctx, g, team, dst, src, bytes);
    case collective_kind::alltoall: return alltoall(ctx, g, team, dst, src, bytes);
    default: break;
  }
  if (ctx.checks()) [[unlikely]]
    check_collective(ctx.copy_, g, team,
                     {operation::alltoalls, 0, r.element_bytes, r.count, r.dst_stride, r.src_stride, 0, dst});
  const auto element = static_cast<std::ptrdiff_t>(r.element_bytes);
  const std::ptrdiff_t dst_step = r.dst_stride * element;
  const std::ptrdiff_t src_step = r.src_stride * element;
  const auto count = static_cast<std::ptrdiff_t>(r.count);
  const std::size_t unit =
      unit_of_all(reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | r.element_bytes);
  const slice mine{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
  for_each_block(ctx, g, team, dst, src, count * dst_step, count * src_step,
                 [&](std::byte* to, const std::byte* from, std::int32_t world_pe) {
                   ctx.by_world_route(
                       to, world_pe,
                       [&](std::byte* destination) {
                         copy_blocks<direction::put>(unit, {destination, dst_step}, {from, src_step}, r.element_bytes,
                                                     r.count, mine);
                       },
                       [&](std::int32_t proxied_pe) {
                         proxied_strided<direction::put>(proxy_queue_of(ctx), g, proxied_pe, to, from,
                                                         strided_range{r.element_bytes, r.count, src_step, dst_step},
                                                         completion::submitted);
                       });
                 });
  lockstep_barrier(ctx, g, team, operation::alltoalls);
}

/// Executes a reduction or scan of elements of type T.
template <class T, group G>
PGAS_FN void execute_reduction(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  const runtime_reduce_op op(r);
  auto* const dst = static_cast<T*>(r.dst);
  const auto* const src = static_cast<const T*>(r.src);
  switch (r.what) {
    case collective_kind::reduce: return reduce(ctx, g, team, dst, src, r.count, op);
    case collective_kind::reduce_to_root: return reduce_to_root(ctx, g, team, dst, src, r.count, op, r.root);
    case collective_kind::reduce_scatter: return reduce_scatter(ctx, g, team, dst, src, r.count, op);
    case collective_kind::inclusive_scan: return inclusive_scan(ctx, g, team, dst, src, r.count, op);
    default: return exclusive_scan(ctx, g, team, dst, src, r.count, op);
  }
}

}  // namespace pgas::detail
