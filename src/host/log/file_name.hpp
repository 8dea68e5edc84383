/// @file
/// File names from settings that many processes share: PGAS_LOG_FILE, PGAS_TRACE. The placeholders in the name give
/// each process a separate file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pgas::log {

/// The name of this host as the system reports it.
/// *On return* localhost if the system reports no name.
[[nodiscard]] std::string host_name();

/// Replaces the placeholders of the pattern:
///
/// * `%h` the host, `%p` the process, `%%` a percent sign;
/// * `%r` the PE, if it is given.
///
/// If no PE is given, `%r` is not changed. Other letters after `%` are not changed either.
[[nodiscard]] std::string file_name(std::string_view pattern, std::optional<int> pe = std::nullopt);

/// Whether the processes of one host get different names: the pattern contains `%p` or `%r`.
[[nodiscard]] bool names_process(std::string_view pattern);

}  // namespace pgas::log
