/// @file
/// Threads of the host as producers of a ring of their own: what they ask of far PEs needs no kernel.
#pragma once

#include "device/shared/operation.hpp"
#include "host/proxy/proxy.hpp"
#include "host/proxy/ring.hpp"
#include "pgas/device/route.hpp"

namespace pgas::detail {

/// *Callers* any thread, any number at once.
class host_producer {
 public:
  /// Hands its ring to `through`, which looks at it to its own end: this goes later.
  explicit host_producer(proxy& through);
  host_producer(const host_producer&) = delete;
  host_producer& operator=(const host_producer&) = delete;

  /// Before the first operation. @param here the context of this PE, with the addresses of the host @param table whom
  /// it reaches, with a ring that is not looked at; what it points to is memory of the host
  void address(const context& here, const routes& table);

  /// Carries out an operation on a far PE: as far as the request asks for. False if it had to be given up; why is in
  /// the record.
  [[nodiscard]] bool execute_operation(operation_request request);
  /// What was carried out before has taken effect.
  [[nodiscard]] bool quiet();

 private:
  proxy& through_;
  host_ring ring_;
  routes table_;
  context here_;
};

}  // namespace pgas::detail
