/// @file
/// Writes output to a standard descriptor without waiting for its reader, because a slow or stopped reader must not
/// delay signals, time limits and worlds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/net/event_loop.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

class output_writer {
 public:
  /// @param to the descriptor to write to; @param drained called by the loop when full() becomes false
  output_writer(event_loop& loop, int to, std::function<void()> drained);

  void print(std::string_view text);
  /// Writes as much as the descriptor accepts.
  void flush();

  /// Whether output waits for the reader. While output waits, no more output should be collected.
  [[nodiscard]] bool full() const { return !waiting_.empty(); }
  /// Whether the reader is gone. Without a reader, output is lost.
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] int fd() const { return to_; }

 private:
  event_loop& loop_;
  int to_;
  std::function<void()> drained_;
  std::string waiting_;
  bool broken_ = false;
};

/// Passes on the output of one PE, line by line, with the PE's number before each line.
class tagged_stream {
 public:
  /// @param from is made non-blocking
  tagged_stream(int rank, unique_fd from, output_writer& to);

  [[nodiscard]] int fd() const { return from_.get(); }
  /// Whether the reader of the output is slow. While the reader is slow, no more output should be passed on.
  [[nodiscard]] bool held_up() const { return to_.full(); }
  /// Passes on some output. False if the stream has ended and its last line has been passed on, or if the reader is
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
