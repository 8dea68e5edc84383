#include "host/config/option_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kib = 1024;
constexpr std::array size_units{
    unit{"", 1},           unit{"B", 1},           unit{"K", kib},         unit{"KB", kib},
    unit{"KiB", kib},      unit{"M", kib* kib},    unit{"MB", kib* kib},   unit{"MiB", kib* kib},
    unit{"G", kib << 20},  unit{"GB", kib << 20},  unit{"GiB", kib << 20}, unit{"T", kib << 30},
    unit{"TB", kib << 30}, unit{"TiB", kib << 30},
};
constexpr std::array time_units{unit{"", 1000}, unit{"ms", 1}, unit{"s", 1000}, unit{"m", 60'000},
                                unit{"h", 3'600'000}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Parses a non-negative decimal number and a unit. Returns a whole number of the smallest unit.
std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const unit> units) {
  // from_chars would also accept signs, "inf" and "nan".
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const char* const end = text.data() + text.size();

  std::uint64_t whole = 0;
  const auto digits = std::from_chars(text.data(), end, whole);
  const char* rest = digits.ptr;
  if (digits.ec != std::errc{}) return std::nullopt;
  double value = static_cast<double>(whole);
  const bool fraction = rest != end && *rest == '.';
  if (fraction) {
    const auto parsed = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (parsed.ec != std::errc{}) return std::nullopt;
    rest = parsed.ptr;
  }

  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  const auto found = std::find_if(units.begin(), units.end(), [&](const unit& u) { return same_word(u.name, suffix); });
  if (found == units.end()) return std::nullopt;
  if (fraction) {
    value = std::round(value * static_cast<double>(found->factor));
    if (value >= 0x1p64) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }
  if (whole > std::numeric_limits<std::uint64_t>::max() / found->factor) return std::nullopt;
  return whole * found->factor;
}

// Units from large to small. The first unit of which the value is a multiple gives the shortest text.
std::string print_quantity(std::uint64_t value, std::span<const unit> large_to_small) {
  for (const unit& u : large_to_small)
    if (value % u.factor == 0 && value != 0) return std::to_string(value / u.factor).append(u.name);
  return "0";
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"0", "no", "false", "off"})
    if (same_word(text, word)) return false;
  for (const std::string_view word : {"1", "yes", "true", "on"})
    if (same_word(text, word)) return true;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::optional<std::size_t> parse_size(std::string_view text) { return parse_quantity(text, size_units); }

std::optional<std::size_t> parse_shmem_size(std::string_view text) {
  // from_chars would also accept a minus sign, "inf" and "nan".
  if (text.empty() || text.find_first_of(".0123456789") != 0) return std::nullopt;
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{}) return std::nullopt;
  if (rest != end) {
    constexpr std::string_view multipliers = "kmgt";
    const std::size_t power = multipliers.find(lower(*rest));
    if (power == multipliers.npos) return std::nullopt;
    value *= static_cast<double>(kib << 10 * power);
  }
  if (value > 0x1p62) return std::nullopt;
  return static_cast<std::size_t>(std::ceil(value));
}

std::optional<std::chrono::milliseconds> parse_time(std::string_view text) {
  const auto value = parse_quantity(text, time_units);
  // The limit is a century in milliseconds, so that adding a time to now() does not overflow.
  constexpr std::uint64_t century = 100ull * 366 * 24 * 3'600'000;
  if (!value || *value > century) return std::nullopt;
  return std::chrono::milliseconds(*value);
}

std::string print_size(std::size_t bytes) {
  constexpr std::array units{unit{"T", kib << 30}, unit{"G", kib << 20}, unit{"M", kib * kib}, unit{"K", kib},
                             unit{"", 1}};
  return print_quantity(bytes, units);
}

std::string print_time(std::chrono::milliseconds time) {
  constexpr std::array units{unit{"s", 1000}, unit{"ms", 1}};
  return print_quantity(static_cast<std::uint64_t>(time.count()), units);
}

