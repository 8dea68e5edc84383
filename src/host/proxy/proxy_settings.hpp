/// @file
/// The settings of a proxy: its callbacks, and the sizes of messages and chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "pgas/detail/proxy_ring.hpp"

namespace pgas::trace {
class recorder;
}

namespace pgas::detail {

struct proxy_settings {
  int me = 0;  ///< the world number of this PE
  int n = 1;
  std::byte* slot = nullptr;  ///< the start of this PE's part of the heap
  /// Returns whether [offset, offset + bytes) of this PE's slot has memory. Called on the proxy thread.
  std::function<bool(std::uint64_t offset, std::uint64_t bytes)> contains;
  /// Called once on the proxy thread when the world cannot continue because of PE `pe`. Commands in flight and all
  /// later commands are dropped, so the abort word must end the waits of producers. The callback may call only wake()
  /// of the proxy.
  std::function<void(int pe, const std::string& what)> failed;

  proxy_bell* bell = nullptr;  ///< the bell in the producers' control block; null: this proxy wakes no thread
  /// Records each command from its start until it is complete; null: commands are not recorded.
  trace::recorder* events = nullptr;

  /// The size of the largest operation that shares a message with other operations.
  std::size_t eager_bytes = std::size_t{8} << 10;
  std::size_t chunk_bytes = std::size_t{512} << 10;  ///< bulk operations are cut into chunks of this size
  std::size_t chunks_in_flight = 8;                  ///< the largest number of chunks in flight to or from one PE
  /// The largest number of bytes that were requested from one PE and have not arrived.
  std::size_t reply_bytes = std::size_t{512} << 10;
};

}  // namespace pgas::detail
