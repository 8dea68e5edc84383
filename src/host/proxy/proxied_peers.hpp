/// @file
/// What a PE has for those that load and store don't reach: a transport, the proxy that drives it, the ring of commands
/// from kernels, which the host's streams run too, that from threads of the host, and the table by which they tell near
/// PEs from far ones.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/shared/owned_memory.hpp"
#include "host/control/control_plane.hpp"
#include "host/log/log.hpp"
#include "host/proxy/host_producer.hpp"
#include "host/proxy/local_memory.hpp"
#include "host/proxy/proxy.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"
#include "pgas/device/route.hpp"

namespace pgas::detail {

/// One for each world with more than one domain. *Callers* one thread, but for those of proxy.
class proxied_peers {
 public:
  /// Collective: every PE makes its transport, tells the others its address and starts its proxy. No connections yet.
  /// `near`, `device` and `log` outlive it. *Errors* transport_failed, the same on all PEs.
  proxied_peers(const control_plane& everyone, const domains& near, device& device, const config& settings,
                log::logger& log, const proxy_settings& how);
  proxied_peers(const proxied_peers&) = delete;
  proxied_peers& operator=(const proxied_peers&) = delete;

  [[nodiscard]] proxy& through() noexcept { return *proxy_; }
  /// The way of host threads to far PEs; after make_table().
  [[nodiscard]] host_producer& by_host() noexcept { return *by_host_; }
  /// The table for contexts, once. @param here the context without it @param domain the near PEs as kernels see them
  /// @param control where the host has what `here` knows by the device's address
  [[nodiscard]] const routes* make_table(const context& here, const team_view& domain, control_block* control);
  /// After all PEs have agreed to leave: nothing is under way any more.
  void stop(std::chrono::milliseconds limit) noexcept { proxy_->stop(limit); }

 private:
  device& device_;
  const domains& near_;
  const int me_;
  const int n_;
  std::unique_ptr<proxy_memory> memory_;
  mapped_block shared_;  ///< of the ring
  local_block heads_;    ///< of its producers
  local_block units_;    ///< of the workspace
  local_block next_;     ///< of the workspace
  local_block table_;    ///< a routes and what it points to
  std::unique_ptr<ring> ring_;
  std::vector<std::int32_t> slots_;         ///< as routes has them, for threads of the host
  std::unique_ptr<host_producer> by_host_;  ///< outlives the proxy, which looks at its ring to the end
  std::unique_ptr<proxy> proxy_;            ///< goes first, as it uses all that is above
};

}  // namespace pgas::detail
