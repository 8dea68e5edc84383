/// @file
/// Control messages between PEs. A message travels along the tree of the world (group_tree.hpp) in packets. Each PE on
/// the way passes the packets on to the next neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/encode_error.hpp"  // for the content of failure messages
#include "common/unique_fd.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The largest number of bytes of a message in one packet.
inline constexpr std::size_t max_packet = std::size_t{64} << 10;

/// The largest contribution to an all-gather, in bytes.
inline constexpr std::size_t max_contribution = std::size_t{64} << 10;

enum class message_kind : std::uint32_t {
  up = 1,         ///< the combined contributions of the sender and of the PEs below it
  down = 2,       ///< the result of a collective
  status = 3,     ///< the members that have called a pending collective
  abandon = 4,    ///< a collective cannot complete any more
  failure = 5,    ///< the world cannot continue; an error follows
  departure = 6,  ///< the sender has left; the end of its process is not a failure
  heartbeat = 7,  ///< the sender runs; sent between hosts only
  question = 8,   ///< a question to all PEs; `group` is its kind, and `sequence` is its number at the sender
  answer = 9,     ///< the answer to the question with this number; JSON follows
};

/// The kind of a collective. If the kinds of two PEs differ, the PEs make different calls, which is an error.
/// await_leave precedes leave. Between the two calls, the end of a PE is still a failure.
enum class collective : std::uint32_t { none = 0, all_gather = 1, barrier = 2, leave = 3, await_leave = 4, reduce = 5 };
/// Whether the call is part of leaving the world: the PE makes no other collective call after this call.
[[nodiscard]] constexpr bool is_end(collective call) {
  return call == collective::leave || call == collective::await_leave;
}

/// The receiver of a message for all PEs.
inline constexpr std::int32_t all_pes = -1;

/// The header of each packet. Both ends have the same version and ABI.
struct control_header {
  static constexpr std::uint32_t expected_magic = 0x32474150;
  std::uint32_t magic = expected_magic;
  message_kind kind = message_kind::up;
  collective call = collective::none;
  std::uint32_t fds = 0;  ///< the number of descriptors in this packet
  std::int32_t from = -1;
  std::int32_t to = all_pes;
  std::uint64_t group = 0;      ///< a control_group::identity; for a question, its kind
  std::uint64_t sequence = 0;   ///< the number of the collective in its group
  std::uint64_t bytes = 0;      ///< the number of bytes that follow
  std::uint64_t all_bytes = 0;  ///< the size of the whole message, whose packets come in order
  std::uint32_t all_fds = 0;    ///< the number of descriptors of the whole message
  std::uint32_t of_others = 0;  ///< for a result: 1 if it lacks the contributions of the receiver and the PEs below it
};
static_assert(sizeof(control_header) == 64);

/// The content of a message. All waiting packets of the message share the parcel.
class parcel {
 public:
  explicit parcel(blob content, std::vector<int> borrowed = {}, std::vector<unique_fd> owned = {});

  [[nodiscard]] const blob& bytes() const noexcept { return bytes_; }
  /// All descriptors; empty if the descriptors were lost.
  [[nodiscard]] std::span<const int> fds() const noexcept { return fds_; }
  /// The number of descriptors that receivers expect.
  [[nodiscard]] std::size_t fd_count() const noexcept { return fd_count_; }
  /// Duplicates the borrowed descriptors, because the caller closes them after the call. If the process can open no
  /// more files, the parcel loses its descriptors, and receivers report them as lost. *Callers* one thread at a time.
  void keep();

 private:
  blob bytes_;
  std::vector<int> fds_;  ///< the borrowed descriptors are first
  std::size_t borrowed_;
  std::size_t fd_count_;
  std::vector<unique_fd> owned_;
};

/// A message to be sent.
struct outgoing_message {
  control_header header;  ///< the header without the fields that differ between packets
  std::shared_ptr<parcel> content;
  bool one_packet = false;  ///< a packet of another PE, which is passed on unchanged
};

/// Makes a message from PE `from` to one PE or to all PEs.
[[nodiscard]] outgoing_message message_of(message_kind kind, int from, int to = all_pes, blob content = {});

/// The bytes and the descriptors of one PE.
struct contribution {
  blob bytes;
  std::vector<unique_fd> fds;
  bool fds_lost =
      false;  ///< descriptors were sent, but this process can open no more files; all received descriptors were closed
};

/// A message that has arrived completely.
struct arrived_message : contribution {
  control_header header;
};

/// Assembles messages from their packets.
class message_assembler {
 public:
  /// Adds a packet. Returns the message if the packet is its last one. *Errors* bootstrap_protocol if the packet does
  /// not continue the message of its sender.
  [[nodiscard]] std::optional<arrived_message> add(const control_header& header, std::span<const std::byte> body,
                                                   std::vector<unique_fd> fds, bool fds_lost);

 private:
  struct part {
    arrived_message message;
    std::uint32_t fds = 0;  ///< the number of descriptors sent so far
  };
  std::map<std::int32_t, part> parts_;  ///< the incomplete messages, by sender
};

}  // namespace pgas::detail
