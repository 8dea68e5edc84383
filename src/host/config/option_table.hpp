/// @file
/// The table of options: one row for each field of pgas::config. Parsing, `pgas-info --config` and
/// docs/configuration.md are driven by it; a new option is a field, a row here and a regenerated document.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "pgas/config.hpp"

namespace pgas::config_detail {

/// Where the value goes; the alternative is also the type of the option.
using field = std::variant<bool config::*, int config::*, std::size_t config::*, std::chrono::milliseconds config::*,
                           std::string config::*, heap_kind config::*, handle_kind config::*, log_level config::*>;

/// A word and the word that it stands for here; `from == "*"` is any value not listed before.
struct translation {
  std::string_view from;
  std::string_view to;
};

/// A variable of NVSHMEM or OpenSHMEM that sets the same thing. Without translations its values are spelled as ours.
struct alias {
  std::string_view name;
  std::span<const translation> values = {};
  bool shmem_size = false;  ///< a size in their spelling, see parse_shmem_size(); less than the least is the least
};

/// One option.
struct option {
  std::string_view name;  ///< of the variable
  config_detail::field field;
  std::string_view help;
  std::string_view former = {};                    ///< the name before it was renamed; still read, with a warning
  std::span<const translation> former_words = {};  ///< choices before they were renamed; the same
  std::span<const alias> aliases = {};
  std::span<const std::string_view> choices = {};  ///< allowed words; for an enumeration, in the order of its values
  std::int64_t least = 0;                          ///< smallest allowed number, bytes or milliseconds
  std::int64_t most = INT64_MAX;                   ///< largest allowed
  bool power_of_two = false;                       ///< a size that is rounded up to a power of two
  bool secret = false;                             ///< the value is never printed
};

/// All options, grouped as the fields of pgas::config are.
[[nodiscard]] std::span<const option> options();

/// A variable that is no option.
struct other_variable {
  std::string_view name;
  std::string_view help;
};

/// Variables that pgasrun sets for its children.
[[nodiscard]] std::span<const other_variable> launcher_variables();
/// Variables of OpenSHMEM and NVSHMEM that make a program in C print its version or settings: see startup_text().
[[nodiscard]] std::span<const other_variable> startup_text_variables();

}  // namespace pgas::config_detail
