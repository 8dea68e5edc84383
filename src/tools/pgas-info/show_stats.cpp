#include "tools/pgas-info/show_stats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/printable.hpp"
#include "tools/common/text.hpp"
#include "tools/pgas-why/ask_job.hpp"

namespace pgas_info {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view columns = "{:>4} {:>6} {:>6} {:>7} {:>6} {:>6} {:>6} {:>6} {:>8} {:>9} {:>7} {:>5} {:>8}";
constexpr std::size_t remark_column = 6;

/// A number in at most six characters. Numbers up to `most` are unchanged. Larger numbers have the unit K, M and so on;
/// each unit is `step` times the previous unit.
std::string shortened(std::uint64_t number, std::uint64_t most, double step) {
  if (number <= most) return fmt::format("{}", number);
  auto value = static_cast<double>(number) / step;
  constexpr std::string_view units = "KMGTPE";
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  return fmt::format("{:.{}f}{}", value, value < 99.9 ? 1 : 0, units[unit]);
}

std::string count_of(std::uint64_t number) { return shortened(number, 99'999, 1000); }

std::string bytes(std::uint64_t number) { return shortened(number, 1023, 1024); }

std::uint64_t operations_of(const json& counts) {
  std::uint64_t all = 0;
  for (const char* const kind : {"puts", "gets", "atomics", "signals"}) all += counts.at(kind).get<std::uint64_t>();
  return all;
}

std::uint64_t bytes_of(const json& counts) {
  return counts.at("put_bytes").get<std::uint64_t>() + counts.at("get_bytes").get<std::uint64_t>();
}

std::string time_of(const json& ms) {
  const double seconds = ms.get<double>() / 1000;
  return seconds < 10'000 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.1f} h", seconds / 3600);
}

/// The line below a PE's columns: failures, errors, warnings, and a call that has not ended.
std::string remarks_on(const json& value) {
  std::vector<std::string> all;
  const auto add_count = [&](const char* name, const char* singular, const char* several) {
    if (const auto n = value.at(name).get<std::uint64_t>())
      all.push_back(fmt::format("{} {}", n, n == 1 ? singular : several));
  };
  if (value.at("failed").get<bool>()) all.emplace_back("the world has failed");
  add_count("errors", "error", "errors");
  add_count("warnings", "warning", "warnings");
  if (const auto name = value.at("running").get<std::string>(); !name.empty())
    all.push_back(fmt::format("in {} for {}", pgas::detail::printable(name), time_of(value.at("running_ms"))));
  if (all.empty()) return {};
  const std::string text = fmt::format("{}", fmt::join(all, ", "));
  return std::string(remark_column, ' ') +
         pgas::tools::wrapped(text, pgas::tools::usual_width, remark_column, remark_column) + "\n";
}

std::string line_of(int pe, const json& value) {
  if (value.value("joining", false)) return fmt::format("{:>4}  joins\n", pe);
  if (value.value("leaving", false)) return fmt::format("{:>4}  leaves\n", pe);
  const json& direct = value.at("direct");
  const json& proxied = value.at("proxied");
  const json& proxy = value.at("proxy");
  const json& heap = value.at("heap");
  return fmt::format(
             fmt::runtime(columns), pe, count_of(operations_of(direct)), bytes(bytes_of(direct)),
             count_of(operations_of(proxied)), bytes(bytes_of(proxied)), count_of(operations_of(proxy)),
             bytes(bytes_of(proxy)), count_of(value.at("calls").get<std::uint64_t>()), time_of(value.at("call_ms")),
             bytes(heap.at("used").get<std::uint64_t>()), bytes(heap.at("mapped").get<std::uint64_t>()),
             fmt::format("{:.0f}%", value.at("fragmentation").get<double>() * 100), time_of(value.at("idle_ms"))) +
         "\n" + remarks_on(value);
}

}  // namespace

std::string stats_table(const std::string& job, const json& said) {
  const std::size_t n = said.at("pes").size();
  std::string table = fmt::format("job {}: {} PE{}\n", job, n, n == 1 ? "" : "s");
  table += fmt::format(fmt::runtime(columns), "PE", "direct", "bytes", "proxied", "bytes", "proxy", "bytes", "calls",
                       "waited", "heap used", "mapped", "frag", "idle") +
           "\n";
  const json none = json::array();
  const json& answers = said.contains("answers") ? said.at("answers") : none;
  for (std::size_t pe = 0; pe < n; ++pe) {
    const auto answer = std::find_if(answers.begin(), answers.end(),
                                     [pe](const json& item) { return item.at("pe").get<std::size_t>() == pe; });
    table +=
        answer != answers.end() ? line_of(static_cast<int>(pe), *answer) : fmt::format("{:>4}  does not answer\n", pe);
  }
  return table;
}

std::string stats_text(const std::string& directory, const std::string& wanted, bool as_json) {
  json all = json::array();
  std::string text;
  for (const pgas_why::job& job : pgas_why::find_jobs(directory)) {
    if (!pgas_why::may_be(wanted, job)) continue;
    json said = pgas_why::ask(job, pgas::detail::question::stats);
    if (!said.contains("pes") || !pgas_why::is(wanted, said.at("pes"))) continue;
    text += text.empty() ? "" : "\n";
    try {
      text += stats_table(job.name, said);
    } catch (const json::exception&) {
      text += fmt::format("job {}: its answers have not the fields of this version of pgas-info\n", job.name);
    }
    said["job"] = job.name;
    all.push_back(std::move(said));
  }
  if (all.empty()) return {};
  return as_json ? all.dump(2, ' ', true) + "\n" : text;
}

}  // namespace pgas_info
