/// @file
/// From the environment to a config: options, aliases, former spellings, and remarks for the user. No other room reads
/// the environment of the process.
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
  /// Made-up variables, for tests.
  environment(std::initializer_list<std::pair<const std::string, std::string>> variables);
  /// The variables of this process, now.
  [[nodiscard]] static environment of_process();

  /// The value of `name`. A variable set to the empty string counts as not set.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;

  /// All variables in order of their names.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const noexcept { return variables_; }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

/// Something to tell the user that is not an error.
struct remark {
  log_level level;
  std::string text;
};

/// A config and where it comes from.
struct reading {
  config settings;
  std::map<std::string_view, std::string> origin;  ///< option → the variable that set it; absent: the default
  std::vector<remark> remarks;
};

/// Applies `variables` to the defaults: `PGAS_*` first, then the aliases of options that are still at their default. A
/// former spelling applies as well and leaves a remark.
/// *Errors* code::config_value naming variable, value and the allowed values; or two spellings that contradict.
[[nodiscard]] reading read(const environment& variables);

/// The value of a variable that is another library's, such as CUDA's, and is only looked at; none if empty or not set.
[[nodiscard]] std::optional<std::string> setting_of_others(const char* name);

/// The word of `words` nearest to `word`, or empty if none is near enough to be a likely typing error.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace pgas::config_detail
