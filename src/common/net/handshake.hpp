/// @file
/// The handshake by which both ends of a new connection prove that they belong to the same job.
///
///   connecting -> accepting   hello    the sender, the PE that it wants to reach, a nonce
///   accepting -> connecting   answer   a nonce, and a code over the hello and both nonces, made with the key
///   connecting -> accepting   proof    the connecting side's code over the same data
///   accepting -> connecting   welcome  one byte: the connection is accepted. The bootstrap's hub sends a frame instead
///
/// The codes are computed over both nonces and the whole hello, so neither a recorded handshake nor a changed one is
/// accepted. The codes of the two sides differ, so a side cannot send back the code of the other side. The key itself
/// is never sent. The keys that seal messages over TCP (frame_cipher.hpp) are derived from the same key and nonces.
/// Each connection and each direction has its own keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "common/keyed_hash.hpp"
#include "common/net/frame_cipher.hpp"
#include "common/net/socket.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

struct hello {
  static constexpr std::uint32_t expected_magic = 0x48474750;  // "PGGH"
  static constexpr std::uint32_t expected_version = 3;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
  std::int32_t from = -1;   ///< the PE or rank of the connecting side
  std::int32_t to = 0;      ///< the PE or rank that the connecting side wants to reach
  std::uint32_t size = 0;   ///< the size of the world
  std::uint32_t world = 0;  ///< the number of the world among the worlds that are made at one address
  bits128 nonce{};
};
static_assert(sizeof(hello) == 40);

struct hello_answer {
  std::uint32_t magic = hello::expected_magic;
  std::uint32_t version = hello::expected_version;
  bits128 nonce{};
  bits128 code{};
};
static_assert(sizeof(hello_answer) == 40);

/// A connection whose other side is authenticated, and the keys that seal its messages.
struct proven_socket {
  unique_fd fd;
  session_keys keys;
};

/// One side of a handshake. Owns the connection, which is non-blocking.
class handshake {
 public:
  enum class role : std::uint8_t { connecting = 'c', accepting = 'a' };
  enum class status {
    pending,
    proven,         ///< the other side belongs to the job, and this side has sent its proof
    welcomed,       ///< on the connecting side: the connection is accepted
    foreign,        ///< the other side uses another protocol
    wrong_version,  ///< the other side has another version of the library
    refused,        ///< the other side does not know the key, or wants to reach another PE
    ended           ///< the other side closed the connection
  };

  /// Makes the connecting side. @param key must outlive the object
  handshake(unique_fd fd, std::span<const std::byte> key, const hello& introduction);
  /// Makes the accepting side, which is PE `me`.
  handshake(unique_fd fd, std::span<const std::byte> key, int me);

  /// Sends the hello, the connecting side's first step. Returns 0 or an errno.
  [[nodiscard]] int send_hello();
  /// Handles the bytes that have arrived, and sends the answer. *Errors* system if no nonce can be made.
  [[nodiscard]] status receive();
  /// Sends the welcome, the accepting side's last step. Called if the connecting side waits for it. Returns 0 or an
  /// errno.
  [[nodiscard]] int welcome() { return send_now(fd_.get(), bytes_of(welcome_)); }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] unique_fd take() { return std::move(fd_); }
  [[nodiscard]] proven_socket take_proven() { return {std::move(fd_), keys()}; }
  /// Whether the connecting side's hello has arrived, and its content. On the accepting side, the content is not
  /// authenticated until the status is `proven`.
  [[nodiscard]] bool introduced() const noexcept { return introduced_; }
  [[nodiscard]] const hello& introduction() const noexcept { return hello_; }

  /// The keys that seal messages over this connection. Valid when the other side is authenticated.
  [[nodiscard]] session_keys keys() const;

  /// The code that the side with the role `part` sends. It is a single hash with the whole key.
  [[nodiscard]] static bits128 code_of(std::span<const std::byte> key, role part, const hello& introduction,
                                       const bits128& nonce);

 private:
  [[nodiscard]] status receive_hello();
  [[nodiscard]] status receive_answer();
  [[nodiscard]] status receive_proof();
  [[nodiscard]] status receive_welcome();
  /// Receives a message. The result is empty if the message is complete and its magic number, if any, is correct.
  template <class Message>
  [[nodiscard]] std::optional<status> incomplete(Message& message);

  unique_fd fd_;
  const std::span<const std::byte> key_;
  const role part_;
  const int me_;
  hello hello_;
  hello_answer answer_;
  bits128 proof_{};
  std::byte welcome_{};
  std::size_t have_ = 0;  ///< the received bytes of the expected message
  bool introduced_ = false;
  bool proven_ = false;
};

}  // namespace pgas::detail
