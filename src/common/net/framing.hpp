/// @file
/// Messages over a stream of bytes: each begins with a header that says how long it is. Used by the bootstrap's hub and
/// by the control plane's TCP connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "common/net/socket.hpp"

namespace pgas::detail {

/// Puts messages together from what a non-blocking socket yields. `Header` is plain, has a `magic` number, the
/// `expected_magic` and the number of `bytes` that follow it.
template <class Header>
class frame_reader {
 public:
  enum class status { complete, incomplete, closed, malformed };

  /// @param max_bytes a longer payload is malformed, whatever the header says.
  explicit frame_reader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Reads what is there, up to the end of one message, which stays readable until the next call. After `malformed`,
  /// told once, the stream counts as closed: nobody knows where the next message begins.
  [[nodiscard]] status read(int fd) {
    if (broken_) return status::closed;
    if (complete_) {
      complete_ = false;
      have_ = 0;
    }
    if (have_ < sizeof(Header)) {
      buffer_.resize(sizeof(Header));
      if (const receipt at = receive_some(fd, buffer_, have_); at != receipt::whole) return stopped(at);
      std::memcpy(&header_, buffer_.data(), sizeof(Header));
      if (header_.magic != Header::expected_magic || header_.bytes > max_bytes_) {
        broken_ = true;
        return status::malformed;
      }
    }
    const std::size_t size = sizeof(Header) + static_cast<std::size_t>(header_.bytes);
    while (have_ < size) {
      buffer_.resize(std::min(size, have_ + step));
      if (const receipt at = receive_some(fd, buffer_, have_); at != receipt::whole) return stopped(at);
    }
    complete_ = true;
    return status::complete;
  }
  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> payload() const { return message().subspan(sizeof(Header)); }
  /// Header and payload.
  [[nodiscard]] std::span<const std::byte> message() const { return buffer_; }

 private:
  /// The buffer grows with the bytes received: a header alone can not make it large.
  static constexpr std::size_t step = 1 << 20;

  [[nodiscard]] status stopped(receipt at) {
    broken_ = at == receipt::ended;
    return broken_ ? status::closed : status::incomplete;
  }

  std::size_t max_bytes_;
  Header header_;
  std::vector<std::byte> buffer_;  ///< the message as far as it is there, and room for more
  std::size_t have_ = 0;
  bool complete_ = false;
  bool broken_ = false;
};

}  // namespace pgas::detail
