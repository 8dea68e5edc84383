/// @file
/// The text about a job, in lines of at most 100 columns, and the host stacks of a process.
#pragma once

#include <string>

#include "tools/pgas-why/ask_job.hpp"
#include "tools/pgas-why/diagnose.hpp"

namespace pgas_why {

/// "8.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(long ms);
/// What a PE does that does not wait, as far as it is known: "is in no call of this world since 8.2 s".
[[nodiscard]] std::string activity_of(const pe_state& of);
/// Where a wait is: "barrier in a kernel", "allocate".
[[nodiscard]] std::string place_of(const pe_state& of, const wait& one);
/// A wait in words: where, for whom, which word.
[[nodiscard]] std::string describe(const pe_state& of, const wait& one);

/// All of it: the root first, then each PE. @param colour for a terminal
[[nodiscard]] std::string report(const job& of, const std::vector<pe_state>& pes, const root& found, bool colour);

/// What `eu-stack` or `gdb` prints of all threads of process `pid`; a sentence that says why there is none.
[[nodiscard]] std::string stacks_of(pid_t pid);

}  // namespace pgas_why
