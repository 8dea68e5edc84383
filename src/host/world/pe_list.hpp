/// @file
/// The properties of all PEs, in a few bytes for each PE. Many PEs have the same host and the same device.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/connect/peer_table.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

class pe_list {
 public:
  /// Adds the next PE. PEs are added in ascending order.
  void add(const peer_info& process, const device_properties& device, bool time_sliced);
  /// Notes that a PE is a proxied peer. @param route pe_info::route, the same for all proxied peers
  void set_proxied(int pe, const std::string& route);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(pes_.size()); }
  /// The properties of a PE, valid for the lifetime of this object. The properties are made at the first call.
  /// *Callers* any thread.
  [[nodiscard]] const pe_info& at(int pe) const;
  /// The number of PEs that have the device of PE `pe`.
  [[nodiscard]] int on_device_of(int pe) const;

 private:
  /// The properties that several PEs have.
  struct place {
    std::string host;
    std::string device;
    std::string device_uuid;
    bool operator==(const place&) const = default;
  };
  struct entry {
    std::uint32_t place;  ///< in places_
    int pid;
    int local_rank;
    bool time_sliced;
    bool direct = true;
  };

  std::vector<place> places_;  ///< without duplicates
  std::vector<entry> pes_;
  std::string proxied_route_;
  mutable std::mutex mutex_;  ///< guards made_
  mutable std::map<int, pe_info> made_;
};

}  // namespace pgas::detail
