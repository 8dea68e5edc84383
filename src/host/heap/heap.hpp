/// @file
/// The symmetric heap. It consists of slots of equal size. Segments are added to the slots when allocations need
/// memory. The lower half of a slot contains the segments of all PEs. The upper half contains the segments of teams and
/// of registered buffers.
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
#include "host/exchange/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/segment_exchange.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "host/heap/team_segment_map.hpp"
#include "host/log/logger.hpp"
#include "host/topology/find_domains.hpp"
#include "pgas/config.hpp"
#include "pgas/symmetric_memory.hpp"

namespace pgas::detail {

/// This PE's view of the heap of all PEs. The layout has a slot for each member of this PE's domain, in the order of
/// the members. Segment i has the same offset in every slot, also on proxied peers.
class heap {
 public:
  using growth_callback = contiguous_growth::growth_callback;

  /// Finds the PEs that can share memory, agrees on stride, base and kind of handle, and reserves the layout.
  /// Collective. Allocates no memory.
  /// *Errors* address_space, handle_exchange (with the result of the probe of each kind of handle), mixed_heaps; the
  /// same error on all PEs.
  /// @param allow_proxied whether PEs that are on one host but cannot share memory may be proxied; if false, such PEs
  /// are an error
  /// @param records the merged record of all PEs, if the PEs have already exchanged their records
  heap(device& device, const control_group& everyone, const config& settings, log::logger& log,
       growth_callback on_growth, team_segment_map::change_callback on_team_segments = {}, bool allow_proxied = false,
       const std::optional<joining_record>& records = {});
  heap(const heap&) = delete;
  heap& operator=(const heap&) = delete;

  /// For each PE of the world, its domain: the PEs that share memory.
  [[nodiscard]] const class domains& domains() const noexcept { return probed_.domains; }
  /// Lets `proxied` expose the segments that are created from now on. `proxied` must outlive the heap.
  void attach_proxy(memory_exposure& proxied) noexcept { exchange_.attach_proxy(proxied); }
  void set_completion(std::function<void()> complete) { exchange_.set_completion(std::move(complete)); }
  [[nodiscard]] const heap_parameters& parameters() const noexcept { return parameters_; }

  /// The memory of all PEs. *Callers* one thread at a time.
  [[nodiscard]] symmetric_allocator& memory() noexcept { return memory_; }
  /// Makes the allocator for the memory of a group. The group must outlive the allocator.
  [[nodiscard]] std::unique_ptr<symmetric_allocator> make_allocator(const control_group& members);
  [[nodiscard]] class team_segment_map& team_segment_map() noexcept { return team_segments_; }
  /// Memory that the program created and registered on all PEs. *Callers* as memory().
  [[nodiscard]] class registered_buffers& registered_buffers() noexcept { return memory_.registered_buffers(); }

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool zeros = false) {
    return memory_.allocate(bytes, alignment, zeros);
  }
  void free(void* pointer) { memory_.free(pointer); }
  [[nodiscard]] heap_usage usage() const { return memory_.usage(); }
  /// The size in bytes of the allocation that starts at `pointer`, after rounding; 0 if no allocation of all PEs starts
  /// at this address.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const { return memory_.allocation_bytes(pointer); }

  /// The start of the slot of PE `pe`, a direct peer.
  [[nodiscard]] std::byte* slot(int pe) const noexcept { return exchange_.slot(pe); }
  [[nodiscard]] int log2_stride() const noexcept { return slots_->log2_stride(); }
  /// The size of a slot in bytes.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slots_->slot_bytes(); }
  /// The distances from this PE's slot to the slots of direct PEs, indexed by PE, in units of 2^log2_stride() bytes.
  [[nodiscard]] std::span<const std::int32_t> distances() const noexcept { return distances_; }
  /// Whether the slots are evenly spaced in the order of domains::index(). If not, distances() gives the addresses of
  /// peers.
  [[nodiscard]] bool in_a_row() const noexcept { return !slots_->has_memory(); }
  /// For memory at addresses that the device chooses: closes the memory of peers, because a PE cannot free memory that
  /// another PE has open. After the call no PE may access the memory.
  void close_peers() noexcept { slots_->close_peers(); }
  /// Whether all PEs have the layout at the same address.
  [[nodiscard]] bool same_base() const noexcept { return slots_->same_base(); }
  [[nodiscard]] handle_kind kind() const noexcept { return probed_.kind; }
  /// The size in bytes of the memory of all PEs in this PE's slot. *Callers* any thread.
  [[nodiscard]] std::size_t mapped_bytes() const noexcept { return memory_.mapped(); }
  /// Whether [pointer, pointer + bytes) lies in this PE's mapped memory, team segments included. *Callers* any thread.
  [[nodiscard]] bool contains(const void* pointer, std::size_t bytes) const {
    return contains_offset(offset(pointer), bytes);
  }
  /// Whether the bytes at this offset from the start of the slot are mapped.
  [[nodiscard]] bool contains_offset(std::size_t offset, std::size_t bytes) const;
  /// Whether PE `pe` has memory at the offset that `pointer` has on this PE. *Callers* any thread.
  [[nodiscard]] bool peer_has(const void* pointer, int pe) const {
    return team_segments_.peer_has(offset(pointer), pe);
  }

 private:
  /// The result of joining: the parameters that the PEs agree on, the layout, and, if all PEs share memory, the first
  /// segment.
  struct foundation {
    heap_parameters parameters;
    probe_result probed;
    std::unique_ptr<address_layout> slots;
    std::unique_ptr<group_segment> first;
  };
  heap(foundation result, device& device, const control_group& everyone, growth_callback on_growth,
       team_segment_map::change_callback on_team_segments);
  [[nodiscard]] static foundation found(device& device, const control_group& everyone, const config& settings,
                                        log::logger& log, bool allow_proxied, const joining_record& all);
  [[nodiscard]] std::size_t offset(const void* pointer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(slot(my_pe_));
  }

  const int my_pe_;
  const heap_parameters parameters_;
  const probe_result probed_;
  const std::unique_ptr<address_layout> slots_;
  segment_exchange exchange_;
  class team_segment_map team_segments_;
  symmetric_allocator memory_;
  std::vector<std::int32_t> distances_;
};

}  // namespace pgas::detail
