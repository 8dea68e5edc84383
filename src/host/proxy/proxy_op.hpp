/// @file
/// A command under way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pgas/detail/command.hpp"

namespace pgas::detail {

class in_flight_commands;

/// What has become of one command, from when it was taken until it is complete.
struct proxy_op {
  /// Of a signal: none to be sent on its own, waiting for what comes before it, on its way.
  enum class signal_state : std::uint8_t { none, held, sent };

  command what{};
  in_flight_commands* ring = nullptr;
  std::uint64_t number = 0;  ///< in the ring
  std::uint64_t block = 0;   ///< the first that has not been issued as a whole
  std::uint64_t at = 0;      ///< bytes of it that have been
  std::uint32_t parts = 0;   ///< of the data: issued and not yet known to have arrived
  std::uint32_t pieces = 0;  ///< of these, those for which `local` is still being read or written
  bool issued = false;       ///< all data
  bool unordered = false;    ///< its data does not arrive in the order of messages, or not at once
  bool data_done = false;    ///< the data has taken effect
  bool complete = false;
  bool answered = false;
  signal_state signal = signal_state::none;

  [[nodiscard]] bool fetches() const noexcept {
    return what.kind == command_kind::get || what.kind == command_kind::get_strided;
  }
  [[nodiscard]] bool has_signal() const noexcept {
    return what.kind == command_kind::put_signal || what.kind == command_kind::put_value_signal ||
           what.kind == command_kind::signal;
  }
};

}  // namespace pgas::detail
