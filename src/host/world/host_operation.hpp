/// @file
/// A host-called or stream operation: its argument checks, its target address and its completion. *Callers*
/// src/host/api.
#pragma once

#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/host/untyped_operations.hpp"

namespace pgas::detail {

/// An operation for the device or the proxy. The caller checks the arguments, then calls target(), submit() and
/// finish().
class host_operation {
 public:
  /// *Errors* not_joined, the first failure of the world; invalid_argument for a stream of another world.
  host_operation(const op_target& how, const char* what);

  [[nodiscard]] world_state& state() noexcept { return state_; }
  [[nodiscard]] class device& device() noexcept { return state_.device(); }
  [[nodiscard]] stream_handle queue() const noexcept { return queue_; }

  /// Throws pe_out_of_range.
  void check_pe(int pe) const { state_.check_pe(pe, what_); }
  /// Throws invalid_argument if the value is not a value of pgas::cmp.
  void check_compare(cmp how) const;
  /// The address of the symmetric bytes at `local` on PE `pe`. For a proxied peer, `local` itself. *Errors*
  /// outside_heap, misaligned.
  [[nodiscard]] void* target(const void* local, std::size_t bytes, std::size_t alignment, int pe) const;
  /// Whether PE `pe` is a proxied peer. Only requests for proxied peers contain the number of the PE.
  [[nodiscard]] bool proxied(int pe) const { return !state_.domains().direct(pe); }
  /// Sets PE `pe` as the target of a request whose addresses are results of target(). If the call promises completion,
  /// the request includes completion at `pe`.
  void address(operation_request& request, int pe) const;
  /// Makes a request for an atomic operation on PE `pe`. Calls target() and address().
  [[nodiscard]] operation_request atomic_request(const atomic_op& update, int pe,
                                                 operation_request::kind what = operation_request::kind::atomic) const;
  /// Throws invalid_argument or capturing unless `memory` can be the local side of an operation on this queue.
  void check_local(const void* memory) const;
  /// Throws invalid_argument with the name `role` unless kernels can access `memory`. Null is allowed.
  void check_kernel_memory(const void* memory, const char* role) const;

  /// Submits a request. Called after address().
  void submit(const operation_request& request);
  /// Counts a submitted operation on PE `pe`. For a put on a stream, also notes the write. If the call has used
  /// target(), the note contains the memory of the last target().
  /// @param bytes the size of the data
  void count(operation_counter::kind what, int pe, std::uint64_t bytes = 0) noexcept {
    using caller = operation_counter::caller;
    if (how_.on != nullptr && what == operation_counter::kind::put && target_bytes_ != 0)
      state_.enqueued().add_write(queue_, {what_, pe, target_offset_, target_bytes_});
    state_.operations().add(pe, how_.on != nullptr ? caller::stream : caller::host, what, bytes);
    if (call_.facts() != nullptr) note(what, pe, bytes);
  }
  /// Counts an update, which is a signal or an atomic operation.
  void count(const atomic_op& update, int pe) noexcept;
  /// In a blocking call: waits for the operation on PE `pe`.
  void finish(int pe);
  /// begin_wait() records in the trace that this call waits. end_wait() records that word `index` of the set ended the
  /// wait.
  void begin_wait() noexcept;
  void end_wait(const word_set& set, std::size_t index, std::uint64_t expected, std::uint64_t seen) noexcept;
  /// Whether this call is recorded in the trace.
  [[nodiscard]] bool traced() noexcept { return call_.facts() != nullptr; }

 private:
  void note(operation_counter::kind what, int pe, std::uint64_t bytes) noexcept;

  const op_target& how_;
  world_state& state_;
  const char* what_;
  stream_handle queue_;
  profiled_call call_;
  mutable std::uint64_t target_offset_ = 0;  ///< the offset of the last target() in the heap
  mutable std::uint64_t target_bytes_ = 0;
};

}  // namespace pgas::detail
