/// @file
/// Unique ids, which make_unique_id() makes: the printed form of where rank 0 listens:
/// "pgas1-PORT-SECRET-ADDRESS,ADDRESS,..." in hexadecimal and plain addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/keyed_hash.hpp"
#include "common/net/address.hpp"
#include "common/net/tcp_socket.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

struct unique_id {
  static constexpr std::size_t longest = 255;

  bits128 secret{};
  std::vector<tcp_address> addresses;  ///< of rank 0, each with the port

  /// As many addresses as fit into `most` characters are printed; the last (the loopback) always is.
  [[nodiscard]] std::string print(std::size_t most = longest) const;
  /// *Errors* code::bootstrap_protocol where `text` is not a whole unique id.
  [[nodiscard]] static unique_id parse(std::string_view text);
};

/// Keeps what make_unique_id() opened until rank 0 joins by this id in this process.
void keep_for_rank0(const std::string& unique_id, std::vector<tcp_listener> listeners);

}  // namespace pgas::boot
