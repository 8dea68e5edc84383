#include "host/config/launcher_variables.hpp"

#include <fmt/format.h>

#include <limits>

#include "host/config/option_value.hpp"
#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

int number(const environment& variables, std::string_view name, int least, int most) {
  const auto text = variables.get(name);
  if (!text) return -1;
  const auto value = parse_integer(*text);
  if (!value || *value < least || *value > most)
    throw error(code::config_value, fmt::format("{}={} is not allowed; launchers set it to a whole number from {} to "
                                                "{}: unset it, or start the program with a launcher",
                                                name, *text, least, most));
  return static_cast<int>(*value);
}

}  // namespace

bootstrap_options make_bootstrap_options(const config& settings, const environment& variables) {
  constexpr int any = std::numeric_limits<int>::max();
  constexpr int largest_port = 65535;
  const auto text = [&](std::string_view name) { return std::string(variables.get(name).value_or("")); };

  bootstrap_options result;
  result.method = settings.bootstrap;
  result.timeout = settings.join_timeout;
  result.unique_id = settings.unique_id;
  result.secret = settings.secret;
  result.interface = settings.socket_ifname;

  result.rank = number(variables, "PGAS_RANK", 0, any);
  result.size = number(variables, "PGAS_SIZE", 1, any);
  result.local_fd = number(variables, "PGAS_LOCAL_FD", 0, any);
  result.pmix_launcher = variables.get("PMIX_RANK") && variables.get("PMIX_NAMESPACE");

  // RANK and WORLD_SIZE describe a job only together with an address or an id, because many programs set one of them
  // for other purposes.
  const bool address = variables.get("MASTER_ADDR").has_value();
  if ((address || !settings.unique_id.empty()) && variables.get("RANK") && variables.get("WORLD_SIZE")) {
    if (address) {
      result.master_address = text("MASTER_ADDR");
      result.master_port = number(variables, "MASTER_PORT", 1, largest_port);
      result.run_id = text("TORCHELASTIC_RUN_ID");
      result.master_port_taken = same_word(text("TORCHELASTIC_USE_AGENT_STORE"), "true");
    }
    if (result.rank < 0) result.rank = number(variables, "RANK", 0, any);
    if (result.size < 0) result.size = number(variables, "WORLD_SIZE", 1, any);
    // If torchrun has started all processes on this host, they need no address by which other hosts reach rank 0.
    if (address && number(variables, "LOCAL_WORLD_SIZE", 1, any) == result.size) result.master_address = "127.0.0.1";
  }
  return result;
}

bootstrap_options make_bootstrap_options(const config& settings) {
  return make_bootstrap_options(settings, environment::of_process());
}

}  // namespace pgas::config_detail
