/// @file
/// The files of the PEs of a job as one time line.
#pragma once

#include <string>
#include <vector>

#include "common/trace/document.hpp"

namespace pgas_trace {

struct joined {
  pgas::trace::document all;         ///< the PEs by number
  std::vector<std::string> remarks;  ///< sentences on what is missing, lost or not certain
};

/// *Errors* std::runtime_error for a file that can't be read, is no time line, is of another job than the first, or has
/// a PE that another one has, naming it.
[[nodiscard]] joined join_files(const std::vector<std::string>& paths);

/// Makes the file, or replaces it.
/// *Errors* std::runtime_error, naming it.
void write_file(const std::string& path, const std::string& content);

}  // namespace pgas_trace
