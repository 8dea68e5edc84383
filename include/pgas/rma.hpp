/// @file
/// One-sided operations called from the host: the same names as in kernels, with the world where kernels have the context.
/// All of them block until the operation is complete at its target, and work on both heaps.
///
/// *Callers* any thread. *Errors* of all functions: pe_out_of_range, outside_heap, misaligned, invalid_argument; the first
/// failure of the world. Arguments are checked before anything is done.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <type_traits>

#include "pgas/types.hpp"
#include "pgas/world.hpp"

namespace pgas {

namespace detail {

/// The operations that the library carries out for the templates below; floats travel as bit patterns.
enum class host_atomic : std::uint8_t { fetch, set, add, bit_and, bit_or, bit_xor, swap, compare_swap };
/// What the bits of an operand mean to `add`.
enum class host_number : std::uint8_t { u32, u64, f32, f64 };

PGAS_API void put_bytes(world& w, void* to, const void* from, std::size_t bytes, int pe);
PGAS_API void get_bytes(world& w, void* to, const void* from, std::size_t bytes, int pe);
PGAS_API std::uint64_t atomic(world& w, host_atomic what, host_number as, const void* target, std::uint64_t value,
                              std::uint64_t condition, bool release, int pe);
/// Bytes of `count` elements. *Errors* invalid_argument when that does not fit in a size_t.
[[nodiscard]] PGAS_API std::size_t byte_count(std::size_t count, std::size_t size);

/// The bounds of one host-side wait.
class PGAS_API host_wait {
 public:
  host_wait(world& w, const void* waited_for, std::uint64_t expected);
  /// Returns after a pause that grows with the length of the wait. *Errors* the first failure of the world; wait_timeout
  /// when the wait has lasted longer than PGAS_WAIT_TIMEOUT.
  void pause(std::uint64_t seen);

 private:
  world& world_;
  const void* waited_for_;
  std::uint64_t expected_;
  std::chrono::steady_clock::time_point begin_;
  unsigned pauses_ = 0;
};

template <amo_type T>
using host_word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <amo_type T>
[[nodiscard]] constexpr host_number number_of() {
  if constexpr (std::is_same_v<T, float>) return host_number::f32;
  else if constexpr (std::is_same_v<T, double>) return host_number::f64;
  else return sizeof(T) == 4 ? host_number::u32 : host_number::u64;
}

template <amo_type T>
T atomic(world& w, host_atomic what, const T* target, T value, T condition, int pe, bool release = false) {
  const std::uint64_t old = atomic(w, what, number_of<T>(), target, std::bit_cast<host_word<T>>(value),
                                   std::bit_cast<host_word<T>>(condition), release, pe);
  return std::bit_cast<T>(static_cast<host_word<T>>(old));
}

}  // namespace detail

/// Copies `count` elements from local memory of any kind to `destination` on PE `pe`.
template <rma_type T>
void put(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(w, destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// Copies `count` elements from `source` on PE `pe` to local memory of any kind.
template <rma_type T>
void get(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(w, destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// Writes one value to `destination` on PE `pe`.
template <rma_type T>
void p(world& w, T* destination, std::type_identity_t<T> value, int pe) {
  detail::put_bytes(w, destination, &value, sizeof(T), pe);
}

/// Reads one value from `source` on PE `pe`.
template <rma_type T>
[[nodiscard]] T g(world& w, const T* source, int pe) {
  T value;
  detail::get_bytes(w, &value, source, sizeof(T), pe);
  return value;
}

/// Reads `*source` on PE `pe` atomically.
template <amo_type T>
[[nodiscard]] T atomic_fetch(world& w, const T* source, int pe) {
  return detail::atomic(w, detail::host_atomic::fetch, source, T{}, T{}, pe);
}
/// Writes `*target` on PE `pe` atomically.
template <amo_type T>
void atomic_set(world& w, T* target, std::type_identity_t<T> value, int pe) {
  detail::atomic(w, detail::host_atomic::set, target, value, T{}, pe);
}
/// Adds to `*target` on PE `pe`; the fetching form returns the value before.
template <amo_type T>
T atomic_fetch_add(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::add, target, value, T{}, pe);
}
template <amo_type T>
void atomic_add(world& w, T* target, std::type_identity_t<T> value, int pe) {
  detail::atomic(w, detail::host_atomic::add, target, value, T{}, pe);
}
/// Adds one; the fetching form returns the value before.
template <amo_integer T>
T atomic_fetch_inc(world& w, T* target, int pe) {
  return atomic_fetch_add(w, target, T{1}, pe);
}
template <amo_integer T>
void atomic_inc(world& w, T* target, int pe) {
  atomic_add(w, target, T{1}, pe);
}
/// Bitwise and, or, exclusive or; the fetching forms return the value before.
template <amo_integer T>
T atomic_fetch_and(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::bit_and, target, value, T{}, pe);
}
template <amo_integer T>
void atomic_and(world& w, T* target, std::type_identity_t<T> value, int pe) {
  detail::atomic(w, detail::host_atomic::bit_and, target, value, T{}, pe);
}
template <amo_integer T>
T atomic_fetch_or(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::bit_or, target, value, T{}, pe);
}
template <amo_integer T>
void atomic_or(world& w, T* target, std::type_identity_t<T> value, int pe) {
  detail::atomic(w, detail::host_atomic::bit_or, target, value, T{}, pe);
}
template <amo_integer T>
T atomic_fetch_xor(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::bit_xor, target, value, T{}, pe);
}
template <amo_integer T>
void atomic_xor(world& w, T* target, std::type_identity_t<T> value, int pe) {
  detail::atomic(w, detail::host_atomic::bit_xor, target, value, T{}, pe);
}
/// Exchanges `*target` on PE `pe` with `value`; returns the value before.
template <amo_type T>
T atomic_swap(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::swap, target, value, T{}, pe);
}
/// Writes `value` where `*target` equals `condition`; returns the value before.
template <amo_integer T>
T atomic_compare_swap(world& w, T* target, std::type_identity_t<T> condition, std::type_identity_t<T> value, int pe) {
  return detail::atomic(w, detail::host_atomic::compare_swap, target, value, condition, pe);
}

