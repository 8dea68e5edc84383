/// @file
/// The tables of options and of error codes as Markdown for docs/.
#pragma once

#include <string>

namespace pgas::info {

/// docs/configuration.md.
[[nodiscard]] std::string config_markdown();
/// Error codes with cause and fix.
[[nodiscard]] std::string errors_text();
/// docs/errors.md.
[[nodiscard]] std::string errors_markdown();

}  // namespace pgas::info
