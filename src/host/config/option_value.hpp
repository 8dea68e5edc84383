/// @file
/// The values of options and their text, by type and by row of the option table. Text that does not exactly match a
/// format is not a valid value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/option_table.hpp"

namespace pgas::config_detail {

/// 0/1, no/yes, false/true, off/on, in upper or lower case.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text);

/// A whole decimal number with or without a sign.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Bytes: a decimal number, fractions allowed, with K, M, G or T for powers of 1024 (`8G`, `1.5M`, `512KiB`, `4096`).
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

/// Bytes as in OpenSHMEM and NVSHMEM: a decimal number that may begin with its fraction (`.5m`), and k, m, g or t for
/// powers of 1024. Text after the unit is ignored (`20kk`). Rounded up.
[[nodiscard]] std::optional<std::size_t> parse_shmem_size(std::string_view text);

/// A time: a decimal number, fractions allowed, with ms, s, m or h. Without a unit the number is in seconds (`1500ms`,
/// `2s`, `1m`).
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_time(std::string_view text);

/// The shortest text that parse_size() converts back to the same value, e.g. `64M`.
[[nodiscard]] std::string print_size(std::size_t bytes);

/// The shortest text that parse_time() converts back to the same value, e.g. `60s`.
[[nodiscard]] std::string print_time(std::chrono::milliseconds time);

/// Whether two words are equal, regardless of the case of ASCII letters.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

/// Sets the field of `row` from `text`.
/// @param variable the variable that the user has set, possibly an alias. The error message names it.
/// *Errors* code::config_value with the variable, the value and the allowed values.
void assign(config& target, const option& row, std::string_view variable, std::string_view text);

/// The value of the field of `row` as text that can be assigned again. A secret is printed as `(set)`.
[[nodiscard]] std::string print(const config& source, const option& row);

/// Describes the values of `row` in words: "a size in bytes, such as 64M or 8G".
[[nodiscard]] std::string allowed(const option& row);

}  // namespace pgas::config_detail
