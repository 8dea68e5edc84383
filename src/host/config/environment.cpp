#include "host/config/environment.hpp"

#include <unistd.h>

namespace pgas::config_detail {

environment::environment(std::initializer_list<std::pair<const std::string, std::string>> variables)
    : variables_(variables) {}

environment environment::of_process() {
  environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) result.variables_.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

std::optional<std::string_view> environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace pgas::config_detail
