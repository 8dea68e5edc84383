#include "host/config/config_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "host/config/option_value.hpp"
#include "pgas/version.h"

namespace pgas::config_detail {
namespace {

std::vector<std::string_view> alias_names(const option& row) {
  std::vector<std::string_view> names;
  for (const config_detail::alias& other : row.aliases) names.push_back(other.name);
  return names;
}

/// Whether a variable requests the text. Any value that does not mean "no" counts as "yes". With several prefixes, the
/// first variable that is set decides.
bool asked_for(std::string_view what, std::initializer_list<std::string_view> prefixes, const environment& variables) {
  constexpr std::array<std::string_view, 5> no{"0", "n", "no", "f", "false"};
  for (const std::string_view prefix : prefixes)
    if (const auto value = variables.get(fmt::format("{}_{}", prefix, what)))
      return std::none_of(no.begin(), no.end(), [&](std::string_view word) { return same_word(word, *value); });
  return false;
}

}  // namespace

std::string default_of(const option& row) {
  static const config defaults;
  const std::string text = print(defaults, row);
  return text.empty() ? "(empty)" : text;
}

std::string config_text(const reading& now) {
  std::string text;
  for (const option& row : options()) {
    const std::string value = print(now.settings, row);
    const auto origin = now.origin.find(row.name);
    text += fmt::format("{}={}", row.name, value);
    if (origin == now.origin.end())
      text += "  (default)";
    else if (origin->second != row.name)
      text += fmt::format("  (from {})", origin->second);
    text += fmt::format("\n    {}\n    Values: {}. Default: {}.", row.help, allowed(row), default_of(row));
    if (!row.aliases.empty()) text += fmt::format(" Also read: {}.", fmt::join(alias_names(row), ", "));
    text += "\n\n";
  }
  return text;
}

std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes,
                         const environment& variables) {
  std::string text;
  if (asked_for("VERSION", prefixes, variables)) text = fmt::format("pgas {}, {}\n", PGAS_VERSION_TEXT, interface);
  if (asked_for("INFO", prefixes, variables)) {
    for (const other_variable& v : startup_text_variables()) text += fmt::format("{}\n    {}\n\n", v.name, v.help);
    text += config_text(read(variables));
  }
  return text;
}

std::string startup_text(std::string_view interface, std::initializer_list<std::string_view> prefixes) {
  return startup_text(interface, prefixes, environment::of_process());
}

}  // namespace pgas::config_detail