/// Sets or adds to a signal word on PE `pe`. *Order* whoever sees the new value through a wait, a test or signal_fetch also
/// sees all earlier host operations of this thread on that PE.
inline void signal_set(world& w, signal_t* signal, signal_t value, int pe) {
  detail::atomic(w, detail::host_atomic::set, signal, value, signal_t{0}, pe, true);
}
inline void signal_add(world& w, signal_t* signal, signal_t value, int pe) {
  detail::atomic(w, detail::host_atomic::add, signal, value, signal_t{0}, pe, true);
}
/// put(), then the signal.
template <rma_type T>
void put_signal(world& w, T* destination, const T* source, std::size_t count, signal_t* signal, signal_t value, signal_op op,
                int pe) {
  put(w, destination, source, count, pe);
  detail::atomic(w, op == signal_op::set ? detail::host_atomic::set : detail::host_atomic::add, signal, value, signal_t{0}, pe,
                 true);
}
/// Reads this PE's own signal word.
[[nodiscard]] inline signal_t signal_fetch(world& w, const signal_t* signal) { return atomic_fetch(w, signal, w.my_pe()); }

/// Whether this PE's own `*variable` now satisfies `seen op value`.
template <amo_integer T>
[[nodiscard]] bool test(world& w, const T* variable, cmp op, std::type_identity_t<T> value) {
  return detail::compare(atomic_fetch(w, variable, w.my_pe()), op, value);
}
/// Waits until this PE's own `*variable` satisfies `seen op value`; returns the value seen.
/// *Errors* wait_timeout when PGAS_WAIT_TIMEOUT is set; peer_lost and aborted end the wait.
template <amo_integer T>
T wait_until(world& w, const T* variable, cmp op, std::type_identity_t<T> value) {
  for (detail::host_wait wait(w, variable, static_cast<std::uint64_t>(value));;) {
    const T seen = atomic_fetch(w, variable, w.my_pe());
    if (detail::compare(seen, op, value)) return seen;
    wait.pause(static_cast<std::uint64_t>(seen));
  }
}

}  // namespace pgas
