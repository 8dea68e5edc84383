/// @file
/// config::from_environment(): reads the environment, and logs each remark about it once per process.
#include <mutex>
#include <set>

#include "common/struct_members.hpp"
#include "host/config/read_environment.hpp"
#include "host/log/logger.hpp"
#include "pgas/config.hpp"

namespace pgas {
namespace {

// PEs with the same environment have the same remarks, so only one PE logs them.
bool is_first_pe(const config_detail::environment& variables) {
  for (const std::string_view name : {"PGAS_RANK", "PMIX_RANK", "RANK"})
    if (const auto rank = variables.get(name)) return *rank == "0";
  return true;
}

bool is_new(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> logged;
  const std::lock_guard lock(mutex);
  return logged.insert(text).second;
}

}  // namespace

void detail::read_environment(const wanted<config>& settings) {
  const auto variables = config_detail::environment::of_process();
  config_detail::reading result = config_detail::read(variables);
  if (!result.remarks.empty() && is_first_pe(variables)) {
    log::logger log(result.settings);
    for (const config_detail::remark& r : result.remarks)
      if (is_new(r.text)) log.write(r.level, "{}", fmt::make_format_args(r.text));
  }
  fill(settings, std::move(result.settings));
}

}  // namespace pgas
