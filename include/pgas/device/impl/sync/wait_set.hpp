/// @file
/// One sweep over a set of words, and waits for all, any or some words, by a thread or by a group. Used by
/// `device/wait.hpp`.
#pragma once

#include "pgas/detail/poll_fairness.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"
#include "pgas/device/impl/sync/wait.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The comparison values: one for all words, or one for each word.
template <class T>
struct one_value {
  T value;
  [[nodiscard]] PGAS_FN T at(std::size_t) const { return value; }
  [[nodiscard]] PGAS_FN bool given() const { return true; }
};
template <class T>
struct value_for_each {
  const T* values;
  [[nodiscard]] PGAS_FN T at(std::size_t i) const { return values[i]; }
  [[nodiscard]] PGAS_FN bool given() const { return values != nullptr; }
};

/// The words of a set operation: ivars[i] for each i without a status, or with a status of zero.
template <class T, class Values>
struct wait_set {
  using word = T;
  const T* ivars;
  std::size_t count;
  const int* status;
  cmp op;
  Values values;

  [[nodiscard]] PGAS_FN bool wanted(std::size_t i) const { return status == nullptr || status[i] == 0; }
  [[nodiscard]] PGAS_FN bool holds(std::size_t i, T seen) const { return compare(seen, op, values.at(i)); }
};

/// A set with checked words.
template <class T, class Values>
[[nodiscard]] PGAS_FN wait_set<T, Values> set_of(const context& ctx, const T* ivars, std::size_t count,
                                                 const int* status, cmp op, Values values) {
  check(ctx, operation::wait, ivars, count, ctx.my_pe());
  check_sound(ctx, operation::wait, ivars, known(op) && (count == 0 || values.given()));
  return {ivars, count, status, op, values};
}

inline constexpr std::size_t no_index = ~std::size_t{0};
/// The result of a wait on a set if the wait failed.
inline constexpr std::size_t gave_up = no_index - 1;

/// The number of words that a thread loads before it compares the first word.
inline constexpr std::size_t words_in_flight = 8;

/// A part of a set: every `step`th word from `first` on. The part is the whole set, or the share of one thread of a
/// group.
struct set_part {
  std::size_t first = 0;
  std::size_t step = 1;
};

/// The words of the set that the calling thread checks.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN set_part part_of(const G& g) {
  return {static_cast<std::size_t>(g.thread_rank()), static_cast<std::size_t>(g.size())};
}

/// The result of one sweep over a set.
struct sweep_result {
  std::size_t first;      ///< index of the first word that satisfies the comparison, or no_index
  std::size_t satisfied;  ///< number of words that satisfy the comparison
  std::size_t wanted;     ///< number of words of the set
};

/// Loads the words of a part of a set once, eight in flight, and passes the index of each satisfied word to `found`.
/// Indices ascend cyclically from word `begin` on. The loads are relaxed; the caller adds the acquire fence. Stops when
/// `found` returns false.
template <class Set, class Found>
PGAS_FN sweep_result sweep(const Set& set, set_part part, std::size_t begin, const Found& found) {
  sweep_result result{no_index, 0, 0};
  const auto from_begin = [&](std::size_t at) {
    const std::size_t behind = set.count - begin;
    return begin == 0 || at < behind ? begin + at : at - behind;
  };
  for (std::size_t base = part.first; base < set.count; base += words_in_flight * part.step) {
    typename Set::word seen[words_in_flight];
    std::uint32_t looked = 0;
    PGAS_UNROLL
    for (std::size_t i = 0; i < words_in_flight; ++i) {
      const std::size_t at = base + i * part.step;
      if (at < set.count && set.wanted(from_begin(at))) looked |= 1u << i;
    }
    PGAS_UNROLL
    // an additional load is cheaper than a branch between two loads
    for (std::size_t i = 0; i < words_in_flight; ++i) {
      seen[i] = load_relaxed(set.ivars + from_begin(base + ((looked >> i & 1u) != 0 ? i * part.step : 0)));
    }
    PGAS_UNROLL
    for (std::size_t i = 0; i < words_in_flight; ++i) {
      if ((looked >> i & 1u) == 0) continue;
      const std::size_t at = from_begin(base + i * part.step);
      ++result.wanted;
      if (!set.holds(at, seen[i])) continue;
      if (result.first == no_index) result.first = at;
      ++result.satisfied;
      if (!found(at)) return result;
    }
  }
  return result;
}

