/// @file
/// How threads poll: where a search over several words starts, and how threads of the host let other threads run.
#pragma once

#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/proxy_ring.hpp"

#if !defined(__CUDACC__)
#include <sys/prctl.h>
#endif

namespace pgas::detail {

#if !defined(__CUDACC__)
/// Decides when a polling thread yields. A yield costs a few hundred nanoseconds even if the core has no other thread,
/// and the thread does not poll during this time. After a yield that returns immediately, the next 1, 2, 4, ... yields
/// are skipped. If other threads have run during a yield, no yield is skipped, because this thread may be waiting for
/// those threads.
class yield_rhythm {
 public:
  /// Called at each opportunity to yield. @return Whether the thread should yield now.
  [[nodiscard]] bool due() noexcept {
    if (to_leave_out_ == 0) return true;
    --to_leave_out_;
    return false;
  }
  /// Called after a yield. @param absence_ns duration of the yield
  void came_back(std::uint64_t absence_ns) noexcept {
    if (absence_ns >= others_have_run_ns)
      apart_ = 0;
    else if (apart_ < most_apart)
      apart_ = apart_ == 0 ? 1 : 2 * apart_;
    to_leave_out_ = apart_;
  }

 private:
  /// A yield of at least this time includes two context switches, so another thread has run. A yield without another
  /// thread takes a third of this constant.
  static constexpr std::uint64_t others_have_run_ns = 1000;
  /// The largest number of skipped yields. A larger number has little benefit: a thread that becomes ready on the core
  /// waits until the skipped yields are over.
  static constexpr std::uint32_t most_apart = 64;

  std::uint32_t apart_ = 0;
  std::uint32_t to_leave_out_ = 0;
};

/// Detects whether the calling thread shares its core with a thread that computes. A yield to a thread that computes
/// lasts a whole time slice, which is several milliseconds. A sleeping thread gets the core back as soon as its timer
/// expires. After a yield of a whole time slice, the thread's waits therefore sleep instead of yielding, for some
/// period. The period doubles if another yield of a whole time slice follows soon after the period.
class core_sharing {
 public:
  [[nodiscard]] bool crowded(std::uint64_t now_ns) const noexcept { return now_ns < until_; }
  [[nodiscard]] bool crowded() const noexcept { return until_ != 0 && crowded(clock_ns()); }
  /// Called after a yield, with the times before and after the yield.
  void yielded(std::uint64_t before_ns, std::uint64_t after_ns) noexcept {
    if (after_ns - before_ns >= time_slice_ns) {
      period_ = period_ == 0 ? shortest_period_ns : period_ < longest_period_ns ? 2 * period_ : period_;
      until_ = after_ns + period_;
    } else if (until_ != 0 && after_ns - until_ >= (period_ < turn_ns ? turn_ns : period_)) {
      period_ = until_ = 0;
    }
  }

  [[nodiscard]] static core_sharing& of_this_thread() noexcept {
    thread_local core_sharing mine;
    return mine;
  }

 private:
  /// A yield of this length has waited for a thread that computes. The value is shorter than a time slice of Linux, and
  /// longer than the time that a polling thread needs for a message.
  static constexpr std::uint64_t time_slice_ns = 500'000;
  /// The first period is shorter than most time slices, so the period costs little if the core was shared only for a
  /// moment.
  static constexpr std::uint64_t shortest_period_ns = 1'000'000;
  /// If a thread computes on the same core, that thread runs within this time.
  static constexpr std::uint64_t turn_ns = 8'000'000;
  /// The yield at the end of a period costs a fiftieth of the period.
  static constexpr std::uint64_t longest_period_ns = 256'000'000;

  std::uint64_t period_ = 0;
  std::uint64_t until_ = 0;
};

/// The time that a waiting thread sleeps: a quarter of the time that it has waited. During a sleep of less than 20 us
/// no other thread gets the core. The sleep is short even if an event can wake the thread: in Linux with lazy
/// preemption, a thread that another core wakes may start only at the next tick, some milliseconds later. A thread that
/// a timer of its own core wakes starts immediately.
[[nodiscard]] constexpr std::uint64_t sleep_after(std::uint64_t waited_ns) noexcept {
  constexpr std::uint64_t shortest_ns = 20'000;
  constexpr std::uint64_t longest_ns = 1'000'000;
  const std::uint64_t quarter = waited_ns / 4;
  return quarter < shortest_ns ? shortest_ns : quarter > longest_ns ? longest_ns : quarter;
}

/// Minimizes the timer slack of the calling thread during the lifetime of this object. The default slack is 50 us.
class precise_timers {
 public:
  precise_timers() noexcept : before_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
    if (before_ > 1) ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  }
  ~precise_timers() {
    if (before_ > 1) ::prctl(PR_SET_TIMERSLACK, before_, 0, 0, 0);
  }
  precise_timers(const precise_timers&) = delete;
  precise_timers& operator=(const precise_timers&) = delete;

 private:
  const int before_;
};

/// Sleeps until the proxy has made progress, or for the time that sleep_after() returns. Another thread may write the
/// awaited word without waking this thread.
PGAS_COLD void sleep_waiting(const proxy_bell* bell, std::uint64_t waited_ns) {
  const std::uint64_t limit = sleep_after(waited_ns);
  const precise_timers precise;
  if (bell == nullptr) {
    const std::uint32_t nobody_changes = 0;
    return sleep_on(nobody_changes, 0, limit);
  }
  thread_local const proxy_bell* known = nullptr;
  thread_local std::uint32_t seen = 0;
  if (known == bell) sleep_until_rung(*bell, seen, limit);
  known = bell;
  seen = times_rung(*bell);
}
#endif

/// Lets other threads run after the calling thread has polled for a while. GPU threads continue. @param bell the bell
/// of the proxy that the thread may be waiting for; null: none @param waited_ns the time that the thread has waited
PGAS_FN void yield_now_and_then([[maybe_unused]] const proxy_bell* bell = nullptr,
                                [[maybe_unused]] std::uint64_t waited_ns = 0) {
#if !defined(__CUDACC__)
  core_sharing& core = core_sharing::of_this_thread();
  if (core.crowded()) return sleep_waiting(bell, waited_ns);
  thread_local yield_rhythm mine;
  if (!mine.due()) return;
  const std::uint64_t before = clock_ns();
  yield_waiting();
  const std::uint64_t after = clock_ns();
  mine.came_back(after - before);
  core.yielded(before, after);
#endif
}

// Each search for a word starts at a different word, so that every word is eventually found.

/// A number that this function has not returned to the calling thread before.
[[nodiscard]] PGAS_FN std::uint64_t new_number() {
#if defined(__CUDACC__)
  return static_cast<std::uint64_t>(clock64());
#else
  thread_local std::uint64_t last = 0;
  return ++last;
#endif
}

/// A number less than `count`; 0 if `count` is 0. The numbers are scattered, so every number is reached even if a
/// thread calls this function at regular intervals, or alternates between several searches.
[[nodiscard]] PGAS_FN std::size_t anywhere_below(std::size_t count) {
  std::uint64_t bits = new_number() * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 32) * 0xff51afd7ed558ccdu;
#if defined(__CUDACC__)
  return __umul64hi(bits, count);
#else
  return count == 0 ? 0 : (bits ^ bits >> 32) % count;
#endif
}

}  // namespace pgas::detail
