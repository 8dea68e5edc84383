/// @file
/// Passes on what one PE prints, line by line, with the PE's number in front.
#pragma once

#include <string>

#include "common/unique_fd.hpp"
#include "src/tools/pgasrun/output_writer.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

class tagged_stream {
 public:
  /// @param from non-blocking from now on.
  tagged_stream(int rank, unique_fd from, output_writer& to);

  [[nodiscard]] int fd() const { return from_.get(); }
  /// Whoever reads our output sets the pace; no more should be passed on for now.
  [[nodiscard]] bool held_up() const { return to_.full(); }
  /// Passes on some of what is there. False when the stream has ended, an unfinished last line being passed on then, or
  /// when nobody reads our output any more.
  [[nodiscard]] bool pump();

 private:
  void print_lines(bool all);

  std::string tag_;
  unique_fd from_;
  output_writer& to_;
  std::string pending_;
};

}  // namespace pgas::boot
