/// @file
/// The settings of a proxy: its callbacks, and the sizes of messages and chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "pgas/detail/proxy_bell.hpp"

namespace pgas::trace {
class recorder;
}

namespace pgas::detail {

struct proxy_settings {
  int me = 0;  ///< world number
  int n = 1;
  std::byte* slot = nullptr;  ///< the start of this PE's part of the heap
  /// Whether [offset, offset + bytes) of this PE's slot has memory. Called on the proxy thread.
  std::function<bool(std::uint64_t offset, std::uint64_t bytes)> contains;
  /// Called once, on the proxy thread: the world can't go on because of PE `pe`. Commands in flight and all later ones
  /// are dropped, so that producers which wait have to be released by other means (the abort word). Calls no function
  /// of the proxy but wake().
  std::function<void(int pe, const std::string& what)> failed;

  proxy_bell* bell = nullptr;  ///< of the control block that producers know; null: no thread is woken by this proxy
  trace::recorder* events = nullptr;  ///< records each command from its start until it is complete; null: nobody does

  std::size_t eager_bytes = std::size_t{8} << 10;    ///< the most that travels in a message with other operations
  std::size_t chunk_bytes = std::size_t{512} << 10;  ///< bulk operations are cut into chunks of this size
  std::size_t chunks_in_flight = 8;                  ///< to or from one PE
  std::size_t reply_bytes = std::size_t{512} << 10;  ///< requested of one PE by message and not yet here
};

}  // namespace pgas::detail
