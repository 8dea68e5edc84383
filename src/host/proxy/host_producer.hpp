/// @file
/// A ring whose producers are threads of the host. With this ring, the host operates on proxied PEs without a kernel.
#pragma once

#include "device/operation_request.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/proxy/ring.hpp"
#include "pgas/device/peer_routes.hpp"

namespace pgas::detail {

/// *Callers* any number of threads at the same time.
class host_producer {
 public:
  /// Adds the ring to `through`, which polls the ring until stop(). This object must outlive that call.
  explicit host_producer(proxy_thread& through);
  host_producer(const host_producer&) = delete;
  host_producer& operator=(const host_producer&) = delete;

  /// Called before the first operation.
  /// @param here the context of this PE, with addresses of the host
  /// @param table the routes in host memory; the ring in the table is ignored
  void address(const context& here, const routes& table);

  /// Executes an operation on a proxied PE, and waits for the completion that the request asks for. False after a
  /// failure of the world; the record of the failure has the reason.
  [[nodiscard]] bool execute_operation(operation_request request);
  /// On return all earlier operations have taken effect. False after a failure of the world.
  [[nodiscard]] bool quiet();

 private:
  proxy_thread& through_;
  host_ring ring_;
  routes table_;
  context here_;
};

}  // namespace pgas::detail
