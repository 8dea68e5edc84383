#include "host/watch/clock_comparison.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "common/process_identity.hpp"
#include "common/trace/recorder.hpp"
#include "host/exchange/control_group.hpp"

namespace pgas::detail {

namespace {

/// The properties that PEs with the same clock have in common: the boot of the machine and the time namespace.
struct clock_name {
  std::array<char, 96> text{};
};

clock_name name_of_clock() {
  clock_name result;
  const std::string boot = boot_id();
  if (boot.empty()) return {};
  // Old versions of Linux have no time namespaces, so the boot identifies the clock.
  (boot + " " + own_namespace("time")).copy(result.text.data(), result.text.size() - 1);
  return result;
}

struct exchanged {
  barrier_times times;
  clock_name clock;
  std::uint64_t job = 0;
};

}  // namespace

clock_difference difference(const barrier_times& mine, const barrier_times& of_first) {
  clock_difference found{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                         mine.left.back()};
  for (std::size_t i = 0; i < barrier_times::rounds; ++i) {
    found.low = std::max(found.low, of_first.come[i] - mine.left[i]);
    found.high = std::min(found.high, of_first.left[i] - mine.come[i]);
  }
  return found;
}

clock_difference difference(std::span<const clock_reading> readings) {
  clock_difference found{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                         readings.back().kernels};
  for (const clock_reading& reading : readings) {
    found.low = std::max(found.low, reading.before - reading.kernels);
    found.high = std::min(found.high, reading.after - reading.kernels);
  }
  // The two bounds of a clock that advances in steps can contradict each other by at most one step.
  if (found.low > found.high) std::swap(found.low, found.high);
  return found;
}

clock_comparison compare_clocks(const control_group& everyone) {
  exchanged mine;
  for (std::size_t i = 0; i < barrier_times::rounds; ++i) {
    mine.times.come[i] = trace::now_ns();
    everyone.barrier();
    mine.times.left[i] = trace::now_ns();
  }
  mine.clock = name_of_clock();
  mine.job = static_cast<std::uint64_t>(mine.times.come[0]) * 1'000'003 + static_cast<std::uint64_t>(::getpid());
  const exchanged first = gather_value(everyone, mine).front();
  clock_comparison found{difference(mine.times, first.times), first.job};
  if (mine.clock.text[0] != '\0' && mine.clock.text == first.clock.text) found.to_first.low = found.to_first.high = 0;
  return found;
}

clock_mapping::clock_mapping(const clock_difference& begin, std::int64_t last) noexcept : begin_(begin), end_(begin) {
  end_.at = last;
  if (begin.low == begin.high) return;
  const std::int64_t drift = (last - begin.at) / 2000;
  end_.low -= drift;
  end_.high += drift;
}

std::int64_t clock_mapping::mapped(std::int64_t time) const noexcept {
  const std::int64_t from = begin_.middle();
  const std::int64_t drift = end_.middle() - from;
  if (drift == 0 || end_.at <= begin_.at) return time + from;
  const double part = static_cast<double>(time - begin_.at) / static_cast<double>(end_.at - begin_.at);
  return time + from + static_cast<std::int64_t>(static_cast<double>(drift) * part);
}

std::int64_t clock_mapping::error() const noexcept { return std::max(begin_.error(), end_.error()); }

}  // namespace pgas::detail
