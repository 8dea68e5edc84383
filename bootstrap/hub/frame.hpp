/// @file
/// What travels between a member of a world and the hub that serves it: frames of a fixed header and a bounded payload.
/// All hosts of a job are little-endian, so headers travel as they lie in memory.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

static_assert(std::endian::native == std::endian::little, "frames travel as they lie in memory");

/// The most that one PE may contribute to an all-gather.
inline constexpr std::size_t most_contributed = 64 << 10;

enum class frame_kind : std::uint32_t {
  welcome = 1,  ///< hub: the world is open and you are in it
  contribute,   ///< member: my part of a collective
  result,       ///< hub: everybody's parts, packed
  failure,      ///< hub: the world is broken, and why (failure_payload)
  abort,        ///< member: the job can't go on; the payload is the reason
  leave,        ///< member: I am done
};

/// What a contribution is for. The hub checks that all members mean the same.
enum class collective : std::uint32_t { join = 1, all_gather, barrier };

struct frame_header {
  static constexpr std::uint32_t expected_magic = 0x31474750;  // "PGG1"
  std::uint32_t magic = expected_magic;
  frame_kind kind{};
  std::uint32_t sequence = 0;  ///< which collective of this world, counted from 0
  collective what{};
  std::uint32_t limit_ms = 0;  ///< contribute: how long the sender is going to wait for the result
  std::uint32_t bytes = 0;     ///< of payload that follow
};
static_assert(sizeof(frame_header) == 24);

/// A whole frame, ready to be sent, shared among all who get it.
using shared_frame = std::shared_ptr<const blob>;

[[nodiscard]] shared_frame make_frame(frame_header header, std::span<const std::byte> payload = {});
[[nodiscard]] shared_frame make_frame(frame_header header, std::string_view payload);

/// The failure frame that makes the receiver throw pgas::error{why, text, pe}.
[[nodiscard]] shared_frame make_failure(code why, int pe, std::string_view text);
/// *Errors* code::bootstrap_protocol where the payload is not a failure.
[[nodiscard]] error read_failure(std::span<const std::byte> payload);

/// Everybody's contributions in rank order, as one payload and back.
[[nodiscard]] blob pack(std::span<const blob> parts);
/// *Errors* code::bootstrap_protocol where the payload does not hold exactly `size` contributions.
[[nodiscard]] std::vector<blob> unpack(std::span<const std::byte> payload, int size);

/// Puts frames together from what a non-blocking socket yields.
class frame_reader {
 public:
  enum class status { complete, incomplete, closed, malformed };

  /// @param most_bytes a longer payload is malformed, whatever the header says.
  explicit frame_reader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Reads what is there, up to the end of one frame. After `complete` the frame stays readable until the next call.
  [[nodiscard]] status read(int fd);
  [[nodiscard]] const frame_header& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> payload() const { return payload_; }

 private:
  [[nodiscard]] status fill(int fd, std::span<std::byte> into, std::size_t& have);

  std::size_t most_bytes_;
  frame_header header_;
  std::size_t have_header_ = 0;
  std::size_t have_payload_ = 0;
  bool complete_ = false;
  blob payload_;
};

}  // namespace pgas::boot
