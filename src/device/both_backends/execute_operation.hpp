/// @file
/// The device code of an operation_request, the same on the CPU and in the kernels of the GPU backend.
#pragma once

#include "device/operation_request.hpp"
#include "pgas/device/atomic.hpp"
#include "pgas/device/fence_quiet.hpp"
#include "pgas/device/impl/copy/listed_copy.hpp"
#include "pgas/device/impl/copy/strided_copy.hpp"
#include "pgas/device/rma.hpp"
#include "pgas/device/signal.hpp"
#include "pgas/device/strided.hpp"
#include "pgas/device/wait.hpp"

namespace pgas::detail {

/// The largest access with which a strided copy can be executed.
[[nodiscard]] PGAS_HD std::size_t unit_of_copy(const operation_request& r) {
  return unit_of_all(reinterpret_cast<std::uintptr_t>(r.to) | reinterpret_cast<std::uintptr_t>(r.from) | r.bytes |
                     static_cast<std::size_t>(r.to_step) | static_cast<std::size_t>(r.from_step));
}

/// Executes one thread's slice of a strided copy.
PGAS_FN void execute_strided(const operation_request& r, slice me) {
  copy_blocks<direction::put>(unit_of_copy(r), {static_cast<std::byte*>(r.to), r.to_step},
                              {static_cast<const std::byte*>(r.from), r.from_step}, r.bytes, r.count, me);
}

/// Executes the slice `me` of the copies in a list, which belongs to one thread. *Callers* all threads of `g`. The
/// group can be a part of the threads that share the list, but the group contains whole subgroups. The threads of `g`
/// first check all blocks that they copy.
template <group G>
PGAS_FN void execute_list(const list_request& r, const G& g, slice me) {
  if (r.pe == list_request::no_pe) return copy_listed<direction::put>(opaque(&r.list), 0, me);
  const list_call call(&r.list, me, r.pe);
  if (r.put) {
    check_list<direction::put>(r.here, g, call);
    list_by_route<direction::put, completion::local_done>(r.here, g, r.list, me, r.pe);
  } else {
    check_list<direction::get>(r.here, g, call);
    list_by_route<direction::get, completion::local_done>(r.here, g, r.list, me, r.pe);
  }
}

/// The target of a request for device operations. For a direct PE, the request contains a local address of the target
/// memory. The operation then uses an empty context, in which this process is the only PE.
struct destination {
  context ctx;
  std::int32_t pe;
};
[[nodiscard]] PGAS_FN destination destination_of(const operation_request& r) {
  if (r.pe == operation_request::direct) return {context{}, 0};
  return {r.here, r.pe};
}

/// Writes the value in the largest pieces that the value's size and the address allow. A word of up to 8 bytes is
/// written by a single store.
PGAS_FN void execute_store(const operation_request& r) {
  const destination remote = destination_of(r);
  std::uint64_t unit = reinterpret_cast<std::uintptr_t>(r.to) | r.bytes | 8;
  unit &= 0 - unit;
  auto* const to = static_cast<std::byte*>(r.to);
  for (std::uint64_t at = 0; at < r.bytes; at += unit) {
    const std::uint64_t bits = r.value[at / 8] >> at % 8 * 8;
    switch (unit) {
      case 1:
        p(remote.ctx, reinterpret_cast<std::uint8_t*>(to + at), static_cast<std::uint8_t>(bits), remote.pe);
        break;
      case 2:
        p(remote.ctx, reinterpret_cast<std::uint16_t*>(to + at), static_cast<std::uint16_t>(bits), remote.pe);
        break;
      case 4:
        p(remote.ctx, reinterpret_cast<std::uint32_t*>(to + at), static_cast<std::uint32_t>(bits), remote.pe);
        break;
      default: p(remote.ctx, reinterpret_cast<std::uint64_t*>(to + at), bits, remote.pe); break;
    }
  }
}

/// Executes the atomic operation on a word of type T and returns the old value. Returns zero for types without the
/// operation.
template <class T>
[[nodiscard]] PGAS_FN T update_word(const operation_request& r) {
  const auto [here, pe] = destination_of(r);
  auto* const target = static_cast<T*>(r.to);
  const T value = bits_as<T>(static_cast<word_of<T>>(r.value[0]));
  switch (r.how) {
    case atomic_update::fetch: return atomic_fetch(here, target, pe);
    case atomic_update::add: return atomic_fetch_add(here, target, value, pe);
    case atomic_update::swap: return atomic_swap(here, target, value, pe);
    case atomic_update::set:
      if constexpr (!amo_type<T>) atomic_set(here, target, value, pe);
      break;
    default: break;
  }
  if constexpr (amo_type<T>) {
    switch (r.how) {
      case atomic_update::set: return atomic_swap(here, target, value, pe);
      case atomic_update::min: return atomic_fetch_min(here, target, value, pe);
      case atomic_update::max: return atomic_fetch_max(here, target, value, pe);
      case atomic_update::compare_swap:
        return atomic_compare_swap(here, target, bits_as<T>(static_cast<word_of<T>>(r.condition)), value, pe);
      default: break;
    }
  }
  if constexpr (amo_integer<T>) {
    switch (r.how) {
      case atomic_update::bit_and: return atomic_fetch_and(here, target, value, pe);
      case atomic_update::bit_or: return atomic_fetch_or(here, target, value, pe);
      case atomic_update::bit_xor: return atomic_fetch_xor(here, target, value, pe);
      default: break;
    }
  }
  return T{};
}

/// Executes an atomic operation without ordering it. Stores the old value at `result` and returns the bits of the old
/// value.
PGAS_FN std::uint64_t apply_update(const operation_request& r) {
  const auto on = [&]<class T>(std::type_identity<T>) -> std::uint64_t {
    const auto old = bits_as<word_of<T>>(update_word<T>(r));
    if (r.result != nullptr) store_relaxed(static_cast<word_of<T>*>(r.result), old);
    return old;
  };
  std::uint64_t old = 0;
  switch (r.as) {
    case datatype::i32: old = on(std::type_identity<std::int32_t>{}); break;
    case datatype::u32: old = on(std::type_identity<std::uint32_t>{}); break;
    case datatype::i64: old = on(std::type_identity<std::int64_t>{}); break;
    case datatype::u64: old = on(std::type_identity<std::uint64_t>{}); break;
    case datatype::f32: old = on(std::type_identity<float>{}); break;
    case datatype::f64: old = on(std::type_identity<double>{}); break;
    case datatype::f16: old = on(std::type_identity<float16>{}); break;
    case datatype::bf16: old = on(std::type_identity<bfloat16>{}); break;
    case datatype::f16x2: old = on(std::type_identity<float16_pair>{}); break;
    case datatype::bf16x2: old = on(std::type_identity<bfloat16_pair>{}); break;
    default: break;  // 16-bit integers are for waits only
  }
  return old;
}

/// Executes an atomic operation. Later work is ordered after the operation. If the request says `release`, earlier work
/// is ordered before the operation.
PGAS_FN std::uint64_t execute_atomic(const operation_request& r) {
  if (r.release) {
    fence_release();
    if (r.here.has_proxied()) quiet(r.here);  // also completes earlier proxied operations
  }
  const std::uint64_t old = apply_update(r);
  fence_acquire();
  return old;
}

/// Executes one update of a list, without ordering the update. Returns the bits of the old value.
[[nodiscard]] PGAS_FN std::uint64_t execute_update(const batched_atomic& what) {
  operation_request request;
  request.what = operation_request::kind::atomic;
  request.how = what.how;
  request.as = what.as;
  request.to = what.at;
  request.value[0] = what.value;
  request.condition = what.condition;
  return apply_update(request);
}

/// Executes a list of updates by one thread.
PGAS_FN void execute_updates(batched_atomic* list, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    fence_release();
    list[i].old = execute_update(list[i]);
  }
  fence_acquire();
}

