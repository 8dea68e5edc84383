/// @file
/// Options and text: assigning a row's field, printing it, and saying what it may hold. One overload per type of
/// option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <type_traits>

#include "host/config/option_table.hpp"
#include "host/config/option_value.hpp"
#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

using std::chrono::milliseconds;

bool in_range(const option& row, std::int64_t number) { return number >= row.least && number <= row.most; }

// Each read() leaves the field alone and returns false where the text is no value of the row.

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
