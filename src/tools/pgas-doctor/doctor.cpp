// The order of an examination: this process, the launcher, the other PEs, and a world.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/config/launcher_variables.hpp"
#include "host/config/read_environment.hpp"
#include "host/topology/p2p_setting.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/child_trial.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/job_checks.hpp"
#include "tools/pgas-doctor/job_facts.hpp"
#include "tools/pgas-doctor/launcher.hpp"
#include "tools/pgas-doctor/local_checks.hpp"
#include "tools/pgas-doctor/world_checks.hpp"

namespace pgas::doctor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_join{30'000};
constexpr milliseconds longest_quick_join{10'000};
constexpr milliseconds margin{15'000};  // the time that a step may take in addition to its own limit

/// Passes the calls of a world to the doctor's bootstrap. A world destroys its bootstrap, and the doctor's bootstrap
/// must stay.
class lent_bootstrap final : public bootstrap {
 public:
  explicit lent_bootstrap(bootstrap& to) : to_(to) {}
  [[nodiscard]] int rank() const noexcept override { return to_.rank(); }
  [[nodiscard]] int size() const noexcept override { return to_.size(); }
  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override { return to_.all_gather(mine); }
  void barrier() override { to_.barrier(); }
  void set_time_limit(milliseconds limit) override { to_.set_time_limit(limit); }
  void abort(std::string_view) noexcept override {}  // the doctor itself reports the failure

 private:
  bootstrap& to_;
};

/// Reads the settings of this process into `settings`, and returns the row about the settings. The row fails if a value
/// is not allowed.
row check_settings(config& settings) {
  try {
    const config_detail::reading now = config_detail::read(config_detail::environment::of_process());
    settings = now.settings;
    std::string set;
    for (const auto& [option, variable] : now.origin) set += fmt::format("{}{}", set.empty() ? "" : ", ", variable);
    std::string remarks;
    for (const config_detail::remark& each : now.remarks)
      remarks += fmt::format("{}{}", remarks.empty() ? "" : "; ", each.text);
    static_cast<void>(detail::parse_p2p_sets(settings.p2p, 1));
    if (!remarks.empty())
      return {"settings", verdict::unknown, remarks, "the setting in force may not be the intended one",
              "pgas-info --config lists all settings"};
    return {"settings", verdict::ok, set.empty() ? "all at their defaults" : "set: " + set};
  } catch (const error& why) {
    return {"settings", verdict::fails, why.what(), "every program ends with this error",
            "unset the variable, or give it an allowed value: pgas-info --config"};
  }
}

/// The checks that need no other PE. Returns the UUIDs of the GPUs.
std::vector<std::string> examine_process(const request& how, const config& settings, journal& out) {
  out.begin("looking at this process", step_limit);
  out.add(check_container());
  out.add(check_proc(settings));
  out.add(check_memory_files(settings));
  out.add(check_descriptor_passing(settings));
  out.add(check_process_handles());
  out.add(check_threads());
  out.add(check_memory(settings));
  out.add(check_file_size(settings));
  out.add(check_locked_memory());
  out.add(check_host_segments(settings));
  out.begin("looking at the GPUs", 2 * step_limit);
  gpu_findings gpus = check_gpus(settings, how);
  for (const row& each : gpus.rows) out.add(each);
  return gpus.uuids;
}

/// The checks that depend on the number of PEs and on their hosts.
void examine_share(const job& all, const config& settings, journal& out) {
  out.begin("looking at the limits and the network", step_limit);
  out.add(check_open_files(all.n()));
  out.add(check_address_space(settings, all.local()));
  out.add(check_shared_memory(all));
  out.add(check_interfaces(settings, all.proxied()));
  out.add(check_ucx(all, settings));
}

/// Whether the row reports a condition that joining would detect only after its time limit.
bool keeps_joining_waiting(const row& each) {
  if (each.is != verdict::fails) return false;
  return each.name == "ports" || (each.name == "UCX" && each.found.find(did_not_end) != std::string::npos);
}

/// If a world was joined and worked, the problems that other rows report did not prevent the world. The verdict of
/// these rows becomes `unknown`. For example, a missing network is no obstacle if the PEs use fabric handles. Rows
/// about the launcher, the library and the settings of programs keep their verdict. The world used the doctor's own
/// copy of the library and the doctor's settings, so it shows nothing about the library and the settings of programs.
void believe_the_world(std::vector<row>& rows) {
  const auto fine = [&](std::string_view name) {
    return std::ranges::any_of(rows, [&](const row& each) { return each.name == name && each.is == verdict::ok; });
  };
  if (!fine("joining") || !fine("access")) return;
  for (row& each : rows) {
    const bool of_programs = each.name == "launcher" || each.name == "same library" || each.name == "settings";
    if (each.is != verdict::fails || of_programs) continue;
    each.is = verdict::unknown;
    each.found += "; joining a world still worked";
  }
}

/// Called when a world fails for a reason that other rows report. Makes the world's row refer to these rows, because
/// they contain the fix, and the error code of the world does not.
void refer_to_causes(std::vector<row>& rows) {
  std::vector<std::string> causes;
  for (const row& each : rows)
    if (each.is != verdict::ok && each.name != "joining" && each.name != "access" &&
        std::ranges::find(causes, each.name) == causes.end())
      causes.push_back(each.name);
  if (causes.empty()) return;
  for (row& each : rows)
    if (each.is == verdict::fails && (each.name == "joining" || each.name == "access"))
      each.fix = fmt::format("what the row{} {} say{}", causes.size() == 1 ? "" : "s", fmt::join(causes, ", "),
                             causes.size() == 1 ? "s" : "");
}

}  // namespace

void run_examination(const request& how, journal& out) {
  subject what;
  config settings;
  what.pe = rank_by_launcher();
  out.about(what);
  out.add(check_settings(settings));
  const bool readable = out.rows().back().is != verdict::fails;
  const loaded_library library = find_library();
  out.add(check_library(library));
  const std::vector<std::string> gpus = examine_process(how, settings, out);
  if (!readable) return out.end(out.rows(), true);

  settings.join_timeout = std::min(settings.join_timeout, how.quick ? longest_quick_join : longest_join);
  if (settings.wait_timeout == milliseconds(0)) settings.wait_timeout = settings.join_timeout;
  settings.log = log_level::error;
  out.begin("joining the launcher", settings.join_timeout + margin);
  try {
    chosen_bootstrap chosen = make_bootstrap(config_detail::make_bootstrap_options(settings));
    bootstrap& exchange = *chosen.exchange;
    what.pe = exchange.rank();
    what.n_pes = exchange.size();
    what.started = chosen.description.substr(0, chosen.description.find(", rank"));
    out.about(what);
    out.add(check_launcher(exchange.size(), chosen.description.substr(0, chosen.description.find(", rank"))));
    out.add(check_pmix(chosen.description));

    out.begin("asking the other PEs", settings.join_timeout + margin);
    const job all = gather_job(exchange, collect_facts(settings, library, gpus), settings);
    what.hosts = all.hosts();
    out.about(what);
    examine_share(all, settings, out);
    out.begin("trying ports between hosts", 2 * settings.join_timeout + step_limit);
    const std::vector<row> ports = check_tcp_between_hosts(all, settings, exchange, how);
    for (const row& each : ports) out.add(each);
    out.begin("asking the other PEs", settings.join_timeout + margin);
    const std::vector<std::vector<row>> of_pes = gather_rows(exchange, out.rows());
    std::vector<row> rows = compare(all, settings);
    for (row& each : merge(of_pes)) rows.push_back(std::move(each));
    const auto cause = std::ranges::find_if(rows, keeps_joining_waiting);
    if (cause != rows.end())
      rows.push_back({"joining", verdict::fails, fmt::format("not tried: see the row {}", cause->name),
                      "a program that joins fails, or hangs", ""});
    else
      for (row& each : check_world(all, settings, std::make_unique<lent_bootstrap>(exchange), how, out, what.pairs))
        rows.push_back(std::move(each));
    believe_the_world(rows);
    refer_to_causes(rows);
    out.about(what);
    out.end(rows);
  } catch (const error& why) {
    out.add(row_of_launcher_failure(why));
    out.end(out.rows(), true);
  }
}

}  // namespace pgas::doctor
