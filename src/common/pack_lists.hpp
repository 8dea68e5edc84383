/// @file
/// Lists of strings and lists of contributions as bytes. Both ends are of one version of the library, which they have
/// checked, and of one byte order.
#pragma once

#include <bit>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

static_assert(std::endian::native == std::endian::little, "numbers travel as they lie in memory");

/// The strings, each ended by a zero byte.
[[nodiscard]] blob join_fields(std::initializer_list<std::string> fields);
/// The strings of join_fields(). A last one without its zero byte is dropped, so that a truncated blob has too few.
[[nodiscard]] std::vector<std::string> split_fields(std::span<const std::byte> bytes);

/// Contributions of all PEs in order, as one payload and back.
[[nodiscard]] blob pack(std::span<const blob> parts);
/// *Errors* bootstrap_protocol where the payload does not hold exactly `size` contributions.
[[nodiscard]] std::vector<blob> unpack(std::span<const std::byte> payload, int size);

}  // namespace pgas::detail
