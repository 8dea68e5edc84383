/// @file
/// The heap of one PE, with all parts that it needs.
#pragma once

#include "host/heap/heap.hpp"
#include "unit/connect/fixtures.hpp"
#include "unit/heap/faulty_device.hpp"

namespace pgas::unit_test {

constexpr std::size_t MiB = std::size_t{1} << 20;

/// The settings of the heap. The heap is small because sanitizers leave few addresses, and each thread that is a PE
/// reserves addresses for all slots.
inline config small_heap() {
  config settings = quick();
  settings.heap_limit = 256 * MiB;
  settings.segment_size = 4 * MiB;
  return settings;
}

struct heap_pe {
  explicit heap_pe(bootstrap& exchange, const config& settings = small_heap(),
                   const std::function<void(faulty_device&)>& prepare = {}, bool allow_proxied = false)
      : pe(exchange, settings), me(pe.control_plane.my_pe()), n(pe.control_plane.n_pes()) {
    if (prepare) prepare(device);
    heap.emplace(
        device, pe.control_plane, settings, pe.log, [this](std::size_t mapped) { grown_to.push_back(mapped); },
        detail::team_segment_map::change_callback{}, allow_proxied);
  }
  /// Leaves the world, collectively, and destroys the heap. Throws if segments, mappings or reservations are left.
  void leave() {
    pe.control_plane.leave();
    heap.reset();
    if (device.segments != 0 || device.mappings != 0 || device.reservations != 0)
      throw std::runtime_error("the heap left " + std::to_string(device.segments) + " segments, " +
                               std::to_string(device.mappings) + " mappings and " +
                               std::to_string(device.reservations) + " reservations");
  }
  /// The address on PE `other` of the memory that this PE has at `local`.
  template <class T>
  T* remote(T* local, int other) const {
    return reinterpret_cast<T*>(heap->slot(other) + (reinterpret_cast<std::byte*>(local) - heap->slot(me)));
  }
  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(heap->allocate(count * sizeof(T), 16));
  }

  joined_pe pe;
  const int me;
  const int n;
  faulty_device device;
  std::vector<std::size_t> grown_to;
  std::optional<detail::heap> heap;
};

}  // namespace pgas::unit_test
