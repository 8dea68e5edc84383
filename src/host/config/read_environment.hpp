/// @file
/// Reads a config from the environment: options, aliases, previous spellings, and remarks for the user. Only the files
/// in this directory read the environment of the process.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pgas/config.hpp"

namespace pgas::config_detail {

/// A snapshot of the names and values of environment variables.
class environment {
 public:
  environment() = default;
  /// Variables that a test sets.
  environment(std::initializer_list<std::pair<const std::string, std::string>> variables);
  /// The current variables of this process.
  [[nodiscard]] static environment of_process();

  /// The value of `name`. A variable with an empty value counts as not set.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;

  /// All variables, sorted by name.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const noexcept { return variables_; }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

/// A message to the user that is not an error.
struct remark {
  log_level level;
  std::string text;
};

/// A config and the source of each value.
struct reading {
  config settings;
  std::map<std::string_view, std::string> origin;  ///< the variable that set an option; no entry for a default
  std::vector<remark> remarks;
};

/// Applies `variables` to the defaults. `PGAS_*` variables come first, then the aliases of options that still have
/// their default. A previous spelling also applies, and adds a remark.
/// *Errors* code::config_value with the variable, the value and the allowed values, or with two variables that
/// contradict each other.
[[nodiscard]] reading read(const environment& variables);

/// The value of a variable of another library, such as CUDA. pgas reads the variables of other libraries and does not
/// set them. Empty if the variable is empty or not set.
[[nodiscard]] std::optional<std::string> setting_of_others(const char* name);

/// The word of `words` that is nearest to `word`. Empty if no word is similar enough to be the word that the user has
/// meant.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace pgas::config_detail
