/// @file
/// Joins the files of the PEs of a job to one trace.
#pragma once

#include <string>
#include <vector>

#include "common/trace/document.hpp"

namespace pgas_trace {

struct merged_trace {
  pgas::trace::document all;         ///< the PEs by number
  std::vector<std::string> remarks;  ///< sentences about events that are missing, lost or uncertain
};

/// *Errors* std::runtime_error with the name of a file if the file cannot be read, is not a trace, belongs to another
/// job than the first file, or contains the same PE as another file.
[[nodiscard]] merged_trace merge_files(const std::vector<std::string>& paths);

}  // namespace pgas_trace
