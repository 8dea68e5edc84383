/// @file
/// SIGUSR1 as a descriptor that a loop can watch, for PGAS_SIGUSR1.
#pragma once

#include "common/unique_fd.hpp"
#include "host/log/logger.hpp"

namespace pgas::detail {

/// While such objects live, SIGUSR1 makes the descriptors of all of them readable. The handler does nothing else, and
/// stays when they have ended: a late signal shall not end the process.
class signal_bell {
 public:
  /// If the program has its own handler, that handler stays, and there is no descriptor; this is logged.
  explicit signal_bell(log::logger& log);
  ~signal_bell();
  signal_bell(const signal_bell&) = delete;
  signal_bell& operator=(const signal_bell&) = delete;

  /// -1: none.
  [[nodiscard]] int fd() const noexcept { return bell_.get(); }
  /// Makes it unreadable until the next signal.
  void silence() noexcept;

 private:
  unique_fd bell_;
};

}  // namespace pgas::detail
