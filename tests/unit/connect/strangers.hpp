/// @file
/// Functions for tests that exchange messages with a PE by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "common/net/handshake.hpp"

namespace pgas::unit_test {

/// Both ends of a stream of bytes, like the ends of a TCP connection.
inline std::array<detail::unique_fd, 2> connected_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  return {detail::unique_fd(ends[0]), detail::unique_fd(ends[1])};
}

template <class Message>
void send_message(const detail::unique_fd& to, const Message& message) {
  EXPECT_EQ(::send(to.get(), &message, sizeof(message), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(message)));
}

template <class Message>
[[nodiscard]] Message receive_message(const detail::unique_fd& from) {
  Message message;
  EXPECT_EQ(::recv(from.get(), &message, sizeof(message), MSG_WAITALL), static_cast<ssize_t>(sizeof(message)));
  return message;
}

}  // namespace pgas::unit_test
