/// @file
/// Messages between PEs. A message travels along the tree of the world (group_tree.hpp), in packets that neighbours
/// exchange; each PE on the way passes its packets on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/encode_error.hpp"  // of failures
#include "common/unique_fd.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// Largest part of a message in one packet.
inline constexpr std::size_t max_packet = std::size_t{64} << 10;

/// Largest contribution to an all-gather.
inline constexpr std::size_t max_contribution = std::size_t{64} << 10;

enum class message_kind : std::uint32_t {
  up = 1,         ///< a part of a collective: the contributions of the sender and of all below it, combined
  down = 2,       ///< the result of a collective
  status = 3,     ///< the members that have come to a collective that lasts
  abandon = 4,    ///< a collective cannot be completed any more
  failure = 5,    ///< the world can't go on: an error follows
  departure = 6,  ///< the sender has left, its end is no failure
  heartbeat = 7,  ///< the sender runs; between hosts
  question = 8,   ///< for every PE: `group` says which, `sequence` is the sender's number for it
  answer = 9,     ///< to the question of this number: JSON follows
};

/// The kind of a collective. PEs whose kinds differ make different calls, which is an error. await_leave comes before
/// leave: in between the end of a PE is still a failure.
enum class collective : std::uint32_t { none = 0, all_gather = 1, barrier = 2, leave = 3, await_leave = 4, reduce = 5 };
/// Whether a PE that makes this call makes no other collective call any more.
[[nodiscard]] constexpr bool is_end(collective call) {
  return call == collective::leave || call == collective::await_leave;
}

/// A message for all PEs.
inline constexpr std::int32_t all_pes = -1;

/// Precedes each packet. Both ends are of one version and ABI.
struct control_header {
  static constexpr std::uint32_t expected_magic = 0x32474150;
  std::uint32_t magic = expected_magic;
  message_kind kind = message_kind::up;
  collective call = collective::none;
  std::uint32_t fds = 0;  ///< in this packet
  std::int32_t from = -1;
  std::int32_t to = all_pes;
  std::uint64_t group = 0;      ///< control_group::identity; of a question: which
  std::uint64_t sequence = 0;   ///< of the collective in its group
  std::uint64_t bytes = 0;      ///< that follow
  std::uint64_t all_bytes = 0;  ///< of the whole message, of which packets come in order
  std::uint32_t all_fds = 0;    ///< of the whole message
  std::uint32_t of_others = 0;  ///< of a result: 1 if it lacks the contributions of the receiver and of those below it
};
static_assert(sizeof(control_header) == 64);

/// What a message carries. Packets that wait to be sent share it.
class parcel {
 public:
  explicit parcel(blob content, std::vector<int> borrowed = {}, std::vector<unique_fd> owned = {});

  [[nodiscard]] const blob& bytes() const noexcept { return bytes_; }
  /// All of them, or none where they were lost.
  [[nodiscard]] std::span<const int> fds() const noexcept { return fds_; }
  /// How many receivers are to expect.
  [[nodiscard]] std::size_t fd_count() const noexcept { return fd_count_; }
  /// Duplicates the borrowed descriptors, which the caller closes after the call. Without room for duplicates the
  /// parcel has no descriptors, and receivers find them lost. *Callers* one thread at a time.
  void keep();

 private:
  blob bytes_;
  std::vector<int> fds_;  ///< the borrowed ones first
  std::size_t borrowed_;
  std::size_t fd_count_;
  std::vector<unique_fd> owned_;
};

/// A message to be sent.
struct outgoing_message {
  control_header header;  ///< without what the packets differ in
  std::shared_ptr<parcel> content;
  bool one_packet = false;  ///< of another PE, passed on as it came
};

/// A message from `from`, for one PE or for all.
[[nodiscard]] outgoing_message message_of(message_kind kind, int from, int to = all_pes, blob content = {});

/// A message that has arrived as a whole.
struct arrived_message {
  control_header header;
  blob bytes;
  std::vector<unique_fd> fds;
  bool fds_lost =
      false;  ///< descriptors were sent, but this process may open no more files; those received were closed
};

/// Puts messages together from their packets.
class message_assembler {
 public:
  /// The message of which this is the last packet. *Errors* bootstrap_protocol for a packet that does not continue the
  /// message of its sender.
  [[nodiscard]] std::optional<arrived_message> add(const control_header& header, std::span<const std::byte> body,
                                                   std::vector<unique_fd> fds, bool fds_lost);

 private:
  struct part {
    arrived_message message;
    std::uint32_t fds = 0;  ///< that were sent so far
  };
  std::map<std::int32_t, part> parts_;  ///< by sender
};

}  // namespace pgas::detail
