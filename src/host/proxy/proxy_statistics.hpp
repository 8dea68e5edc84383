/// @file
/// The counters of a proxy, and the line of the log with their values.
#pragma once

#include <fmt/format.h>

#include <string>

#include "common/owned_counter.hpp"

namespace pgas::detail {

/// Counts since the start. The proxy thread counts, and any thread may copy the counts.
struct proxy_statistics {
  owned_counter commands;          ///< commands taken from rings
  owned_counter messages;          ///< messages sent with operations
  owned_counter message_bytes;     ///< the bytes of messages sent with operations
  owned_counter acknowledgements;  ///< messages that carry only acknowledgements or requests for acknowledgement
  owned_counter message_ops;       ///< operations executed for other PEs
  owned_counter early_messages;    ///< messages that arrived out of order
  owned_counter chunks;            ///< chunks that the transport itself has put or got
  owned_counter chunk_bytes;
};

/// Counts of the commands for one PE. A command with a put and a signal counts as a put and as a signal.
struct command_counts {
  owned_counter puts;
  owned_counter put_bytes;
  owned_counter gets;
  owned_counter get_bytes;
  owned_counter atomics;
  owned_counter signals;
};

/// The most important counts as text.
[[nodiscard]] inline std::string summary_of(const proxy_statistics& counts) {
  return fmt::format(
      "the proxy took {} commands, sent {} messages of {} bytes and {} acknowledgements, put and got {} bytes in {} "
      "chunks",
      counts.commands.read(), counts.messages.read(), counts.message_bytes.read(), counts.acknowledgements.read(),
      counts.chunk_bytes.read(), counts.chunks.read());
}

}  // namespace pgas::detail
