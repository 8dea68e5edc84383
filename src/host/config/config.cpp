/// @file
/// config::from_environment(): reads, and says what the user should know.
#include "pgas/config.hpp"

#include "host/config/read.hpp"
#include "host/log/log.hpp"

namespace pgas {
namespace {

// The same environment on every PE gives the same remarks on every PE; one of them is enough.
bool is_first_pe(const config_detail::environment& variables) {
  for (const std::string_view name : {"PGAS_RANK", "PMIX_RANK", "RANK"})
    if (const auto rank = variables.get(name)) return *rank == "0";
  return true;
}

}  // namespace

config config::from_environment() {
  const auto variables = config_detail::environment::of_process();
  config_detail::reading result = config_detail::read(variables);
  if (result.remarks.empty() || !is_first_pe(variables)) return std::move(result.settings);
  log::logger log(result.settings);
  for (const config_detail::remark& r : result.remarks) log.write(r.level, "{}", fmt::make_format_args(r.text));
  return std::move(result.settings);
}

}  // namespace pgas
