/// @file
/// A segment of every member of a group, at the same offset of each slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.hpp"
#include "host/heap/memory_exposure.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// Owns this PE's segment, the imported segments, their mappings, and their registrations at the proxy. The destructor
/// undoes the completed steps.
///
/// A mapping keeps the memory of a peer alive, so this PE can still read the memory of a dead PE.
class group_segment {
 public:
  group_segment(device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  ~group_segment();
  group_segment(const group_segment&) = delete;
  group_segment& operator=(const group_segment&) = delete;

  /// Creates this PE's segment. *Errors* those of device::create.
  void create(handle_kind kind);
  /// Takes ownership of a segment that the device holds. The segment becomes this PE's segment.
  void adopt(segment_id segment);
  /// The handle that peers import. *Errors* those of device::export_segment.
  [[nodiscard]] exported_handle export_own();
  /// Maps this PE's own segment, or imports and maps a peer's segment.
  void map_own(void* address);
  void map_peer(void* address, const exported_handle& handle);
  /// Uses existing memory as this PE's segment. No mapping is needed.
  void place_own(void* address) noexcept;
  /// Opens this PE's part of a span, or the part of a peer. No segment is needed.
  void open_own(void* address);
  void open_peer(void* address);
  /// Exposes the segment to proxied peers and returns the key for them. If the transport cannot access the memory, the
  /// key is empty, and the data travels in messages.
  [[nodiscard]] blob expose(memory_exposure& proxied, std::size_t offset);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void map(void* address, segment_id segment);

  device& device_;
  std::size_t bytes_;
  std::vector<segment_id> segments_;  ///< this PE's segment
  std::vector<void*> mapped_;
  void* own_ = nullptr;
  bool in_span_ = false;  ///< `own_` is a part of a span
  memory_exposure* exposed_by_ = nullptr;
  std::size_t offset_ = 0;  ///< the offset of the exposed memory
};

}  // namespace pgas::detail
