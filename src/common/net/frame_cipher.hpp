/// @file
/// Encryption and authentication of the frames of a TCP connection (ChaCha20-Poly1305 of RFC 8439, by libsodium).
/// open() fails if a frame was changed, repeated, reordered or sent by another process, or if an earlier frame was left
/// out.
///
///   sealed frame   the number of bytes that follow (4)   the frame, encrypted   its code (16)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pgas::detail {

/// One direction of a connection. Frames are numbered, and no number is used twice with one key. *Callers* one thread
/// at a time.
class frame_cipher {
 public:
  using key = std::array<std::byte, 32>;
  static constexpr std::size_t prefix_bytes = 4;
  static constexpr std::size_t code_bytes = 16;

  explicit frame_cipher(const key& secret) : key_(secret) {}

  /// Writes the next frame, which consists of two parts, into `sealed`.
  void seal(std::span<const std::byte> head, std::span<const std::byte> body, std::vector<std::byte>& sealed);
  /// Called if no part of the last sealed frame was sent or will be sent. The next frame gets the number of that frame.
  void withdraw() noexcept { --number_; }

  /// The number of bytes that follow a prefix. The number is authentic only after the frame is opened.
  [[nodiscard]] static std::size_t bytes_after(std::span<const std::byte> prefix);
  /// Opens the next frame in place. `sealed` is the whole frame with its prefix. Empty if the other side has not sealed
  /// this frame.
  [[nodiscard]] std::optional<std::span<std::byte>> open(std::span<std::byte> sealed);

 private:
  using nonce = std::array<unsigned char, 12>;
  [[nodiscard]] nonce next_nonce();

  key key_;
  std::uint64_t number_ = 0;
};

/// The keys of one side of a connection.
struct session_keys {
  frame_cipher::key to_send;
  frame_cipher::key to_receive;
};

}  // namespace pgas::detail
