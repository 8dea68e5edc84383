/// @file
/// One piece of memory of every PE, at the same offset of each slot.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/heap/collective_step.hpp"
#include "host/proxy/proxy.hpp"
#include "host/topology/domains.hpp"

namespace pgas::detail {

/// Owns this PE's segment, the imported ones, all their mappings, and what the proxy knows of them; undoes whatever of
/// it has been done.
///
/// The segments stay open as long as the object lives: what a dead PE left in its part can still be read.
class shared_segment {
 public:
  shared_segment(device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  ~shared_segment();
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;

  /// Makes this PE's segment. *Errors* those of device::create.
  void create(handle_kind kind);
  /// Takes over what the device holds already as this PE's segment.
  void adopt(segment_id segment);
  /// What the others import. *Errors* those of device::export_segment.
  [[nodiscard]] exported_handle export_own();
  /// Maps this PE's own segment, or imports and maps a peer's.
  void map_own(void* address);
  void map_peer(void* address, const exported_handle& handle);
  /// Lets PEs out of reach put and get there: what they need to know, by messages alone if empty.
  [[nodiscard]] blob expose(proxy& through, std::size_t offset);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void map(void* address, segment_id segment);

  device& device_;
  std::size_t bytes_;
  std::vector<segment_id> segments_;  ///< this PE's first
  std::vector<void*> mapped_;
  proxy* exposed_by_ = nullptr;
  std::size_t offset_ = 0;  ///< that it is exposed at
};

/// What a PE maps and what it leaves to the proxy.
struct segment_access {
  const address_layout& slots;  ///< of the members of this PE's domain
  const domains& near;
  proxy* far = nullptr;  ///< null where all PEs are near

  /// Where the slot of PE `pe` starts, which is near.
  [[nodiscard]] std::byte* slot(int pe) const noexcept { return slots.slot(near.index(pe)); }
  /// Collective over `group`, whose members have just taken note of memory that they share: a proxy turns away what
  /// comes for memory that it does not know of yet.
  void barrier_if_proxied(const control_group& group) const {
    if (far != nullptr) group.barrier();
  }
};

/// Where and how a segment is to be shared.
struct sharing_plan {
  const segment_access& where;
  std::size_t offset;  ///< from the start of each slot
  std::size_t bytes;
  handle_kind kind;
  collective_step call;               ///< on whose behalf; must be the same on all PEs
  std::optional<error> refusal;       ///< why this PE can't take part
  std::optional<segment_id> ready{};  ///< what this PE shares; none: a new segment
};

/// The segment, or why it could not be shared: statements of the PEs that failed, the same on all PEs, never empty
/// then.
struct sharing_result {
  std::unique_ptr<shared_segment> segment;
  std::vector<step_result> failures;
};

/// Collective: creates, exports, exchanges, imports and maps a segment of every member, or makes it known to the proxy
/// where the member is out of reach. It works for all of them, or nothing is left of it on any, a `ready` segment
/// included. *Errors* asymmetric_call on all PEs when the calls differ; those of links.
[[nodiscard]] sharing_result share_segment(device& device, const control_group& group, const sharing_plan& plan);

[[nodiscard]] std::string to_string(handle_kind kind);

}  // namespace pgas::detail
