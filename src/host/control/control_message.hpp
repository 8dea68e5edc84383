/// @file
/// Messages between connected PEs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/encode_error.hpp"  // of failures

namespace pgas::detail {

/// Largest contribution to an all-gather.
inline constexpr std::size_t max_contribution = std::size_t{64} << 10;

enum class message_kind : std::uint32_t {
  contribution = 1,  ///< to a collective
  failure = 2,       ///< the world can't go on: an error follows
  departure = 3,     ///< the sender has left, its end is no failure
  heartbeat = 4,     ///< the sender runs; between hosts
  question = 5,      ///< for this PE: `group` says which, `sequence` is the sender's number for it
  answer = 6,        ///< to the question of this number: JSON follows
};

/// The kind of collective that a contribution is for. PEs whose kinds differ make different calls, which is an error.
/// await_leave comes before leave: in between the end of a PE is still a failure.
enum class collective : std::uint32_t { none = 0, all_gather = 1, barrier = 2, leave = 3, await_leave = 4 };
/// Whether a PE that makes this call makes no other collective call any more.
[[nodiscard]] constexpr bool is_end(collective call) {
  return call == collective::leave || call == collective::await_leave;
}

/// Precedes each message. Both ends are of one version and ABI.
struct control_header {
  static constexpr std::uint32_t expected_magic = 0x50474153;
  std::uint32_t magic = expected_magic;
  message_kind kind = message_kind::contribution;
  collective call = collective::none;
  std::uint32_t fds = 0;
  std::uint64_t group = 0;     ///< control_group::identity; of a question: which
  std::uint64_t sequence = 0;  ///< of the collective in its group
  std::uint64_t bytes = 0;     ///< that follow
};
static_assert(sizeof(control_header) == 40);

}  // namespace pgas::detail
