#include "documents.hpp"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "host/config/table.hpp"
#include "host/config/text.hpp"
#include "pgas/error.hpp"

namespace pgas::info {
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
      "the option itself is not set. A former name or value still applies, with a warning. `pgas-info --config` shows\n"
      "the values now and where each comes from.\n"
      "\n";
  for (const config_detail::option& row : config_detail::options()) {
    fmt::format_to(std::back_inserter(text), "## {}\n\n{}\n\n* Values: {}\n* Default: `{}`\n", row.name, row.help,
                   config_detail::allowed(row), config_detail::default_of(row));
    if (!row.former.empty()) fmt::format_to(std::back_inserter(text), "* Former name: `{}`\n", row.former);
    for (const config_detail::translation& t : row.former_words)
      fmt::format_to(std::back_inserter(text), "* Former value: `{}` for `{}`\n", t.from, t.to);
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
  const auto list = [&text](std::span<const config_detail::other_variable> variables) {
    for (const config_detail::other_variable& v : variables)
      fmt::format_to(std::back_inserter(text), "* `{}`: {}\n", v.name, v.help);
  };
  list(config_detail::launcher_variables());
  text +=
      "\n"
      "Also understood: `PMIX_RANK` and `PMIX_NAMESPACE` (mpirun, `srun --mpi=pmix`), and, where `MASTER_ADDR`, `RANK` "
      "and\n"
      "`WORLD_SIZE` are all set, those with `MASTER_PORT`, `TORCHELASTIC_RUN_ID` and `TORCHELASTIC_USE_AGENT_STORE`\n"
      "(torchrun). With `PGAS_UNIQUE_ID`, `RANK` and `WORLD_SIZE` are enough.\n"
      "\n"
      "## Of OpenSHMEM and NVSHMEM\n"
      "\n"
      "Any value but `0`, `n`, `no`, `f` and `false` is a yes:\n"
      "\n";
  list(config_detail::opening_variables());
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
