/// @file
/// What the PEs of a pe_set have for those beyond their domains: a proxy and a ring for each PE, over loopback, and the
/// table that contexts name. For C++17, too, which the library's own headers are not.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pgas/device.hpp"

namespace pgas_test {

/// Where the PEs' slots lie and how they are divided into domains.
struct proxied_layout {
  int n_pes;
  int domain;  ///< PEs that reach each other directly: so many neighbours, the last domain may have fewer
  std::vector<int> gpus;  ///< of each PE; empty: the slots are memory of the host
  std::byte* base;
  std::uint16_t log2_stride;
  std::size_t slot_bytes;
  std::uint32_t fault_seed;  ///< of transports that hold back and reorder; 0: good ones
};

class proxies {
 public:
  /// @param control_of the control block of a PE
  /// @param failed told by a proxy that a PE is lost to it; any thread
  proxies(const proxied_layout& where, const std::function<pgas::detail::control_block*(int pe)>& control_of,
          std::function<void(int pe)> failed);
  ~proxies();
  proxies(const proxies&) = delete;
  proxies& operator=(const proxies&) = delete;

  /// For context::routes_: an address for kernels.
  [[nodiscard]] const pgas::detail::routes* routes_of(int pe) const;
  /// Returns when all that kernels, which have ended, have handed over is complete, or `given_up()`.
  void settle(const std::function<bool()>& given_up);
  /// What all PEs together have had carried between domains so far: bytes that they sent or fetched, and what they
  /// asked for.
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