namespace {

using std::chrono::milliseconds;

bool in_range(const option& row, std::int64_t number) { return number >= row.least && number <= row.most; }

// Each read() returns false and does not change the field if the text is no value of the row.

bool read(bool& value, const option&, std::string_view text) {
  const auto parsed = parse_bool(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

bool read(int& value, const option& row, std::string_view text) {
  const auto parsed = parse_integer(text);
  if (!parsed || !in_range(row, *parsed)) return false;
  value = static_cast<int>(*parsed);
  return true;
}

bool read(std::size_t& value, const option& row, std::string_view text) {
  const auto parsed = parse_size(text);
  constexpr std::size_t largest = std::size_t{1} << 62;
  if (!parsed || *parsed > largest || !in_range(row, static_cast<std::int64_t>(*parsed))) return false;
  value = row.power_of_two && *parsed != 0 ? std::bit_ceil(*parsed) : *parsed;
  return true;
}

bool read(milliseconds& value, const option& row, std::string_view text) {
  const auto parsed = parse_time(text);
  if (!parsed || !in_range(row, parsed->count())) return false;
  value = *parsed;
  return true;
}

bool read(std::string& value, const option& row, std::string_view text) {
  if (row.choices.empty()) {
    value = text;
    return true;
  }
  for (const std::string_view choice : row.choices) {
    if (!same_word(choice, text)) continue;
    value = choice;
    return true;
  }
  return false;
}

template <class Enum>
requires std::is_enum_v<Enum>
bool read(Enum& value, const option& row, std::string_view text) {
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    if (!same_word(row.choices[i], text)) continue;
    value = static_cast<Enum>(i);
    return true;
  }
  return false;
}

std::string show(bool value, const option&) { return value ? "1" : "0"; }
std::string show(int value, const option&) { return std::to_string(value); }
std::string show(std::size_t value, const option&) { return print_size(value); }
std::string show(milliseconds value, const option&) { return print_time(value); }
std::string show(const std::string& value, const option&) { return value; }
template <class Enum>
requires std::is_enum_v<Enum> std::string show(Enum value, const option& row) {
  return std::string(row.choices[static_cast<std::size_t>(value)]);
}

std::string describe(bool, const option&) { return "0 or 1 (also no/yes, off/on, false/true)"; }
std::string describe(int, const option& row) {
  return row.most == INT64_MAX ? fmt::format("a whole number from {}", row.least)
                               : fmt::format("a whole number from {} to {}", row.least, row.most);
}
std::string describe(std::size_t, const option& row) {
  constexpr std::string_view text = "a size in bytes, such as 4096, 512K, 64M, 8G or 1T";
  return row.least == 0 ? std::string(text)
                        : fmt::format("{}, at least {}", text, print_size(static_cast<std::size_t>(row.least)));
}
std::string describe(milliseconds, const option& row) {
  constexpr std::string_view text = "a time, such as 1500ms, 2s, 1m or 1h; without a unit, seconds";
  return row.least == 0 ? std::string(text) : fmt::format("{}; at least {}", text, print_time(milliseconds(row.least)));
}
std::string describe_choices(const option& row) { return fmt::format("{}", fmt::join(row.choices, ", ")); }
std::string describe(const std::string&, const option& row) {
  return row.choices.empty() ? "any text" : describe_choices(row);
}
template <class Enum>
requires std::is_enum_v<Enum> std::string describe(Enum, const option& row) { return describe_choices(row); }

}  // namespace

void assign(config& target, const option& row, std::string_view variable, std::string_view text) {
  const bool understood = std::visit([&](auto member) { return read(target.*member, row, text); }, row.field);
  if (understood) return;
  throw error(code::config_value, fmt::format("{}={} is not allowed; set it to: {}", variable,
                                              row.secret ? "(hidden)" : text, allowed(row)));
}

std::string print(const config& source, const option& row) {
  std::string text = std::visit([&](auto member) { return show(source.*member, row); }, row.field);
  return row.secret && !text.empty() ? "(set)" : text;
}

std::string allowed(const option& row) {
  static const config defaults;
  return std::visit([&](auto member) { return describe(defaults.*member, row); }, row.field);
}

}  // namespace pgas::config_detail
