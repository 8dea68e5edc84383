/// @file
/// The root of the waits of a job: the PEs for which all other PEs wait, directly or indirectly. Used by pgas-why, and
/// by a PE that warns of a wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/watch/told_waits.hpp"

namespace pgas::detail::told {

/// The root of the waits, and its kind.
struct root {
  enum class kind {
    nobody_waits,  ///< no PE waits
    crowded,       ///< two groups of threads are in one collective of a team, so other findings are unreliable
    unseen,        ///< no wait is found, but PEs are in calls whose kernels have not answered
    gone,          ///< a process that has ended
    stopped,       ///< a process that is stopped, for example by a debugger
    silent,        ///< a process that does not answer
    elsewhere,     ///< a PE that does not wait in pgas: it computes, or waits in other code
    cycle,         ///< PEs that wait for one another
    own_wait,      ///< a PE that waits for a word that no remaining PE can write
  };
  kind what = kind::nobody_waits;
  std::vector<int> pes;  ///< for a cycle, in the order of the cycle
};

/// A wait can name PEs. A chain of names from any PE ends at PEs whose waits name no PE, or in a cycle. The root is the
/// end whose kind comes first in root::kind, because this end explains most of the waits.
/// @param from a PE: considers only the ends of chains that start at this PE; -1: considers the ends of all chains
[[nodiscard]] root find_root(const std::vector<pe_state>& pes, int from = -1);

/// Whether a second question can give another result. This is the case if no PE waits or the root is in a call, because
/// a kernel that waits has perhaps not run since the question.
[[nodiscard]] bool may_be_late(const root& found, const std::vector<pe_state>& pes);

/// A sentence about the root and its state.
[[nodiscard]] std::string say(const root& found, const std::vector<pe_state>& pes);

/// A sentence about the root of the waits of PE `pe`. Empty if the answers do not show the root.
/// @param introduction the list of PEs
/// @param answers documents of the PEs
[[nodiscard]] std::string root_of(int pe, std::string_view introduction, const std::vector<std::string>& answers);

}  // namespace pgas::detail::told
