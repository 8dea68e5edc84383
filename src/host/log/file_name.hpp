/// @file
/// Names of files that settings give for many processes at once: PGAS_LOG_FILE, PGAS_TRACE. Without such places in them
/// all processes would write to the same file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pgas::log {

/// This host's name, as the system has it.
/// *On return* localhost, where it has none.
[[nodiscard]] std::string host_name();

/// The pattern with its places filled in:
///
/// * `%h` the host, `%p` the process, `%%` a percent sign;
/// * `%r` the PE, where it is given. Where it is not, and for any other letter, the two characters stay as they are.
[[nodiscard]] std::string file_name(std::string_view pattern, std::optional<int> pe = std::nullopt);

/// Whether processes of one host have names of their own: `%p` or `%r` is in the pattern.
[[nodiscard]] bool names_process(std::string_view pattern);

}  // namespace pgas::log
