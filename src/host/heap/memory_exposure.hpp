/// @file
/// The heap's view of the proxy, which gives proxied peers access to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The memory that this PE exposes to proxied peers, and the memory that proxied peers expose to this PE. *Callers* any
/// thread.
class memory_exposure {
 public:
  /// Exposes [at, at + bytes) at `offset` of this PE's slot to the transports of other PEs. Returns the key that other
  /// PEs pass to add_peer_memory(). The key is empty if the transport cannot register the memory. In that case messages
  /// carry the data, and the reason is logged once.
  [[nodiscard]] virtual blob expose(std::uint64_t offset, void* at, std::size_t bytes) = 0;
  /// Adds the key that expose() of that PE returned. An empty key has no effect. Commands use the key after return.
  /// *Errors* handle_invalid for a malformed key, pe_out_of_range.
  virtual void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) = 0;
  /// Removes the memory that this PE and its peers have exposed at `offset`. No PE may access that memory any more.
  virtual void remove_memory(std::uint64_t offset) = 0;

 protected:
  ~memory_exposure() = default;
};

}  // namespace pgas::detail