/// Like sweep(), but stops at the first word that satisfies the comparison. The function is out of line, with one copy
/// for each type, because it has many callers.
template <class Set>
PGAS_OUTLINE sweep_result find_first(Set set, set_part part) {
  return sweep(set, part, 0, [](std::size_t) { return false; });
}
template <class Set>
PGAS_OUTLINE sweep_result count_all(Set set, set_part part) {
  return sweep(set, part, 0, [](std::size_t) { return true; });
}

/// Records the first word that does not satisfy the comparison, for a wait on a set that fails or answers a question.
template <class T, class Values>
PGAS_COLD void report_set_wait(const context* copy, wait_set<T, Values> set, wait_state now) {
  const context& ctx = *copy;
  for (std::size_t i = 0; i < set.count; ++i) {
    if (!set.wanted(i)) continue;
    const T seen = load_relaxed(set.ivars + i);
    if (set.holds(i, seen)) continue;
    report(ctx, wait_record(now, operation::wait, -1, ctx.offset(set.ivars + i), set.op, set.values.at(i), seen));
    return;
  }
  report(ctx, wait_record(now, operation::wait, -1, ctx.offset(set.ivars), set.op, T{}, T{}));
}

/// Waits for every word of a part of the set. @return False if a wait failed and the thread must end.
template <class T, class Values>
[[nodiscard]] PGAS_OUTLINE bool await_all(context ctx, wait_set<T, Values> set, set_part part) {
  T seen{};
  for (std::size_t i = part.first; i < set.count; i += part.step) {
    if (set.wanted(i) && !wait_word(ctx, set.ivars + i, set.op, set.values.at(i), seen)) return false;
  }
  return true;
}

/// The answer of a set operation: one satisfied word, or a list of all satisfied words. The search for one word starts
/// at a varying position, because a program that does not exclude words must eventually see all words (OpenSHMEM 1.5).
struct take_one {
  static constexpr std::size_t none = no_index;
  [[nodiscard]] PGAS_FN static std::size_t begin_of(std::size_t count) { return anywhere_below(count); }
  template <class Set>
  [[nodiscard]] PGAS_FN std::size_t answer(const Set& set, std::size_t begin, std::size_t& wanted) const {
    const sweep_result now = sweep(set, {}, begin, [](std::size_t) { return false; });
    wanted = now.wanted;
    return now.first;
  }
};
struct take_all {
  static constexpr std::size_t none = 0;
  std::size_t* indices;
  [[nodiscard]] PGAS_FN static std::size_t begin_of(std::size_t) { return 0; }
  template <class Set>
  [[nodiscard]] PGAS_FN std::size_t answer(const Set& set, std::size_t begin, std::size_t& wanted) const {
    std::size_t found = 0;
    const sweep_result now = sweep(set, {}, begin, [&](std::size_t i) {
      indices[found++] = i;
      return true;
    });
    wanted = now.wanted;
    return found;
  }
};

/// The answer of `take` for the current values of the words. The calling thread tests all words. The function acquires.
template <class Set, class Take>
[[nodiscard]] PGAS_OUTLINE std::size_t read_once(Set set, Take take) {
  std::size_t wanted = 0;
  const std::size_t answer = take.answer(set, take.begin_of(set.count), wanted);
  fence_acquire();
  return answer;
}

