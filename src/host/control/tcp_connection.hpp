/// @file
/// Packets to a PE of another host, over a stream of bytes.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "host/control/connection.hpp"
#include "host/control/control_message.hpp"

namespace pgas::detail {

/// Packets follow one another in the stream; each begins with its packet_header, which says how long it is. A packet
/// that the kernel does not take whole is kept, and no other one is taken before its rest is sent.
class tcp_connection final : public connection {
 public:
  using connection::connection;

  /// *Errors* EPIPE for every reason for which nothing can be sent any more: the end, and why, is what receive() tells.
  /// Descriptors can't be sent.
  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override;
  int flush() override;
  /// After a packet that is too long or none at all, which is told as `oversized` once, the channel counts as closed.
  received_packet receive() override;
  void finish() noexcept override;

 private:
  enum class progress { whole, partial, ended };
  [[nodiscard]] progress fill(std::span<std::byte> part, std::size_t& have);
  [[nodiscard]] int push();

  std::mutex sending_;             ///< guards what follows
  std::vector<std::byte> unsent_;  ///< the rest of a packet, from `sent_` on
  std::size_t sent_ = 0;

  // The receiver's:
  packet_header header_;
  std::size_t header_bytes_ = 0;
  std::vector<std::byte> packet_;
  std::size_t body_bytes_ = 0;
  bool broken_ = false;
};

}  // namespace pgas::detail
