/// @file
/// What a proxy is told, and what it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace pgas::detail {

struct proxy_settings {
  int me = 0;  ///< as the world counts
  int n = 1;
  std::byte* slot = nullptr;  ///< where this PE's part of the heap begins
  /// Whether [offset, offset + bytes) of this PE's slot is there to be used. Called on the proxy thread.
  std::function<bool(std::uint64_t offset, std::uint64_t bytes)> contains;
  /// Told once, on the proxy thread: the world can't go on because of PE `pe`. Whoever waits for answers has to be
  /// released by other means (the abort word): commands under way, and all later ones, are dropped. Calls no function
  /// of the proxy but wake().
  std::function<void(int pe, const std::string& what)> failed;

  std::size_t eager_bytes = std::size_t{8} << 10;    ///< up to this much travels in a message with other things
  std::size_t piece_bytes = std::size_t{512} << 10;  ///< what larger things are cut into
  std::size_t pieces_under_way = 8;                  ///< to or from one PE
  std::size_t reply_bytes = std::size_t{512} << 10;  ///< asked for of one PE by message and not yet here
};

/// Counts since the start.
struct proxy_statistics {
  std::uint64_t commands = 0;          ///< taken from rings
  std::uint64_t messages = 0;          ///< sent, with records
  std::uint64_t message_bytes = 0;     ///< in them
  std::uint64_t acknowledgements = 0;  ///< messages without records: what is said or asked of them on its own
  std::uint64_t records = 0;           ///< of others, carried out
  std::uint64_t early_messages = 0;    ///< that came before their turn
  std::uint64_t pieces = 0;            ///< put or got by the transport itself
  std::uint64_t piece_bytes = 0;
};

}  // namespace pgas::detail
