/// @file
/// The choice of the devices while PEs join. All PEs use GPUs, or all use the host heap.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "host/connect/peer_table.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/log/logger.hpp"
#include "host/topology/device_descriptor.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The device of this PE, and the devices of all PEs.
struct chosen_device {
  std::unique_ptr<device> own;
  std::vector<device_user> users;         ///< by PE
  std::optional<joining_record> records;  ///< the record of all PEs; empty if it does not describe the chosen devices
};

/// Compares the devices of the PEs, because a world has one kind of heap.
class device_choice {
 public:
  /// @param allow_proxied for the records, which the PEs exchange together with the descriptions of their devices
  device_choice(const config& settings, bool allow_proxied) : settings_(settings), allow_proxied_(allow_proxied) {}

  /// Opens the device that the settings and the launcher request. Returns the message of this PE to all PEs, with the
  /// reason if the PE has no such device.
  [[nodiscard]] blob open(const peer_table& peers);
  /// Adds the message of a PE. *Errors* bootstrap_protocol.
  void add(int pe, std::span<const std::byte> message);
  /// Chooses, after the messages of all PEs were added. *Errors* mixed_heaps, device_unavailable; the same on all PEs.
  [[nodiscard]] chosen_device choose(log::logger& log);

 private:
  const config& settings_;
  const bool allow_proxied_;
  int me_ = -1;
  chosen_device chosen_;
  std::unique_ptr<device> host_;  ///< null if the PE has a GPU
};

}  // namespace pgas::detail
