/// @file
/// The parts that a PE needs for operations on proxied PEs: a transport, the proxy that drives the transport, one ring
/// of commands from kernels and streams, one ring for threads of the host, and the table of direct and proxied routes
/// to all PEs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "host/exchange/control_plane.hpp"
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

/// Collective: decides how this world uses its transport. UCX gets only the devices that this world needs, because any
/// process can connect to a TCP port on which UCX listens.
[[nodiscard]] ucx_settings transport_settings(const control_plane& everyone, const config& settings, log::logger& log);

/// One object for each world with more than one domain. *Callers* one thread, except for the functions of the proxy.
class proxy_service {
 public:
  /// Collective: all PEs make their transports, exchange the addresses and start their proxies. The constructor makes
  /// no connections. `direct`, `device` and `log` must outlive the object. *Errors* transport_failed, the same on all
  /// PEs.
  proxy_service(const control_plane& everyone, const domains& direct, device& device, const config& settings,
                log::logger& log, const proxy_settings& how);
  proxy_service(const proxy_service&) = delete;
  proxy_service& operator=(const proxy_service&) = delete;

  [[nodiscard]] proxy_thread& through() noexcept { return *proxy_; }
  /// The operations for threads of the host. Valid after make_table().
  [[nodiscard]] host_producer& by_host() noexcept { return *by_host_; }
  /// Makes the table for contexts. Called once.
  /// @param here the context without the table
  /// @param domain the team of direct PEs
  /// @param control the host address of the control block whose device address is in `here`
  /// @param distances the distances from this PE's slot to the slots of direct PEs, indexed by PE
  [[nodiscard]] const routes* make_table(const context& here, const team_view& domain, control_block* control,
                                         std::span<const std::int32_t> distances);
  /// Called after all PEs have agreed to leave, when nothing is in flight.
  void stop(std::chrono::milliseconds limit) noexcept { proxy_->stop(limit); }

 private:
  device& device_;
  const domains& direct_;
  std::unique_ptr<memory_access> memory_;
  mapped_block shared_;  ///< memory of the ring
  device_block heads_;   ///< memory of the ring's producers
  device_block units_;   ///< memory of the workspace
  device_block next_;    ///< memory of the workspace
  device_route_table table_;
  std::unique_ptr<ring> ring_;
  std::unique_ptr<host_producer> by_host_;  ///< destroyed after the proxy, which polls this member's ring
  std::unique_ptr<proxy_thread> proxy_;     ///< destroyed first, because the proxy uses all members above
};

}  // namespace pgas::detail
