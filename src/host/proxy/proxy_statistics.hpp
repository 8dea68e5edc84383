/// @file
/// The counters of a proxy, and its line in the log.
#pragma once

#include <fmt/format.h>

#include <string>

#include "common/owned_counter.hpp"

namespace pgas::detail {

/// Counts since the start. The proxy's thread counts; any thread may copy them.
struct proxy_statistics {
  owned_counter commands;          ///< taken from rings
  owned_counter messages;          ///< sent, with operations
  owned_counter message_bytes;     ///< in them
  owned_counter acknowledgements;  ///< sent without operations, and requests for them
  owned_counter message_ops;       ///< executed for other PEs
  owned_counter early_messages;    ///< received out of order
  owned_counter chunks;            ///< put or got by the transport itself
  owned_counter chunk_bytes;
};

/// Commands taken for one PE. One that puts and signals counts as both.
struct command_counts {
  owned_counter puts;
  owned_counter put_bytes;
  owned_counter gets;
  owned_counter get_bytes;
  owned_counter atomics;
  owned_counter signals;
};

/// Most of them in words.
[[nodiscard]] inline std::string summary_of(const proxy_statistics& counts) {
  return fmt::format(
      "the proxy took {} commands, sent {} messages of {} bytes and {} acknowledgements, put and got {} bytes in {} "
      "chunks",
      counts.commands.read(), counts.messages.read(), counts.message_bytes.read(), counts.acknowledgements.read(),
      counts.chunk_bytes.read(), counts.chunks.read());
}

}  // namespace pgas::detail
