#include "tools/pgas-doctor/job_facts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "common/net/address.hpp"
#include "common/process_identity.hpp"
#include "host/config/read_environment.hpp"
#include "host/topology/numa_affinity.hpp"
#include "host/topology/p2p_setting.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

blob as_blob(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<nlohmann::json> gather(bootstrap& exchange, const nlohmann::json& mine) {
  std::vector<nlohmann::json> all;
  for (const blob& each : exchange.all_gather(as_blob(mine))) {
    const auto* const first = reinterpret_cast<const char*>(each.data());
    all.push_back(nlohmann::json::parse(first, first + each.size(), nullptr, false));
    if (all.back().is_discarded())
      throw error(code::bootstrap_protocol,
                  fmt::format("PE {} does not run pgas-doctor, or one of another version", all.size() - 1),
                  static_cast<int>(all.size()) - 1);
  }
  return all;
}

}  // namespace

facts collect_facts(const config& settings, const loaded_library& library, const std::vector<std::string>& gpus) {
  const detail::peer_descriptor mine = detail::make_descriptor(settings.socket_directory);
  facts all;
  all["doctor"] = mine.version;
  all["host"] = mine.host;
  all["boot"] = detail::hex_of(mine.machine);
  all["net"] = detail::hex_of(mine.network_namespace);
  all["pid namespace"] = detail::hex_of(mine.pid_namespace);
  all["ipc namespace"] = detail::own_namespace("ipc");
  all["user"] = std::to_string(mine.user);
  all["socket kind"] = mine.in_directory == 1 ? "directory" : "abstract";
  struct stat directory {};
  if (!settings.socket_directory.empty() && ::stat(settings.socket_directory.c_str(), &directory) == 0)
    all["socket directory"] = fmt::format("{}:{}", directory.st_dev, directory.st_ino);
  all["library"] = {{"path", library.path}, {"version", library.version}, {"build", library.build}};
  all["PGAS_P2P"] = settings.p2p;
  all["PGAS_HEAP"] = settings.heap == heap_kind::host ? "host" : settings.heap == heap_kind::cuda ? "cuda" : "auto";
  all["CUDA_VISIBLE_DEVICES"] = config_detail::setting_of_others("CUDA_VISIBLE_DEVICES").value_or("not set");
  all["gpus"] = gpus;
  all["cpus"] = detail::allowed_cpus();
  all["rdma"] = detail::rdma_ports();
  return all;
}

int job::hosts() const { return *std::ranges::max_element(host_of) + 1; }

int job::local() const { return static_cast<int>(std::ranges::count(host_of, host_of[static_cast<std::size_t>(me)])); }

bool job::proxied() const {
  const std::vector<bool>& mine = direct[static_cast<std::size_t>(me)];
  return std::ranges::find(mine, false) != mine.end();
}

int job::cpus_of(int host) const {
  std::set<int> cpus;
  for (std::size_t pe = 0; pe < pes.size(); ++pe) {
    if (host_of[pe] != host) continue;
    const auto list = pes[pe]["cpus"].get<std::vector<int>>();
    cpus.insert(list.begin(), list.end());
  }
  return static_cast<int>(cpus.size());
}

bool job::crowded() const {
  for (int host = 0; host < hosts(); ++host)
    if (const int cpus = cpus_of(host); cpus > 0 && std::ranges::count(host_of, host) > cpus) return true;
  return false;
}

bool job::shares_by_name() const {
  return std::ranges::all_of(pes, [&](const facts& each) {
    return each["ipc namespace"] == pes[0]["ipc namespace"] && each["pid namespace"] == pes[0]["pid namespace"] &&
           each["net"] == pes[0]["net"];
  });
}

job gather_job(bootstrap& exchange, const facts& mine, const config& settings) {
  job all;
  all.me = exchange.rank();
  all.pes = gather(exchange, mine);
  std::vector<detail::peer_descriptor> descriptors;
  for (const facts& each : all.pes) {
    if (!each.contains("boot") || !each.contains("library"))
      throw error(code::bootstrap_protocol, "a PE does not run pgas-doctor, or one of another version");
    detail::peer_descriptor descriptor;
    descriptor.machine = detail::short_for(each["boot"].get<std::string>());
    descriptor.network_namespace = detail::short_for(each["net"].get<std::string>());
    descriptor.in_directory = each["socket kind"] == "directory" ? 1 : 0;
    descriptors.push_back(std::move(descriptor));
  }
  all.host_of = detail::hosts_of(descriptors);
  std::vector<int> sets(all.pes.size(), 0);
  try {
    sets = detail::parse_p2p_sets(settings.p2p, all.n());
  } catch (const error&) {
    // The row about the settings reports the error.
  }
  for (std::size_t a = 0; a < all.pes.size(); ++a) {
    all.direct.emplace_back();
    for (std::size_t b = 0; b < all.pes.size(); ++b)
      all.direct[a].push_back(a == b || (all.host_of[a] == all.host_of[b] && sets[a] == sets[b]));
  }
  return all;
}

std::vector<std::vector<row>> gather_rows(bootstrap& exchange, const std::vector<row>& mine) {
  nlohmann::json told = nlohmann::json::array();
  for (const row& each : mine) told.push_back(to_json(each));
  std::vector<std::vector<row>> all;
  for (const nlohmann::json& theirs : gather(exchange, told)) {
    all.emplace_back();
    for (const nlohmann::json& each : theirs) all.back().push_back(row_from(each));
  }
  return all;
}

}  // namespace pgas::doctor
