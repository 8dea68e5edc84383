/// @file
/// How two ends of a new connection prove to one another that they belong to the same job.
///
///   connecting -> accepting   hello    who I am, whom I mean, a nonce
///   accepting -> connecting   answer   a nonce of its own, and a code over hello and nonce that takes the key to make
///   connecting -> accepting   proof    the connecting side's code over the same
///   accepting -> connecting   welcome  one byte: the connection is taken. The bootstrap's hub says so in a frame
///
/// The codes cover both nonces and the whole hello, so neither a recorded handshake nor a changed one is accepted. They
/// differ by the role of the side, so neither can be sent back as the other. The key itself is never sent. The same key
/// and nonces make the keys by which messages over TCP are sealed afterwards (frame_cipher.hpp), others for each
/// connection and direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "common/keyed_hash.hpp"
#include "common/net/frame_cipher.hpp"
#include "common/net/socket.hpp"

namespace pgas::detail {

struct hello {
  static constexpr std::uint32_t expected_magic = 0x48474750;  // "PGGH"
  static constexpr std::uint32_t expected_version = 3;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
  std::int32_t from = -1;   ///< PE or rank of the connecting side
  std::int32_t to = 0;      ///< that of the side which it wants to reach
  std::uint32_t size = 0;   ///< of the world
  std::uint32_t world = 0;  ///< number among the worlds that are made at one address
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

/// A connection whose other side is proven, and how messages over it are sealed.
struct proven_socket {
  unique_fd fd;
  session_keys keys;
};

/// One side of a handshake, with its connection, which is non-blocking.
class handshake {
 public:
  enum class role : std::uint8_t { connecting = 'c', accepting = 'a' };
  enum class status {
    pending,
    proven,         ///< the other side belongs to the job, and this one has proved that it does
    welcomed,       ///< the connecting side's: the connection is taken
    foreign,        ///< it speaks another protocol
    wrong_version,  ///< it is of another version of the library
    refused,        ///< it does not know the key, or wants to reach another PE
    ended           ///< it closed the connection
  };

  /// The connecting side. @param key must live as long.
  handshake(unique_fd fd, std::span<const std::byte> key, const hello& introduction);
  /// The accepting side, which is PE `me`.
  handshake(unique_fd fd, std::span<const std::byte> key, int me);

  /// The connecting side's first step. Gives 0 or an errno.
  [[nodiscard]] int send_hello();
  /// Takes what has arrived, and answers. *Errors* system where no nonce can be made.
  [[nodiscard]] status receive();
  /// The accepting side's last step, where the connecting side waits for it. Gives 0 or an errno.
  [[nodiscard]] int welcome() { return send_now(fd_.get(), bytes_of(welcome_)); }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] unique_fd take() { return std::move(fd_); }
  [[nodiscard]] proven_socket take_proven() { return {std::move(fd_), keys()}; }
  /// The connecting side's hello. On the accepting side: whether it has arrived, and what it says; a claim until
  /// proven.
  [[nodiscard]] bool introduced() const noexcept { return introduced_; }
  [[nodiscard]] const hello& introduction() const noexcept { return hello_; }

  /// How messages over this connection are sealed; once the other side is proven.
  [[nodiscard]] session_keys keys() const;

  /// The code that the side of `part` sends: one hash, keyed with the whole key.
  [[nodiscard]] static bits128 code_of(std::span<const std::byte> key, role part, const hello& introduction,
                                       const bits128& nonce);

 private:
  [[nodiscard]] status receive_hello();
  [[nodiscard]] status receive_answer();
  [[nodiscard]] status receive_proof();
  [[nodiscard]] status receive_welcome();
  /// Nothing once the message is whole, and of this protocol where it has a magic number.
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
  std::size_t have_ = 0;  ///< bytes of the message that is awaited
  bool introduced_ = false;
  bool proven_ = false;
};

}  // namespace pgas::detail
