/// @file
/// What a test counts to see that nothing was left behind.
#pragma once

#include <cstddef>
#include <iosfwd>

namespace pgas::unit_test {

/// What a process holds of the system's.
struct holdings {
  std::size_t fds = 0;
  std::size_t mappings = 0;  ///< of shared memory
  std::size_t threads = 0;
  std::size_t shm_files = 0;
  bool operator==(const holdings&) const = default;
};
holdings count_holdings();
/// count_holdings(), once it has been the same for 100 ms, or after two seconds: other threads may still be closing.
holdings settled_holdings();
/// count_holdings(), once it is as expected or has been otherwise for two seconds.
holdings settle_at(const holdings& expected);
std::ostream& operator<<(std::ostream& out, const holdings& h);

}  // namespace pgas::unit_test
