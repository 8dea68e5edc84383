/// @file
/// SIGUSR1 as a descriptor that a loop can watch, for PGAS_SIGUSR1.
#pragma once

#include "common/unique_fd.hpp"
#include "host/log/logger.hpp"

namespace pgas::detail {

/// While objects of this class exist, SIGUSR1 makes their descriptors readable. The handler does nothing else. It stays
/// installed after the last object, so that a late signal does not end the process.
class signal_bell {
 public:
  /// If the program has its own handler, that handler stays, and the object has no descriptor. The constructor logs
  /// this case.
  explicit signal_bell(log::logger& log);
  ~signal_bell();
  signal_bell(const signal_bell&) = delete;
  signal_bell& operator=(const signal_bell&) = delete;

  /// The descriptor; -1 if the object has no descriptor.
  [[nodiscard]] int fd() const noexcept { return bell_.get(); }
  /// Makes the descriptor unreadable until the next signal.
  void silence() noexcept;

 private:
  unique_fd bell_;
};

}  // namespace pgas::detail
