/// @file
/// What every host-called and stream operation does before and after its own work.
#pragma once

#include "host/team/world_state.hpp"
#include "pgas/impl/op_target.hpp"

namespace pgas::detail {

/// One operation on its way to the device: checks arguments, knows the queue, waits at the end if it is to.
class host_op {
 public:
  /// *Errors* not_joined, the first failure of the world; invalid_argument for a stream of another world.
  host_op(const issue& how, const char* what);

  [[nodiscard]] world_state& state() noexcept { return state_; }
  [[nodiscard]] class device& device() noexcept { return state_.device(); }
  [[nodiscard]] stream_handle queue() const noexcept { return queue_; }

  /// Throws pe_out_of_range.
  void check_pe(int pe) const { state_.check_pe(pe, what_); }
  /// Throws invalid_argument for a comparison that there is not.
  void check_compare(cmp how) const;
  /// Where PE `pe` has the symmetric bytes at `local`; `local` itself for a PE that is far. *Errors* outside_heap,
  /// misaligned.
  [[nodiscard]] void* target(const void* local, std::size_t bytes, std::size_t alignment, int pe) const;
  /// Whether load and store don't reach PE `pe`: then requests name it.
  [[nodiscard]] bool far(int pe) const { return !state_.domains().direct(pe); }
  /// Makes a request whose addresses are those of target() go to PE `pe`, and complete there when the call promises it.
  void address(operation_request& request, int pe) const;
  /// Throws unless `memory` can be the local side of an operation on this queue: invalid_argument, capturing.
  void check_local(const void* memory) const;
  /// Throws unless kernels can reach `memory`: invalid_argument, naming it `role`. Null is fine.
  void check_peer_has(const void* memory, const char* role) const;

  /// Hands over a request that address() has seen.
  void submit(const operation_request& request);
  /// Waits for the operation on PE `pe`, if the call is to.
  void finish(int pe);

 private:
  const issue& how_;
  world_state& state_;
  const char* what_;
  stream_handle queue_;
  trace_range range_;
};

}  // namespace pgas::detail
