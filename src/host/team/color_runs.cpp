#include "host/team/color_runs.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/value_bytes.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Members of one colour, in the order of the team. From each member to the next, the key changes by a constant step,
/// and the member's number changes by another constant step. The runs of a value are in ascending order of their
/// colours, and the runs of a colour are in the order of the team.
struct color_run {
  std::int32_t color = 0;
  std::int32_t count = 1;
  std::int32_t key = 0;  ///< of the first member
  std::int32_t member = 0;
  std::int32_t key_step = 0;
  std::int32_t member_step = 0;
};

/// Sums and differences of keys, modulo 2^32. Keys may be any numbers, so signed arithmetic could overflow.
constexpr std::int32_t sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
constexpr std::int32_t difference(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

using key_and_member = std::pair<std::int32_t, std::int32_t>;

std::vector<color_run> decode(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(color_run) != 0)
    throw error(code::bootstrap_protocol,
                "the members of a team split by different values: all PEs must make the same calls in the same order");
  std::vector<color_run> runs(bytes.size() / sizeof(color_run));
  if (!runs.empty()) std::memcpy(runs.data(), bytes.data(), bytes.size());
  return runs;
}

blob encode(std::span<const color_run> runs) {
  const auto bytes = std::as_bytes(runs);
  return {bytes.begin(), bytes.end()};
}

std::vector<key_and_member> expand(std::span<const color_run> runs) {
  std::vector<key_and_member> members;
  for (color_run run : runs)
    for (; run.count > 0; --run.count) {
      members.emplace_back(run.key, run.member);
      run.key = sum(run.key, run.key_step);
      run.member = sum(run.member, run.member_step);
    }
  return members;
}

void append_runs(std::vector<color_run>& runs, std::int32_t color, std::span<const key_and_member> members) {
  for (std::size_t i = 0; i < members.size();) {
    color_run run{color, 1, members[i].first, members[i].second};
    for (++i; i < members.size(); ++i, ++run.count) {
      const std::int32_t key_step = difference(members[i].first, members[i - 1].first);
      const std::int32_t member_step = difference(members[i].second, members[i - 1].second);
      if (run.count > 1 && (key_step != run.key_step || member_step != run.member_step)) break;
      run.key_step = key_step;
      run.member_step = member_step;
    }
    runs.push_back(run);
  }
}

/// The runs at the front that have the colour of the first run. Removes them from `rest`.
std::span<const color_run> take_color(std::span<const color_run>& rest) {
  const auto end =
      std::ranges::find_if(rest, [&](const color_run& run) { return run.color != rest.front().color; }) - rest.begin();
  const auto taken = rest.first(static_cast<std::size_t>(end));
  rest = rest.subspan(static_cast<std::size_t>(end));
  return taken;
}

}  // namespace

blob encode_color(int member, std::int32_t color, std::int32_t key) {
  const color_run mine{color, 1, key, member};
  return color < 0 ? blob() : encode(std::span(&mine, 1));
}

void merge_colors(blob& all, std::span<const std::byte> more) {
  const std::vector<color_run> both[] = {decode(all), decode(more)};
  std::span<const color_run> a = both[0];
  std::span<const color_run> b = both[1];
  std::vector<color_run> merged;
  while (!a.empty() || !b.empty()) {
    const bool of_a = b.empty() || (!a.empty() && a.front().color <= b.front().color);
    const bool of_b = a.empty() || (!b.empty() && b.front().color <= a.front().color);
    if (of_a && of_b) {
      const std::int32_t color = a.front().color;
      const std::vector<key_and_member> left = expand(take_color(a));
      const std::vector<key_and_member> right = expand(take_color(b));
      std::vector<key_and_member> team;
      std::ranges::merge(left, right, std::back_inserter(team));
      append_runs(merged, color, team);
    } else {
      std::ranges::copy(take_color(of_a ? a : b), std::back_inserter(merged));
    }
  }
  all = encode(merged);
}

blob colors_in(std::span<const std::byte> all, std::span<const std::byte> some) {
  const std::vector<color_run> wanted = decode(some);
  std::vector<color_run> runs = decode(all);
  std::erase_if(runs, [&](const color_run& run) {
    return !std::ranges::binary_search(wanted, run.color, {}, &color_run::color);
  });
  return encode(runs);
}

std::vector<int> members_of_color(std::span<const std::byte> all, std::int32_t color) {
  std::vector<color_run> runs = decode(all);
  std::erase_if(runs, [&](const color_run& run) { return run.color != color; });
  std::vector<int> members;
  for (const auto& [key, member] : expand(runs)) members.push_back(member);
  return members;
}

}  // namespace pgas::detail
