/// @file
/// Output to a standard descriptor without waiting for its reader: a slow or stopped reader must not delay signals,
/// time limits and worlds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/net/event_loop.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

class output_writer {
 public:
  /// @param to descriptor to print to; @param drained called by the loop when full() has ended.
  output_writer(event_loop& loop, int to, std::function<void()> drained);

  void print(std::string_view text);
  /// Writes as much as the reader has room for.
  void flush();

  /// Output waits for the reader, so no more should be collected.
  [[nodiscard]] bool full() const { return !waiting_.empty(); }
  /// The reader is gone; output is lost.
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] int fd() const { return to_; }

 private:
  event_loop& loop_;
  int to_;
  std::function<void()> drained_;
  std::string waiting_;
  bool broken_ = false;
};

/// Passes on the output of one PE, line by line, with the PE's number in front.
class tagged_stream {
 public:
  /// @param from non-blocking from now on.
  tagged_stream(int rank, unique_fd from, output_writer& to);

  [[nodiscard]] int fd() const { return from_.get(); }
  /// The reader of the output is slow; no more should be passed on for now.
  [[nodiscard]] bool held_up() const { return to_.full(); }
  /// Passes on some output. False when the stream has ended, after its unfinished last line, or when the reader is
  /// gone.
  [[nodiscard]] bool pump();

 private:
  void print_lines(bool all);

  std::string tag_;
  unique_fd from_;
  output_writer& to_;
  std::string pending_;
};

}  // namespace pgas::boot
