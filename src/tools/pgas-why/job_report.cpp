#include "tools/pgas-why/job_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "host/watch/told_waits.hpp"
#include "tools/common/text.hpp"

namespace pgas_why {

namespace told = pgas::detail::told;

namespace {

using pgas::tools::usual_width;
using pgas::tools::wrapped;

/// The largest number of lines for each PE, because many threads can wait in the same way.
constexpr std::size_t most_lines = 4;

}  // namespace

std::string report(const job& jobs, const std::vector<pe_state>& pes, const root& found, bool colour) {
  const char* const bold = colour ? "\033[1m" : "";
  const char* const plain = colour ? "\033[0m" : "";
  std::string text = fmt::format("job {}: {} PEs\n\n{}{}{}\n\n", jobs.name, pes.size(), bold,
                                 wrapped(say(found, pes), usual_width, 0), plain);
  const std::size_t digits = fmt::format("{}", pes.size() - 1).size();
  for (const pe_state& state : pes) {
    const std::string head = fmt::format("PE {:>{}} ", state.pe, digits);
    if (state.waits.empty()) {
      text += head + wrapped(activity_of(state), usual_width, head.size(), head.size()) + "\n";
      continue;
    }
    // Threads that wait in the same way share a line.
    std::map<std::tuple<std::string, std::vector<int>>, std::vector<const told::wait*>> alike;
    for (const told::wait& each : state.waits) alike[{each.what, each.pes}].push_back(&each);
    std::size_t lines = 0;
    for (const auto& [key, waits] : alike) {
      if (lines++ == most_lines) {
        text +=
            fmt::format("{}and {} other kinds of waits\n", std::string(head.size(), ' '), alike.size() - most_lines);
        break;
      }
      const told::wait& longest = **std::ranges::max_element(waits, {}, [](const told::wait* w) { return w->ms; });
      std::string line = describe(state, longest);
      if (waits.size() > 1 || state.more)
        line += fmt::format("; {}{} more threads alike", state.more ? "at least " : "", waits.size() - 1);
      text += (lines == 1 ? head : std::string(head.size(), ' ')) +
              wrapped(line, usual_width, head.size(), head.size()) + "\n";
    }
  }
  return text;
}

}  // namespace pgas_why
