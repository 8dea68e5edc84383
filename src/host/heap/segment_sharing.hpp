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

/// The memory that a PE exposes to proxied peers, and the memory that they expose to it. *Callers* any thread.
class memory_exposure {
 public:
  /// Makes [at, at + bytes), which lies at `offset` of this PE's slot, reachable for the others' transports. The key is
  /// for their add_peer_memory(). Empty where the transport can't: messages will do, and the reason is logged once.
  [[nodiscard]] virtual blob expose(std::uint64_t offset, void* at, std::size_t bytes) = 0;
  /// Takes the key that expose() of that PE returned; an empty key is accepted and has no effect. On return commands
  /// use it. *Errors* handle_invalid for a malformed key, pe_out_of_range.
  virtual void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) = 0;
  /// Forgets what this PE and its peers exposed at `offset`. All PEs have agreed: no PE uses it any more.
  virtual void remove_memory(std::uint64_t offset) = 0;

 protected:
  ~memory_exposure() = default;
};

/// Owns this PE's segment, the imported ones, all their mappings, and their entries at the proxy; the destructor undoes
/// the steps that were taken.
///
/// The segments stay open as long as the object lives: the memory of a dead PE can still be read.
class shared_segment {
 public:
  shared_segment(device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  ~shared_segment();
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;

  /// Makes this PE's segment. *Errors* those of device::create.
  void create(handle_kind kind);
  /// Takes over a segment that the device holds already as this PE's.
  void adopt(segment_id segment);
  /// The handle that the others import. *Errors* those of device::export_segment.
  [[nodiscard]] exported_handle export_own();
  /// Maps this PE's own segment, or imports and maps a peer's.
  void map_own(void* address);
  void map_peer(void* address, const exported_handle& handle);
  /// This PE's segment is memory that is there already, and nothing else is needed.
  void place_own(void* address) noexcept;
  /// Exposes the segment to proxied peers and returns their key; empty where only messages get there.
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
  std::size_t offset_ = 0;  ///< at which it is exposed
};

/// Makes the shared segments of a world: maps those of direct peers, exposes this PE's to proxied peers.
class segment_sharing {
 public:
  segment_sharing(class device& device, const address_layout& slots, const domains& domains, handle_kind kind)
      : device_(device), slots_(slots), domains_(domains), kind_(kind) {}

  /// Segments that are made from now on are exposed by `proxied`, which outlives them.
  void attach_proxy(memory_exposure& proxied) noexcept { proxied_ = &proxied; }

  /// Completes the operations of this PE's host threads, before others learn that it uses memory no more.
  void set_completion(std::function<void()> complete) { complete_ = std::move(complete); }
  void complete() const {
    if (complete_) complete_();
  }

  /// Collective: creates, exports, exchanges, imports and maps a segment of every member at `offset` of the slots, or
  /// exposes it by the proxy. Where slots have memory it is part of that. It works for all members, or none keeps
  /// anything of it, a `ready` segment included.
  /// @param mine the call, the same on all members, and why this PE can't take part, if it can't
  /// @param ready the segment that this PE shares; none: a new one
  /// *Errors* the first failure, or asymmetric_call when the calls differ: the same on all members. Those of
  /// control_group::all_gather().
  [[nodiscard]] std::unique_ptr<shared_segment> share(const control_group& group, std::size_t offset, std::size_t bytes,
                                                      step_result mine, std::optional<segment_id> ready = {});
  /// Collective over `group`, after share(): a proxy rejects commands for memory that it does not know yet.
  void barrier_if_proxied(const control_group& group) const {
    if (proxied_ != nullptr) group.barrier();
  }

  /// Where the slot of PE `pe` starts, a direct peer.
  [[nodiscard]] std::byte* slot(int pe) const noexcept { return slots_.slot(domains_.index(pe)); }
  /// Where the slot of this PE starts.
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
