/// @file
/// The text about a job, in lines of at most 100 columns, and the host stacks of a process.
#pragma once

#include <string>

#include "host/watch/find_root.hpp"
#include "tools/pgas-why/ask_job.hpp"

namespace pgas_why {

/// The complete report: the root first, then each PE. @param colour whether to use the colours of a terminal
[[nodiscard]] std::string report(const job& jobs, const std::vector<pe_state>& pes, const root& found, bool colour);

/// The stacks of all threads of process `pid`, as `eu-stack` or `gdb` prints them. If neither program can print the
/// stacks, a sentence with the reason.
[[nodiscard]] std::string stacks_of(pid_t pid);

}  // namespace pgas_why
