/// @file
/// The messages between a member of a world and the hub of the world. All hosts of a job are little-endian, so headers
/// are sent as they are in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "bootstrap/error_messages.hpp"
#include "common/encode_error.hpp"
#include "common/net/framing.hpp"
#include "common/pack_lists.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

enum class frame_kind : std::uint32_t {
  welcome = 1,  ///< from the hub: the world is open and the receiver is a member
  contribute,   ///< from a member: its contribution to a collective
  result,       ///< from the hub: the contributions of all members, packed
  failure,      ///< from the hub: the world is broken; the payload is the error (encode_error)
  abort,        ///< from a member: the job cannot continue; the payload is the reason
  leave,        ///< from a member: it leaves the world
};

/// The purpose of a contribution. The hub checks that all members give the same purpose.
enum class collective : std::uint32_t { join = 1, all_gather, barrier };

/// The name of a collective in error messages.
[[nodiscard]] constexpr const char* name_of(collective what) {
  switch (what) {
    case collective::join: return "the start of the world";
    case collective::all_gather: return "an all-gather";
    case collective::barrier: return "a barrier";
  }
  return "an unknown collective";
}

struct frame_header {
  static constexpr std::uint32_t expected_magic = 0x32474750;  // "PGG2"
  std::uint32_t magic = expected_magic;
  frame_kind kind{};
  std::uint32_t sequence = 0;  ///< the number of the collective in this world, from 0
  collective what{};
  std::uint32_t limit_ms = 0;  ///< contribute: the time for which the sender waits for the result
  std::uint32_t bytes = 0;     ///< the size of the payload that follows
};
static_assert(sizeof(frame_header) == 24);

/// A whole frame, ready to be sent. All receivers share it.
using shared_frame = std::shared_ptr<const blob>;

[[nodiscard]] inline shared_frame make_frame(frame_header header, std::span<const std::byte> payload = {}) {
  header.bytes = static_cast<std::uint32_t>(payload.size());
  auto frame = std::make_shared<blob>(sizeof(header) + payload.size());
  std::memcpy(frame->data(), &header, sizeof(header));
  std::copy(payload.begin(), payload.end(), frame->begin() + sizeof(header));
  return frame;
}

/// A frame with a text, cut at 4 KiB.
[[nodiscard]] inline shared_frame make_frame(frame_header header, std::string_view text) {
  return make_frame(header, std::as_bytes(std::span{text.substr(0, 4096)}));
}

/// The failure frame that makes the receiver throw `why`.
[[nodiscard]] inline shared_frame make_failure(const error& why) {
  return make_frame({.kind = frame_kind::failure}, encode_error(why));
}

/// A request of a process to pgasrun, with one descriptor: the hub's end of a socket pair. The n-th request of a
/// process is for its n-th world.
struct world_request {
  static constexpr std::uint32_t expected_magic = 0x4c474750;  // "PGGL"
  static constexpr std::uint32_t expected_version = 2;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
};

}  // namespace pgas::boot
