/// @file
/// Lists the memory and timelines that the processes of this host share by tickets, by asking these processes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pgas_info {

/// The sockets of exporters that this process can see: those in the abstract namespace, and those in `directory` where
/// it is not empty.
[[nodiscard]] std::vector<std::string> exporter_sockets(const std::string& directory);

/// The lines of one exporter's list, as list_exports() gives it, that concern `pid`: all where it is the exporter, else
/// what it has open.
[[nodiscard]] std::string lines_about(const std::string& list, pid_t pid);

/// The exports and imports of `pid`, or of every process: a line for each object and for each process that has it
/// open. An exporter that does not answer this user is a line with the reason. *Errors* those of the system.
[[nodiscard]] std::string shared_text(const std::string& directory, std::optional<pid_t> pid);

}  // namespace pgas_info
