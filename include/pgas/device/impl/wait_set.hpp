/// @file
/// One look at a set of words, and waits on all, any or some of them. Shared by the wait_until_* and test_* families.
#pragma once

#include "pgas/device/impl/wait.hpp"

namespace pgas::detail {

/// The words that a set operation looks at: ivars[i] for each i with no status or a status of zero.
template <class T>
struct wait_set {
  const T* ivars;
  std::size_t count;
  const int* status;
  cmp op;
  T value;

  [[nodiscard]] PGAS_FN bool wanted(std::size_t i) const { return status == nullptr || status[i] == 0; }
};

inline constexpr std::size_t no_index = ~std::size_t{0};
/// What a wait on a set returns inside the library where it had to give up.
inline constexpr std::size_t gave_up = no_index - 1;

/// What one sweep over a set found.
struct sweep_result {
  std::size_t first;      ///< lowest index that satisfies the comparison, or no_index
  std::size_t satisfied;  ///< how many do
  std::size_t wanted;     ///< how many the set has
};

/// Reads the words of a set once, eight loads in flight, and hands each satisfied index to `found`, in ascending order.
/// Relaxed: the caller adds the acquire fence. Stops early when `found` returns false.
template <class T, class Found>
PGAS_FN sweep_result sweep(const wait_set<T>& set, const Found& found) {
  constexpr std::size_t batch = 8;
  sweep_result result{no_index, 0, 0};
  for (std::size_t base = 0; base < set.count; base += batch) {
    T seen[batch];
    std::uint32_t looked = 0;
    PGAS_UNROLL
    for (std::size_t i = 0; i < batch; ++i) {
      if (base + i < set.count && set.wanted(base + i)) looked |= 1u << i;
    }
    PGAS_UNROLL
    for (std::size_t i = 0; i < batch; ++i) {  // a word too many is cheaper than a branch between two loads
      seen[i] = load_relaxed(set.ivars + base + ((looked >> i & 1u) != 0 ? i : 0));
    }
    PGAS_UNROLL
    for (std::size_t i = 0; i < batch; ++i) {
      if ((looked >> i & 1u) == 0) continue;
      ++result.wanted;
      if (!compare(seen[i], set.op, set.value)) continue;
      if (result.first == no_index) result.first = base + i;
      ++result.satisfied;
      if (!found(base + i)) return result;
    }
  }
  return result;
}

/// Leaves the record of a set wait that gave up: about the first word that is still missing.
template <class T>
PGAS_COLD void give_up(context ctx, wait_set<T> set, failure why) {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (!set.wanted(i)) continue;
    const T seen = load_relaxed(set.ivars + i);
    if (compare(seen, set.op, set.value)) continue;
    report(ctx, lost_wait(why, operation::wait, -1, ctx.offset(set.ivars + i), set.op, set.value, seen));
    return;
  }
  report(ctx, lost_wait(why, operation::wait, -1, ctx.offset(set.ivars), set.op, set.value, set.value));
}

/// Waits for every word of the set; thread `rank` of `size` waits for its share. False if it had to give up.
template <class T>
[[nodiscard]] PGAS_FN bool wait_all(const context& ctx, const wait_set<T>& set, std::size_t rank, std::size_t size) {
  T seen{};
  for (std::size_t i = rank; i < set.count; i += size) {
    if (set.wanted(i) && !wait_word(ctx, set.ivars + i, set.op, set.value, seen)) return false;
  }
  return true;
}

/// Waits until a word of the set satisfies the comparison; hands every one that does in that sweep to `found`. Returns
/// at once if the set is empty. `first` is gave_up if it had to give up; the record is written then.
template <class T, class Found>
[[nodiscard]] PGAS_FN sweep_result wait_any(const context& ctx, const wait_set<T>& set, const Found& found) {
  sweep_result result{};
  const failure why = poll_until(ctx.control_, [&] {
    result = sweep(set, found);
    return result.satisfied != 0 || result.wanted == 0;
  });
  if (why != failure::none) [[unlikely]] {
    give_up(ctx, set, why);
    result.first = gave_up;
  }
  fence_acquire();
  return result;
}

/// wait_any() that lists what it found; returns how many, or gave_up.
template <class T>
[[nodiscard]] PGAS_FN std::size_t wait_some(const context& ctx, const wait_set<T>& set, std::size_t* indices) {
  std::size_t found = 0;
  const sweep_result last = wait_any(ctx, set, [&](std::size_t i) {
    indices[found++] = i;  // a sweep without any leaves it at 0, and the sweep with some is the last
    return true;
  });
  return last.first == gave_up ? gave_up : found;
}

}  // namespace pgas::detail
