/// @file
/// The tables of options and of error codes as text for a terminal and as Markdown for docs/.
#pragma once

#include <string>

#include "host/config/read.hpp"

namespace pgas::info {

/// Options with their values now and where each comes from.
[[nodiscard]] std::string config_text(const config_detail::reading& now);
/// docs/configuration.md.
[[nodiscard]] std::string config_markdown();
/// Error codes with cause and fix.
[[nodiscard]] std::string errors_text();
/// docs/errors.md.
[[nodiscard]] std::string errors_markdown();

}  // namespace pgas::info
