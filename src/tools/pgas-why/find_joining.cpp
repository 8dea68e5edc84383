#include "tools/pgas-why/find_joining.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "common/deadline.hpp"
#include "common/net/unix_socket.hpp"
#include "common/process_identity.hpp"
#include "host/connect/joining_mark.hpp"
#include "host/watch/told_waits.hpp"
#include "tools/common/find_sockets.hpp"
#include "tools/common/text.hpp"

namespace pgas_why {

namespace {

constexpr long least_ms = 100;  // joining can take this time even if no PE is missing

std::optional<long> number_of(std::string_view text) {
  if (text == "x") return -1;
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::stol(std::string(text));
}

std::string numbers_of(const std::vector<int>& numbers) {
  constexpr std::size_t most = 16;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, numbers.size()));
  std::string text = fmt::format("{}", fmt::join(numbers.begin(), numbers.begin() + shown, ", "));
  if (numbers.size() > most) text += fmt::format(" and {} more", numbers.size() - most);
  return text;
}

/// The numbers of the job's PEs that were not found among the joining PEs of this host.
std::vector<int> not_seen(const joining_job& job) {
  std::vector<int> found;
  for (int pe = 0; pe < job.n; ++pe)
    if (std::ranges::find(job.pes, pe, &joining_pe::pe) == job.pes.end()) found.push_back(pe);
  return found;
}

}  // namespace

std::optional<joining_pe> parse_joining(const std::string& name, long now_ms) {
  if (!name.starts_with(pgas::detail::joining_socket_prefix)) return std::nullopt;
  std::string_view rest = std::string_view(name).substr(pgas::detail::joining_socket_prefix.size());
  std::vector<long> numbers;
  while (numbers.size() < 3) {
    const std::size_t dash = rest.find('-');
    const std::optional<long> next = dash == std::string_view::npos ? std::nullopt : number_of(rest.substr(0, dash));
    if (!next) return std::nullopt;
    numbers.push_back(*next);
    rest.remove_prefix(dash + 1);
  }
  const std::optional<long> pid = number_of(rest.substr(0, rest.find('.')));
  if (!pid) return std::nullopt;
  return joining_pe{static_cast<pid_t>(*pid), static_cast<int>(numbers[1]), static_cast<int>(numbers[0]),
                    std::max(0L, now_ms - numbers[2])};
}

std::vector<joining_job> find_joining(const std::string& directory, const std::string& wanted) {
  const long now =
      std::chrono::duration_cast<std::chrono::milliseconds>(pgas::detail::clock::now().time_since_epoch()).count();
  std::map<std::pair<int, pid_t>, joining_job> found;
  for (const pgas::tools::found_socket& socket :
       pgas::tools::find_sockets(pgas::detail::joining_socket_prefix, directory)) {
    std::optional<joining_pe> item = parse_joining(socket.name, now);
    if (!item || item->ms < least_ms) continue;
    const pgas::detail::connect_result to = pgas::detail::connect_to(socket.address());
    if (!to.fd) continue;  // the process has joined or was killed since the search
    const auto owner = pgas::detail::peer_credentials(to.fd.get());
    if (!owner || (owner->uid != ::geteuid() && ::geteuid() != 0)) continue;
    if (owner->pid != 0) item->pid = owner->pid;  // the process id in this process's PID namespace
    const auto process = pgas::detail::status_of(item->pid);
    joining_job& job = found[{item->n, process ? process->parent : 0}];
    job.n = item->n;
    job.pes.push_back(*item);
  }
  std::vector<joining_job> jobs;
  for (auto& [key, job] : found) {
    std::ranges::sort(job.pes, {}, [](const joining_pe& pe) { return std::pair(pe.pe, pe.pid); });
    if (wanted.empty() ||
        std::ranges::any_of(job.pes, [&](const joining_pe& pe) { return std::to_string(pe.pid) == wanted; }))
      jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string say(const joining_job& job) {
  const long longest = std::ranges::max_element(job.pes, {}, &joining_pe::ms)->ms;
  const char* const verb = job.pes.size() == 1 ? "joins" : "join";
  std::string text = job.n < 0 ? fmt::format("{} PE{} {}", job.pes.size(), job.pes.size() == 1 ? "" : "s", verb)
                               : fmt::format("{} of {} PEs {}", job.pes.size(), job.n, verb);
  text += " on this host, for " + pgas::detail::told::duration(longest) + ".";
  const bool known = job.n > 0 && std::ranges::all_of(job.pes, [](const joining_pe& pe) { return pe.pe >= 0; });
  if (!known) return text + " The missing PEs are not known yet: the launcher has not answered.";
  const std::vector<int> others = not_seen(job);
  if (others.empty()) return text;
  return text + fmt::format(" PE{} {} {} not: not started, not in world::join() yet, on another host, or ended.",
                            others.size() == 1 ? "" : "s", numbers_of(others), others.size() == 1 ? "does" : "do");
}

std::string report(const joining_job& job) {
  std::string text = "joining\n\n" + pgas::tools::wrapped(say(job), pgas::tools::usual_width, 0) + "\n\n";
  for (const joining_pe& pe : job.pes)
    text += fmt::format("PE {} has been joining for {} (pid {})\n", pe.pe < 0 ? "?" : std::to_string(pe.pe),
                        pgas::detail::told::duration(pe.ms), pe.pid);
  return text;
}

nlohmann::ordered_json describe(const joining_job& job) {
  nlohmann::ordered_json pes = nlohmann::ordered_json::array();
  for (const joining_pe& pe : job.pes) pes.push_back({{"pe", pe.pe}, {"pid", pe.pid}, {"ms", pe.ms}});
  return {{"job", ""},
          {"joining", pes},
          {"pes", nlohmann::ordered_json::array()},
          {"root", {{"kind", "joining"}, {"pes", not_seen(job)}, {"text", say(job)}}}};
}

}  // namespace pgas_why
