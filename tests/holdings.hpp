/// @file
/// Counts the resources of a process, so that a test can check that none are left.
#pragma once

#include <cstddef>
#include <iosfwd>

namespace pgas::unit_test {

/// The resources of the operating system that a process holds.
struct holdings {
  std::size_t fds = 0;
  std::size_t mappings = 0;  ///< mappings of shared memory
  std::size_t threads = 0;
  std::size_t shm_files = 0;
  bool operator==(const holdings&) const = default;
};
holdings count_holdings();
/// Returns count_holdings() after it has not changed for 100 ms, or after two seconds, because other threads may still
/// be closing resources.
holdings settled_holdings();
/// Returns count_holdings() when it is equal to `expected`, or after two seconds. A smaller number of threads counts as
/// the expected number.
holdings settle_at(const holdings& expected);
std::ostream& operator<<(std::ostream& out, const holdings& h);

}  // namespace pgas::unit_test
