/// @file
/// A snapshot of the environment. No other file reads the environment of the process, and tests parse made-up
/// variables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pgas::config_detail {

/// Names and values of environment variables.
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

}  // namespace pgas::config_detail
