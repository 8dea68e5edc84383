/// @file
/// Packets and descriptors to a PE of the same host, over a UNIX socket that keeps packets apart by itself.
#pragma once

#include <vector>

#include "host/control/connection.hpp"

namespace pgas::detail {

class unix_connection final : public connection {
 public:
  /// @param buffer for all channels of the one thread that receives; as large as the largest packet.
  unix_connection(unique_fd fd, std::vector<std::byte>& buffer) : connection(std::move(fd)), buffer_(buffer) {}

  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override {
    return send_packet(fd(), head, body, fds);
  }
  int flush() override { return 0; }
  received_packet receive() override { return receive_packet(fd(), buffer_); }
  void finish() noexcept override {}  // a UNIX socket keeps what it has taken, whoever closes first

 private:
  std::vector<std::byte>& buffer_;
};

}  // namespace pgas::detail
