/// @file
/// The options as text for a terminal: `pgas-info --config`, and the text that a program prints at its start if
/// SHMEM_INFO or a similar variable is set.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "host/config/option_table.hpp"
#include "host/config/read_environment.hpp"

namespace pgas::config_detail {

/// The options, with their current values and the source of each value.
[[nodiscard]] std::string config_text(const reading& now);

/// The default value of `row` as text.
[[nodiscard]] std::string default_of(const option& row);

/// The text that a program in C prints at its start. For a prefix such as SHMEM, it contains the version if
/// PREFIX_VERSION is set, and the options if PREFIX_INFO is set. The first prefix for which one of these variables is
/// set decides. Empty if none of these variables is set.
/// @param interface the name of the interface, such as "OpenSHMEM 1.5"
/// *Errors* config_value.
[[nodiscard]] std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes,
                                       const environment& variables);

/// The same text, for the environment of this process.
[[nodiscard]] std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes);

}  // namespace pgas::config_detail
