#include "host/team/split_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/keyed_hash.hpp"
#include "common/value_bytes.hpp"
#include "host/team/color_runs.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

using kind = split_call::kind;

constexpr int most_channels = 1024;

/// The arguments as members exchange them. Two calls are equal if all bytes are equal.
struct wire_split {
  static constexpr std::uint32_t expected_magic = 0x7465616d;
  static constexpr std::size_t most_shown = 8;

  std::uint32_t magic = expected_magic;
  split_call call;
  std::uint64_t listed = 0;
  std::int32_t first_listed[most_shown] = {};  ///< for error messages
  bits128 list_hash{};
};
static_assert(sizeof(wire_split) == sizeof(std::uint32_t) + sizeof(split_call) + 8 + 32 + 16,
              "padding would make equal calls differ");

[[noreturn]] void refuse(const std::string& why) { throw error(code::invalid_argument, "team: " + why); }

void check_strided(const split_call& call, int n) {
  const long last = call.start + (static_cast<long>(call.size) - 1) * call.stride;
  if (call.size < 1) refuse(fmt::format("a team of {} PEs: at least 1", call.size));
  if (call.size > 1 && call.stride == 0) refuse("a stride of 0 names the same PE again and again");
  if (call.start < 0 || call.start >= n || last < 0 || last >= n)
    refuse(fmt::format("start {}, stride {} and size {} lead from PE {} to PE {}, but PEs are 0 to {}", call.start,
                       call.stride, call.size, call.start, last, n - 1));
}

void check_list(std::span<const int> list, int n) {
  if (list.empty()) refuse("the list of members is empty");
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (const int pe : list) {
    if (pe < 0 || pe >= n) refuse(fmt::format("the list has PE {}, but PEs are 0 to {}", pe, n - 1));
    if (seen[static_cast<std::size_t>(pe)]) refuse(fmt::format("the list has PE {} twice", pe));
    seen[static_cast<std::size_t>(pe)] = true;
  }
}

}  // namespace

blob comparable(const split_call& call, std::span<const int> list) {
  wire_split result;
  result.call = call;
  result.call.color = result.call.key = 0;
  result.listed = list.size();
  std::copy_n(list.begin(), std::min(list.size(), wire_split::most_shown), result.first_listed);
  if (!list.empty()) result.list_hash = keyed_hash({}, std::as_bytes(list));
  const auto bytes = bytes_of(result);
  return {bytes.begin(), bytes.end()};
}

std::string text_of_split(std::span<const std::byte> comparable) {
  wire_split asked;
  if (!take_value(comparable, asked) || !comparable.empty() || asked.magic != wire_split::expected_magic) return {};
  const split_call& call = asked.call;
  const std::string channels = fmt::format(", {} channels{}", call.channels, call.staged != 0 ? ", staged" : "");
  switch (call.what) {
    case kind::strided:
      return fmt::format("splits by start {}, stride {}, size {}{}", call.start, call.stride, call.size, channels);
    case kind::colors: return fmt::format("splits by colour{}", channels);
    case kind::rows: return fmt::format("splits into rows of {}{}", call.size, channels);
    case kind::columns: return fmt::format("splits into {} columns{}", call.size, channels);
    case kind::list: break;
  }
  const std::size_t shown = std::min<std::size_t>(asked.listed, wire_split::most_shown);
  return fmt::format("splits by a list of {} ({}{}){}", asked.listed,
                     fmt::join(asked.first_listed, asked.first_listed + shown, " "), asked.listed > shown ? " ..." : "",
                     channels);
}

void check_arguments(const split_call& call, std::span<const int> list, int n) {
  if (call.channels < 1 || call.channels > most_channels)
    refuse(fmt::format("{} channels: a team has 1 to {} channels", call.channels, most_channels));
  if ((call.what == kind::rows || call.what == kind::columns) && call.size < 1)
    refuse(fmt::format("rows of {} PEs: at least 1", call.size));
  if (call.what == kind::strided) check_strided(call, n);
  if (call.what == kind::list) check_list(list, n);
}

std::vector<int> members_after(const split_call& call, std::span<const int> list, std::span<const std::byte> colors,
                               int n, int me) {
  std::vector<int> chosen;
  switch (call.what) {
    case kind::list: chosen.assign(list.begin(), list.end()); break;
    case kind::colors: chosen = members_of_color(colors, call.color); break;
    case kind::strided:
      for (int i = 0; i < call.size; ++i) chosen.push_back(call.start + i * call.stride);
      break;
    case kind::rows:
      for (int pe = me / call.size * call.size; pe < n && pe / call.size == me / call.size; ++pe) chosen.push_back(pe);
      break;
    case kind::columns: {
      const int rows_of = std::min(call.size, n);  // at most n, so that the sum does not overflow
      for (int pe = me % rows_of; pe < n; pe += rows_of) chosen.push_back(pe);
      break;
    }
  }
  if (std::find(chosen.begin(), chosen.end(), me) == chosen.end()) chosen.clear();
  return chosen;
}

}  // namespace pgas::detail
