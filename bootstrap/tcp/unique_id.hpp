/// @file
/// Unique ids, which make_unique_id() creates. A unique id is the text of the addresses at which rank 0 listens:
/// "pgas1-PORT-SECRET-ADDRESS,ADDRESS,..." with hexadecimal numbers and plain addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/keyed_hash.hpp"
#include "common/net/address.hpp"
#include "common/net/tcp_socket.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

struct unique_id {
  static constexpr std::size_t longest = 255;

  bits128 secret{};
  std::vector<tcp_address> addresses;  ///< the addresses of rank 0, each with the port

  /// Prints the id. If `most` characters are too few for all addresses, some are omitted, but never the last one (the
  /// loopback address).
  [[nodiscard]] std::string print(std::size_t most = longest) const;
  /// *Errors* code::bootstrap_protocol if `text` is not a complete unique id.
  [[nodiscard]] static unique_id parse(std::string_view text);
};

/// Keeps the listeners of make_unique_id() until rank 0 joins with this id in this process.
void keep_for_rank0(const std::string& unique_id, std::vector<tcp_listener> listeners);

}  // namespace pgas::boot
