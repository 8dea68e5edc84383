/// @file
/// The contract between the heap and the proxy: which memory PEs of other domains reach. The proxy implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The memory that a PE exposes to proxied peers, and the memory that they expose to it. *Callers* any thread.
class memory_exposure {
 public:
  /// Makes [at, at + bytes), which lies at `offset` of this PE's slot, reachable for the others' transports. The key is
  /// for their add_peer_memory(). Empty where the transport can't: messages will do, and the reason is logged once.
  [[nodiscard]] virtual blob expose(std::uint64_t offset, void* at, std::size_t bytes) = 0;
  /// Takes the key that expose() of that PE returned; an empty key is accepted and has no effect. On return commands
  /// use it. *Errors* handle_invalid for a malformed key, pe_out_of_range.
  virtual void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) = 0;
  /// Forgets what this PE and its peers exposed at `offset`. All PEs have agreed: no PE uses it any more.
  virtual void remove_memory(std::uint64_t offset) = 0;

 protected:
  ~memory_exposure() = default;
};

}  // namespace pgas::detail
