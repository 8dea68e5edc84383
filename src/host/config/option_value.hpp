/// @file
/// Values of options and their text: by type, and by row of the option table. Nothing is guessed: text that is not
/// understood is no value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/option_table.hpp"

namespace pgas::config_detail {

/// 0/1, no/yes, false/true, off/on, in any case.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text);

/// A whole decimal number, with a sign or without.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Bytes: a decimal number, fractions allowed, with K, M, G or T for powers of 1024 (`8G`, `1.5M`, `512KiB`, `4096`).
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

/// Bytes as OpenSHMEM and NVSHMEM spell them: a decimal number that may begin with its fraction (`.5m`), and k, m, g or
/// t for powers of 1024. Text behind the unit is ignored (`20kk`). Rounded up.
[[nodiscard]] std::optional<std::size_t> parse_shmem_size(std::string_view text);

/// A time: a decimal number, fractions allowed, with ms, s, m or h; without a unit it is seconds (`1500ms`, `2s`,
/// `1m`).
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_time(std::string_view text);

/// The shortest spelling that parse_size() reads back exactly, e.g. `64M`.
[[nodiscard]] std::string print_size(std::size_t bytes);

/// The shortest spelling that parse_time() reads back exactly, e.g. `60s`.
[[nodiscard]] std::string print_time(std::chrono::milliseconds time);

/// Whether two words are the same but for the case of ASCII letters.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

/// Sets the field of `row` from `text`.
/// @param variable the name that the user set, which may be an alias, for the message.
/// *Errors* code::config_value naming variable, value and what is allowed.
void assign(config& target, const option& row, std::string_view variable, std::string_view text);

/// The value of the field of `row`, spelled so that it could be assigned again; secrets as `(set)`.
[[nodiscard]] std::string print(const config& source, const option& row);

/// The values that `row` takes, in words: "a size in bytes, such as 64M or 8G".
[[nodiscard]] std::string allowed(const option& row);

}  // namespace pgas::config_detail
