/// @file
/// How two PEs that have just been connected prove to one another that they belong to the same job.
///
/// Over a UNIX socket, where the kernel vouches for the user at the other end:
///
///   connecting -> accepting   proof        the first half of the job's secret
///   accepting -> connecting   proof        the second half
///
/// Over TCP, where anyone may listen, the secret stays at home:
///
///   both                      challenge    random bits of its own
///   connecting -> accepting   proof        a code over its part in this, both PEs and both challenges that takes the
///   accepting -> connecting   proof        secret to make
///
/// A recorded proof is worth nothing, as the challenges differ, and none can be sent back as the answer to itself. The
/// connection carries plain packets afterwards: this keeps strangers out, it hides nothing on a hostile network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/siphash.hpp"
#include "common/unique_fd.hpp"
#include "host/control/peer_descriptor.hpp"

namespace pgas::detail {

/// One side of it, with its connection.
class handshake {
 public:
  enum class transport { unix_socket, tcp };
  enum class role : std::uint8_t { connecting = 'c', accepting = 'a' };

  /// What is said, in either direction.
  struct message {
    std::uint64_t magic = 0;
    std::int32_t pe = -1;
    std::uint32_t reserved = 0;
    bits128 content{};
  };
  static_assert(sizeof(message) == 32);
  static constexpr std::uint64_t challenge_magic = 0x706761732d686f3f;  // "pgas-ho?"
  static constexpr std::uint64_t proof_magic = 0x706761732d6d6521;      // "pgas-me!"

  /// @param peer whom `me` connects to; what the other side says where `me` accepts.
  handshake(unique_fd fd, transport over, role part, const job_secret& secret, int me, int peer = -1);

  /// Says what this side says first. Gives 0 or an errno.
  [[nodiscard]] int begin();

  enum class status {
    under_way,
    proven,   ///< the other side belongs to the job; where this side accepts, it has still to confirm()
    refused,  ///< it does not
    ended     ///< it closed the connection
  };
  /// Takes what the other side has said so far, and answers.
  [[nodiscard]] status hear();
  /// The accepting side's own proof, once it takes the other one. Gives 0 or an errno.
  [[nodiscard]] int confirm();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] unique_fd take() { return std::move(fd_); }
  /// The PE at the other end, once it is proven.
  [[nodiscard]] int peer() const noexcept { return peer_; }
  /// Whether this side has proved itself and waits for the other one's proof.
  [[nodiscard]] bool has_proved() const noexcept { return has_proved_; }

 private:
  /// One whole message; none yet, or `ended` or `refused`.
  [[nodiscard]] status read(std::optional<message>& whole);
  [[nodiscard]] status judge(const message& said);
  [[nodiscard]] message proof_of(role part, int pe) const;
  [[nodiscard]] int say(const message& words) const;
  [[nodiscard]] int prove();

  unique_fd fd_;
  const transport over_;
  const role part_;
  const job_secret& secret_;
  const int me_;
  int peer_;
  bits128 my_challenge_{};
  std::optional<bits128> their_challenge_;
  std::array<std::byte, sizeof(message)> heard_{};
  std::size_t heard_bytes_ = 0;
  bool has_proved_ = false;
};

}  // namespace pgas::detail
