/// @file
/// Waiting for words of this PE's own part of the heap that other PEs write, and looking at them without waiting. Words
/// are integers of 2, 4 and 8 bytes, signals among them.
///
/// All of it acquires: what the writer had released before the value that satisfied the comparison (put_signal, fence)
/// is visible on return. Waits are bounded: when the world is aborted or the deadline passes they leave a record for
/// the host and end the calling thread, or all threads of the group, as a return from the kernel would. In group form,
/// all threads of the group call with the same arguments and get the same answer.
///
/// Sets: `status`, where not null, excludes every word i with status[i] != 0. Waits on a set without words return at
/// once.
#pragma once

#include "pgas/device/impl/agree.hpp"
#include "pgas/device/impl/wait_set.hpp"

namespace pgas {

/// What set operations return where no word qualifies (OpenSHMEM's SIZE_MAX).
inline constexpr std::size_t no_index = detail::no_index;

/// Waits until `*ivar op value`.
///
/// *Callers* any thread. *Memory* `ivar` is symmetric: this PE's own word. *On return* the value that was seen. *Order*
/// acquires. *Errors* ends the thread with a record: operation::wait, the word's offset, the value expected and seen
/// last.
template <wait_type T>
PGAS_FN T wait_until(const context& ctx, const T* ivar, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivar, 1, ctx.my_pe());
  T seen{};
  if (!detail::wait_word(ctx, ivar, op, value, seen)) [[unlikely]]
    detail::end_thread();
  return seen;
}

/// wait_until() for a group: one thread polls, all go on.
/// *Callers* all threads of the group `g`, converged.
template <wait_type T, group G>
PGAS_FN void wait_until(const context& ctx, const G& g, const T* ivar, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivar, 1, ctx.my_pe());
  T seen{};
  detail::go_on_together(g, g.thread_rank() == 0 && !detail::wait_word(ctx, ivar, op, value, seen));
}

/// Waits until every word of the set satisfies the comparison.
/// *Callers* all threads of the group `g`, converged; they share the words among them. *Units* `count` is words.
/// *Order* acquires from all of them.
template <wait_type T, group G>
PGAS_FN void wait_until_all(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                            cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  detail::go_on_together(g, !detail::wait_all(ctx, set, g.thread_rank(), g.size()));
}

/// wait_until_all() by the calling thread alone.
template <wait_type T>
PGAS_FN void wait_until_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                            std::type_identity_t<T> value) {
  wait_until_all(ctx, this_thread{}, ivars, count, status, op, value);
}

/// Waits until some word of the set satisfies the comparison.
/// *Callers* any thread. *On return* the index of one that does; no_index if the set has no words. *Order* acquires.
template <wait_type T>
PGAS_FN std::size_t wait_until_any(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                   std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  const std::size_t index = detail::wait_any(ctx, set, [](std::size_t) { return false; }).first;
  if (index == detail::gave_up) [[unlikely]]
    detail::end_thread();
  return index;
}

/// wait_until_any() for a group.
/// *Callers* all threads of the group `g`, converged. *On return* the same index on all of them.
template <wait_type T, group G>
PGAS_FN std::size_t wait_until_any(const context& ctx, const G& g, const T* ivars, std::size_t count, const int* status,
                                   cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  std::size_t index = 0;
  if (g.thread_rank() == 0) index = detail::wait_any(ctx, set, [](std::size_t) { return false; }).first;
  index = detail::broadcast(g, index);
  if (index == detail::gave_up) [[unlikely]]
    detail::end_thread();
  return index;
}

/// Waits until at least one word of the set satisfies the comparison.
/// *Callers* any thread. *Memory* `indices` has room for `count`. *On return* how many do; their indices, ascending,
/// are in `indices`. 0 if the set has no words. *Order* acquires.
template <wait_type T>
PGAS_FN std::size_t wait_until_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                                    const int* status, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  const std::size_t found = detail::wait_some(ctx, set, indices);
  if (found == detail::gave_up) [[unlikely]]
    detail::end_thread();
  return found;
}