/// The number of sweeps over `words` words that take as long as the polls of one word between two checks.
[[nodiscard]] PGAS_FN std::uint32_t sweeps_between_checks(std::size_t words) {
  const std::size_t loads = words / words_in_flight + 1;  // loads one after another
  return loads < polls_between_checks ? polls_between_checks / static_cast<std::uint32_t>(loads) : 1;
}

/// Waits, by the calling thread only, until a word of the set satisfies the comparison. The function acquires. @return
/// The answer of `take`; Take::none if the set has no words; gave_up if the wait fails.
template <class Set, class Take>
[[nodiscard]] PGAS_OUTLINE std::size_t await_any(context ctx, Set set, Take take) {
  const std::size_t begin = take.begin_of(set.count);
  std::size_t answer = Take::none;
  const failure why = poll_until(
      ctx.control_,
      [&] {
        std::size_t wanted = 0;
        answer = take.answer(set, begin, wanted);
        return answer != Take::none || wanted == 0;
      },
      [&](wait_state now) { report_set_wait(ctx.copy_, set, now); }, sweeps_between_checks(set.count));
  if (why != failure::none) PGAS_UNLIKELY
    return gave_up;
  fence_acquire();
  return answer;
}

/// Like await_any(), for a group and a long set. Each thread sweeps its part until the group votes that a word is
/// satisfied. Then one thread takes the answer. A single thread would take one load latency for every eight words.
template <class Set, class Take, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::size_t await_any_by_group(const context& ctx, const G& g, const Set& set, const Take& take) {
  constexpr std::size_t again = gave_up - 1;
  const bool leads = g.thread_rank() == 0;
  const std::uint32_t between = sweeps_between_checks(set.count / static_cast<std::uint32_t>(g.size()));
  wait_state now{0, failure::none};
  for (std::uint32_t polls = 1;; ++polls) {
    const sweep_result mine = find_first(set, part_of(g));
    if (polls % between == 0) {
      if (leads) now = check_wait(ctx.control_, now.since);
      if (now.why == failure::asked) PGAS_UNLIKELY {
        report_set_wait(ctx.copy_, set, now);
        now.why = failure::none;
      }
      if (!any(g, leads)) PGAS_UNLIKELY
        end_thread();
    }
    if (polls == 1 && !any(g, mine.wanted != 0)) return Take::none;
    if (!any(g, mine.satisfied != 0 || now.why != failure::none)) continue;
    std::size_t answer = again;
    if (leads) {
      const std::size_t taken = read_once(set, take);
      if (taken != Take::none) {
        answer = taken;
      } else if (now.why != failure::none) {
        report_set_wait(ctx.copy_, set, now);
        answer = gave_up;
      }
    }
    answer = broadcast(g, answer);
    if (answer != again) return answer;
  }
}

/// The wait by one thread or by the group, depending on the size of the set. Ends the group if the wait fails.
template <class Set, class Take, PGAS_IS(group) G>
PGAS_FN std::size_t await_any_or_end(const context& ctx, const G& g, const Set& set, const Take& take) {
  std::size_t answer = 0;
  if constexpr (single<G>) {
    answer = await_any(ctx, set, take);
  } else if (set.count > words_in_flight) {
    answer = await_any_by_group(ctx, g, set, take);
  } else {
    if (g.thread_rank() == 0) answer = await_any(ctx, set, take);
    answer = broadcast(g, answer);
  }
  if (answer == gave_up) PGAS_UNLIKELY
    end_thread();
  return answer;
}

/// Whether all words of the set satisfy the comparison now; each thread of the group loads its part.
template <class Set, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool all_hold(const G& g, const Set& set) {
  const sweep_result mine = count_all(set, part_of(g));
  fence_acquire();
  return !any(g, mine.satisfied != mine.wanted);
}

/// Reads the words once and passes the values to `take`. All threads of the group get the result of `take`.
template <class Set, class Take, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::size_t find_any(const G& g, const Set& set, const Take& take) {
  return broadcast(g, g.thread_rank() == 0 ? read_once(set, take) : 0);
}

}  // namespace pgas::detail