/// Executes one thread's slice of a wait for all words of the set. If the host asks waiting kernels what they wait for,
/// the thread's answer contains `r.ticket`, which identifies the request. Returns false if a wait failed and the thread
/// must end.
template <class T>
[[nodiscard]] PGAS_FN bool await_words(const operation_request& r, slice me) {
  const auto* const words = static_cast<const T*>(r.from);
  for (std::uint64_t i = me.rank; i < r.count; i += me.size) {
    if (r.status != nullptr && r.status[i] != 0) continue;
    const T value = r.values != nullptr ? static_cast<const T*>(r.values)[i] : static_cast<T>(r.value[0]);
    T seen{};
    const failure why = poll_until(
        r.here.control_,
        [&] {
          seen = load_relaxed(words + i);
          return compare(seen, r.compare, value);
        },
        [&](wait_state now) {
          failure_record found =
              wait_record(now, operation::wait, -1, r.here.offset(words + i), r.compare, value, seen);
          if (now.why == failure::asked) found.pe = r.ticket.as_pe();
          report(r.here, found);
        });
    if (why != failure::none) return false;
  }
  fence_acquire();
  return true;
}

/// Waits for all words of the set. If the wait fails, ends all threads. *Callers* all threads of `g`.
template <group G>
PGAS_FN void execute_wait(const operation_request& r, const G& g) {
  const slice mine{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
  const auto on = [&]<class T>(std::type_identity<T>) { exit_if_any(g, !await_words<T>(r, mine)); };
  switch (r.as) {
    case datatype::i16: return on(std::type_identity<std::int16_t>{});
    case datatype::u16: return on(std::type_identity<std::uint16_t>{});
    case datatype::i32: return on(std::type_identity<std::int32_t>{});
    case datatype::u32: return on(std::type_identity<std::uint32_t>{});
    case datatype::i64: return on(std::type_identity<std::int64_t>{});
    case datatype::u64: return on(std::type_identity<std::uint64_t>{});
    default: return;
  }
}

/// Copies data of any size to and from proxied PEs. The proxy makes the copy, because kernels cannot access every kind
/// of local memory. *Callers* all threads of `g`. *On return* the local side may be used again, unless the request says
/// `until_quiet`.
template <group G>
PGAS_FN void execute_proxied_copy(const operation_request& r, const G& g) {
  const proxy_queue queue = proxy_queue_of(r.here);
  const bool out = r.what == operation_request::kind::put;
  proxied_blocks all{queue,
                     {out ? operation::put : operation::get, r.pe, queue.offset(out ? r.to : r.from)},
                     static_cast<std::byte*>(out ? const_cast<void*>(r.from) : r.to),
                     {r.bytes, r.count, out ? r.from_step : r.to_step, out ? r.to_step : r.from_step},
                     r.until_quiet ? completion::submitted : completion::local_done};
  bool lost = false;
  if (g.thread_rank() == 0 && r.bytes != 0 && r.count != 0) {
    lost = out ? !submit_blocks<direction::put>(&all) : !submit_blocks<direction::get>(&all);
  }
  exit_if_any(g, lost);
}

PGAS_FN void execute_proxied_signal(const operation_request& r) {
  auto* const word = static_cast<signal_t*>(r.to);
  const signal_op how = r.how == atomic_update::set ? signal_op::set : signal_op::add;
  put_signal(r.here, word, word, 0, word, r.value[0], how, r.pe);
}

/// Executes any operation except a direct strided copy. *Callers* all threads of one group. On return, an operation on
/// a proxied PE can still be in flight.
template <group G>
PGAS_FN void start(const operation_request& r, const G& g) {
  switch (r.what) {
    case operation_request::kind::wait: return execute_wait(r, g);
    case operation_request::kind::store:
      if (g.thread_rank() == 0) execute_store(r);
      return;
    case operation_request::kind::atomic:
      if (g.thread_rank() == 0) static_cast<void>(execute_atomic(r));
      return;
    case operation_request::kind::quiet: return quiet(r.here, g);
    case operation_request::kind::put:
    case operation_request::kind::get: return execute_proxied_copy(r, g);
    case operation_request::kind::signal:
      if (g.thread_rank() == 0) execute_proxied_signal(r);
      return;
    case operation_request::kind::strided: return;
  }
}

/// Executes an operation, and completes it if the request says `complete`.
template <group G>
PGAS_FN void execute_operation(const operation_request& r, const G& g) {
  start(r, g);
  if (r.complete) quiet(r.here, g, r.pe);
}

}  // namespace pgas::detail
