/// @file
/// Converts errors to bytes for other PEs, and back. Sender and receiver have checked that they have the same version
/// of the library. Sender and receiver also have the same byte order.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// Returns an error as bytes: its code, its PE, and its text without the code, cut at 8 KiB.
[[nodiscard]] blob encode_error(const error& failure);
/// *Errors* bootstrap_protocol if the bytes are not an error.
[[nodiscard]] error decode_error(std::span<const std::byte> bytes);
/// Returns the text of an error without its code.
[[nodiscard]] std::string text_of(const error& failure);

/// Throws bootstrap_protocol. `what` describes the malformed message; the text of the error also contains the remedy.
[[noreturn]] void throw_malformed(const std::string& what);

}  // namespace pgas::detail
