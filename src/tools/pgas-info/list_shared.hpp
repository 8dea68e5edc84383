/// @file
/// Asks the processes of this host which memory and timelines they share by tickets, and lists these objects.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace pgas_info {

/// The lines about `pid` in the list that list_exports() returns for one exporter. If `pid` is the exporter, these are
/// all lines. If `pid` is another process, these are the lines about the objects that `pid` has open.
[[nodiscard]] std::string lines_about(const std::string& list, pid_t pid);

/// The exports and imports of `pid`, or of every process. The text has one line for each object, and one line for each
/// process that has the object open. If an exporter does not answer this user, the text has a line with the reason.
/// *Errors* those of the system.
[[nodiscard]] std::string shared_text(const std::string& directory, std::optional<pid_t> pid);

}  // namespace pgas_info
