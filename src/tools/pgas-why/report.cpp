#include "tools/pgas-why/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/common/text.hpp"

namespace pgas_why {

namespace {

using pgas::tools::usual_width;
using pgas::tools::wrapped;

/// Lines for each PE; many threads wait in the same way.
constexpr std::size_t most_lines = 4;

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
  if (one.thread && one.what == "collective")
    return around.empty() || around == "synchronize" ? "a collective" : around;
  if (one.thread) return one.what;
  return around.empty() || around == one.what ? strip(one.what) : fmt::format("{} ({})", around, strip(one.what));
}

std::string describe(const pe_state& of, const wait& one) {
  std::string text = place_of(of, one);
  if (one.thread) text += fmt::format(" in a kernel (block {} thread {})", one.thread->first, one.thread->second);
  if (!one.pes.empty()) {
    constexpr std::size_t most = 8;
    const std::size_t shown = std::min(most, one.pes.size());
    text += fmt::format(" for PE{} {}", one.pes.size() > 1 ? "s" : "",
                        fmt::join(one.pes.begin(), one.pes.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < one.pes.size()) text += fmt::format(" and {} more", one.pes.size() - shown);
  }
  if (one.word && one.what != "collective" && one.what != "a grid barrier") {
    text += fmt::format(", the word at heap offset {:#x}", one.word->offset);
    if (one.word->around) text += ", " + pgas::detail::describe(*one.word->around, one.word->offset) + ",";
    text += fmt::format(" to become {} {} (it is {})", one.word->compare, one.word->expected, one.word->seen);
  }
  if (one.number) text += fmt::format(" (number {} of its group)", *one.number);
  return text + ", since " + duration(one.ms);
}

std::string report(const job& of, const std::vector<pe_state>& pes, const root& found, bool colour) {
  const char* const bold = colour ? "\033[1m" : "";
  const char* const plain = colour ? "\033[0m" : "";
  std::string text = fmt::format("job {}: {} PEs\n\n{}{}{}\n\n", of.name, pes.size(), bold,
                                 wrapped(say(found, pes), usual_width, 0), plain);
  const std::size_t digits = fmt::format("{}", pes.size() - 1).size();
  for (const pe_state& one : pes) {
    const std::string head = fmt::format("PE {:>{}} ", one.pe, digits);
    if (one.waits.empty()) {
      text += head + wrapped(activity_of(one), usual_width, head.size(), head.size()) + "\n";
      continue;
    }
    // Threads that wait in the same way share a line.
    std::map<std::tuple<std::string, std::vector<int>>, std::vector<const wait*>> alike;
    for (const wait& each : one.waits) alike[{each.what, each.pes}].push_back(&each);
    std::size_t lines = 0;
    for (const auto& [key, waits] : alike) {
      if (lines++ == most_lines) {
        text +=
            fmt::format("{}and {} other kinds of waits\n", std::string(head.size(), ' '), alike.size() - most_lines);
        break;
      }
      const wait& longest = **std::ranges::max_element(waits, {}, [](const wait* w) { return w->ms; });
      std::string line = describe(one, longest);
      if (waits.size() > 1 || one.more)
        line += fmt::format("; {}{} more threads alike", one.more ? "at least " : "", waits.size() - 1);
      text += (lines == 1 ? head : std::string(head.size(), ' ')) +
              wrapped(line, usual_width, head.size(), head.size()) + "\n";
    }
  }
  return text;
}

}  // namespace pgas_why
