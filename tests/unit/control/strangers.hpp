/// @file
/// What tests need to talk with a PE without being one.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "common/unique_fd.hpp"
#include "host/control/handshake.hpp"

namespace pgas::unit_test {

/// Both ends of a stream, as TCP makes one.
inline std::array<detail::unique_fd, 2> connected_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  return {detail::unique_fd(ends[0]), detail::unique_fd(ends[1])};
}

using words = detail::handshake::message;

inline void say(const detail::unique_fd& to, const words& text) {
  EXPECT_EQ(::send(to.get(), &text, sizeof(text), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(text)));
}

inline words read_words(const detail::unique_fd& from) {
  words said;
  EXPECT_EQ(::recv(from.get(), &said, sizeof(said), MSG_WAITALL), static_cast<ssize_t>(sizeof(said)));
  return said;
}

inline words challenge() {
  words text;
  text.magic = detail::handshake::challenge_magic;
  text.content = detail::random_bits();
  return text;
}

}  // namespace pgas::unit_test
