#include "host/team/wait_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pgas::detail::told {

namespace {

std::string strip(const std::string& name) { return name.starts_with("pgas::") ? name.substr(6) : name; }

/// The call that a wait is part of: the one that lasts longest.
std::string call_around(const pe_state& of) {
  if (of.calls.empty()) return {};
  return strip(std::ranges::max_element(of.calls, {}, &call::ms)->name);
}

}  // namespace

std::string duration(long ms) {
  if (ms < 10'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 120'000) return fmt::format("{} s", ms / 1000);
  if (ms < 7'200'000) return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
  return fmt::format("{} h {} min", ms / 3'600'000, ms / 60'000 % 60);
}

std::string name_of(const team& one) {
  constexpr int number_bits = 40;  // the PE that has proposed it, plus one, then its own count
  if (one.members.empty()) return "the team of all PEs";
  constexpr std::size_t most = 8;
  const auto end = one.members.begin() + static_cast<std::ptrdiff_t>(std::min(most, one.members.size()));
  std::string members =
      fmt::format("PE{} {}", one.members.size() == 1 ? "" : "s", fmt::join(one.members.begin(), end, ", "));
  if (one.members.size() > most) members += fmt::format(" and {} more", one.members.size() - most);
  constexpr std::uint64_t while_made = std::uint64_t{1} << 62;
  if (one.id >= while_made) return fmt::format("the group with key {} of {}", one.id % while_made, members);
  if (one.id >> number_bits == 0) return "the team of " + members;
  return fmt::format("team {}.{} of {}", (one.id >> number_bits) - 1, one.id & ((std::uint64_t{1} << number_bits) - 1),
                     members);
}

std::string activity_of(const pe_state& of) {
  switch (of.is) {
    case pe_state::life::gone: return "is gone";
    case pe_state::life::stopped: return "is stopped";
    case pe_state::life::silent: return "does not answer";
    case pe_state::life::answers: break;
  }
  if (of.joining) return "still joins";
  if (of.leaving) return "is leaving the world";
  if (!of.calls.empty()) {
    const call& longest = *std::ranges::max_element(of.calls, {}, &call::ms);
    return fmt::format("is in {} since {}, and none of its kernels has said within {} ms that it waits in pgas",
                       strip(longest.name), duration(longest.ms), of.looked_ms);
  }
  if (of.short_calls != 0) return "makes one short call after the other, such as put or test";
  return fmt::format("is in no call of this world since {}", duration(of.idle_ms));
}

std::string place_of(const pe_state& of, const wait& one) {
  const std::string around = call_around(of);
  const auto whole = [&one](const std::string& what) {
    return one.of_team ? what + " of " + name_of(*one.of_team) : what;
  };
  if (one.of_stream && !one.of_team) return one.what + " on a stream";
  if (one.thread && one.what == "collective")
    return whole(around.empty() || around == "synchronize" ? "a collective" : around);
  if (one.thread) return whole(one.what);
  return around.empty() || around == one.what ? strip(one.what) : fmt::format("{} ({})", around, strip(one.what));
}

std::string describe(const pe_state& of, const wait& one) {
  std::string text = place_of(of, one);
  if (one.thread && !one.of_stream)
    text += fmt::format(" in a kernel (block {} thread {})", one.thread->first, one.thread->second);
  if (!one.pes.empty() && one.pes != std::vector<int>{of.pe}) {
    constexpr std::size_t most = 8;
    const std::size_t shown = std::min(most, one.pes.size());
    text += fmt::format(" for PE{} {}", one.pes.size() > 1 ? "s" : "",
                        fmt::join(one.pes.begin(), one.pes.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < one.pes.size()) text += fmt::format(" and {} more", one.pes.size() - shown);
  }
  if (one.word && one.what != "collective" && one.what != "a grid barrier") {
    text += fmt::format(", the word at heap offset {:#x}", one.word->offset);
    if (one.word->around) text += ", " + detail::describe(*one.word->around, one.word->offset) + ",";
    text += fmt::format(" to become {} {} (it is {})", one.word->compare, one.word->expected, one.word->seen);
  }
  if (!one.writer.empty()) text += ", whose " + one.writer;
  if (one.number) text += fmt::format(" (number {} of its group)", *one.number);
  return text + ", since " + duration(one.ms);
}

}  // namespace pgas::detail::told
