/// @file
/// Waits and tests for words in this PE's part of the heap that other PEs write. Tests do not wait. Words are integers
/// of 2, 4 and 8 bytes. Signals are words of 8 bytes, and `signal.hpp` has the functions that send signals.
///
/// All functions have acquire semantics. On return, the caller sees every write that the writer released by
/// put_signal() or fence() before it wrote the value that ended the wait. Waits are bounded. When the world is aborted
/// or the deadline passes, a wait leaves a record for the host and ends the calling thread, or all threads of the
/// group, as if the kernel had returned. In the group forms, all threads of the group pass the same arguments and
/// receive the same result. With checks on, tests end the thread, or the group, with a record if a word is misaligned
/// or outside the heap.
///
/// A set is an array of words. If `status` is not null, the words i with status[i] != 0 do not belong to the set. Waits
/// on an empty set return immediately. All words are compared with one value, or word i is compared with values[i]
/// (OpenSHMEM's _vector forms).
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/wait_set.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

// ---- tests ----

/// @brief The result of set operations if no word qualifies (OpenSHMEM's SIZE_MAX).
inline constexpr std::size_t no_index = detail::no_index;

/// @brief Tests whether `*ivar op value` is true now.
///
/// *Callers* any thread. *Memory* `ivar` is symmetric: this PE's own word. *Order* acquires if the result is true.
///
/// @return Whether the comparison is true.
template <PGAS_IS(wait_type) T>
[[nodiscard]] PGAS_FN bool test(const context& ctx, const T* ivar, cmp op, detail::type_identity_t<T> value) {
  detail::check_awaited(ctx, ivar, op);
  const bool holds = detail::compare(detail::load_relaxed(ivar), op, value);
  if (holds) detail::fence_acquire();
  return holds;
}

/// @brief Like test(), for a group.
///
/// *Callers* all threads of the group `g`, converged.
///
/// @return The same result on all threads.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool test(const context& ctx, const G& g, const T* ivar, cmp op,
                                detail::type_identity_t<T> value) {
  detail::check_awaited(ctx, ivar, op);  // all threads check, because a failure ends all threads
  return detail::any(g, g.thread_rank() == 0 && test(ctx, ivar, op, value));
}

/// @brief Tests whether every word of the set satisfies the comparison now.
///
/// *Callers* all threads of the group `g`, converged. The threads divide the words among themselves.
/// *Order* acquires if the result is true.
///
/// @return Whether all words satisfy the comparison; true if the set is empty.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    const int* status, cmp op, detail::type_identity_t<T> value) {
  return detail::all_hold(g, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}));
}

/// @brief Like test_all(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                    detail::type_identity_t<T> value) {
  return test_all(ctx, this_thread{}, ivars, count, status, op, value);
}

/// @brief Like test_all(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    const int* status, cmp op, const T* values) {
  return detail::all_hold(g, detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}));
}

/// @brief Like test_all(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                    const T* values) {
  return test_all(ctx, this_thread{}, ivars, count, status, op, values);
}

/// @brief Finds a word of the set that satisfies the comparison now.
///
/// *Callers* all threads of the group `g`, converged. *Order* acquires from the word with the returned index.
///
/// @return The index of the word, or no_index. If several words qualify, repeated calls eventually return the index of
/// each of these words.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                           const int* status, cmp op, detail::type_identity_t<T> value) {
  return detail::find_any(g, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}),
                          detail::take_one{});
}

/// @brief Like test_any(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const T* ivars, std::size_t count, const int* status,
                                           cmp op, detail::type_identity_t<T> value) {
  return test_any(ctx, this_thread{}, ivars, count, status, op, value);
}

/// @brief Like test_any(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                           const int* status, cmp op, const T* values) {
  return detail::find_any(g, detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}),
                          detail::take_one{});
}

/// @brief Like test_any(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const T* ivars, std::size_t count, const int* status,
                                           cmp op, const T* values) {
  return test_any(ctx, this_thread{}, ivars, count, status, op, values);
}

/// @brief Finds all words of the set that satisfy the comparison now, and stores their indices in `indices`, in
/// ascending order.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `indices` has room for `count` indices; the whole group
/// uses one array.
/// *Order* acquires from the words whose indices the function stores.
///
/// @return The number of these words.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t test_some(const context& ctx, const G& g, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, detail::type_identity_t<T> value) {
  return detail::find_any(g, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}),
                          detail::take_all{indices});
}

/// @brief Like test_some(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t test_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, detail::type_identity_t<T> value) {
  return test_some(ctx, this_thread{}, ivars, count, indices, status, op, value);
}

/// @brief Like test_some(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t test_some(const context& ctx, const G& g, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, const T* values) {
  return detail::find_any(g, detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}),
                          detail::take_all{indices});
}

/// @brief Like test_some(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t test_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, const T* values) {
  return test_some(ctx, this_thread{}, ivars, count, indices, status, op, values);
}

