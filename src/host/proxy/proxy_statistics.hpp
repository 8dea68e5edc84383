/// @file
/// What a proxy counts, and its line in the log.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace pgas::detail {

/// Counts since the start.
struct proxy_statistics {
  std::uint64_t commands = 0;          ///< taken from rings
  std::uint64_t messages = 0;          ///< sent, with operations
  std::uint64_t message_bytes = 0;     ///< in them
  std::uint64_t acknowledgements = 0;  ///< sent without operations, and requests for them
  std::uint64_t message_ops = 0;       ///< executed for other PEs
  std::uint64_t early_messages = 0;    ///< received out of order
  std::uint64_t chunks = 0;            ///< put or got by the transport itself
  std::uint64_t chunk_bytes = 0;
};

/// Most of them in words.
[[nodiscard]] inline std::string summary_of(const proxy_statistics& counts) {
  return fmt::format(
      "the proxy took {} commands, sent {} messages of {} bytes and {} acknowledgements, put and got {} bytes in {} "
      "chunks",
      counts.commands, counts.messages, counts.message_bytes, counts.acknowledgements, counts.chunk_bytes,
      counts.chunks);
}

}  // namespace pgas::detail
