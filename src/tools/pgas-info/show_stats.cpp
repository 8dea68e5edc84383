#include "tools/pgas-info/show_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "host/log/format_bytes.hpp"
#include "tools/pgas-why/ask_job.hpp"

namespace pgas_info {

namespace {

using nlohmann::json;

constexpr std::string_view columns =
    "{:>4} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9} {:>10} {:>10} {:>5} {:>9}";

std::uint64_t operations_of(const json& counts) {
  std::uint64_t all = 0;
  for (const char* const kind : {"puts", "gets", "atomics", "signals"}) all += counts.at(kind).get<std::uint64_t>();
  return all;
}

std::string bytes_of(const json& counts) {
  return pgas::detail::format_bytes(counts.at("put_bytes").get<std::uint64_t>() +
                                    counts.at("get_bytes").get<std::uint64_t>());
}

std::string seconds(const json& ms) { return fmt::format("{:.1f} s", ms.get<double>() / 1000); }

/// What stands behind the columns: what is not as it should be.
std::string remarks_on(const json& of) {
  std::string text;
  if (of.at("failed").get<bool>()) text += "  the world has failed";
  if (const auto errors = of.at("errors").get<std::uint64_t>()) text += fmt::format("  {} errors", errors);
  if (const auto warnings = of.at("warnings").get<std::uint64_t>()) text += fmt::format("  {} warnings", warnings);
  if (const auto name = of.at("running").get<std::string>(); !name.empty())
    text += fmt::format("  in {} since {}", name, seconds(of.at("running_ms")));
  return text;
}

std::string line_of(int pe, const json& of) {
  if (of.value("joining", false)) return fmt::format("{:>4}  joins\n", pe);
  if (of.value("leaving", false)) return fmt::format("{:>4}  leaves\n", pe);
  const json& direct = of.at("direct");
  const json& proxied = of.at("proxied");
  const json& proxy = of.at("proxy");
  const json& heap = of.at("heap");
  return fmt::format(fmt::runtime(columns), pe, operations_of(direct), bytes_of(direct), operations_of(proxied),
                     bytes_of(proxied), operations_of(proxy), bytes_of(proxy), of.at("calls").get<std::uint64_t>(),
                     seconds(of.at("call_ms")), pgas::detail::format_bytes(heap.at("used").get<std::uint64_t>()),
                     pgas::detail::format_bytes(heap.at("mapped").get<std::uint64_t>()),
                     fmt::format("{:.0f}%", of.at("fragmentation").get<double>() * 100), seconds(of.at("idle_ms"))) +
         remarks_on(of) + "\n";
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
    const auto of = std::find_if(answers.begin(), answers.end(),
                                 [pe](const json& one) { return one.at("pe").get<std::size_t>() == pe; });
    table += of != answers.end() ? line_of(static_cast<int>(pe), *of) : fmt::format("{:>4}  does not answer\n", pe);
  }
  return table;
}

std::string stats_text(const std::string& directory, const std::string& wanted, bool as_json) {
  json all = json::array();
  std::string text;
  for (const pgas_why::job& one : pgas_why::find_jobs(directory)) {
    if (!pgas_why::may_be(wanted, one)) continue;
    json said = pgas_why::ask(one, pgas::detail::question::stats);
    if (!said.contains("pes") || !pgas_why::is(wanted, said.at("pes"))) continue;
    text += (text.empty() ? "" : "\n") + stats_table(one.name, said);
    said["job"] = one.name;
    all.push_back(std::move(said));
  }
  if (all.empty()) return {};
  return as_json ? all.dump(2) + "\n" : text;
}

}  // namespace pgas_info
