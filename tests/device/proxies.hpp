/// @file
/// Proxies for the PEs of a pe_set that spans domains: a proxy and a ring for each PE, with loopback, and the table
/// that contexts point to. The file also compiles as C++17, unlike the library's own headers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pgas/device.hpp"

namespace pgas_test {

/// The addresses of the PEs' slots, and their division into domains.
struct proxied_layout {
  int n_pes;
  /// The number of PEs in a domain; the last domain may have fewer.
  int domain;
  std::vector<int> gpus;  ///< the GPU of each PE; empty: the slots are host memory
  std::vector<std::byte*> slots;
  std::uint16_t log2_stride;  ///< the unit of the distances
  std::size_t slot_bytes;
  std::uint32_t fault_seed;  ///< the seed of transports that hold messages back and reorder them; 0: normal transports
};

class proxies {
 public:
  /// @param control_of returns the control block of a PE @param failed called by a proxy that loses a PE, on any thread
  proxies(const proxied_layout& where, const std::function<pgas::detail::control_block*(int pe)>& control_of,
          std::function<void(int pe)> failed);
  ~proxies();
  proxies(const proxies&) = delete;
  proxies& operator=(const proxies&) = delete;

  /// The address at which kernels read the table for context::routes_.
  [[nodiscard]] const pgas::detail::routes* routes_of(int pe) const;
  /// Waits until all commands of kernels that have ended are complete, or until `given_up()` returns true.
  void settle(const std::function<bool()>& given_up);
  /// The bytes that all PEs have sent or fetched between domains so far.
  struct carried {
    std::uint64_t bytes;
    std::uint64_t commands;
  };
  [[nodiscard]] carried traffic();
  /// After this call no data goes to `pe` or comes from it.
  void cut(int pe);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace pgas_test
