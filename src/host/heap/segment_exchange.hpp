/// @file
/// The exchange in which each member of a group creates a segment and maps the segments of its peers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "device/device.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/heap/group_segment.hpp"
#include "host/heap/memory_exposure.hpp"
#include "host/topology/domains.hpp"

namespace pgas::detail {

/// Creates the segments of a world: maps the segments of direct peers, and exposes this PE's segments to proxied peers.
class segment_exchange {
 public:
  segment_exchange(class device& device, const address_layout& slots, const domains& domains, handle_kind kind)
      : device_(device), slots_(slots), domains_(domains), kind_(kind) {}

  /// Lets `proxied` expose the segments that are created from now on. `proxied` must outlive the segments.
  void attach_proxy(memory_exposure& proxied) noexcept { proxied_ = &proxied; }

  /// Completes the operations of this PE's host threads before the PE reports that it no longer uses a registered
  /// buffer.
  void set_completion(std::function<void()> complete) { complete_ = std::move(complete); }
  void complete() const {
    if (complete_) complete_();
  }

  /// Creates this member's segment at `offset` of its slot. Maps the segments of direct peers at `offset` of their
  /// slots, and exposes this member's segment to proxied peers. If the slots already have memory, the segment is a part
  /// of this memory. Collective. Either the call succeeds on all members, or no member keeps a segment, not even a
  /// `ready` segment.
  /// @param mine the call, the same on all members; if this PE cannot take part, also the reason
  /// @param ready the segment that this PE contributes; empty: create() makes a new segment
  /// *Errors* the first failure, or asymmetric_call if the calls differ, the same on all members; those of
  /// control_group::all_gather().
  [[nodiscard]] std::unique_ptr<group_segment> create(const control_group& group, std::size_t offset, std::size_t bytes,
                                                      step_result mine, std::optional<segment_id> ready = {});
  /// Waits until all members have returned from create(), because a proxy rejects commands for unknown memory.
  /// Collective over `group`.
  void barrier_if_proxied(const control_group& group) const {
    if (proxied_ != nullptr) group.barrier();
  }

  /// The start of the slot of PE `pe`, a direct peer.
  [[nodiscard]] std::byte* slot(int pe) const noexcept { return slots_.slot(domains_.index(pe)); }
  /// The start of the slot of this PE.
  [[nodiscard]] std::byte* own_slot(const control_group& group) const noexcept {
    return slot(group.world_pe(group.my_pe()));
  }
  [[nodiscard]] const address_layout& slots() const noexcept { return slots_; }
  [[nodiscard]] class device& device() const noexcept { return device_; }
  [[nodiscard]] handle_kind kind() const noexcept { return kind_; }

 private:
  class device& device_;
  const address_layout& slots_;
  const domains& domains_;
  const handle_kind kind_;
  memory_exposure* proxied_ = nullptr;  ///< null if all PEs are direct peers
  std::function<void()> complete_;
};

}  // namespace pgas::detail