/// wait_until_some() for a group.
/// *Callers* all threads of the group `g`, converged. *Memory* `indices` is one array that all of them can read.
/// *On return* the same count on all of them.
template <wait_type T, group G>
PGAS_FN std::size_t wait_until_some(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    std::size_t* indices, const int* status, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  std::size_t found = 0;
  if (g.thread_rank() == 0) found = detail::wait_some(ctx, set, indices);
  found = detail::broadcast(g, found);
  if (found == detail::gave_up) [[unlikely]]
    detail::end_thread();
  return found;
}

/// Whether `*ivar op value` holds now.
/// *Callers* any thread. *Memory* `ivar` is symmetric: this PE's own word. *Order* acquires if it holds.
template <wait_type T>
[[nodiscard]] PGAS_FN bool test(const context& ctx, const T* ivar, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivar, 1, ctx.my_pe());
  const bool holds = detail::compare(detail::load_relaxed(ivar), op, value);
  if (holds) detail::fence_acquire();
  return holds;
}

/// test() for a group.
/// *Callers* all threads of the group `g`, converged. *On return* the same on all of them.
template <wait_type T, group G>
[[nodiscard]] PGAS_FN bool test(const context& ctx, const G& g, const T* ivar, cmp op, std::type_identity_t<T> value) {
  return detail::any(g, g.thread_rank() == 0 && test(ctx, ivar, op, value));
}

/// Whether every word of the set satisfies the comparison now; true if it has none.
/// *Callers* any thread. *Order* acquires if it holds.
template <wait_type T>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const T* ivars, std::size_t count, const int* status, cmp op,
                                    std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  const detail::sweep_result now = detail::sweep(set, [](std::size_t) { return true; });
  detail::fence_acquire();
  return now.satisfied == now.wanted;
}

/// test_all() for a group.
/// *Callers* all threads of the group `g`, converged. *On return* the same on all of them.
template <wait_type T, group G>
[[nodiscard]] PGAS_FN bool test_all(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                    const int* status, cmp op, std::type_identity_t<T> value) {
  return detail::any(g, g.thread_rank() == 0 && test_all(ctx, ivars, count, status, op, value));
}

/// The index of a word of the set that satisfies the comparison now, or no_index.
/// *Callers* any thread. *Order* acquires from the word that it names.
template <wait_type T>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const T* ivars, std::size_t count, const int* status,
                                           cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  const detail::sweep_result now = detail::sweep(set, [](std::size_t) { return false; });
  detail::fence_acquire();
  return now.first;
}

/// test_any() for a group.
/// *Callers* all threads of the group `g`, converged. *On return* the same on all of them.
template <wait_type T, group G>
[[nodiscard]] PGAS_FN std::size_t test_any(const context& ctx, const G& g, const T* ivars, std::size_t count,
                                           const int* status, cmp op, std::type_identity_t<T> value) {
  std::size_t index = 0;
  if (g.thread_rank() == 0) index = test_any(ctx, ivars, count, status, op, value);
  return detail::broadcast(g, index);
}

/// How many words of the set satisfy the comparison now; their indices, ascending, go to `indices`.
/// *Callers* any thread. *Memory* `indices` has room for `count`. *Order* acquires from the words that it names.
template <wait_type T>
PGAS_FN std::size_t test_some(const context& ctx, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, std::type_identity_t<T> value) {
  detail::check(ctx, detail::operation::wait, ivars, count, ctx.my_pe());
  const detail::wait_set<T> set{ivars, count, status, op, value};
  std::size_t found = 0;
  static_cast<void>(detail::sweep(set, [&](std::size_t i) {
    indices[found++] = i;
    return true;
  }));
  detail::fence_acquire();
  return found;
}

/// test_some() for a group.
/// *Callers* all threads of the group `g`, converged. *Memory* `indices` is one array that all of them can read.
/// *On return* the same count on all of them.
template <wait_type T, group G>
PGAS_FN std::size_t test_some(const context& ctx, const G& g, const T* ivars, std::size_t count, std::size_t* indices,
                              const int* status, cmp op, std::type_identity_t<T> value) {
  std::size_t found = 0;
  if (g.thread_rank() == 0) found = test_some(ctx, ivars, count, indices, status, op, value);
  return detail::broadcast(g, found);
}

}  // namespace pgas
