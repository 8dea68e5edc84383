/// @file
/// Errors of the host API: one exception type with a stable code, the PE that the error concerns, and a message that
/// states the failure, the call or object that failed, and the fix. `docs/errors.md`, which is generated from the table
/// of codes, lists the cause and the fix for each code.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// @brief Stable error codes, printed as `PGAS-E0107`.
///
/// The meaning of a released number never changes.
enum class code : int {
  // joining a world
  bootstrap_unavailable = 101,  ///< the requested launcher or rendezvous is not available
  bootstrap_timeout = 102,      ///< some PEs are missing; the message names them
  bootstrap_protocol = 103,     ///< an answer was malformed, truncated or contradictory
  authentication = 104,         ///< a peer could not prove that it belongs to this job
  peer_unreachable = 105,  ///< a PE on another host does not answer, or there is no load/store access to its memory
  version_mismatch = 106,  ///< PEs, or header and library, were built from different versions
  mixed_heaps = 107,       ///< some PEs chose the GPU heap and some the host heap
  // memory
  out_of_memory = 201,    ///< a PE lacks memory; no PE has allocated anything
  address_space = 202,    ///< the virtual layout could not be reserved
  handle_exchange = 203,  ///< no kind of handle works between all PEs
  handle_invalid = 204,   ///< a received handle was truncated, foreign or of another size
  asymmetric_call = 205,  ///< PEs called a collective with different arguments
  invalid_free = 206,     ///< memory was freed twice, or the pointer is not the start of an allocation
  // arguments
  pe_out_of_range = 301,   ///< PE number not in 0..n_pes-1
  outside_heap = 302,      ///< pointer, or part of its range, is not symmetric memory
  misaligned = 303,        ///< address is not a multiple of the required alignment
  invalid_argument = 304,  ///< any other argument the callee can't accept
  not_joined = 305,        ///< the world was left, or never joined
  forked_process = 306,    ///< called by a child of fork(): the world belongs to its parent
  // while running
  peer_lost = 401,         ///< a PE died, or its process ended without leaving the world
  aborted = 402,           ///< a PE aborted the world; the message carries its reason
  wait_timeout = 403,      ///< a wait exceeded PGAS_WAIT_TIMEOUT
  transport_failed = 404,  ///< the network library reported an error
  // device
  device_unavailable = 501,  ///< a requested GPU, its driver or its runtime is not usable
  device_failed = 502,       ///< the driver or the GPU reported an error
  launch_failed = 503,       ///< a kernel could not be launched as requested
  capturing = 504,           ///< the call is not possible on a stream in a capture
  // configuration
  config_value = 601,  ///< a variable holds a value that its option does not allow
  // the operating system
  system = 701,  ///< a system call failed; the message names it and its errno
};

/// @brief The exception that every host entry point throws.
///
/// Copying is thread-safe. The text starts with the code. The functions are not inline, because the program and the
/// library may have different C++ runtimes (-static-libstdc++), and each runtime can free only the texts that it has
/// allocated.
class PGAS_API error : public std::runtime_error {
 public:
  /// @param code the kind of failure;
  /// @param message cause and fix, without the code;
  /// @param pe the PE concerned, -1 if none.
  error(pgas::code code, std::string_view message, int pe = -1);
  /// @brief A copy, which shares the text.
  error(const error& other) noexcept;
  /// @brief Moves the text.
  ///
  /// `other` is empty afterwards.
  error(error&& other) noexcept;
  /// @brief A copy, which shares the text.
  error& operator=(const error& other) noexcept;
  /// @brief Moves the text.
  error& operator=(error&& other) noexcept;
  ~error() override;

  /// @brief The kind of failure.
  [[nodiscard]] pgas::code code() const noexcept { return code_; }
  /// @brief The PE that the error concerns (such as the dead PE, or the PE without memory), or -1.
  [[nodiscard]] int pe() const noexcept { return pe_; }

 private:
  pgas::code code_;
  int pe_;
};

/// @brief One row of the table of codes.
struct error_info {
  pgas::code code;         ///< the code itself
  std::string_view name;   ///< the enumerator, e.g. "peer_lost"
  std::string_view cause;  ///< the usual cause
  std::string_view fix;    ///< the remedy
};

/// @brief All codes in ascending order.
[[nodiscard]] PGAS_API std::span<const error_info> error_table() noexcept;

/// @brief `PGAS-E0401` for code::peer_lost.
[[nodiscard]] PGAS_API std::string to_string(code c);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
