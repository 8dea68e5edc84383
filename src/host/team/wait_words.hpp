/// @file
/// Waits of a PE in words. Used by find_root.hpp and by the text of pgas-why.
#pragma once

#include <string>

#include "host/team/told_waits.hpp"

namespace pgas::detail::told {

/// "8.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(long ms);
/// "the team of all PEs", "team 0.2 of PEs 0, 3": the third team that PE 0 has proposed.
[[nodiscard]] std::string name_of(const team& one);
/// What a PE does that does not wait, as far as it is known: "is in no call of this world since 8.2 s".
[[nodiscard]] std::string activity_of(const pe_state& of);
/// Where a wait is: "barrier in a kernel", "allocate", "fcollect of team 0.2 of PEs 0, 3".
[[nodiscard]] std::string place_of(const pe_state& of, const wait& one);
/// A wait in words: where, for whom, which word.
[[nodiscard]] std::string describe(const pe_state& of, const wait& one);

}  // namespace pgas::detail::told
