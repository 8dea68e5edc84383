#include "host/proxy/proxy_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "common/net/tcp_socket.hpp"
#include "common/resource_limits.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/topology/numa_affinity.hpp"
#include "host/transport/ucx/ucx_settings.hpp"

namespace pgas::detail {

namespace {

constexpr std::uint32_t log2_device_commands = 12;
constexpr std::uint32_t log2_device_answers = 11;  // threads that can wait for answers at the same time
constexpr std::uint32_t log2_device_units = 3;     // groups that can reduce proxied data at the same time

bool one_host(const control_group& everyone) {
  for (int pe = 1; pe < everyone.n_pes(); ++pe)
    if (everyone.peer(pe).host_index != everyone.peer(0).host_index) return false;
  return true;
}

/// Collective: returns the addresses of all PEs, or throws the first failure on all PEs.
std::vector<blob> exchange_addresses(const control_group& everyone, const std::optional<error>& failed,
                                     const blob& address) {
  step_result mine;
  mine.call.what = collective_step::kind::connect;
  mine.failure = failed;
  mine.key = address;
  std::vector<step_result> all = exchange(everyone, mine);
  if (const std::optional<error> first = first_failure(all)) throw error(*first);
  std::vector<blob> addresses;
  for (step_result& theirs : all) addresses.push_back(std::move(theirs.key));
  return addresses;
}

/// Collective: the names of the network interfaces that the leader of this PE's host uses for connections to other
/// hosts.
std::vector<std::string> interfaces_of_this_host(const control_plane& everyone) {
  const std::string mine = fmt::format("{}", fmt::join(everyone.interfaces(), " "));
  const std::vector<contribution> all = everyone.all_gather(std::as_bytes(std::span(mine)));
  const int host = everyone.peer(everyone.my_pe()).host_index;
  std::vector<std::string> names;
  for (int pe = 0; pe < everyone.n_pes() && names.empty(); ++pe) {
    const blob& theirs = all[static_cast<std::size_t>(pe)].bytes;
    if (everyone.peer(pe).host_index != host) continue;
    std::istringstream words(std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
    for (std::string name; words >> name;) names.push_back(name);
  }
  return names;
}

}  // namespace

ucx_settings transport_settings(const control_plane& everyone, const config& settings, log::logger& log) {
  ucx_settings chosen{.pe = everyone.my_pe(),
                      .one_host = one_host(everyone),
                      .private_network = settings.private_network,
                      .devices = settings.socket_ifname,
                      .log = &log};
  if (!chosen.one_host) {
    if (chosen.devices.empty()) chosen.devices = net_devices(interfaces_of_this_host(everyone));
    return chosen;
  }
  const std::string mine = memory_namespaces();
  const std::vector<contribution> all = everyone.all_gather(std::as_bytes(std::span(mine)));
  chosen.without_tcp = std::all_of(all.begin(), all.end(), [&](const contribution& each) {
    return std::ranges::equal(each.bytes, std::as_bytes(std::span(mine)));
  });
  if (chosen.without_tcp && chosen.devices.empty()) chosen.devices = net_devices({"lo"});
  return chosen;
}

proxy_service::proxy_service(const control_plane& everyone, const domains& direct, class device& device,
                             const config& settings, log::logger& log, const proxy_settings& how)
    : device_(device), direct_(direct) {
  // The proxy's thread and its memory are placed on the NUMA node of the GPU.
  const locality gpu = locality_of(device.properties().pci, allowed_cpus());
  const affinity_scope cpus(gpu.cpus);
  if (!gpu.cpus.empty())
    log.info("the proxy runs on CPUs {} and has its memory there: NUMA node {}, where the GPU is",
             fmt::join(gpu.cpus, ","), gpu.node);
  memory_ = device.properties().kind == heap_kind::host
                ? make_host_memory_access()
                : make_device_memory_access(device, {}, direct.members().size() > 1);
  const ucx_settings network = transport_settings(everyone, settings, log);
  blob address;
  const std::optional<error> failed = attempt(everyone, "start the proxy", [&] {
    const no_file_limit_signal no_signal;  // UCX shares memory by files, which can exceed the limit on file sizes
    // For an unknown interface, UCX would only log a warning and use another interface.
    if (!settings.socket_ifname.empty()) static_cast<void>(own_addresses(settings.socket_ifname));
    proxy_ = std::make_unique<proxy_thread>(how, make_ucx_transport(network), *memory_, log);
    address = proxy_->address();
    shared_ = {device, ring::shared_bytes(log2_device_commands, log2_device_answers)};
    heads_ = {device, ring_view::heads_bytes(log2_device_answers)};
    units_ = {device, workspace_view::bytes(log2_device_units)};
    next_ = {device, workspace_view::words_bytes(log2_device_units)};
    ring::memory where =
        ring::lay_out(shared_.on_host(), shared_.on_device(), heads_.get(), log2_device_commands, log2_device_answers);
    where.producers_wake = device.properties().kind == heap_kind::host;
    ring_ = std::make_unique<ring>(where);
  });
  std::vector<blob> addresses = exchange_addresses(everyone, failed, address);  // throws if a PE has no proxy
  proxy_->connect(std::move(addresses));
  proxy_->add_ring(*ring_);
  by_host_ = std::make_unique<host_producer>(*proxy_);
}

const routes* proxy_service::make_table(const context& here, const team_view& domain, control_block* control,
                                        std::span<const std::int32_t> distances) {
  routes table;
  table.domain = domain;
  table.control = here.control_;
  table.my_slot = here.my_slot_;
  table.ring = ring_->view();
  table.workspace.log2_units = log2_device_units;
  table.workspace.units = static_cast<std::byte*>(units_.get());
  table.workspace.next = static_cast<std::uint64_t*>(next_.get());
  table_ = {device_, table, direct_, distances};
  context remote = here;
  remote.control_ = table.control = control;
  table.slots = table_.slots();
  by_host_->address(remote, table);
  return table_.get();
}

}  // namespace pgas::detail