// ---- waits ----

/// @brief Waits until `*ivar op value`.
///
/// *Callers* any thread. *Memory* `ivar` is symmetric: this PE's own word. *Order* acquires.
/// *Errors* ends the thread with a record: operation::wait, the word's offset, the expected value and the last value
/// read.
///
/// @return The value that satisfied the comparison.
template <PGAS_IS(wait_type) T>
PGAS_FN T wait_until(const context& ctx, const T* ivar, cmp op, detail::type_identity_t<T> value) {
  detail::check_awaited(ctx, ivar, op);
  return detail::wait_word_or_end<T>(ctx, ivar, op, value);
}

/// @brief Like wait_until(), for a group: one thread polls for all.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN void wait_until(const context& ctx, const G& g, const T* ivar, cmp op, detail::type_identity_t<T> value) {
  detail::check_awaited(ctx, ivar, op);
  T seen{};
  detail::exit_unless_leader(g, g.thread_rank() == 0 && detail::wait_word(ctx, ivar, op, value, seen));
}

/// @brief Waits until every word of the set satisfies the comparison.
///
/// *Callers* all threads of the group `g`, converged. The threads divide the words among themselves. *Units* `count` is
/// the number of words. *Order* acquires from all words of the set.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN void wait_until_all(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                            cmp op, detail::type_identity_t<T> value) {
  detail::exit_if_any(
      g, !detail::await_all(ctx, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}),
                            detail::part_of(g)));
}

/// @brief Like wait_until_all(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
PGAS_FN void wait_until_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                            detail::type_identity_t<T> value) {
  wait_until_all(ctx, this_thread{}, ivars, count, status, op, value);
}

/// @brief Like wait_until_all(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN void wait_until_all(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                            cmp op, const T* values) {
  detail::exit_if_any(
      g, !detail::await_all(ctx, detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}),
                            detail::part_of(g)));
}

/// @brief Like wait_until_all(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
PGAS_FN void wait_until_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                            const T* values) {
  wait_until_all(ctx, this_thread{}, ivars, count, status, op, values);
}

/// @brief Waits until a word of the set satisfies the comparison.
///
/// *Callers* all threads of the group `g`, converged. *Order* acquires.
///
/// @return The index of a word that satisfies the comparison; no_index if the set is empty. If several words qualify,
/// repeated calls eventually return the index of each of these words.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t wait_until_any(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                                   cmp op, detail::type_identity_t<T> value) {
  return detail::await_any_or_end(ctx, g, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}),
                                  detail::take_one{});
}

/// @brief Like wait_until_any(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t wait_until_any(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                   detail::type_identity_t<T> value) {
  return wait_until_any(ctx, this_thread{}, ivars, count, status, op, value);
}

/// @brief Like wait_until_any(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t wait_until_any(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                                   cmp op, const T* values) {
  return detail::await_any_or_end(
      ctx, g, detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}), detail::take_one{});
}

/// @brief Like wait_until_any(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t wait_until_any(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                   const T* values) {
  return wait_until_any(ctx, this_thread{}, ivars, count, status, op, values);
}

/// @brief Waits until at least one word of the set satisfies the comparison, and stores the indices of all words that
/// satisfy the comparison in `indices`, in ascending order.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `indices` has room for `count` indices; the whole group
/// uses one array.
/// *Order* acquires from the words whose indices the function stores.
///
/// @return The number of these words; 0 if the set is empty.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t wait_until_some(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    std::size_t* indices, const int* status, cmp op, detail::type_identity_t<T> value) {
  return detail::await_any_or_end(ctx, g, detail::set_of(ctx, ivars, count, status, op, detail::one_value<T>{value}),
                                  detail::take_all{indices});
}

/// @brief Like wait_until_some(), for one thread instead of a group.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t wait_until_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                                    const int* status, cmp op, detail::type_identity_t<T> value) {
  return wait_until_some(ctx, this_thread{}, ivars, count, indices, status, op, value);
}

/// @brief Like wait_until_some(), with a value for each word.
///
/// *Callers* all threads of the group `g`, converged. *Memory* `values` is any memory of this PE.
template <PGAS_IS(wait_type) T, PGAS_IS(group) G>
PGAS_FN std::size_t wait_until_some(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    std::size_t* indices, const int* status, cmp op, const T* values) {
  return detail::await_any_or_end(ctx, g,
                                  detail::set_of(ctx, ivars, count, status, op, detail::value_for_each<T>{values}),
                                  detail::take_all{indices});
}

/// @brief Like wait_until_some(), for one thread instead of a group, with a value for each word.
template <PGAS_IS(wait_type) T>
PGAS_FN std::size_t wait_until_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                                    const int* status, cmp op, const T* values) {
  return wait_until_some(ctx, this_thread{}, ivars, count, indices, status, op, values);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
