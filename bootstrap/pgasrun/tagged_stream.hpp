/// @file
/// Passes on what one PE prints, line by line, with the PE's number in front.
#pragma once

#include <string>

#include "bootstrap/common/unique_fd.hpp"

namespace pgas::boot {

class tagged_stream {
 public:
  /// @param from non-blocking from now on; @param to descriptor to print to.
  tagged_stream(int rank, unique_fd from, int to);

  [[nodiscard]] int fd() const { return from_.get(); }
  /// Passes on what is there. False when the stream has ended; an unfinished last line is passed on then.
  [[nodiscard]] bool pump();

 private:
  void print_lines(bool all);

  std::string tag_;
  unique_fd from_;
  int to_;
  std::string pending_;
};

}  // namespace pgas::boot
