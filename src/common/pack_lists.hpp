/// @file
/// Converts lists of strings and lists of contributions to bytes, and back. Sender and receiver have checked that they
/// have the same version of the library. Sender and receiver also have the same byte order.
#pragma once

#include <bit>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

static_assert(std::endian::native == std::endian::little, "messages contain numbers in little-endian order");

/// Joins the strings, each followed by a zero byte.
[[nodiscard]] blob join_fields(std::initializer_list<std::string> fields);
/// Splits the result of join_fields(). If the last string has no zero byte, it is dropped, so the caller recognizes a
/// truncated message by too few strings.
[[nodiscard]] std::vector<std::string> split_fields(std::span<const std::byte> bytes);

/// Packs the contributions of all PEs in PE order into one payload, and unpacks them.
[[nodiscard]] blob pack(std::span<const blob> parts);
/// *Errors* bootstrap_protocol if the payload does not hold exactly `size` contributions.
[[nodiscard]] std::vector<blob> unpack(std::span<const std::byte> payload, int size);

}  // namespace pgas::detail
