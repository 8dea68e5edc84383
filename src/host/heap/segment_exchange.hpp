/// @file
/// A segment of every member of a group, at the same offset of each slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "host/control/collective_step.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/topology/domains.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The memory that this PE exposes to proxied peers, and the memory that proxied peers expose to this PE. *Callers* any
/// thread.
class memory_exposure {
 public:
  /// Exposes [at, at + bytes) at `offset` of this PE's slot to the transports of other PEs. Returns the key for their
  /// add_peer_memory(). The key is empty if the transport cannot register the memory: messages carry the data then, and
  /// the reason is logged once.
  [[nodiscard]] virtual blob expose(std::uint64_t offset, void* at, std::size_t bytes) = 0;
  /// Adds the key that expose() of that PE returned. An empty key has no effect. Commands use the key after return.
  /// *Errors* handle_invalid for a malformed key, pe_out_of_range.
  virtual void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) = 0;
  /// Removes what this PE and its peers exposed at `offset`. No PE may access that memory any more.
  virtual void remove_memory(std::uint64_t offset) = 0;

 protected:
  ~memory_exposure() = default;
};

/// Owns this PE's segment, the imported segments, their mappings, and their entries at the proxy. The destructor undoes
/// the completed steps.
///
/// The segments stay open as long as the object lives, so the memory of a dead PE can still be read.
class group_segment {
 public:
  group_segment(device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  ~group_segment();
  group_segment(const group_segment&) = delete;
  group_segment& operator=(const group_segment&) = delete;

  /// Creates this PE's segment. *Errors* those of device::create.
  void create(handle_kind kind);
  /// Takes ownership of a segment that the device holds, as this PE's segment.
  void adopt(segment_id segment);
  /// The handle that peers import. *Errors* those of device::export_segment.
  [[nodiscard]] exported_handle export_own();
  /// Maps this PE's own segment, or imports and maps a peer's.
  void map_own(void* address);
  void map_peer(void* address, const exported_handle& handle);
  /// Uses existing memory as this PE's segment. No mapping is needed.
  void place_own(void* address) noexcept;
  /// Exposes the segment to proxied peers and returns the key for them; empty if only messages reach the memory.
  [[nodiscard]] blob expose(memory_exposure& proxied, std::size_t offset);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void map(void* address, segment_id segment);

  device& device_;
  std::size_t bytes_;
  std::vector<segment_id> segments_;  ///< this PE's first
  std::vector<void*> mapped_;
  void* own_ = nullptr;
  memory_exposure* exposed_by_ = nullptr;
  std::size_t offset_ = 0;  ///< of the exposed memory
};

/// Creates the segments of a world: maps the segments of direct peers and exposes this PE's to proxied peers.
class segment_exchange {
 public:
  segment_exchange(class device& device, const address_layout& slots, const domains& domains, handle_kind kind)
      : device_(device), slots_(slots), domains_(domains), kind_(kind) {}

  /// `proxied` exposes the segments that are created from now on. It must outlive them.
  void attach_proxy(memory_exposure& proxied) noexcept { proxied_ = &proxied; }

  /// Completes the operations of this PE's host threads before the PE reports that it no longer uses memory.
  void set_completion(std::function<void()> complete) { complete_ = std::move(complete); }
  void complete() const {
    if (complete_) complete_();
  }

  /// Creates, exports, exchanges, imports and maps a segment of every member at `offset` of the slots, or exposes the
  /// segment to proxied peers. Where slots have memory the segment is part of it. Collective. The call succeeds on all
  /// members; otherwise no member keeps a segment, a `ready` segment included.
  /// @param mine the call, the same on all members; with the reason if this PE cannot take part
  /// @param ready the segment that this PE brings; none: a new segment
  /// *Errors* the first failure, or asymmetric_call when the calls differ: the same on all members. Those of
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
  memory_exposure* proxied_ = nullptr;  ///< null where all PEs are direct peers
  std::function<void()> complete_;
};

}  // namespace pgas::detail
