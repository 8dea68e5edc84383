/// @file
/// Reads and writes of other PEs' memory: single values (p, g) and arrays (put, get), by one thread or by a group.
/// `strided.hpp` has the strided forms.
///
/// All operations also work for proxied PEs. For proxied PEs, the non-blocking forms guarantee less: `src` of a put
/// must not change before quiet(), and `dst` of a get is complete only after quiet(). To a proxied PE, data on a
/// thread's stack or in a block's shared memory is sent in commands of 16 bytes each, so use global memory for larger
/// sizes.
///
/// *Errors* with checks on, an operation ends the thread or the group, with a record, in three cases: the PE does not
/// exist, the memory is outside the heap, or the memory is misaligned. Operations on proxied PEs also end the thread or
/// the group if the world is aborted, or PGAS_WAIT_TIMEOUT expires, during a wait for the proxy.
///
/// A call by a group begins with a sync of the group. A put therefore also sends the values that other threads of the
/// group have stored to `src` before the call. A get writes `dst` only after all threads have finished their accesses
/// to `dst`. The blocking forms also end with a sync of the group.
///
/// If neighbouring lanes of a warp call the single-thread put() or get() at the same time, with 64 bytes or more each,
/// eight lanes carry out their copies together. The semantics of put() and get() do not change.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/copy/coalesced_copy.hpp"
#include "pgas/device/impl/copy/lent_memory.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/trace/traced_operation.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

// Strong accesses to single values, used by p() and g(). A machine word is accessed in one piece. Other values are
// accessed in the largest pieces that the alignment allows.

/// The size of the pieces in which a value of type T is accessed: the largest power of two, up to 16 bytes, that
/// divides size and alignment.
template <class T>
inline constexpr std::size_t piece_of = alignof(T) < 16 ? alignof(T) : 16;

template <class T>
inline constexpr bool is_word = piece_of<T> == sizeof(T) && sizeof(T) <= 8;

/// `sizeof(T)` bytes as an array of pieces.
template <class T>
struct pieces {
  using type = std::conditional_t<piece_of<T> == 16, vec16, typename word<piece_of<T> == 16 ? 8 : piece_of<T>>::type>;
  static constexpr std::size_t count = sizeof(T) / piece_of<T>;
  type at[count];
};

template <class T>
PGAS_FN void store_value(T* p, T value) {
  if constexpr (is_word<T>) {
    store_relaxed(p, value);
  } else {
    const auto all = bits_as<pieces<T>>(value);
    auto* const to = reinterpret_cast<typename pieces<T>::type*>(p);
    PGAS_UNROLL
    for (std::size_t i = 0; i < pieces<T>::count; ++i) store_relaxed(to + i, all.at[i]);
  }
}

template <class T>
[[nodiscard]] PGAS_FN T load_value(const T* p) {
  if constexpr (is_word<T>) {
    return load_relaxed(p);
  } else {
    pieces<T> all;
    const auto* const from = reinterpret_cast<const typename pieces<T>::type*>(p);
    PGAS_UNROLL
    for (std::size_t i = 0; i < pieces<T>::count; ++i) all.at[i] = load_relaxed(from + i);
    return bits_as<T>(all);
  }
}

/// The common implementation of all puts. @param copy_to stores the data at a load/store accessible address
template <completion When, class T, PGAS_IS(group) G, class Copy>
PGAS_FN void put_by_route(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe,
                          Copy copy_to) {
  traced_operation traced(ctx, g, operation::put);
  traced.on(ctx, pe, count * sizeof(T));
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  ctx.template by_long_route<single<G>>(
      dst, pe,
      [=](const context&, T* remote) {
        copy_to(remote);
        if constexpr (When == completion::local_done) g.sync();
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          check(here, operation::put, dst, count, number);
        } else if constexpr (std::is_same_v<decltype(what), by_lent_memory>) {
          return copy_by_lent(here, g, moved(dst, what.distance), src, count);
        } else {
          const proxied_copy call{proxy_queue_of(here), what, dst, src, count * sizeof(T), When};
          proxied_put(&call, g);
        }
      });
}

/// The common implementation of all gets. @param copy_from loads the data from a load/store accessible address
template <completion When, class T, PGAS_IS(group) G, class Copy>
PGAS_FN void get_by_route(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe,
                          Copy copy_from) {
  traced_operation traced(ctx, g, operation::get);
  traced.on(ctx, pe, count * sizeof(T));
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  ctx.template by_long_route<single<G>>(
      src, pe,
      [=](const context&, const T* remote) {
        copy_from(remote);
        if constexpr (When == completion::local_done) g.sync();
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          check(here, operation::get, src, count, number);
        } else if constexpr (std::is_same_v<decltype(what), by_lent_memory>) {
          return copy_by_lent(here, g, dst, moved(src, what.distance), count);
        } else {
          const proxied_copy call{proxy_queue_of(here), what, src, dst, count * sizeof(T), When};
          proxied_get(&call, g);
        }
      });
}

}  // namespace detail

