/// @file
/// A ring whose producers are threads of the host: their operations on proxied PEs need no kernel.
#pragma once

#include "device/operation_request.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/proxy/ring.hpp"
#include "pgas/device/peer_routes.hpp"

namespace pgas::detail {

/// *Callers* any thread, any number at once.
class host_producer {
 public:
  /// Adds its ring to `through`, which polls it until stop(): this object is destroyed later.
  explicit host_producer(proxy_thread& through);
  host_producer(const host_producer&) = delete;
  host_producer& operator=(const host_producer&) = delete;

  /// Before the first operation. @param here the context of this PE, with addresses of the host @param table its
  /// routes, in memory of the host; the ring in it is ignored
  void address(const context& here, const routes& table);

  /// Executes an operation on a proxied PE, as far as the request says. False after a failure of the world, whose
  /// record has the reason.
  [[nodiscard]] bool execute_operation(operation_request request);
  /// On return all earlier operations have taken effect.
  [[nodiscard]] bool quiet();

 private:
  proxy_thread& through_;
  host_ring ring_;
  routes table_;
  context here_;
};

}  // namespace pgas::detail
