/// @file
/// The text about a job, in lines of at most 100 columns, and the host stacks of a process.
#pragma once

#include <string>

#include "host/watch/find_root.hpp"
#include "tools/pgas-why/ask_job.hpp"

namespace pgas_why {

/// All of it: the root first, then each PE. @param colour for a terminal
[[nodiscard]] std::string report(const job& of, const std::vector<pe_state>& pes, const root& found, bool colour);

/// What `eu-stack` or `gdb` prints of all threads of process `pid`; a sentence that says why there is none.
[[nodiscard]] std::string stacks_of(pid_t pid);

}  // namespace pgas_why
