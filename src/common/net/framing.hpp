/// @file
/// Messages over a stream of bytes. Each message begins with a header that contains the size of the message. Over TCP
/// each message is sealed (frame_cipher.hpp). Used by the bootstrap's hub and by the control plane's TCP connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/net/frame_cipher.hpp"
#include "common/net/socket.hpp"

namespace pgas::detail {

/// Assembles messages from the bytes of a non-blocking socket. `Header` is trivially copyable. It has a `magic` number,
/// the `expected_magic`, and the number of `bytes` that follow the header.
template <class Header>
class frame_reader {
 public:
  enum class status {
    complete,
    incomplete,
    closed,
    malformed,
    forged  ///< the message is not authentic: it was changed on the way, or another process sent it
  };

  /// @param max_bytes the largest payload; a longer payload is malformed
  /// @param cipher the cipher of the other side's direction; empty if messages are not sealed
  explicit frame_reader(std::size_t max_bytes, std::optional<frame_cipher> cipher = std::nullopt)
      : max_bytes_(max_bytes), cipher_(std::move(cipher)) {}

  /// Reads the available bytes, up to the end of one message. The message stays readable until the next call.
  /// `malformed` and `forged` are returned once. Afterwards the stream counts as closed, because the start of the next
  /// message is not known.
  [[nodiscard]] status read(int fd) {
    if (broken_) return status::closed;
    if (complete_) {
      complete_ = false;
      have_ = 0;
    }
    const std::size_t begin = cipher_ ? frame_cipher::prefix_bytes : sizeof(Header);
    if (have_ < begin) {
      buffer_.resize(begin);
      if (const receipt at = receive_some(fd, buffer_, have_); at != receipt::whole) return stopped(at);
      if (cipher_) {
        size_ = begin + frame_cipher::bytes_after(buffer_);
        if (size_ > begin + sizeof(Header) + max_bytes_ + frame_cipher::code_bytes) return broken(status::forged);
      } else {
        if (!take_header(buffer_)) return broken(status::malformed);
        size_ = begin + static_cast<std::size_t>(header_.bytes);
      }
    }
    while (have_ < size_) {
      buffer_.resize(std::min(size_, have_ + step));
      if (const receipt at = receive_some(fd, buffer_, have_); at != receipt::whole) return stopped(at);
    }
    message_ = buffer_;
    if (cipher_) {
      const auto opened = cipher_->open(buffer_);
      if (!opened) return broken(status::forged);
      message_ = *opened;
      if (message_.size() < sizeof(Header) || !take_header(message_) ||
          header_.bytes != message_.size() - sizeof(Header))
        return broken(status::malformed);
    }
    complete_ = true;
    return status::complete;
  }
  /// Frees the memory of a message that was read.
  void release() { std::vector<std::byte>().swap(buffer_); }
  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> payload() const { return message().subspan(sizeof(Header)); }
  /// The header and the payload of the message.
  [[nodiscard]] std::span<const std::byte> message() const { return message_; }

 private:
  /// The buffer grows with the bytes received, so a header alone cannot make it large.
  static constexpr std::size_t step = 1 << 20;

  /// Whether the bytes are the header of a message that may be received.
  [[nodiscard]] bool take_header(std::span<const std::byte> bytes) {
    std::memcpy(&header_, bytes.data(), sizeof(Header));
    return header_.magic == Header::expected_magic && header_.bytes <= max_bytes_;
  }
  [[nodiscard]] status broken(status how) {
    broken_ = true;
    return how;
  }
  [[nodiscard]] status stopped(receipt at) {
    broken_ = at == receipt::ended;
    return broken_ ? status::closed : status::incomplete;
  }

  std::size_t max_bytes_;
  std::optional<frame_cipher> cipher_;
  Header header_;
  std::vector<std::byte> buffer_;       ///< the received part of the message, and free space
  std::span<const std::byte> message_;  ///< the part of buffer_ with the message, once the message is complete
  std::size_t size_ = 0;  ///< the size of the message as it is sent; known after its beginning has arrived
  std::size_t have_ = 0;
  bool complete_ = false;
  bool broken_ = false;
};

}  // namespace pgas::detail
