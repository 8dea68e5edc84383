#include "documents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

#include "host/config/table.hpp"
#include "pgas/error.hpp"

namespace pgas::info {
namespace {

using config_detail::option;

std::vector<std::string_view> alias_names(const option& row) {
  std::vector<std::string_view> names;
  for (const config_detail::alias& other : row.aliases) names.push_back(other.name);
  return names;
}

std::string default_of(const option& row) {
  static const config defaults;
  const std::string text = config_detail::print(defaults, row);
  return text.empty() ? "(empty)" : text;
}

}  // namespace

std::string config_text(const config_detail::reading& now) {
  std::string text;
  for (const option& row : config_detail::options()) {
    const std::string value = config_detail::print(now.settings, row);
    const auto origin = now.origin.find(row.name);
    fmt::format_to(std::back_inserter(text), "{}={}", row.name, value);
    if (origin == now.origin.end())
      text += "  (default)";
    else if (origin->second != row.name)
      fmt::format_to(std::back_inserter(text), "  (from {})", origin->second);
    fmt::format_to(std::back_inserter(text), "\n    {}\n    Values: {}. Default: {}.", row.help,
                   config_detail::allowed(row), default_of(row));
    if (!row.aliases.empty())
      fmt::format_to(std::back_inserter(text), " Also read: {}.", fmt::join(alias_names(row), ", "));
    text += "\n\n";
  }
  return text;
}

std::string config_markdown() {
  std::string text =
      "# Configuration\n"
      "\n"
      "<!-- Printed by `pgas-info --config --markdown` from src/host/config/table.cpp; change it there. -->\n"
      "\n"
      "Every setting is a field of `pgas::config` and a variable of the environment. A value that its option does not\n"
      "allow is an error that names the variable, the value and what is allowed. An unknown `PGAS_*` is ignored with "
      "a\n"
      "warning that names the nearest option. The variables of NVSHMEM and OpenSHMEM listed as \"also read\" apply "
      "where\n"
      "the option itself is not set. `pgas-info --config` shows the values now and where each comes from.\n"
      "\n";
  for (const option& row : config_detail::options()) {
    fmt::format_to(std::back_inserter(text), "## {}\n\n{}\n\n* Values: {}\n* Default: `{}`\n", row.name, row.help,
                   config_detail::allowed(row), default_of(row));
    for (const config_detail::alias& other : row.aliases) {
      fmt::format_to(std::back_inserter(text), "* Also read: `{}`", other.name);
      std::string_view separator = ", with ";
      for (const config_detail::translation& t : other.values) {
        fmt::format_to(std::back_inserter(text), "{}{} = `{}`", separator,
                       t.from == "*" ? "anything else" : fmt::format("`{}`", t.from), t.to);
        separator = ", ";
      }
      text += '\n';
    }
    text += '\n';
  }
  text +=
      "## Set by launchers\n"
      "\n"
      "`pgasrun` tells its children:\n"
      "\n";
  for (const config_detail::launcher_variable& v : config_detail::launcher_variables())
    fmt::format_to(std::back_inserter(text), "* `{}`: {}\n", v.name, v.help);
  text +=
      "\n"
      "Also understood: `PMIX_RANK` and `PMIX_NAMESPACE` (mpirun, `srun --mpi=pmix`), and, where `MASTER_ADDR`, `RANK` "
      "and\n"
      "`WORLD_SIZE` are all set, those with `MASTER_PORT`, `TORCHELASTIC_RUN_ID` and `TORCHELASTIC_USE_AGENT_STORE`\n"
      "(torchrun).\n";
  return text;
}

std::string errors_text() {
  std::string text;
  for (const error_info& row : error_table())
    fmt::format_to(std::back_inserter(text), "{} {}\n    Cause: {}\n    Fix: {}\n\n", to_string(row.code), row.name,
                   row.cause, row.fix);
  return text;
}

std::string errors_markdown() {
  std::string text =
      "# Error codes\n"
      "\n"
      "<!-- Printed by `pgas-info --errors --markdown` from src/host/error/table.cpp; change it there. -->\n"
      "\n"
      "The host API throws `pgas::error`; its text starts with one of these codes. A code keeps its meaning for good.\n"
      "\n";
  for (const error_info& row : error_table())
    fmt::format_to(std::back_inserter(text), "## {} {}\n\n*Cause* {}\n\n*Fix* {}\n\n", to_string(row.code), row.name,
                   row.cause, row.fix);
  text.pop_back();
  return text;
}

}  // namespace pgas::info
