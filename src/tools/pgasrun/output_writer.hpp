/// @file
/// One of our standard descriptors, printed to without waiting for whoever reads it: a reader that is slow or has
/// stopped must not keep signals, time limits and hub_registry waiting.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/net/event_loop.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

class output_writer {
 public:
  /// @param to descriptor to print to; @param drained called by the loop when full() has ended.
  output_writer(event_loop& loop, int to, std::function<void()> drained);

  void print(std::string_view text);
  /// Hands on what the reader has room for now.
  void flush();

  /// Some of what was printed waits for the reader, so no more should be collected.
  [[nodiscard]] bool full() const { return !waiting_.empty(); }
  /// Nobody reads it any more; what is printed is lost.
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] int fd() const { return to_; }

 private:
  event_loop& loop_;
  int to_;
  std::function<void()> drained_;
  std::string waiting_;
  bool broken_ = false;
};

}  // namespace pgas::boot
