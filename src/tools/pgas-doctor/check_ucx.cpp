#include <fmt/format.h>

#include <fstream>

#include "common/resource_limits.hpp"
#include "host/config/read_environment.hpp"
#include "host/log/logger.hpp"
#include "host/transport/ucx/ucx_settings.hpp"
#include "tools/pgas-doctor/child_trial.hpp"
#include "tools/pgas-doctor/job_checks.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

constexpr std::chrono::milliseconds limit_of_ucx{20'000};

/// "UCX_TLS=tcp UCX_NET_DEVICES=eth0" as set by the user. Empty if neither variable is set.
std::string own_choice() {
  std::string text;
  for (const char* name : {"UCX_TLS", "UCX_NET_DEVICES"})
    if (const auto value = config_detail::setting_of_others(name))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, *value);
  return text;
}

std::string fix_for(const std::string& failure) {
  if (failure.find("Install libucx0") != std::string::npos || failure.find("without UCX") != std::string::npos)
    return "apt-get install libucx0 (1.13 or newer), or its folder in LD_LIBRARY_PATH";
  if (failure.find("PGAS_PRIVATE_NETWORK") != std::string::npos)
    return "PGAS_PRIVATE_NETWORK=1 if only trusted hosts and users can connect, or a network with RDMA";
  if (!own_choice().empty()) return "unset UCX_TLS UCX_NET_DEVICES, or name what `ucx_info -d` lists";
  if (failure.find("open files") != std::string::npos) return "ulimit -n 1024";
  return "ucx_info -d lists the devices; the row shared memory may say more; UCX_LOG_LEVEL=info";
}

}  // namespace

// The host heap does not need shared memory by name.
row check_shared_memory(const job& all) {
  const bool needed = all.proxied() && all.local() > 1 && all.hosts() == 1;
  const detail::shared_memory_room room = detail::look_at_shared_memory();
  if (room.free >= detail::shared_memory_of_pe * static_cast<std::size_t>(all.local()))
    return {"shared memory", verdict::ok, room.found};
  if (!needed) return {"shared memory", verdict::ok, room.found + "; PEs that share memory by handles need none"};
  return {"shared memory", verdict::fails, room.found, "UCX needs it between the PEs of a host: it starts no proxy",
          detail::more_shared_memory};
}

row check_ucx(const job& all, const config& settings) {
  detail::ucx_settings wanted;
  wanted.pe = all.me;
  wanted.one_host = all.hosts() == 1;
  wanted.private_network = settings.private_network;
  wanted.devices = settings.socket_ifname;
  wanted.without_tcp = wanted.one_host && all.shares_by_name();
  if (wanted.without_tcp && wanted.devices.empty()) wanted.devices = detail::net_devices({"lo"});
  // Runs in a child process, because UCX starts threads, and ends a process that has too few descriptors.
  const trial tried = try_in_child(limit_of_ucx, [&] {
    const detail::no_file_limit_signal no_signal;
    log::logger quiet(log_level::error);
    wanted.log = &quiet;
    const std::unique_ptr<detail::transport> result = detail::make_ucx_transport(wanted);
    return result->address().empty() ? std::string("it has no address") : result->name();
  });
  const bool needed = all.proxied();
  const std::string choice = own_choice();
  if (!tried.result)
    return {"UCX", needed ? verdict::fails : verdict::ok,
            tried.failure + (needed ? "" : "; all PEs share memory, which needs none"),
            needed ? "PEs that don't share memory reach one another by UCX: joining fails" : "",
            needed ? fix_for(tried.failure) : ""};
  const auto ports = all.pes[static_cast<std::size_t>(all.me)]["rdma"].get<std::vector<std::string>>();
  const std::string found = *tried.result + (choice.empty() ? "" : ", " + choice);
  if (settings.heap != heap_kind::host && needed && !all.pes[static_cast<std::size_t>(all.me)]["gpus"].empty() &&
      ports.empty())
    return {"UCX", verdict::slow, found + "; no InfiniBand or RoCE port is active",
            "GPU memory would go over TCP or the host's memory, staged", "a network with RDMA between the hosts"};
  return {"UCX", verdict::ok, found + (needed ? "" : "; all PEs share memory, which needs none")};
}

}  // namespace pgas::doctor
