/// @file
/// All that a PE needs to reach proxied PEs: a transport, the proxy that drives it, one ring of commands from kernels
/// and streams, one from threads of the host, and the table of routes, direct or proxied, to all PEs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "host/control/control_plane.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/device_route_table.hpp"
#include "host/proxy/host_producer.hpp"
#include "host/proxy/memory_access.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/topology/domains.hpp"
#include "host/transport/ucx/ucx_settings.hpp"
#include "pgas/config.hpp"
#include "pgas/device/peer_routes.hpp"

namespace pgas::detail {

/// Collective: how this world uses its transport. Anybody can connect to a listening TCP port, so UCX gets no more
/// devices than it needs.
[[nodiscard]] ucx_settings transport_settings(const control_plane& everyone, const config& settings, log::logger& log);

/// One for each world with more than one domain. *Callers* one thread, but for those of proxy.
class proxy_service {
 public:
  /// Collective: all PEs make their transports, exchange the addresses and start their proxies. Makes no connections.
  /// `direct`, `device` and `log` outlive it. *Errors* transport_failed, the same on all PEs.
  proxy_service(const control_plane& everyone, const domains& direct, device& device, const config& settings,
                log::logger& log, const proxy_settings& how);
  proxy_service(const proxy_service&) = delete;
  proxy_service& operator=(const proxy_service&) = delete;

  [[nodiscard]] proxy_thread& through() noexcept { return *proxy_; }
  /// For threads of the host; after make_table().
  [[nodiscard]] host_producer& by_host() noexcept { return *by_host_; }
  /// Makes the table for contexts; once. @param here the context without it @param domain the team of direct PEs @param
  /// control the address on the host of the block that `here` knows by its address on the device @param distances by
  /// PE, of direct ones, of their slots from this PE's
  [[nodiscard]] const routes* make_table(const context& here, const team_view& domain, control_block* control,
                                         std::span<const std::int32_t> distances);
  /// After all PEs have agreed to leave: nothing is in flight.
  void stop(std::chrono::milliseconds limit) noexcept { proxy_->stop(limit); }

 private:
  device& device_;
  const domains& direct_;
  std::unique_ptr<memory_access> memory_;
  mapped_block shared_;  ///< of the ring
  device_block heads_;   ///< of its producers
  device_block units_;   ///< of the workspace
  device_block next_;    ///< of the workspace
  device_route_table table_;
  std::unique_ptr<ring> ring_;
  std::unique_ptr<host_producer> by_host_;  ///< outlives the proxy, which polls its ring
  std::unique_ptr<proxy_thread> proxy_;     ///< destroyed first: uses all members above
};

}  // namespace pgas::detail
