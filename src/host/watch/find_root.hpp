/// @file
/// The root of the waits of a job: the PEs for which, in the end, all others wait. Used by pgas-why, and by a PE that
/// warns of a wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/watch/told_waits.hpp"

namespace pgas::detail::told {

/// What the root of the waits is.
struct root {
  enum class kind {
    nobody_waits,  ///< no PE waits for anything
    crowded,       ///< two groups of threads in one collective of a team: nothing else that is seen means much
    unseen,        ///< no wait is seen, but PEs are in calls whose kernels have not answered
    gone,          ///< a process that has ended
    stopped,       ///< a process that is stopped, as by a debugger
    silent,        ///< one that does not answer
    elsewhere,     ///< one that does not wait in pgas: it computes, or is in a call of something else
    cycle,         ///< PEs that wait for one another
    own_wait,      ///< a PE that waits for a word, while nobody is left to write it
  };
  kind what = kind::nobody_waits;
  std::vector<int> pes;  ///< of a cycle in its order
};

/// A wait may name PEs. Following the names from any PE ends at PEs whose waits name nobody, or in a cycle. The root is
/// the end that explains most: the first in the order of root::kind.
/// @param from of one PE: only those that it waits for; -1: of all
[[nodiscard]] root find_root(const std::vector<pe_state>& pes, int from = -1);

/// Whether another question may find something else: a kernel that had no processor to answer, where no PE waits or the
/// root is in a call.
[[nodiscard]] bool may_be_late(const root& found, const std::vector<pe_state>& pes);

/// A sentence that names the root and says what it does.
[[nodiscard]] std::string say(const root& found, const std::vector<pe_state>& pes);

/// The sentence on the PE for which, in the end, PE `pe` waits; empty where the answers do not tell.
/// @param introduction @param answers documents of the PEs
[[nodiscard]] std::string root_of(int pe, std::string_view introduction, const std::vector<std::string>& answers);

}  // namespace pgas::detail::told