/// @brief Writes one value to PE `pe`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric: the address of the variable on this PE.
/// *On return* the store is issued; quiet() completes it.
/// *Order* none. Values of 1, 2, 4 or 8 bytes with an alignment equal to their size arrive in one piece, as with
/// atomic_set(), so waits can read these values. Other values arrive in pieces, as large as the alignment of the value,
/// but at most 8 bytes.
template <PGAS_IS(rma_type) T>
PGAS_FN void p(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::traced_operation traced(ctx, this_thread{}, detail::operation::p);
  traced.on(ctx, pe, sizeof(T));
  ctx.by_route(
      dst, pe,
      [](const context& here, T* to, std::int32_t number) { detail::check(here, detail::operation::p, to, number); },
      [=](const context&, T* remote) { detail::store_value(remote, value); },
      [=](const context& here, T* to, std::int32_t proxied_pe) {
        detail::proxied_p(detail::proxy_queue_of(here), proxied_pe, here.offset(to), value);
      });
}

/// @brief Reads one value from PE `pe`.
///
/// *Callers* any thread; independent calls overlap and take about a microsecond each. *Memory* `src` is symmetric.
/// *Order* none. The read always goes to memory, never to a cached copy, so a loop of g() sees progress.
///
/// @return The value.
template <PGAS_IS(rma_type) T>
[[nodiscard]] PGAS_FN T g(const context& ctx, const T* src, pe_or_peer pe) {
  detail::traced_operation traced(ctx, this_thread{}, detail::operation::g);
  traced.on(ctx, pe, sizeof(T));
  return ctx.by_route(
      src, pe,
      [](const context& here, const T* from, std::int32_t number) {
        detail::check(here, detail::operation::g, from, number);
      },
      [](const context&, const T* remote) { return detail::load_value(remote); },
      [](const context& here, const T* from, std::int32_t proxied_pe) {
        return detail::proxied_g<T>(detail::proxy_queue_of(here), proxied_pe, here.offset(from));
      });
}

/// @brief Copies `count` elements to PE `pe` and does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE, including shared memory. *On return* this thread's part
/// of `src` has been read; other threads might not have read their parts yet. Synchronize the group before `src` is
/// reused. If PE `pe` is proxied, `src` might not be read before quiet(). *Order* the call sends the values that all
/// threads of the group have stored to `src` before the call. To order other accesses, use fence(), quiet() or
/// put_signal().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void put_nbi(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_by_route<detail::completion::submitted>(
      ctx, g, dst, src, count, pe, [=](T* remote) { detail::copy_by<detail::direction::put>(g, remote, src, count); });
}

/// @brief Copies `count` elements to PE `pe`.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE, including shared memory.
/// *On return* `src` may be reused; the data is in flight. *Order* the call sends the values that all threads of the
/// group have stored to `src` before the call. To order other accesses, use fence(), quiet() or put_signal().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void put(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_by_route<detail::completion::local_done>(
      ctx, g, dst, src, count, pe, [=](T* remote) { detail::copy_by<detail::direction::put>(g, remote, src, count); });
}

/// @brief Copies `count` elements from PE `pe` and does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE, including shared memory.
/// *On return* this thread's part of `dst` is written. Synchronize the group before another thread reads this thread's
/// part of `dst`. If PE `pe` is proxied, `dst` is complete only after quiet().
/// *Order* `dst` is written after all earlier accesses to `dst` by threads of the group. The source PE's stores are
/// visible if a wait or a barrier has ordered them before this call.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void get_nbi(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_by_route<detail::completion::submitted>(ctx, g, dst, src, count, pe, [=](const T* remote) {
    detail::copy_by<detail::direction::get>(g, dst, remote, count);
  });
}

/// @brief Copies `count` elements from PE `pe`.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE, including shared memory.
/// *On return* `dst` holds the data, for every thread of the group. *Order* as for get_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void get(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_by_route<detail::completion::local_done>(ctx, g, dst, src, count, pe, [=](const T* remote) {
    detail::copy_by<detail::direction::get>(g, dst, remote, count);
  });
}

/// @brief Like put(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void put(const context& ctx, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  put(ctx, this_thread{}, dst, src, count, pe);
}

/// @brief Like put_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_nbi(const context& ctx, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  put_nbi(ctx, this_thread{}, dst, src, count, pe);
}

/// @brief Like get(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void get(const context& ctx, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  get(ctx, this_thread{}, dst, src, count, pe);
}

/// @brief Like get_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void get_nbi(const context& ctx, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  get_nbi(ctx, this_thread{}, dst, src, count, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
