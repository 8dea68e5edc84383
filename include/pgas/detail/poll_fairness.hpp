/// @file
/// How threads poll: where a search of several words starts, and how often threads of the host yield.
#pragma once

#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

#if !defined(__CUDACC__)
/// The yields of a polling thread. A yield costs a few hundred nanoseconds even where the core has no other thread, and
/// the thread polls nothing meanwhile: after one that returns at once, the next 1, 2, 4, ... are skipped. Where other
/// threads have run, none is skipped: the thread may be waiting for them.
class yield_rhythm {
 public:
  /// A chance; whether it is to be taken.
  [[nodiscard]] bool due() noexcept {
    if (to_leave_out_ == 0) return true;
    --to_leave_out_;
    return false;
  }
  /// It was, and the thread was away for so long.
  void came_back(std::uint64_t absence_ns) noexcept {
    if (absence_ns >= others_have_run_ns)
      apart_ = 0;
    else if (apart_ < most_apart)
      apart_ = apart_ == 0 ? 1 : 2 * apart_;
    to_leave_out_ = apart_;
  }

 private:
  /// Two switches of threads take longer, a yield to nobody a third of it.
  static constexpr std::uint64_t others_have_run_ns = 1000;
  /// More gains little, and a thread that starts to want the core waits for it.
  static constexpr std::uint32_t most_apart = 64;

  std::uint32_t apart_ = 0;
  std::uint32_t to_leave_out_ = 0;
};
#endif

/// Lets other threads run, where the calling thread has polled for a while. GPU threads go on.
PGAS_FN void yield_now_and_then() {
#if !defined(__CUDACC__)
  thread_local yield_rhythm mine;
  if (!mine.due()) return;
  const std::uint64_t before = clock_ns();
  yield_waiting();
  mine.came_back(clock_ns() - before);
#endif
}

// A search starts at another word each time, so that none is starved.

/// A number that the calling thread has not had before.
[[nodiscard]] PGAS_FN std::uint64_t new_number() {
#if defined(__CUDACC__)
  return static_cast<std::uint64_t>(clock64());
#else
  thread_local std::uint64_t last = 0;
  return ++last;
#endif
}

/// A number below `count`; 0 where that is 0. Scattered, so that calls at a regular pace, or of several searches in
/// turn, reach every number as well.
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
