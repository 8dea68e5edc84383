/// @file
/// The options as text for a terminal: `pgas-info --config`, and the output of SHMEM_INFO and similar variables at the
/// start.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "host/config/option_table.hpp"
#include "host/config/read_environment.hpp"

namespace pgas::config_detail {

/// Options with their values now and where each comes from.
[[nodiscard]] std::string config_text(const reading& now);

/// The default of `row` as text.
[[nodiscard]] std::string default_of(const option& row);

/// The text that a program in C prints as it begins: the version where PREFIX_VERSION is set, the options where
/// PREFIX_INFO is, of the first prefix that is set. Empty for nothing. @param interface in words, such as
/// "OpenSHMEM 1.5". *Errors* config_value.
[[nodiscard]] std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes,
                                       const environment& variables);

/// The same for the environment of this process.
[[nodiscard]] std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes);

}  // namespace pgas::config_detail
