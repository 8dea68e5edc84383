/// @file
/// Proxies for the PEs of a pe_set that span domains: a proxy and a ring for each PE, over loopback, and the table that
/// contexts name. For C++17, too, unlike the library's own headers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pgas/device.hpp"

namespace pgas_test {

/// Where the PEs' slots lie and how they are divided into domains.
struct proxied_layout {
  int n_pes;
  int domain;             ///< number of neighbours that are direct PEs of each other; the last domain may have fewer
  std::vector<int> gpus;  ///< of each PE; empty: the slots are memory of the host
  std::vector<std::byte*> slots;
  std::uint16_t log2_stride;  ///< by which their distances are counted
  std::size_t slot_bytes;
  std::uint32_t fault_seed;  ///< of transports that hold back and reorder; 0: good ones
};

class proxies {
 public:
  /// @param control_of the control block of a PE @param failed called by a proxy that loses a PE; any thread
  proxies(const proxied_layout& where, const std::function<pgas::detail::control_block*(int pe)>& control_of,
          std::function<void(int pe)> failed);
  ~proxies();
  proxies(const proxies&) = delete;
  proxies& operator=(const proxies&) = delete;

  /// For context::routes_: an address for kernels.
  [[nodiscard]] const pgas::detail::routes* routes_of(int pe) const;
  /// Returns when all commands of kernels that have ended are complete, or `given_up()`.
  void settle(const std::function<bool()>& given_up);
  /// The traffic between domains so far, of all PEs: bytes sent or fetched.
  struct carried {
    std::uint64_t bytes;
    std::uint64_t commands;
  };
  [[nodiscard]] carried traffic();
  /// From now on nothing goes to or comes from `pe`.
  void cut(int pe);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace pgas_test
