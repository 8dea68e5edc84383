/// @file
/// The table of options, with one row for each field of pgas::config. Parsing, `pgas-info --config` and
/// docs/configuration.md use the table. For a new option, add a field and a row, and print the page again.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "pgas/config.hpp"

namespace pgas::config_detail {

/// The field that gets the value. The alternative of the variant is also the type of the option.
using field = std::variant<bool config::*, int config::*, std::size_t config::*, std::chrono::milliseconds config::*,
                           std::string config::*, heap_kind config::*, handle_kind config::*, log_level config::*>;

/// A value of another library and its value in pgas. `from == "*"` matches any value that no earlier row lists.
struct translation {
  std::string_view from;
  std::string_view to;
};

/// A variable of NVSHMEM or OpenSHMEM that sets the same option. If the variable has no translations, its values are
/// spelled as in pgas.
struct alias {
  std::string_view name;
  std::span<const translation> values = {};
  bool shmem_size = false;  ///< parse_shmem_size() parses the size; the option's minimum replaces a smaller size
};

/// One option.
struct option {
  std::string_view name;  ///< the name of the variable
  config_detail::field field;
  std::string_view help;
  std::string_view former = {};  ///< the previous name, which is still read, with a warning
  /// The previous names of choices, which are still read, with a warning.
  std::span<const translation> former_words = {};
  std::span<const alias> aliases = {};
  /// The allowed words; for an enumeration, in the order of its values.
  std::span<const std::string_view> choices = {};
  std::int64_t least = 0;         ///< the smallest allowed value; sizes in bytes, times in milliseconds
  std::int64_t most = INT64_MAX;  ///< the largest allowed value, in the same units
  bool power_of_two = false;      ///< a size that is rounded up to a power of two
  bool secret = false;            ///< the value is never printed
};

/// All options, in the groups of the fields of pgas::config.
[[nodiscard]] std::span<const option> options();

/// A variable that is not an option.
struct other_variable {
  std::string_view name;
  std::string_view help;
};

/// Variables that pgasrun sets for its children.
[[nodiscard]] std::span<const other_variable> launcher_variables();
/// Variables of OpenSHMEM and NVSHMEM that make a program in C print its version or settings, see startup_text().
[[nodiscard]] std::span<const other_variable> startup_text_variables();

}  // namespace pgas::config_detail
